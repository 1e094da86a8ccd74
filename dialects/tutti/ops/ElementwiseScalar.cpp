// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scalar bodies of the pointwise ops. No branches: the same ops on vectors are the same function. Tensors know
// whether their integers have a sign; scalars do not, so the op chooses the instruction.
#include "Family.h"

using namespace mlir;

namespace tutti {

namespace {
/// Arith and math ops on values of one element type.
struct Scalars {
  OpBuilder &builder;
  Location loc;
  Type type;
  bool isUnsigned = false;

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
  /// The same where integers may be unsigned.
  template <typename Float, typename Int, typename Unsigned> Value oneOf(ValueRange operands) {
    return isUnsigned ? make<Unsigned>(operands) : either<Float, Int>(operands);
  }
  Value max(Value a, Value b) { return oneOf<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>({a, b}); }
  Value min(Value a, Value b) { return oneOf<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>({a, b}); }
  Value divide(Value a, Value b) { return make<arith::DivFOp>({a, b}); }
  Value neg(Value x) { return isFloat() ? make<arith::NegFOp>({x}) : sub(number(0), x); }
  Value abs(Value x) { return isUnsigned ? x : either<math::AbsFOp, math::AbsIOp>({x}); }
  Value both(Value a, Value b) { return make<arith::AndIOp>({a, b}); }
  Value exp(Value x) { return make<math::ExpOp>({x}); }
  Value choose(Value condition, Value a, Value b) { return make<arith::SelectOp>({condition, a, b}); }
  Value compare(arith::CmpFPredicate f, arith::CmpIPredicate i, Value a, Value b) {
    if (isFloat())
      return arith::CmpFOp::create(builder, loc, f, a, b);
    return arith::CmpIOp::create(builder, loc, i, a, b);
  }
  Value equal(Value a, Value b) { return compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, a, b); }
  // Of i1, 1 is the larger: unsigned.
  bool above() const { return isUnsigned || isTruth(type); }
  Value greater(Value a, Value b) {
    return compare(arith::CmpFPredicate::OGT, above() ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt, a, b);
  }
  Value greaterEqual(Value a, Value b) {
    return compare(arith::CmpFPredicate::OGE, above() ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge, a, b);
  }
};
} // namespace

static Scalars on(OpBuilder &builder, Location loc, Value x) { return {builder, loc, x.getType()}; }
/// On the elements of the op's operands.
static Scalars on(OpBuilder &builder, Location loc, Operation *op, Value x) {
  return {builder, loc, x.getType(), getElementTypeOrSelf(op->getOperand(0)).isUnsignedInteger()};
}

Type scalarType(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer ? IntegerType::get(element.getContext(), integer.getWidth()) : element;
}

// In integers, so that nobody moves arithmetic to where no level has it.
Value widened(OpBuilder &builder, Location loc, Value x) {
  if (!x.getType().isBF16())
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), x);
  Value bits = arith::BitcastOp::create(builder, loc, builder.getIntegerType(16), x);
  bits = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), bits);
  Value sixteen = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(16));
  bits = arith::ShLIOp::create(builder, loc, bits, sixteen);
  return arith::BitcastOp::create(builder, loc, builder.getF32Type(), bits);
}

Value buildElement(ScalarOpInterface op, OpBuilder &builder, Location loc, ValueRange operands) {
  if (isa<CastOp, SelectOp>(op) || !llvm::any_of(operands.getTypes(), isShortFloat))
    return op.buildScalar(builder, loc, operands);
  // In float32, with one rounding at the end, however many steps the op has.
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(isShortFloat(operand.getType()) ? widened(builder, loc, operand) : operand);
  Value result = op.buildScalar(builder, loc, wide);
  Type to = typeOf(op->getResult(0)).getElementType();
  return result.getType() == to ? result : narrowed(builder, loc, result, to);
}

Value NegOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).neg(x[0]);
}
Value AbsOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).abs(x[0]);
}
#define TUTTI_INSTRUCTION(op, instruction)                                                                             \
  Value op::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {                                              \
    return instruction::create(builder, loc, x[0]);                                                                    \
  }
