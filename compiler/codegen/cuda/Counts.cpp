// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels count in ints: elements of a tile, axes, terms, and what indices are computed of.
#include "Counts.h"

#include <limits>

using namespace mlir;

namespace tutti {

int64_t mostOf(plan::KernelOp kernel, std::optional<Size> size) {
  plan::ProgramOp program = programOf(kernel->getParentOfType<ModuleOp>());
  auto mostOf = [&](StringRef symbol) { return program ? program.mostOf(symbol) : std::nullopt; };
  return (size ? size->at(mostOf) : std::nullopt).value_or(std::numeric_limits<int64_t>::max());
}

constexpr int64_t mostCounted = std::numeric_limits<int32_t>::max();

/// The largest magnitude of an index and of its intermediate values; `mostCounted` + 1 stands for everything larger.
static int64_t magnitudeOf(AffineExpr expr, ArrayRef<int64_t> lengths) {
  auto capped = [](int64_t number) { return std::min(number, mostCounted + 1); };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return capped(std::abs(constant.getValue()));
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return capped(lengths[dim.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = magnitudeOf(binary.getLHS(), lengths), b = magnitudeOf(binary.getRHS(), lengths);
  if (std::max(a, b) > mostCounted)
    return mostCounted + 1;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return capped(a + b);
  case AffineExprKind::Mul:
    return capped(a * b);
  case AffineExprKind::Mod:
    return b;
  default:
    return a / std::max<int64_t>(b, 1) + 1;
  }
}

static bool countsOperandsOf(plan::KernelOp kernel, Operation &op) {
  auto lengthsOf = [&](Value value) {
    return llvm::map_to_vector(getSizes(typeOf(value)), [&](const Size &size) { return mostOf(kernel, size); });
  };
  auto isCounted = [](int64_t length) { return length <= mostCounted; };
  for (Value operand : op.getOperands())
    if (!llvm::all_of(lengthsOf(operand), isCounted))
      return false;
  std::optional<Size> terms = Size(1);
  if (auto contraction = dyn_cast<ContractOp>(op))
    terms = contraction.terms();
  else if (auto reduction = dyn_cast<ReduceOp>(op))
    terms = product(llvm::map_to_vector(reduction.getAxes(),
                                        [&](int64_t axis) { return getSizes(typeOf(reduction.getX()))[axis]; }));
  if (!isCounted(mostOf(kernel, terms)))
    return false;
  auto map = dyn_cast<MapOp>(op);
  if (!map)
    return true;
  SmallVector<int64_t> lengths = lengthsOf(map.getResult());
  return llvm::all_of(map.getMaps().getAsValueRange<AffineMapAttr>(), [&](AffineMap access) {
    return llvm::all_of(access.getResults(), [&](AffineExpr e) { return isCounted(magnitudeOf(e, lengths)); });
  });
}

bool countsOperands(plan::KernelOp kernel) {
  return llvm::all_of(kernel.getBody().front().without_terminator(),
                      [&](Operation &op) { return countsOperandsOf(kernel, op); });
}

bool countsTile(plan::KernelOp kernel, const RowForm &form, int64_t rows) {
  // Threads go through a tile's elements with the block's number of threads as step, to one past the end.
  constexpr int64_t most = mostCounted - 1024;
  auto counts = [&](Value value) { return mostOf(kernel, RowForm::of(typeOf(value)).columns) <= most / rows; };
  return llvm::all_of(kernel.getBody().front().without_terminator(), [&](Operation &op) {
    return llvm::all_of(op.getResults(), counts) && llvm::all_of(op.getOperands(), [&](Value operand) {
             return !RowForm::of(typeOf(operand)).sameRows(form) || counts(operand);
           });
  });
}

} // namespace tutti
