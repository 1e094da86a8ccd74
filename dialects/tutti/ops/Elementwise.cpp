// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise ops: their types, and what they compute on host tensors. Their scalar bodies are in ElementwiseScalar.cpp.
#include "Family.h"

#include <cmath>

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

static LogicalResult inferSame(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred,
                               llvm::function_ref<bool(Type)> accepts, StringRef expected) {
  Sizes sizes;
  if (failed(inferBroadcast(location, op, operands, sizes, accepts, expected)) ||
      failed(expectEqual(location, op, operands.front(), operands.back())))
    return failure();
  inferred.push_back(getTensorType(sizes, getElementTypeOrSelf(operands.front())));
  return success();
}

static LogicalResult inferNumbers(Location location, StringRef op, TypeRange operands,
                                  SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isNumber, "a float type or an integer wider than i1");
}
static LogicalResult inferFloats(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isFloat, "a float type");
}
static LogicalResult inferBits(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isInteger, "an integer type");
}
static LogicalResult inferCompared(Location location, StringRef op, TypeRange operands,
                                   SmallVectorImpl<Type> &inferred) {
  auto accepts = [](Type type) { return isNumber(type) || isTruth(type); };
  if (failed(inferSame(location, op, operands, inferred, accepts, "a float type or an integer")))
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

Sizes CastOp::mixedSizes() { return {}; }

LogicalResult CastOp::verify() {
  Sizes from = getSizes(typeOf(getX())), to = getSizes(typeOf(getResult()));
  if (from != to)
    return emitOpError("expected a result of the shape ") << str(from) << " of x, got " << str(to);
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

/// Calls f with the integers at these places, unsigned ones as unsigned.
template <typename F> static auto withInts(ArrayRef<HostTensor> x, ArrayRef<int64_t> source, F f) {
  bool isUnsigned = x[0].element.isUnsignedInteger();
  if constexpr (std::is_invocable_v<F, int64_t>) {
    int64_t a = x[0].ints[source[0]];
    return static_cast<uint64_t>(isUnsigned ? f(static_cast<uint64_t>(a)) : f(a));
  } else {
    int64_t a = x[0].ints[source[0]], b = x[1].ints[source[1]];
    return static_cast<uint64_t>(isUnsigned ? f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)) : f(a, b));
  }
}

/// y = f(x) on integers, the low bits of it.
template <typename F> static HostTensor onInts(ArrayRef<HostTensor> x, F f) {
  HostTensor y = HostTensor::zeros(x[0].element, broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, ArrayRef<int64_t> source) {
    y.ints[place] = wrapped(withInts(x, source, f), y.element);
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
      y.ints[place] = withInts(x, source, f);
  });
  return y;
}

using Operands = ArrayRef<HostTensor>;
using Reference = FailureOr<HostTensor>;

#define TUTTI_REFERENCE(op, function)                                                                                  \
  Reference op::evaluate(EvaluateContext &context, Operands x) {                                                       \
    return onFloats(context, x, [](double x) { return std::function(x); });                                            \
  }
TUTTI_REFERENCE(SqrtOp, sqrt)
TUTTI_REFERENCE(ExpOp, exp)
TUTTI_REFERENCE(Expm1Op, expm1)
TUTTI_REFERENCE(LogOp, log)
TUTTI_REFERENCE(ErfOp, erf)
TUTTI_REFERENCE(SinOp, sin)
TUTTI_REFERENCE(CosOp, cos)
TUTTI_REFERENCE(TanOp, tan)
TUTTI_REFERENCE(AsinOp, asin)
TUTTI_REFERENCE(AcosOp, acos)
TUTTI_REFERENCE(AtanOp, atan)
TUTTI_REFERENCE(SinhOp, sinh)
TUTTI_REFERENCE(CoshOp, cosh)
TUTTI_REFERENCE(TanhOp, tanh)
TUTTI_REFERENCE(AsinhOp, asinh)
TUTTI_REFERENCE(AcoshOp, acosh)
TUTTI_REFERENCE(AtanhOp, atanh)
#undef TUTTI_REFERENCE
Reference ReciprocalOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return 1 / x; });
}
// Choices: of the number that the declared type has.
template <typename F> static HostTensor whole(EvaluateContext &context, Operands x, F f) {
  return onFloats(context, x, [&](double value) { return f(nearest(value, x[0].element)); });
}
Reference FloorOp::evaluate(EvaluateContext &context, Operands x) {
  return whole(context, x, [](double x) { return std::floor(x); });
}
Reference CeilOp::evaluate(EvaluateContext &context, Operands x) {
  return whole(context, x, [](double x) { return std::ceil(x); });
}
Reference RoundOp::evaluate(EvaluateContext &context, Operands x) {
  return whole(context, x, [](double x) { return std::nearbyint(x); });
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
Reference GeluOp::evaluate(EvaluateContext &context, Operands x) {
  auto round = [&, type = x[0].element](double value) { return context.round(value, type); };
  if (!context.plain) // without the cancellation
    return onFloats(context, x, [](double x) { return x * (std::erfc(-x * M_SQRT1_2) / 2); });
  return onFloats(context, x, [&](double x) { return round(x * round(1 + round(std::erf(round(x / M_SQRT2))))) / 2; });
}

Reference NegOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return -x; });
  return onInts(x, [](auto x) { return -static_cast<uint64_t>(x); });
}
Reference AbsOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return std::fabs(x); });
  return onInts(x, [](auto x) { return x < 0 ? -static_cast<uint64_t>(x) : x; });
}
Reference SignOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return x > 0 ? 1 : x < 0 ? -1 : x; });
  return onInts(x, [](auto x) { return x > 0 ? 1 : x < 0 ? -1 : 0; });
}
Reference ReluOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return x > 0 || std::isnan(x) ? x : 0; });
  return onInts(x, [](auto x) { return x > 0 ? x : 0; });
}
Reference NotOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](auto x) { return ~x; });
}