TUTTI_INSTRUCTION(SqrtOp, math::SqrtOp)
TUTTI_INSTRUCTION(FloorOp, math::FloorOp)
TUTTI_INSTRUCTION(CeilOp, math::CeilOp)
TUTTI_INSTRUCTION(RoundOp, math::RoundEvenOp)
TUTTI_INSTRUCTION(ExpOp, math::ExpOp)
TUTTI_INSTRUCTION(Expm1Op, math::ExpM1Op)
TUTTI_INSTRUCTION(LogOp, math::LogOp)
TUTTI_INSTRUCTION(ErfOp, math::ErfOp)
TUTTI_INSTRUCTION(SinOp, math::SinOp)
TUTTI_INSTRUCTION(CosOp, math::CosOp)
TUTTI_INSTRUCTION(TanOp, math::TanOp)
TUTTI_INSTRUCTION(AsinOp, math::AsinOp)
TUTTI_INSTRUCTION(AcosOp, math::AcosOp)
TUTTI_INSTRUCTION(AtanOp, math::AtanOp)
TUTTI_INSTRUCTION(SinhOp, math::SinhOp)
TUTTI_INSTRUCTION(CoshOp, math::CoshOp)
TUTTI_INSTRUCTION(TanhOp, math::TanhOp)
TUTTI_INSTRUCTION(AsinhOp, math::AsinhOp)
TUTTI_INSTRUCTION(AcoshOp, math::AcoshOp)
TUTTI_INSTRUCTION(AtanhOp, math::AtanhOp)
TUTTI_INSTRUCTION(SoftplusOp, Log1pExpOp)
#undef TUTTI_INSTRUCTION
Value SigmoidOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return LogisticOp::create(builder, loc, x[0], getGates());
}
Value ReciprocalOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  return s.divide(s.number(1), x[0]);
}
Value SignOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  Value zero = s.number(0);
  if (s.isUnsigned)
    return s.min(x[0], s.number(1));
  // NaN and both zeros are neither larger nor smaller than 0 and stay.
  Value notPositive = s.choose(s.greater(zero, x[0]), s.number(-1), x[0]);
  return s.choose(s.greater(x[0], zero), s.number(1), notPositive);
}
Value ReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  return s.max(x[0], s.number(0));
}
Value MishOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).mul(x[0], MishGateOp::create(builder, loc, x[0]));
}
Value GeluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).mul(x[0], NormalCdfOp::create(builder, loc, x[0]));
}
Value NotOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Type type = x[0].getType();
  APInt ones = APInt::getAllOnes(type.getIntOrFloatBitWidth());
  return arith::XOrIOp::create(builder, loc, x[0],
                               arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, ones)));
}

Value AddOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).add(x[0], x[1]);
}
Value SubOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).sub(x[0], x[1]);
}
Value MulOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).mul(x[0], x[1]);
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
Value RemOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  if (s.isFloat())
    return s.make<arith::RemFOp>(x);
  Value one = s.number(1), byZero = s.equal(x[1], s.number(0));
  if (s.isUnsigned)
    return s.choose(byZero, x[0], s.make<arith::RemUIOp>({x[0], s.choose(byZero, one, x[1])}));
  // By 1 and by -1 nothing is left.
  Value unsafe = arith::OrIOp::create(builder, loc, byZero, s.equal(x[1], s.number(-1)));
  return s.choose(byZero, x[0], s.make<arith::RemSIOp>({x[0], s.choose(unsafe, one, x[1])}));
}
Value PowOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  if (!s.isUnsigned)
    return s.either<math::PowFOp, math::IPowIOp>(x);
  // With an exponent that is no negative number; its top bit, of 2^63, leaves 1 of odd bases and nothing of even ones.
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
Value MinOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).min(x[0], x[1]);
}
Value MaxOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).max(x[0], x[1]);
}
Value AndOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::AndIOp::create(builder, loc, x[0], x[1]);
}
Value OrOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::OrIOp::create(builder, loc, x[0], x[1]);
}
Value XorOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::XOrIOp::create(builder, loc, x[0], x[1]);
}
// No shift is by the width or more: that is what the machine does as it likes.
Value ShiftLeftOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s{builder, loc, x[0].getType(), /*isUnsigned=*/true};
  if (isTruth(s.type))
    return s.both(x[0], arith::XOrIOp::create(builder, loc, x[1], s.number(1)));
  Value zero = s.number(0), far = s.greaterEqual(x[1], s.number(s.type.getIntOrFloatBitWidth()));
  return s.choose(far, zero, s.make<arith::ShLIOp>({x[0], s.choose(far, zero, x[1])}));
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
Value EqualOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).equal(x[0], x[1]);
}
Value GreaterOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).greater(x[0], x[1]);
}
Value GreaterEqualOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).greaterEqual(x[0], x[1]);
}
Value SelectOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return arith::SelectOp::create(builder, loc, x[0], x[1], x[2]);
}

