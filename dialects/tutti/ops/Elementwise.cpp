// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise ops: their types, and what they compute on host tensors. Their scalar bodies are in ElementwiseScalar.cpp.
#include "Family.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti {

using Location = std::optional<mlir::Location>;

/// The common rule: operands broadcast to `sizes`, elements as `accepts` has it.
static LogicalResult inferBroadcast(Location location, StringRef op, TypeRange operands, Sizes &sizes,
                                    llvm::function_ref<bool(Type)> accepts, StringRef expected) {
  for (Type operand : operands) {
    auto type = cast<RankedTensorType>(operand);
    if (!accepts(type.getElementType()))
      return misfit(location, op, "expected elements of ", expected, ", got ", type.getElementType());
    std::optional<Sizes> both = broadcast(sizes, getSizes(type));
    if (!both)
      return misfit(location, op, "expected shapes that broadcast, got ", str(sizes), " and ", str(getSizes(type)));
    sizes = *both;
  }
  return success();
}

static LogicalResult expectEqual(Location location, StringRef op, Type a, Type b) {
  if (getElementTypeOrSelf(a) == getElementTypeOrSelf(b))
    return success();
  return misfit(location, op, "expected equal element types, got ", getElementTypeOrSelf(a), " and ",
                getElementTypeOrSelf(b));
}

static bool isFloat(Type type) { return isa<FloatType>(type); }
static bool isNumber(Type type) { return isFloat(type) || (type.isSignlessInteger() && !isTruth(type)); }

static LogicalResult inferSame(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred,
                               llvm::function_ref<bool(Type)> accepts, StringRef expected) {
  Sizes sizes;
  if (failed(inferBroadcast(location, op, operands, sizes, accepts, expected)) ||
      failed(expectEqual(location, op, operands.front(), operands.back())))
    return failure();
  inferred.push_back(getTensorType(sizes, getElementTypeOrSelf(operands.front())));
  return success();
}

static LogicalResult inferNumbers(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isNumber, "a float type or a signless integer wider than i1");
}
static LogicalResult inferFloats(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isFloat, "a float type");
}
static LogicalResult inferTruths(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isTruth, "i1");
}
static LogicalResult inferCompared(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  auto accepts = [](Type type) { return isNumber(type) || isTruth(type); };
  if (failed(inferSame(location, op, operands, inferred, accepts, "a float type or a signless integer")))
    return failure();
  auto type = cast<RankedTensorType>(inferred[0]);
  inferred[0] = getTensorType(getSizes(type), IntegerType::get(type.getContext(), 1));
  return success();
}
static LogicalResult inferChosen(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  Sizes sizes;
  auto any = [](Type) { return true; };
  if (failed(inferBroadcast(location, op, operands.take_front(), sizes, isTruth, "i1 in the condition")) ||
      failed(inferBroadcast(location, op, operands.drop_front(), sizes, any, "")) ||
      failed(expectEqual(location, op, operands[1], operands[2])))
    return failure();
  inferred.push_back(getTensorType(sizes, getElementTypeOrSelf(operands[1])));
  return success();
}

LogicalResult CastOp::lift(LiftContext &context) { return liftPointwise(*this, context); }

LogicalResult CastOp::verify() {
  Sizes from = getSizes(tensorOf(getX())), to = getSizes(tensorOf(getResult()));
  if (from != to)
    return emitOpError("expected a result of the shape ") << str(from) << " of x, got " << str(to);
  for (Type type : {tensorOf(getX()).getElementType(), tensorOf(getResult()).getElementType()})
    if (!isNumber(type) && !isTruth(type))
      return emitOpError("expected elements of a float type or a signless integer, got ") << type;
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// The reference
//===------------------------------------------------------------------------------------------------------------===//

/// y = f(x) on floats, rounded to the element type when plain float32 is evaluated.
template <typename F> static HostTensor onFloats(EvaluateContext &context, ArrayRef<HostTensor> x, F f) {
  HostTensor y = HostTensor::zeros(x[0].element, broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, ArrayRef<int64_t> source) {
    if constexpr (std::is_invocable_v<F, double>)
      y.floats[place] = context.round(f(x[0].floats[source[0]]), y.element);
    else
      y.floats[place] = context.round(f(x[0].floats[source[0]], x[1].floats[source[1]]), y.element);
  });
  return y;
}

/// y = f(x) on integers, the low bits of it.
template <typename F> static HostTensor onInts(ArrayRef<HostTensor> x, F f) {
  HostTensor y = HostTensor::zeros(x[0].element, broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, ArrayRef<int64_t> source) {
    if constexpr (std::is_invocable_v<F, int64_t>)
      y.ints[place] = wrapped(f(x[0].ints[source[0]]), y.element);
    else
      y.ints[place] = wrapped(f(x[0].ints[source[0]], x[1].ints[source[1]]), y.element);
  });
  return y;
}

/// y = whether f(a, b); a choice, so floats are compared as the declared type has them.
template <typename F> static HostTensor compared(ArrayRef<HostTensor> x, F f) {
  HostTensor y = HostTensor::zeros(IntegerType::get(x[0].element.getContext(), 1), broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, ArrayRef<int64_t> source) {
    if (x[0].isFloat())
      y.ints[place] = f(nearest(x[0].floats[source[0]], x[0].element), nearest(x[1].floats[source[1]], x[1].element));
    else
      y.ints[place] = f(x[0].ints[source[0]], x[1].ints[source[1]]);
  });
  return y;
}

using Operands = ArrayRef<HostTensor>;
using Reference = FailureOr<HostTensor>;