Reference AddOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a + b; });
  return onInts(x, [](auto a, auto b) { return uint64_t(a) + uint64_t(b); });
}
Reference SubOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a - b; });
  return onInts(x, [](auto a, auto b) { return uint64_t(a) - uint64_t(b); });
}
Reference MulOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a * b; });
  return onInts(x, [](auto a, auto b) { return uint64_t(a) * uint64_t(b); });
}
Reference DivOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a / b; });
  return onInts(x, [](auto a, auto b) -> uint64_t {
    if (std::is_signed_v<decltype(a)> && b == decltype(b)(-1)) // the smallest number has no quotient
      return -static_cast<uint64_t>(a);
    return b == 0 ? 0 : a / b;
  });
}
Reference RemOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [type = x[0].element](double a, double b) {
      return std::fmod(nearest(a, type), nearest(b, type));
    });
  return onInts(x, [](auto a, auto b) -> uint64_t {
    if (std::is_signed_v<decltype(a)> && b == decltype(b)(-1))
      return 0;
    return b == 0 ? a : a % b;
  });
}
Reference PowOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return std::pow(a, b); });
  return onInts(x, [](auto base, auto exponent) -> uint64_t {
    if (exponent < 0) // 1 / base^-exponent, rounded towards zero
      return base == 1 ? 1 : base == decltype(base)(-1) ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t power = 1;
    for (uint64_t square = base; exponent; exponent >>= 1, square *= square)
      power *= exponent & 1 ? square : 1;
    return power;
  });
}
Reference MinOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, minimum);
  return onInts(x, [](auto a, auto b) { return std::min(a, b); });
}
Reference MaxOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, maximum);
  return onInts(x, [](auto a, auto b) { return std::max(a, b); });
}
Reference AndOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](auto a, auto b) { return a & b; });
}
Reference OrOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](auto a, auto b) { return a | b; });
}

Reference XorOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](auto a, auto b) { return a ^ b; });
}
/// The amount as an unsigned number of its width, or the first that leaves nothing.
static unsigned amountOf(uint64_t b, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  return static_cast<unsigned>(std::min<uint64_t>(b & llvm::maskTrailingOnes<uint64_t>(width), width));
}
Reference ShiftLeftOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [type = x[0].element](auto a, auto b) -> uint64_t {
    unsigned amount = amountOf(b, type);
    return amount == type.getIntOrFloatBitWidth() ? 0 : uint64_t(a) << amount;
  });
}
Reference ShiftRightOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [type = x[0].element](auto a, auto b) -> uint64_t {
    unsigned amount = amountOf(b, type);
    return amount == 64 ? (a < 0 ? ~uint64_t(0) : 0) : a >> amount;
  });
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
    y.take(place, x[chosen], source[chosen]);
  });
  return y;
}

/// An integer as a float64 that a type of fewer bits rounds as it would the integer: of a long one the lowest bits say
/// only whether they were all 0.
static double toOdd(int64_t x, bool isUnsigned) {
  int64_t limit = int64_t(1) << 52;
  bool isShort = isUnsigned ? uint64_t(x) < uint64_t(limit) : x >= -limit && x < limit;
  if (int64_t low = x & 0x7ff; low && !isShort)
    x = (x ^ low) | 0x800;
  return isUnsigned ? static_cast<double>(static_cast<uint64_t>(x)) : static_cast<double>(x);
}

Reference CastOp::evaluate(EvaluateContext &, Operands operands) {
  const HostTensor &x = operands[0];
  Type to = typeOf(getResult()).getElementType();
  HostTensor y = HostTensor::zeros(to, x.dims);
  // A cast to a type that lacks some of x's numbers is meant to lose them, in the float64 reference too.
  bool narrows = x.isFloat() && y.isFloat() &&
                 !llvm::APFloat::isRepresentableBy(cast<FloatType>(x.element).getFloatSemantics(),
                                                   cast<FloatType>(to).getFloatSemantics());
  bool isUnsigned = x.element.isUnsignedInteger();
  for (int64_t i = 0, count = x.count(); i < count; ++i) {
    if (y.isFloat() && x.isFloat())
      y.floats[i] = narrows ? nearest(x.floats[i], to) : x.floats[i];
    else if (y.isFloat() && to.isF32()) // in one rounding
      y.floats[i] = isUnsigned ? static_cast<float>(static_cast<uint64_t>(x.ints[i])) : static_cast<float>(x.ints[i]);
    else if (y.isFloat() && to.isF64())
      y.floats[i] = isUnsigned ? static_cast<double>(static_cast<uint64_t>(x.ints[i])) : static_cast<double>(x.ints[i]);
    else if (y.isFloat())
      y.floats[i] = nearest(toOdd(x.ints[i], isUnsigned), to);
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