/// A float truncated towards zero and brought into the integer's range; NaN gives 0.
static Value floatToInt(OpBuilder &builder, Location loc, Value x, IntegerType to) {
  bool isUnsigned = to.isUnsigned();
  unsigned width = to.getWidth(), bits = isUnsigned ? width : width - 1;
  Type plain = scalarType(to);
  Scalars from = on(builder, loc, x), into{builder, loc, plain};
  auto limit = [&](APInt value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(plain, value));
  };
  // 2^bits is a power of two, or infinity in float16: exact either way. The largest integer is not.
  Value bound = from.number(std::ldexp(1.0, bits)), low = isUnsigned ? from.number(0) : from.neg(bound);
  Value above = from.greaterEqual(x, bound), below = from.greater(low, x);
  Value inside = from.both(from.greaterEqual(x, low), from.greater(bound, x));
  Value kept = from.choose(inside, x, from.number(0)), whole;
  if (isUnsigned && width == 64) {
    // Signed conversions are everywhere: 2^63 less, and back.
    Value half = from.number(0x1p63), upper = from.greaterEqual(kept, half);
    Value part = from.choose(upper, from.sub(kept, half), kept);
    whole = arith::FPToSIOp::create(builder, loc, plain, part);
    whole = into.choose(upper, arith::XOrIOp::create(builder, loc, whole, limit(APInt::getSignMask(64))), whole);
  } else if (isUnsigned || width < 32) {
    Type wide = width < 32 ? builder.getI32Type() : builder.getI64Type();
    whole = arith::TruncIOp::create(builder, loc, plain, arith::FPToSIOp::create(builder, loc, wide, kept));
  } else {
    whole = arith::FPToSIOp::create(builder, loc, plain, kept);
  }
  whole = into.choose(above, limit(isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width)), whole);
  return into.choose(below, limit(isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width)), whole);
}

/// float64 to float32, rounded so that a second rounding, to 16 bits, is as if it had been the only one: an inexact
/// result has its last bit set (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
static Value roundToOdd(OpBuilder &builder, Location loc, Value x) {
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Value near = arith::TruncFOp::create(builder, loc, f32, x);
  Scalars wide = on(builder, loc, x), bits{builder, loc, i32};
  Value back = arith::ExtFOp::create(builder, loc, x.getType(), near);
  Value whole = arith::BitcastOp::create(builder, loc, i32, near);
  // Towards zero first: one unit less where the nearest is too far out.
  Value outside = wide.greater(wide.abs(back), wide.abs(x));
  Value odd =
      arith::OrIOp::create(builder, loc, bits.choose(outside, bits.sub(whole, bits.number(1)), whole), bits.number(1));
  Value inexact = wide.compare(arith::CmpFPredicate::ONE, arith::CmpIPredicate::ne, back, x);
  return arith::BitcastOp::create(builder, loc, f32, bits.choose(inexact, odd, whole));
}

