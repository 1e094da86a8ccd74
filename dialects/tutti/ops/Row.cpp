// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that make of each row, the elements along the last axis, a row in which a place depends on all of them.
#include "Family.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace tutti {

/// Whether `type` has rows of numbers.
static LogicalResult expectRows(std::optional<Location> location, StringRef name, RankedTensorType type) {
  if (failed(expectNumbers(location, name, type)))
    return failure();
  if (type.getRank() == 0)
    return misfit(location, name, "expected at least one axis, got ", type);
  return success();
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                       SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(op.getX());
  inferred.push_back(type);
  if (failed(expectRows(location, getOperationName(), type)))
    return failure();
  Size length = getSizes(type).back();
  int64_t step = op.getStep().value_or(1);
  if (step < 1 || (length.isFixed() ? length.getFixed() % step != 0 : step != 1))
    return misfit(location, getOperationName(), "expected a step that divides the last axis of ", str(getSizes(type)),
                  ", got ", step);
  return success();
}

LogicalResult ScanOp::lift(LiftContext &context) {
  auto now = ScanOp::create(context.builder, getLoc(), getKind(), context.get(getX()), getStepAttr(), getExclusive(),
                            getReverse());
  context.setLifted(getResult(), now);
  return success();
}

Sizes ScanOp::mixedSizes() { return {getSizes(typeOf(getX())).back()}; }

bool ScanOp::comparesElements() { return false; }

bool ScanOp::isRowPhase() { return true; }

FailureOr<HostTensor> ScanOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  HostTensor y = HostTensor::zeros(x.element, x.dims);
  bool sums = getKind() == ScanKind::sum;
  // 16-bit types accumulate in float32.
  Type accumulator = x.isFloat() && !x.element.isF64() ? Float32Type::get(x.element.getContext()) : x.element;
  int64_t step = getStep().value_or(1), columns = x.dims.back() / step;
  for (int64_t row = 0; columns > 0 && row < x.count() / columns; ++row) {
    int64_t first = row / step * step * columns + row % step;
    double real = sums ? 0 : 1;
    uint64_t whole = sums ? 0 : 1;
    for (int64_t i = 0; i < columns; ++i) {
      int64_t place = first + step * (getReverse() ? columns - 1 - i : i);
      if (x.isFloat()) {
        double value = x.floats[place], before = real;
        real = context.round(i == 0 ? value : sums ? real + value : real * value, accumulator);
        y.floats[place] = context.round(getExclusive() ? before : real, y.element);
      } else {
        auto value = static_cast<uint64_t>(x.ints[place]);
        uint64_t before = whole;
        whole = sums ? whole + value : whole * value;
        y.ints[place] = wrapped(getExclusive() ? before : whole, y.element);
      }
    }
  }
  return y;
}

LogicalResult TopOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                      SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(op.getX());
  if (failed(expectRows(location, getOperationName(), type)))
    return failure();
  Sizes sizes = getSizes(type);
  int64_t count = op.getCount();
  if (count < 1 || (sizes.back().isFixed() && count > sizes.back().getFixed()))
    return misfit(location, getOperationName(), "expected a count from 1 to the length of the last axis of ",
                  str(sizes), ", got ", count);
  sizes.back() = Size(count);
  inferred.push_back(getTensorType(sizes, IntegerType::get(context, 64)));
  return success();
}

LogicalResult TopOp::lift(LiftContext &context) {
  auto now = TopOp::create(context.builder, getLoc(), context.get(getX()), getCount(), getSmallest());
  context.setLifted(getResult(), now);
  return success();
}

Sizes TopOp::mixedSizes() { return {getSizes(typeOf(getX())).back()}; }

bool TopOp::comparesElements() { return true; }

bool TopOp::isRowPhase() { return true; }

FailureOr<HostTensor> TopOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  HostTensor x = inOrder(operands[0]);
  int64_t columns = x.dims.back(), count = getCount();
  SmallVector<int64_t> dims = x.dims;
  dims.back() = count;
  HostTensor y = HostTensor::zeros(getElementTypeOrSelf(getType()), dims);
  auto isLess = [](auto a, auto b) { return std::isnan(double(b)) ? !std::isnan(double(a)) : a < b; };
  auto sort = [&](const auto &elements) {
    std::vector<int64_t> places(columns);
    for (int64_t row = 0; row < y.count() / count; ++row) {
      std::iota(places.begin(), places.end(), row * columns);
      llvm::sort(places, [&](int64_t a, int64_t b) {
        auto x = elements[getSmallest() ? a : b], y = elements[getSmallest() ? b : a];
        return isLess(x, y) || (!isLess(y, x) && a < b);
      });
      for (int64_t i = 0; i < count; ++i)
        y.ints[row * count + i] = places[i] - row * columns;
    }
  };
  if (x.isFloat())
    sort(x.floats);
  else
    sort(x.ints);
  return y;
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Row.cpp.inc"
