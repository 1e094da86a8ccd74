// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-parallel: no op mixes what lies at different places of an axis whose length a call decides.
#include "dialects/tutti/Model.h"
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_PARALLELPASS
#include "passes/Passes.h.inc"

namespace {

struct ParallelPass : impl::ParallelPassBase<ParallelPass> {
  void runOnOperation() override {
    if (failed(checkModel(getOperation())))
      return signalPassFailure();
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    for (Operation &op : main.getBody().front().without_terminator())
      if (failed(check(op)))
        return signalPassFailure();
  }

private:
  static LogicalResult check(Operation &op) {
    auto parallel = dyn_cast<ParallelOpInterface>(op);
    if (!parallel)
      return op.emitOpError("does not say along which axes it is parallel: --tutti-vmap comes before this pass");
    auto head = dyn_cast<HeadOp>(op);
    for (const Size &size : parallel.mixedSizes()) {
      if (size.isFixed())
        continue;
      if (head)
        return head.emitOpError("votes along the dimension '")
               << size.str() << "', whose length each call decides: the last axis of a vote's output is its classes";
      return op.emitOpError("is not parallel along the dimension '")
             << size.str() << "', whose length each call decides; bind it to one value with --dim";
    }
    if (head && !isLifted(head.getX().getType()))
      return head.emitOpError("expected the member axis in front, got ") << head.getX().getType();
    return success();
  }
};

} // namespace
} // namespace tutti