Reference SqrtOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return std::sqrt(x); });
}
Reference ReciprocalOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return 1 / x; });
}
Reference ExpOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return std::exp(x); });
}
Reference LogOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return std::log(x); });
}
Reference ErfOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return std::erf(x); });
}
Reference SinOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return std::sin(x); });
}
Reference CosOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return std::cos(x); });
}
Reference TanhOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return std::tanh(x); });
}
// Of a composition plain float32 rounds every step.
Reference SigmoidOp::evaluate(EvaluateContext &context, Operands x) {
  auto round = [&, type = x[0].element](double value) { return context.round(value, type); };
  return onFloats(context, x, [&](double x) { return 1 / round(1 + round(std::exp(-x))); });
}
static double softplus(double x, llvm::function_ref<double(double)> round) {
  return round(std::fmax(x, 0) + round(std::log1p(round(std::exp(-std::fabs(x))))));
}
Reference SoftplusOp::evaluate(EvaluateContext &context, Operands x) {
  auto round = [&, type = x[0].element](double value) { return context.round(value, type); };
  return onFloats(context, x, [&](double x) { return softplus(x, round); });
}
Reference MishOp::evaluate(EvaluateContext &context, Operands x) {
  auto round = [&, type = x[0].element](double value) { return context.round(value, type); };
  return onFloats(context, x, [&](double x) { return x * round(std::tanh(softplus(x, round))); });
}

Reference NegOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return -x; });
  return onInts(x, [](int64_t x) { return -static_cast<uint64_t>(x); });
}
Reference AbsOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return std::fabs(x); });
  return onInts(x, [](int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : x; });
}
Reference SignOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return x > 0 ? 1 : x < 0 ? -1 : x; });
  return onInts(x, [](int64_t x) { return x > 0 ? 1 : x < 0 ? -1 : 0; });
}
Reference ReluOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return x > 0 || std::isnan(x) ? x : 0; });
  return onInts(x, [](int64_t x) { return x > 0 ? x : 0; });
}
Reference NotOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](int64_t x) { return !x; });
}

Reference AddOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a + b; });
  return onInts(x, [](uint64_t a, uint64_t b) { return a + b; });
}
Reference SubOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a - b; });
  return onInts(x, [](uint64_t a, uint64_t b) { return a - b; });
}
Reference MulOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a * b; });
  return onInts(x, [](uint64_t a, uint64_t b) { return a * b; });
}
Reference DivOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a / b; });
  return onInts(x, [](int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? -static_cast<uint64_t>(a) : a / b; });
}
Reference PowOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return std::pow(a, b); });
  return onInts(x, [](int64_t base, int64_t exponent) -> uint64_t {
    if (exponent < 0) // 1 / base^-exponent, rounded towards zero
      return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t power = 1;
    for (uint64_t square = base; exponent; exponent >>= 1, square *= square)
      power *= exponent & 1 ? square : 1;
    return power;
  });
}
Reference MinOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
  return onInts(x, [](int64_t a, int64_t b) { return std::min(a, b); });
}
Reference MaxOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
  return onInts(x, [](int64_t a, int64_t b) { return std::max(a, b); });
}
Reference AndOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](int64_t a, int64_t b) { return a & b; });
}
Reference OrOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](int64_t a, int64_t b) { return a | b; });
}

Reference EqualOp::evaluate(EvaluateContext &, Operands x) {
  return compared(x, [](auto a, auto b) { return a == b; });
}
Reference GreaterOp::evaluate(EvaluateContext &, Operands x) {
  return compared(x, [](auto a, auto b) { return a > b; });
}
Reference GreaterEqualOp::evaluate(EvaluateContext &, Operands x) {
  return compared(x, [](auto a, auto b) { return a >= b; });
}

Reference SelectOp::evaluate(EvaluateContext &, Operands x) {
  HostTensor y = HostTensor::zeros(x[1].element, broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, ArrayRef<int64_t> source) {
    int chosen = x[0].ints[source[0]] ? 1 : 2;
    if (y.isFloat())
      y.floats[place] = x[chosen].floats[source[chosen]];
    else
      y.ints[place] = x[chosen].ints[source[chosen]];
  });
  return y;
}

/// Truncated towards zero and brought into the type's range; NaN is 0.
static int64_t saturated(double value, Type type) {
  int64_t width = type.getIntOrFloatBitWidth();
  double bound = std::ldexp(1.0, width - 1);
  int64_t largest = static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
  if (std::isnan(value))
    return 0;
  return value >= bound ? largest : value < -bound ? -largest - 1 : static_cast<int64_t>(value);
}

Reference CastOp::evaluate(EvaluateContext &, Operands operands) {
  const HostTensor &x = operands[0];
  Type to = tensorOf(getResult()).getElementType();
  HostTensor y = HostTensor::zeros(to, x.dims);
  // A cast to fewer bits is meant to lose them, in the float64 reference too.
  bool narrows = x.isFloat() && y.isFloat() && to.getIntOrFloatBitWidth() < x.element.getIntOrFloatBitWidth();
  for (int64_t i = 0, count = x.count(); i < count; ++i) {
    if (y.isFloat())
      y.floats[i] = x.isFloat() ? (narrows ? nearest(x.floats[i], to) : x.floats[i]) : nearest(x.ints[i], to);
    else if (!x.isFloat())
      y.ints[i] = isTruth(to) ? x.ints[i] != 0 : wrapped(x.ints[i], to);
    else if (isTruth(to))
      y.ints[i] = nearest(x.floats[i], x.element) != 0;
    else
      y.ints[i] = saturated(nearest(x.floats[i], x.element), to);
  }
  return y;
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Elementwise.cpp.inc"
