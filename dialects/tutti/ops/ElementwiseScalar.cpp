// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scalar bodies of the pointwise ops. No branches: the same ops on vectors are the same function.
#include "Family.h"

using namespace mlir;

namespace tutti {

namespace {
/// Arith and math ops on values of one element type.
struct Scalars {
  OpBuilder &builder;
  Location loc;
  Type type;

  bool isFloat() const { return isa<FloatType>(type); }

  Value number(double value) {
    TypedAttr attr = isFloat() ? TypedAttr(builder.getFloatAttr(type, value))
                               : TypedAttr(builder.getIntegerAttr(type, static_cast<int64_t>(value)));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  /// The float op where the elements are floats, else the integer op.
  template <typename Float, typename Int> Value either(ValueRange operands) {
    if (isFloat())
      return Float::create(builder, loc, operands);
    return Int::create(builder, loc, operands);
  }
  template <typename Op> Value make(ValueRange operands) { return Op::create(builder, loc, operands); }

  Value add(Value a, Value b) { return either<arith::AddFOp, arith::AddIOp>({a, b}); }
  Value sub(Value a, Value b) { return either<arith::SubFOp, arith::SubIOp>({a, b}); }
  Value mul(Value a, Value b) { return either<arith::MulFOp, arith::MulIOp>({a, b}); }
  Value max(Value a, Value b) { return either<arith::MaximumFOp, arith::MaxSIOp>({a, b}); }
  Value min(Value a, Value b) { return either<arith::MinimumFOp, arith::MinSIOp>({a, b}); }
  Value divide(Value a, Value b) { return make<arith::DivFOp>({a, b}); }
  Value neg(Value x) { return isFloat() ? make<arith::NegFOp>({x}) : sub(number(0), x); }
  Value abs(Value x) { return either<math::AbsFOp, math::AbsIOp>({x}); }
  Value exp(Value x) { return make<math::ExpOp>({x}); }
  Value choose(Value condition, Value a, Value b) { return make<arith::SelectOp>({condition, a, b}); }
  Value compare(arith::CmpFPredicate f, arith::CmpIPredicate i, Value a, Value b) {
    if (isFloat())
      return arith::CmpFOp::create(builder, loc, f, a, b);
    return arith::CmpIOp::create(builder, loc, i, a, b);
  }
  Value equal(Value a, Value b) { return compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, a, b); }
  // Of i1, 1 is the larger: unsigned.
  Value greater(Value a, Value b) {
    return compare(arith::CmpFPredicate::OGT, isTruth(type) ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt, a, b);
  }
  Value greaterEqual(Value a, Value b) {
    return compare(arith::CmpFPredicate::OGE, isTruth(type) ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge, a, b);
  }
};
} // namespace

static Scalars on(OpBuilder &builder, Location loc, Value x) { return {builder, loc, x.getType()}; }

Value NegOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) { return on(builder, loc, x[0]).neg(x[0]); }
Value AbsOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) { return on(builder, loc, x[0]).abs(x[0]); }
Value SqrtOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return math::SqrtOp::create(builder, loc, x[0]);
}
Value ExpOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) { return on(builder, loc, x[0]).exp(x[0]); }
Value LogOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return math::LogOp::create(builder, loc, x[0]);
}
Value ErfOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return math::ErfOp::create(builder, loc, x[0]);
}
Value SinOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return math::SinOp::create(builder, loc, x[0]);
}
Value CosOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return math::CosOp::create(builder, loc, x[0]);
}
Value TanhOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return math::TanhOp::create(builder, loc, x[0]);
}
Value ReciprocalOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, x[0]);
  return s.divide(s.number(1), x[0]);
}
Value SignOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, x[0]);
  Value zero = s.number(0);
  // NaN and both zeros are neither larger nor smaller than 0 and stay.
  Value notPositive = s.choose(s.greater(zero, x[0]), s.number(-1), x[0]);
  return s.choose(s.greater(x[0], zero), s.number(1), notPositive);
}
Value ReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, x[0]);
  return s.max(x[0], s.number(0));
}
Value SigmoidOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return LogisticOp::create(builder, loc, x[0]);
}
Value SoftplusOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return Log1pExpOp::create(builder, loc, x[0]);
}
Value MishOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).mul(x[0], MishGateOp::create(builder, loc, x[0]));
}
Value NotOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::XOrIOp::create(builder, loc, x[0], arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
}

Value AddOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).add(x[0], x[1]);
}
Value SubOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).sub(x[0], x[1]);
}
Value MulOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).mul(x[0], x[1]);
}
Value DivOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, x[0]);
  if (s.isFloat())
    return s.divide(x[0], x[1]);
  // The machine's division traps on 0 and on the smallest number by -1: neither reaches it.
  Value zero = s.number(0), byZero = s.equal(x[1], zero), byMinusOne = s.equal(x[1], s.number(-1));
  Value divisor = s.choose(arith::OrIOp::create(builder, loc, byZero, byMinusOne), s.number(1), x[1]);
  Value quotient = arith::DivSIOp::create(builder, loc, x[0], divisor);
  return s.choose(byZero, zero, s.choose(byMinusOne, s.neg(x[0]), quotient));
}
Value PowOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).either<math::PowFOp, math::IPowIOp>(x);
}
Value MinOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).min(x[0], x[1]);
}
Value MaxOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).max(x[0], x[1]);
}
Value AndOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::AndIOp::create(builder, loc, x[0], x[1]);
}
Value OrOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::OrIOp::create(builder, loc, x[0], x[1]);
}
Value EqualOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).equal(x[0], x[1]);
}
Value GreaterOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).greater(x[0], x[1]);
}
Value GreaterEqualOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, x[0]).greaterEqual(x[0], x[1]);
}
Value SelectOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::SelectOp::create(builder, loc, x[0], x[1], x[2]);
}

