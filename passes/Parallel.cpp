// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-parallel: no op mixes what lies at different places of an axis whose length a call decides.
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_PARALLELPASS
#include "passes/Passes.h.inc"

namespace {

Sizes sizesOf(Value value) { return getSizes(cast<RankedTensorType>(value.getType())); }

/// A size that stands in the way, if it is not fixed.
std::optional<Size> unlessFixed(const Size &size) { return size.isFixed() ? std::nullopt : std::optional(size); }

/// The size along which an op is not parallel.
std::optional<Size> mixes(Operation &op) {
  std::optional<Size> found;
  auto check = [&](const Size &size) {
    if (!found)
      found = unlessFixed(size);
  };
  if (auto contract = dyn_cast<ContractOp>(op)) {
    ContractSpec spec = *ContractSpec::parse(contract.getSpec());
    for (char label : spec.contracted())
      check(sizesOf(contract.getLhs())[spec.lhs.find(label)]);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    for (int64_t axis : reduce.getAxes())
      check(sizesOf(reduce.getX())[axis]);
  } else if (auto arg = dyn_cast<ArgOp>(op)) {
    check(sizesOf(arg.getX())[arg.getAxis()]);
  } else if (isa<ScanOp, TopOp>(op)) {
    check(sizesOf(op.getOperand(0)).back());
  } else if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (Value input : concat.getInputs())
      check(sizesOf(input)[concat.getAxis()]);
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    check(sizesOf(gather.getX())[gather.getAxis()]);
  } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
    check(sizesOf(scatter.getX()).back());
    check(sizesOf(scatter.getIndices()).back());
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    Sizes from = sizesOf(reshape.getX());
    if (std::optional<AxisRuns> run = mixedByReshape(from, sizesOf(reshape.getResult())))
      found = product(ArrayRef(from).slice(run->first[0], run->count[0])).value_or(Size(0));
  } else if (auto head = dyn_cast<HeadOp>(op); head && head.getKind() == HeadKind::vote) {
    if (isa<FloatType>(getElementTypeOrSelf(head.getX().getType())))
      check(sizesOf(head.getX()).back());
  }
  return found;
}

/// " of node 'x'", where the location has a name.
std::string nodeOf(Operation &op) {
  auto named = op.getLoc()->findInstanceOf<NameLoc>();
  return named ? " of node '" + named.getName().str() + "'" : "";
}

struct ParallelPass : impl::ParallelPassBase<ParallelPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    for (Operation &op : main.getBody().front().without_terminator()) {
      if (std::optional<Size> size = mixes(op)) {
        op.emitOpError() << nodeOf(op) << (nodeOf(op).empty() ? "" : " ") << "is not parallel along the dimension '"
                         << size->str() << "', whose length each call decides; bind it to one value with --dim";
        return signalPassFailure();
      }
      auto head = dyn_cast<HeadOp>(op);
      if (head && !isLifted(cast<RankedTensorType>(head.getX().getType()))) {
        head.emitOpError("expected the member axis in front, got ") << head.getX().getType();
        return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace tutti
