// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise ops of two and three operands, each with its scalar code and its reference (Unary.cpp says how it is
// written).
#include "Pointwise.h"

using namespace mlir;

namespace tutti {

Value AddOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).add(x[0], x[1]);
}
Reference AddOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a + b; });
  return onInts(x, [](auto a, auto b) { return uint64_t(a) + uint64_t(b); });
}

Value SubOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).sub(x[0], x[1]);
}
Reference SubOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a - b; });
  return onInts(x, [](auto a, auto b) { return uint64_t(a) - uint64_t(b); });
}

Value MulOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).mul(x[0], x[1]);
}
Reference MulOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double a, double b) { return a * b; });
  return onInts(x, [](auto a, auto b) { return uint64_t(a) * uint64_t(b); });
}

Value DivOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  if (s.isFloat())
    return s.divide(x[0], x[1]);
  Value zero = s.number(0), byZero = s.equal(x[1], zero);
  if (s.isUnsigned)
    return s.choose(byZero, zero, s.make<arith::DivUIOp>({x[0], s.choose(byZero, s.number(1), x[1])}));
  // The machine's division traps on 0 and on the smallest number by -1: neither reaches it.
  Value byMinusOne = s.equal(x[1], s.number(-1));
  Value divisor = s.choose(arith::OrIOp::create(builder, loc, byZero, byMinusOne), s.number(1), x[1]);
  Value quotient = arith::DivSIOp::create(builder, loc, x[0], divisor);
  return s.choose(byZero, zero, s.choose(byMinusOne, s.neg(x[0]), quotient));
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

Value RemOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  if (s.isFloat())
    return s.make<arith::RemFOp>(x);
  Value one = s.number(1), byZero = s.equal(x[1], s.number(0));
  if (s.isUnsigned)
    return s.choose(byZero, x[0], s.make<arith::RemUIOp>({x[0], s.choose(byZero, one, x[1])}));
  // The remainder by -1 is 0, as it is by 1, which stands for it.
  Value unsafe = arith::OrIOp::create(builder, loc, byZero, s.equal(x[1], s.number(-1)));
  return s.choose(byZero, x[0], s.make<arith::RemSIOp>({x[0], s.choose(unsafe, one, x[1])}));
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

Value PowOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  if (!s.isUnsigned)
    return s.either<math::PowFOp, math::IPowIOp>(x);
  // The op for signed integers takes an exponent that is not negative. The top bit, of 2^63, leaves 1 of odd bases and
  // 0 of even ones.
  Scalars wide{builder, loc, builder.getI64Type()};
  bool isWide = s.type == wide.type;
  Value base = isWide ? x[0] : arith::ExtUIOp::create(builder, loc, wide.type, x[0]).getResult();
  Value exponent = isWide ? x[1] : arith::ExtUIOp::create(builder, loc, wide.type, x[1]).getResult();
  Value low =
      wide.both(exponent, arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(llvm::maxIntN(64))));
  Value power = math::IPowIOp::create(builder, loc, base, low);
  Value gone =
      wide.both(wide.greater(wide.number(0), exponent), wide.equal(wide.both(base, wide.number(1)), wide.number(0)));
  power = wide.choose(gone, wide.number(0), power);
  return isWide ? power : arith::TruncIOp::create(builder, loc, s.type, power).getResult();
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

Value MinOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).min(x[0], x[1]);
}
Reference MinOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, minimum);
  return onInts(x, [](auto a, auto b) { return std::min(a, b); });
}

Value MaxOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).max(x[0], x[1]);
}
Reference MaxOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, maximum);
  return onInts(x, [](auto a, auto b) { return std::max(a, b); });
}

Value AndOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::AndIOp::create(builder, loc, x[0], x[1]);
}
Reference AndOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](auto a, auto b) { return a & b; });
}

Value OrOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::OrIOp::create(builder, loc, x[0], x[1]);
}
Reference OrOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](auto a, auto b) { return a | b; });
}

Value XorOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::XOrIOp::create(builder, loc, x[0], x[1]);
}
Reference XorOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](auto a, auto b) { return a ^ b; });
}

/// The amount as an unsigned number of its width, or the first that leaves nothing.
static unsigned amountOf(uint64_t b, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  return static_cast<unsigned>(std::min<uint64_t>(b & llvm::maskTrailingOnes<uint64_t>(width), width));
}
// A shift by the width or more is undefined on machines, so none is made.
Value ShiftLeftOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s{builder, loc, x[0].getType(), /*isUnsigned=*/true};
  if (isTruth(s.type))
    return s.both(x[0], arith::XOrIOp::create(builder, loc, x[1], s.number(1)));
  Value zero = s.number(0), far = s.greaterEqual(x[1], s.number(s.type.getIntOrFloatBitWidth()));
  return s.choose(far, zero, s.make<arith::ShLIOp>({x[0], s.choose(far, zero, x[1])}));
}
Reference ShiftLeftOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [type = x[0].element](auto a, auto b) -> uint64_t {
    unsigned amount = amountOf(b, type);
    return amount == type.getIntOrFloatBitWidth() ? 0 : uint64_t(a) << amount;
  });
}

Value ShiftRightOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s{builder, loc, x[0].getType(), /*isUnsigned=*/true};
  if (isTruth(s.type))
    return s.both(x[0], arith::XOrIOp::create(builder, loc, x[1], s.number(1)));
  Value last = s.number(s.type.getIntOrFloatBitWidth() - 1), zero = s.number(0), far = s.greater(x[1], last);
  Value amount = s.choose(far, last, x[1]);
  if (!getElementTypeOrSelf(getLhs()).isUnsignedInteger()) // the sign alone is left in the end
    return s.make<arith::ShRSIOp>({x[0], amount});
  return s.choose(far, zero, s.make<arith::ShRUIOp>({x[0], amount}));
}
Reference ShiftRightOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [type = x[0].element](auto a, auto b) -> uint64_t {
    unsigned amount = amountOf(b, type);
    return amount == 64 ? (a < 0 ? ~uint64_t(0) : 0) : a >> amount;
  });
}

Value EqualOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).equal(x[0], x[1]);
}
Reference EqualOp::evaluate(EvaluateContext &, Operands x) {
  return compared(x, [](auto a, auto b) { return a == b; });
}

Value GreaterOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).greater(x[0], x[1]);
}
Reference GreaterOp::evaluate(EvaluateContext &, Operands x) {
  return compared(x, [](auto a, auto b) { return a > b; });
}

Value GreaterEqualOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).greaterEqual(x[0], x[1]);
}
Reference GreaterEqualOp::evaluate(EvaluateContext &, Operands x) {
  return compared(x, [](auto a, auto b) { return a >= b; });
}

Value SelectOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::SelectOp::create(builder, loc, x[0], x[1], x[2]);
}
Reference SelectOp::evaluate(EvaluateContext &, Operands x) {
  HostTensor y = HostTensor::zeros(x[1].element, broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, ArrayRef<int64_t> source) {
    int chosen = x[0].ints[source[0]] ? 1 : 2;
    y.take(place, x[chosen], source[chosen]);
  });
  return y;
}

} // namespace tutti