/// A float truncated towards zero and brought into the integer's range; NaN gives 0.
static Value floatToInt(OpBuilder &builder, Location loc, Value x, IntegerType to) {
  Scalars from = on(builder, loc, x), into{builder, loc, to};
  auto limit = [&](APInt value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(to, value));
  };
  // 2^(width-1) is a power of two, or infinity in float16: exact either way. The largest integer is not.
  Value bound = from.number(std::ldexp(1.0, to.getWidth() - 1)), low = from.neg(bound);
  Value above = from.greaterEqual(x, bound), below = from.greater(low, x);
  Value inside = arith::AndIOp::create(builder, loc, from.greaterEqual(x, low), from.greater(bound, x));
  Value whole = arith::FPToSIOp::create(builder, loc, to, from.choose(inside, x, from.number(0)));
  whole = into.choose(above, limit(APInt::getSignedMaxValue(to.getWidth())), whole);
  return into.choose(below, limit(APInt::getSignedMinValue(to.getWidth())), whole);
}

/// float64 to float32, rounded so that a second rounding, to 16 bits, is as if it had been the only one: an inexact result
/// has its last bit set (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
static Value roundToOdd(OpBuilder &builder, Location loc, Value x) {
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Value near = arith::TruncFOp::create(builder, loc, f32, x);
  Scalars wide = on(builder, loc, x), bits{builder, loc, i32};
  Value back = arith::ExtFOp::create(builder, loc, x.getType(), near);
  Value whole = arith::BitcastOp::create(builder, loc, i32, near);
  // Towards zero first: one unit less where the nearest is too far out.
  Value outside = wide.greater(wide.abs(back), wide.abs(x));
  Value odd = arith::OrIOp::create(builder, loc, bits.choose(outside, bits.sub(whole, bits.number(1)), whole), bits.number(1));
  Value inexact = wide.compare(arith::CmpFPredicate::ONE, arith::CmpIPredicate::ne, back, x);
  return arith::BitcastOp::create(builder, loc, f32, bits.choose(inexact, odd, whole));
}

/// float32 to bfloat16 in integers: not every level has an instruction for it.
static Value toBFloat16(OpBuilder &builder, Location loc, Value x) {
  Type i32 = builder.getI32Type();
  Scalars bits{builder, loc, i32};
  Value whole = arith::BitcastOp::create(builder, loc, i32, x), sixteen = bits.number(16);
  // To nearest even: half a unit less one, and one more where the last bit that stays is odd.
  Value last = arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, whole, sixteen), bits.number(1));
  Value rounded = bits.add(whole, bits.add(last, bits.number(0x7fff)));
  // A NaN keeps its upper bits, and stays one.
  Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  Value quiet = arith::OrIOp::create(builder, loc, whole, bits.number(0x400000));
  Value upper = arith::ShRUIOp::create(builder, loc, bits.choose(isNan, quiet, rounded), sixteen);
  upper = arith::TruncIOp::create(builder, loc, builder.getIntegerType(16), upper);
  return arith::BitcastOp::create(builder, loc, builder.getBF16Type(), upper);
}

/// `x` in a smaller float type, or in the other one of 16 bits.
static Value narrow(OpBuilder &builder, Location loc, Value x, Type to) {
  Type f32 = builder.getF32Type();
  if (to == f32)
    return arith::TruncFOp::create(builder, loc, to, x);
  if (x.getType().isF64())
    x = roundToOdd(builder, loc, x);
  else if (x.getType() != f32)
    x = arith::ExtFOp::create(builder, loc, f32, x);
  return to.isBF16() ? toBFloat16(builder, loc, x) : arith::TruncFOp::create(builder, loc, to, x);
}

Value CastOp::buildScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  Value x = operands[0];
  Type from = x.getType(), to = tensorOf(getResult()).getElementType();
  if (from == to)
    return x;
  if (isTruth(to)) {
    Scalars s = on(builder, loc, x);
    return s.compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, x, s.number(0));
  }
  bool toFloat = isa<FloatType>(to);
  if (isa<IntegerType>(from) && toFloat) {
    // By way of float64, which has every integer of 32 bits, where there is no instruction.
    Type by = to.getIntOrFloatBitWidth() < 32 ? builder.getF64Type() : to;
    x = isTruth(from) ? arith::UIToFPOp::create(builder, loc, by, x).getResult()
                      : arith::SIToFPOp::create(builder, loc, by, x).getResult();
    return by == to ? x : narrow(builder, loc, x, to);
  }
  if (isa<IntegerType>(from)) {
    if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return arith::TruncIOp::create(builder, loc, to, x);
    return isTruth(from) ? arith::ExtUIOp::create(builder, loc, to, x).getResult()
                         : arith::ExtSIOp::create(builder, loc, to, x).getResult();
  }
  if (!toFloat)
    return floatToInt(builder, loc, x, cast<IntegerType>(to));
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, to, x);
  return narrow(builder, loc, x, to);
}

} // namespace tutti
