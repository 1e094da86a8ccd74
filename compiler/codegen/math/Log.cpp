// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logarithm, functions built from it, and powers. What each computes, its error and its special values:
// docs/numerics.md.
#include "compiler/codegen/math/Functions.h"

using namespace mlir;

namespace tutti {

/// x = m 2^e with 3/4 <= m < 3/2: the exponent as integer bits in its field, and the fraction m as a float.
namespace {
struct Split {
  Expr exponent;
  Expr fraction;
};
} // namespace
static Expr exponentField(Expr bits, Format f) {
  // 3/4 is half a mantissa below 1: subtracting its bits rounds the exponent so that m straddles 1.
  uint64_t threeQuarters = f.isDouble ? 0x3fe8000000000000 : 0x3f400000;
  uint64_t field = f.isDouble ? 0xfff0000000000000 : 0xff800000;
  return (bits - bits.likeInt(threeQuarters)) & bits.likeInt(field);
}
static Split split(Expr x, Format f) {
  Expr e = exponentField(x.bits(), f);
  return {e, (x.bits() - e).asFloat()};
}
/// A double's exponent as a number.
static Expr exponentNumber(Expr e) {
  // Not every target converts vectors of 64-bit integers, so e + 2048 goes into the mantissa of 2^52 instead.
  Expr raised = ((e + e.likeInt(uint64_t(2048) << 52)) >> 52) | e.likeInt(0x4330000000000000);
  return raised.asFloat() - (0x1p52 + 2048);
}
/// log 2^e from e in the exponent's field, plus `rest`.
static Expr addExponent(Expr e, Expr rest, Format f) {
  if (!f.isDouble) // The field read as an integer is e 2^23, exactly a float.
    return fma(e.toFloat(), 0x1.62e43p-24, rest);
  return fma(exponentNumber(e), kLn2, rest);
}

static Expr log(Expr x, ArrayRef<double> coefficients, bool denormals) {
  Format f(x);
  Expr y = x, tiny = x < f.pick(0x1p-126, 0x1p-1022);
  if (denormals)
    y = select(tiny, x * f.pick(0x1p23, 0x1p52), x);
  auto [e, m] = split(y, f);
  if (denormals)
    e = select(tiny, e - e.likeInt(uint64_t(f.mantissa()) << f.mantissa()), e);
  Expr r = m - 1.0;
  Expr result = addExponent(e, fma(horner(r, coefficients), r * r, r), f);
  result = select(x < kInf, result, x);
  return select(x > 0, result, select(equal(x, 0), x.like(-kInf), x.like(kNaN)));
}
Expr log(Expr x) {
  Format f(x);
  return log(x, f.pick(kLog32, kLog64), /*denormals=*/true);
}

/// log(1 + x): with the exponent e of the rounded 1 + x, the fraction x 2^-e + (2^-e - 1) is rounded once.
Expr log1p(Expr x) {
  Format f(x);
  Expr e = exponentField((x + 1.0).bits(), f);
  Expr four = e.likeInt(f.isDouble ? 0x4010000000000000 : 0x40800000);
  Expr r = (x.bits() - e).asFloat() + fma((four - e).asFloat(), 0.25, -1.0);
  Expr result = addExponent(e, fma(horner(r, f.pick(kLog32, kLog64)), r * r, r), f);
  result = select(x < kInf, copySign(result, x), x);
  return select(x.compare(arith::CmpFPredicate::ULT, x.like(-1)), x.like(kNaN),
                select(equal(x, -1), x.like(-kInf), result));
}

/// log of a float in double, with an error far below a float's last bit.
static Expr logInDouble(Expr x) { return log(x.toF64(), kPowLog, /*denormals=*/false); }

/// log of a positive double as a pair, to 2^-64 of it: with s = (m - 1) / (m + 1), log m = 2 s + s^3 (2/3 + s^2
/// Q(s^2)), where everything but Q is computed in pairs.
static Pair logPair(Expr x) {
  Format f(x);
  Expr tiny = x < 0x1p-1022;
  auto [e, m] = split(select(tiny, x * 0x1p52, x), f);
  e = select(tiny, e - e.likeInt(uint64_t(52) << 52), e);
  Expr num = m - 1.0, den = m + 1.0, denLow = m - (den - 1.0);
  Expr s = num / den, sLow = (fma(-s, den, num) - s * denLow) / den;
  Expr z = s * s, zLow = fma(s + s, sLow, fma(s, s, -z));
  Expr zq = z * horner(z, kLogPair), twoThirds = x.like(0x1.5555555555555p-1);
  Expr t = twoThirds + zq, tLow = (twoThirds - t) + zq + 0x1.5555555555555p-55;
  Expr cube = z * s, cubeLow = fma(z, sLow, fma(zLow, s, fma(z, s, -cube)));
  Expr p = cube * t, pLow = fma(cube, tLow, fma(cubeLow, t, fma(cube, t, -p)));
  Expr twice = s + s, l = twice + p, lLow = (twice - l) + p + (pLow + (sLow + sLow));
  Expr number = exponentNumber(e), high = number * 0x1.62e42fefa38p-1; // exact: 43 bits times 11
  Expr sum = high + l;
  return {sum, (high - sum) + l + fma(number, 0x1.ef35793c7673p-45, lLow)};
}

/// sign(x) log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))). For a large |x|, whose square may overflow, it is ln |x| + ln 2.
Expr asinh(Expr x) {
  Format f(x);
  Expr a = abs(x), isLarge = a > 0x1p60, one = x.like(1);
  Expr square = a * a;
  Expr inner = a + square / (one + (square + 1.0).make<math::SqrtOp>());
  Expr result = log1p(select(isLarge, a, inner)) + select(isLarge, x.like(kLn2), x.like(0));
  return copySign(result, x);
}

/// log1p(t + sqrt(t (t + 2))), t = x - 1
Expr acosh(Expr x) {
  Expr t = x - 1.0, isLarge = x > 0x1p60;
  Expr inner = t + (t * (t + 2.0)).make<math::SqrtOp>();
  Expr result = log1p(select(isLarge, x, inner)) + select(isLarge, x.like(kLn2), x.like(0));
  return select(x < 1, x.like(kNaN), result);
}

/// sign(x) log1p(2 |x| / (1 - |x|)) / 2
Expr atanh(Expr x) {
  Expr a = abs(x);
  return copySign(log1p((a + a) / (x.like(1) - a)) * 0.5, x);
}

/// |x|^y of floats, computed in double.
static Expr powerOfFloats(Expr x, Expr y) {
  Expr z = clampBelow(clampAbove(y.toF64() * logInDouble(abs(x)), 200), -200);
  Format f(z);
  double shift = f.magic() + f.bias();
  Expr biased = fma(z, kLog2E, shift), n = biased - shift, r = fma(n, -kLn2, z);
  Expr p = fma(fma(horner(r, kPowExp), r, 1.0), r, 1.0);
  return (p * powerOfTwo(biased, f)).toF32();
}

/// |x|^y of doubles, computed in pairs of doubles.
static Expr powerOfDoubles(Expr x, Expr y) {
  Expr a = abs(x);
  Pair l = logPair(a);
  Expr isNormal = a < kInf, isZero = equal(a, 0);
  Expr high = select(isZero, x.like(-kInf), select(isNormal, l.high, a));
  Expr z = y * high, zLow = fma(y, l.low, fma(y, l.high, -z));
  // Out of range, and where x is 0 or infinite, the low part is NaN or useless.
  Expr within = abs(z) < 1100;
  return exp(Pair{z, select(within, zLow, x.like(0))});
}

Expr pow(Expr x, Expr y) {
  Expr result = Format(x).isDouble ? powerOfDoubles(x, y) : powerOfFloats(x, y);
  // 1^y and x^0 are 1 for every y and x, so is (-1)^inf; the product above is a NaN there.
  Expr infinite = equal(abs(y), kInf), half = y * 0.5;
  Expr one = select(infinite, abs(x), x);
  result = select(equal(one, 1), x.like(1), select(equal(y, 0), x.like(1), result));
  // A negative base has a real power only for integers, and a negative one for odd integers. Every large float is even.
  Expr isInteger = equal(roundEven(y), y);
  Expr isEven = equal(roundEven(half), half);
  Expr sign = x.bits() & x.bits().likeInt(uint64_t(1) << (x.width() - 1));
  Expr sameSign = result.bits() | sign;
  Expr odd = select(isEven, result, sameSign.asFloat());
  Expr negative = (x < 0), finite = x > -kInf;
  result = select(isInteger, odd, select(negative, select(finite, x.like(kNaN), result), result));
  return result;
}

} // namespace tutti
