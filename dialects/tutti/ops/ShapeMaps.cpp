// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where each element of a layout op's result comes from, as affine maps.
#include "Family.h"

using namespace mlir;

namespace tutti {

/// The sizes of a type as affine expressions: constants, and symbol i for the i-th `?`.
static SmallVector<AffineExpr> sizeExprs(RankedTensorType type) {
  SmallVector<AffineExpr> exprs;
  unsigned symbols = 0;
  for (int64_t length : type.getShape())
    exprs.push_back(ShapedType::isDynamic(length) ? getAffineSymbolExpr(symbols++, type.getContext())
                                                  : getAffineConstantExpr(length, type.getContext()));
  return exprs;
}

static AffineMap mapOf(RankedTensorType result, ArrayRef<AffineExpr> exprs) {
  return AffineMap::get(result.getRank(), result.getNumDynamicDims(), exprs, result.getContext());
}

/// Operand axes [begin, end) from `linear`, their row-major index. Fails when an axis but the first is no fixed size,
/// as it would be a divisor.
static LogicalResult delinearize(AffineExpr linear, ArrayRef<Size> sizes, MutableArrayRef<AffineExpr> exprs) {
  int64_t inner = 1;
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
    AffineExpr quotient = linear.floorDiv(inner);
    // The first axis that is not of length 1 needs no remainder: nothing is outside of it.
    bool first = llvm::all_of(sizes.take_front(i), [](const Size &size) { return size == Size(1); });
    if (sizes[i] == Size(1))
      exprs[i] = getAffineConstantExpr(0, linear.getContext());
    else if (first)
      exprs[i] = quotient;
    else if (!sizes[i].isFixed() || llvm::MulOverflow(inner, sizes[i].getFixed(), inner))
      return failure();
    else
      exprs[i] = quotient % sizes[i].getFixed();
  }
  return success();
}

FailureOr<AffineMap> reshapeMap(RankedTensorType operand, RankedTensorType type) {
  MLIRContext *context = type.getContext();
  Sizes from = getSizes(operand), to = getSizes(type);
  SmallVector<AffineExpr> lengths = sizeExprs(type), exprs(from.size(), getAffineConstantExpr(0, context));
  if (llvm::is_contained(to, Size(0)))
    return mapOf(type, exprs);

  // A run of the result's axes, read row-major, is a run of the operand's.
  std::optional<SmallVector<AxisRuns>> runs = matchAxes(to, from);
  if (!runs)
    return failure();
  for (const AxisRuns &run : *runs) {
    AffineExpr linear = getAffineConstantExpr(0, context);
    for (unsigned axis = run.first[0]; axis < run.first[0] + run.count[0]; ++axis)
      if (to[axis] != Size(1))
        linear = linear * lengths[axis] + getAffineDimExpr(axis, context);
    if (failed(delinearize(linear, ArrayRef(from).slice(run.first[1], run.count[1]),
                           MutableArrayRef(exprs).slice(run.first[1], run.count[1]))))
      return failure();
  }
  return mapOf(type, exprs);
}

FailureOr<AffineMap> ReshapeOp::operandMap() { return reshapeMap(typeOf(getX()), typeOf(getResult())); }

FailureOr<AffineMap> BroadcastOp::operandMap() {
  auto type = typeOf(getResult());
  Sizes from = getSizes(typeOf(getX()));
  unsigned missing = type.getRank() - from.size();
  SmallVector<AffineExpr> exprs;
  for (auto [axis, size] : llvm::enumerate(from))
    exprs.push_back(size == Size(1) ? getAffineConstantExpr(0, getContext())
                                    : getAffineDimExpr(missing + axis, getContext()));
  return mapOf(type, exprs);
}

FailureOr<AffineMap> TransposeOp::operandMap() {
  SmallVector<AffineExpr> exprs(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    exprs[from] = getAffineDimExpr(to, getContext());
  return mapOf(typeOf(getResult()), exprs);
}

FailureOr<AffineMap> SliceOp::operandMap() {
  SmallVector<AffineExpr> exprs;
  for (auto [axis, start, step] : llvm::enumerate(getStarts(), getSteps()))
    exprs.push_back(getAffineDimExpr(axis, getContext()) * step + start);
  return mapOf(typeOf(getResult()), exprs);
}

FailureOr<AffineMap> ReplicateOp::operandMap() {
  auto type = typeOf(getResult());
  SmallVector<AffineExpr> exprs;
  for (int64_t axis = 1; axis < type.getRank(); ++axis)
    exprs.push_back(getAffineDimExpr(axis, getContext()));
  return mapOf(type, exprs);
}

} // namespace tutti