/// float32 to bfloat16 in integers.
static Value toBFloat16(OpBuilder &builder, Location loc, Value x) {
  Type i32 = builder.getI32Type();
  Scalars bits{builder, loc, i32};
  Value whole = arith::BitcastOp::create(builder, loc, i32, x), sixteen = bits.number(16);
  // To nearest even: half a unit less one, and one more where the last bit that stays is odd.
  Value last =
      arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, whole, sixteen), bits.number(1));
  Value rounded = bits.add(whole, bits.add(last, bits.number(0x7fff)));
  // A NaN keeps its upper bits, and stays one.
  Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  Value quiet = arith::OrIOp::create(builder, loc, whole, bits.number(0x400000));
  Value upper = arith::ShRUIOp::create(builder, loc, bits.choose(isNan, quiet, rounded), sixteen);
  upper = arith::TruncIOp::create(builder, loc, builder.getIntegerType(16), upper);
  return arith::BitcastOp::create(builder, loc, builder.getBF16Type(), upper);
}

Value narrowed(OpBuilder &builder, Location loc, Value x, Type to) {
  Type f32 = builder.getF32Type();
  if (to == f32)
    return arith::TruncFOp::create(builder, loc, to, x);
  if (x.getType().isF64())
    x = roundToOdd(builder, loc, x);
  return to.isBF16() ? toBFloat16(builder, loc, x) : arith::TruncFOp::create(builder, loc, to, x);
}

/// An integer of 64 bits as one that float64 has, and that a shorter type rounds as it would the first: of a long one
/// the lowest bits are 0, and the next is set where they were not. (As `toOdd` of the reference does.)
static Value integerToOdd(OpBuilder &builder, Location loc, Value x, bool isUnsigned) {
  Scalars s = on(builder, loc, x);
  Value low = arith::AndIOp::create(builder, loc, x, s.number(0x7ff)),
        high = arith::XOrIOp::create(builder, loc, x, low);
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low, s.number(0));
  Value odd = arith::OrIOp::create(builder, loc, high, s.number(0x800));
  // From -2^52 to 2^52 all bits count.
  int64_t limit = int64_t(1) << 52;
  Value from = isUnsigned ? x : arith::AddIOp::create(builder, loc, x, s.number(limit)).getResult();
  Value isShort =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, from, s.number(isUnsigned ? limit : 2 * limit));
  Value keeps = arith::OrIOp::create(builder, loc, isShort, isWhole);
  return arith::SelectOp::create(builder, loc, keeps, x, odd);
}

Value CastOp::buildScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  Value x = operands[0];
  Type from = typeOf(getX()).getElementType(), to = typeOf(getResult()).getElementType();
  bool positive = isTruth(from) || from.isUnsignedInteger();
  if (scalarType(from) == scalarType(to))
    return x;
  if (isShortFloat(from)) {
    x = widened(builder, loc, x);
    from = x.getType();
    if (from == to)
      return x;
  }
  if (isTruth(to)) {
    Scalars s = on(builder, loc, x);
    return s.compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, x, s.number(0));
  }
  bool toFloat = isa<FloatType>(to);
  if (isa<IntegerType>(from) && toFloat) {
    // By way of float64, which has every integer of 32 bits, where there is no instruction.
    Type by = to.getIntOrFloatBitWidth() < 32 ? builder.getF64Type() : to;
    if (by != to && from.getIntOrFloatBitWidth() == 64)
      x = integerToOdd(builder, loc, x, positive);
    Value result = positive ? arith::UIToFPOp::create(builder, loc, by, x).getResult()
                            : arith::SIToFPOp::create(builder, loc, by, x).getResult();
    return by == to ? result : narrowed(builder, loc, result, to);
  }
  if (isa<IntegerType>(from)) {
    Type plain = scalarType(to);
    if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return arith::TruncIOp::create(builder, loc, plain, x);
    return positive ? arith::ExtUIOp::create(builder, loc, plain, x).getResult()
                    : arith::ExtSIOp::create(builder, loc, plain, x).getResult();
  }
  if (!toFloat)
    return floatToInt(builder, loc, x, cast<IntegerType>(to));
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, to, x);
  return narrowed(builder, loc, x, to);
}

} // namespace tutti
