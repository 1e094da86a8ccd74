// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-decompose: few kinds of ops on few types, of which pointwise and layout ops and windows become tutti.map; every
// result is computed.
#include "Patterns.h"
#include "dialects/tutti/Model.h"
#include "dialects/tutti/Module.h"
#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/analysis/Views.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Passes.h.inc"

namespace {

struct DecomposePass : impl::DecomposePassBase<DecomposePass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet simpler(context), maps(context);
    addSimplerPatterns(simpler);
    addMarginPatterns(simpler);
    addMapPatterns(maps);
    addWindowPatterns(maps);
    toSimpler = std::move(simpler);
    toMaps = std::move(maps);
    return success();
  }

  void runOnOperation() override {
    if (failed(checkModel(getOperation())))
      return signalPassFailure();
    if (getPrecision(getOperation()) ==
        Precision::bf16) // of the model's own ops: rewrites go by sizes that --dim binds
      getOperation().walk([](SigmoidOp op) { op.setGates(isGate(op)); });
    if (failed(rewriteToTheEnd(getOperation(), toSimpler)))
      return signalPassFailure();
    // Not of maps: their hash is blind to bodies, so that many readers of one value would all be compared.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation()); // of what the rewrites have left
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    if (failed(rewriteToTheEnd(getOperation(), toMaps)))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      computeEveryResult(function);
  }

private:
  FrozenRewritePatternSet toSimpler, toMaps;

  /// Whether every user of a sigmoid of x multiplies it by x: SiLU.
  static bool isGate(SigmoidOp op) {
    Value x = op.getX(), gate = op.getResult();
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return isa<MulOp>(user) && llvm::is_contained(user->getOperands(), x) &&
             llvm::is_contained(user->getOperands(), gate);
    });
  }

  /// Copies each result, of the model or of a group, that is an argument, a parameter, a view of one, or another result
  /// too.
  void computeEveryResult(func::FuncOp function) {
    auto ret = cast<func::ReturnOp>(function.getBody().back().getTerminator());
    OpBuilder builder(ret);
    llvm::SmallDenseSet<Value> taken;
    SmallVector<OpOperand *> results;
    for (OpOperand &operand : ret->getOpOperands()) {
      auto join = operand.get().getDefiningOp<JoinOp>();
      if (!join || !taken.insert(join).second)
        results.push_back(&operand);
    }
    for (auto join : function.getOps<JoinOp>())
      for (OpOperand &part : join->getOpOperands())
        results.push_back(&part);
    for (OpOperand *each : results) {
      OpOperand &operand = *each;
      Value source = throughViews(operand.get());
      Operation *producer = source.getDefiningOp();
      if (producer && !isa<GetOp, ConstantOp, PartOp, JoinOp>(producer) && taken.insert(source).second)
        continue;
      builder.setInsertionPoint(operand.getOwner());
      operand.set(MapOp::create(builder, operand.getOwner()->getLoc(), operand.get()));
    }
    // A parameter of each member that a head reads is copied, too: a kernel has the parameters of its own member.
    DenseMap<Value, Value> copies;
    for (auto head : function.getOps<HeadOp>()) {
      Value x = head.getX();
      if (!isa_and_nonnull<GetOp>(throughViews(x).getDefiningOp()))
        continue;
      Value &copy = copies[x];
      if (!copy) {
        builder.setInsertionPointAfterValue(x);
        copy = MapOp::create(builder, head.getLoc(), x);
      }
      head.getXMutable().assign(copy);
    }
  }
};

} // namespace
} // namespace tutti
