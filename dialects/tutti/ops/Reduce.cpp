// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over axes of one tensor.
#include "Family.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti {

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &inferred) {
  Adaptor op(operands, attributes, properties, regions);
  StringRef name = getOperationName();
  auto type = tensorOf(op.getX());
  Type element = type.getElementType();
  bool isInt = element.isSignlessInteger() && !isTruth(element);
  if (!isa<FloatType>(element) && !isInt)
    return misfit(location, name, "expected elements of a float type or a signless integer wider than i1, got ", element);
  if (isInt && op.getKind() == ReduceKind::mean)
    return misfit(location, name, "expected elements of a float type for a mean, got ", element);
  Sizes sizes = getSizes(type);
  int64_t last = -1;
  for (int64_t axis : op.getAxes()) {
    if (axis <= last || axis >= type.getRank())
      return misfit(location, name, "expected distinct ascending axes of ", str(sizes), ", got axis ", axis, " after ",
                    last);
    last = axis;
  }
  for (int64_t axis : op.getAxes()) {
    bool hasNeutral = op.getKind() == ReduceKind::sum;
    if (sizes[axis] == Size(0) && !hasNeutral)
      return misfit(location, name, "expected at least one element along axis ", axis, ", got ", str(sizes));
    sizes[axis] = Size(1);
  }
  inferred.push_back(getTensorType(sizes, element));
  return success();
}

LogicalResult ReduceOp::lift(LiftContext &context) {
  auto now = ReduceOp::create(context.builder, getLoc(), getKind(), context.get(getX()), shifted(getAxes()));
  context.setLifted(getResult(), now);
  return success();
}

FailureOr<HostTensor> ReduceOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  SmallVector<int64_t> dims = x.dims;
  double count = 1;
  for (int64_t axis : getAxes()) {
    count *= dims[axis];
    dims[axis] = 1;
  }
  ReduceKind kind = getKind();
  bool sums = kind == ReduceKind::sum || kind == ReduceKind::mean;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  HostTensor y = HostTensor::zeros(x.element, dims);
  if (!sums && y.isFloat())
    llvm::fill(y.floats, kind == ReduceKind::max ? -infinity : infinity);
  else if (!sums)
    llvm::fill(y.ints, kind == ReduceKind::max ? INT64_MIN : INT64_MAX);

  // 16-bit types accumulate in float32.
  Type accumulator = y.isFloat() && !x.element.isF64() ? Float32Type::get(x.element.getContext()) : x.element;
  SmallVector<int64_t> strides = y.strides();
  int64_t place = 0;
  forEachIndex(x.dims, [&](ArrayRef<int64_t> index) {
    int64_t to = 0;
    for (auto [axis, i] : llvm::enumerate(index))
      to += dims[axis] == 1 ? 0 : i * strides[axis];
    int64_t from = place++;
    if (!x.isFloat()) {
      int64_t value = x.ints[from], &sum = y.ints[to];
      sum = kind == ReduceKind::max   ? std::max(sum, value)
            : kind == ReduceKind::min ? std::min(sum, value)
                                      : wrapped(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value), y.element);
      return;
    }
    double value = x.floats[from], &sum = y.floats[to];
    if (sums)
      sum = context.round(sum + value, accumulator);
    else if (std::isnan(value) || (kind == ReduceKind::max ? value > sum : value < sum))
      sum = value;
  });
  if (kind == ReduceKind::mean)
    for (double &sum : y.floats)
      sum /= count;
  for (double &value : y.floats)
    value = context.round(value, y.element);
  return y;
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Reduce.cpp.inc"
