// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Casts, and 16-bit floats by way of float32: every type's numbers as another's, in one rounding.
#include "Pointwise.h"

using namespace mlir;

namespace tutti {

Type scalarType(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer ? IntegerType::get(element.getContext(), integer.getWidth()) : element;
}

// bfloat16 is widened in integers, so that no optimization moves arithmetic to bfloat16, which no level has.
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
  // 16-bit floats are computed in float32, with one rounding at the end, however many steps the op has.
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(isShortFloat(operand.getType()) ? widened(builder, loc, operand) : operand);
  Value result = op.buildScalar(builder, loc, wide);
  Type to = typeOf(op->getResult(0)).getElementType();
  return result.getType() == to ? result : narrowed(builder, loc, result, to);
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
    // Only signed conversions are everywhere: 2^63 is subtracted, and added again.
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

/// Rounds an integer of 64 bits to one that float64 has, and that a shorter type rounds as it would the integer: in a
/// long one the lowest bits become 0, and the next is set where they were not. (As `toOdd` of the reference does.)
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

/// Rounds an integer to a float64 that a type of fewer bits rounds as it would the integer: in a long one the lowest
/// bits say only whether they were all 0.
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
