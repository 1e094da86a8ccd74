// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over axes of one tensor.
#include "Family.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti {

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                         SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName();
  auto type = typeOf(op.getX());
  Type element = type.getElementType();
  if (failed(expectNumbers(location, name, type)))
    return failure();
  if (!isa<FloatType>(element) && op.getKind() == ReduceKind::mean)
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
    if (sizes[axis] == Size(0) && op.getKind() == ReduceKind::mean)
      return misfit(location, name, "expected at least one element along axis ", axis, ", got ", str(sizes));
    sizes[axis] = Size(1);
  }
  inferred.push_back(getTensorType(sizes, element));
  return success();
}

LogicalResult ReduceOp::lift(LiftContext &context) {
  auto now =
      ReduceOp::create(context.builder, getLoc(), getKind(), context.get(getX()), shifted(getAxes()), NumericsAttr());
  context.setLifted(getResult(), now);
  return success();
}

Sizes ReduceOp::mixedSizes() {
  Sizes sizes = getSizes(typeOf(getX()));
  return llvm::map_to_vector(getAxes(), [&](int64_t axis) { return sizes[axis]; });
}

bool ReduceOp::comparesElements() { return getKind() == ReduceKind::max || getKind() == ReduceKind::min; }

bool ReduceOp::isRowPhase() { return getAxes() == ArrayRef<int64_t>{typeOf(getX()).getRank() - 1}; }

FailureOr<HostTensor> ReduceOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  HostTensor x = comparesElements() ? inOrder(operands[0]) : operands[0];
  SmallVector<int64_t> dims = x.dims;
  double count = 1;
  for (int64_t axis : getAxes()) {
    count *= dims[axis];
    dims[axis] = 1;
  }
  ReduceKind kind = getKind();
  bool sums = kind == ReduceKind::sum || kind == ReduceKind::mean, largest = kind == ReduceKind::max;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  HostTensor y = HostTensor::zeros(x.element, dims);
  unsigned width = x.element.getIntOrFloatBitWidth();
  if (kind == ReduceKind::prod) {
    llvm::fill(y.floats, 1);
    llvm::fill(y.ints, 1);
  } else if (!sums) {
    llvm::fill(y.floats, largest ? -infinity : infinity);
    bool isPositive = x.element.isUnsignedInteger() && width < 64;
    int64_t highest = isPositive ? static_cast<int64_t>(llvm::maxUIntN(width)) : llvm::maxIntN(width);
    llvm::fill(y.ints, !largest ? highest : isPositive ? 0 : llvm::minIntN(width));
  }

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
      int64_t value = x.ints[from], &all = y.ints[to];
      auto a = static_cast<uint64_t>(all), b = static_cast<uint64_t>(value);
      all = kind == ReduceKind::max    ? std::max(all, value)
            : kind == ReduceKind::min  ? std::min(all, value)
            : kind == ReduceKind::prod ? wrapped(a * b, y.element)
                                       : wrapped(a + b, y.element);
      return;
    }
    double value = x.floats[from], &all = y.floats[to];
    if (sums)
      all = context.round(all + value, accumulator);
    else if (kind == ReduceKind::prod)
      all = context.round(all * value, accumulator);
    else
      all = largest ? maximum(all, value) : minimum(all, value);
  });
  if (kind == ReduceKind::mean)
    for (double &sum : y.floats)
      sum /= count;
  for (double &value : y.floats)
    value = context.round(value, y.element);
  return comparesElements() ? inOrder(y) : y;
}

LogicalResult ArgOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                      SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName();
  auto type = typeOf(op.getX());
  if (failed(expectNumbers(location, name, type)))
    return failure();
  Sizes sizes = getSizes(type);
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return misfit(location, name, "expected an axis of ", str(sizes), ", got ", axis);
  if (sizes[axis] == Size(0))
    return misfit(location, name, "expected at least one element along axis ", axis, ", got ", str(sizes));
  sizes[axis] = Size(1);
  inferred.push_back(getTensorType(sizes, IntegerType::get(context, 64)));
  return success();
}

LogicalResult ArgOp::lift(LiftContext &context) {
  auto now = ArgOp::create(context.builder, getLoc(), getKind(), context.get(getX()), getAxis() + 1, getLast(),
                           NumericsAttr());
  context.setLifted(getResult(), now);
  return success();
}

Sizes ArgOp::mixedSizes() { return {getSizes(typeOf(getX()))[getAxis()]}; }

bool ArgOp::comparesElements() { return true; }

bool ArgOp::isRowPhase() { return int64_t(getAxis()) == typeOf(getX()).getRank() - 1; }

FailureOr<HostTensor> ArgOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  HostTensor x = inOrder(operands[0]);
  int64_t axis = getAxis(), length = x.dims[axis], step = x.strides()[axis];
  SmallVector<int64_t> dims = x.dims;
  dims[axis] = 1;
  HostTensor y = HostTensor::zeros(getElementTypeOrSelf(getType()), dims);
  bool largest = getKind() == ArgKind::max;
  auto placeIn = [&](const auto &elements, int64_t first) {
    int64_t best = 0;
    for (int64_t i = 1; i < length; ++i) {
      auto value = elements[first + i * step], sofar = elements[first + best * step];
      if (isChosenBefore(value, sofar, largest) || (getLast() && !isChosenBefore(sofar, value, largest)))
        best = i;
    }
    return best;
  };
  for (int64_t place = 0; place < y.count(); ++place) {
    int64_t first = place / step * step * length + place % step;
    y.ints[place] = x.isFloat() ? placeIn(x.floats, first) : placeIn(x.ints, first);
  }
  return y;
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Reduce.cpp.inc"
