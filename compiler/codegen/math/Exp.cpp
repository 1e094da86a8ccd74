// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exponential and functions built from it. What each computes, its error and its special values: docs/numerics.md.
#include "compiler/codegen/math/Functions.h"

using namespace mlir;

namespace tutti {

/// p * 2^round(y), for y from below the exponent of the smallest denormal to the one that overflows; rounded once, even
/// to a denormal. `biased` is y + magic + 2 * bias. It takes two factors, as no single float holds every 2^y.
static Expr scale(Expr p, Expr y, double perUnit, Expr biased, Format f) {
  Expr half = fma(y, perUnit / 2, f.magic() + f.bias());
  Expr rest = ((biased.bits() - half.bits()) << f.mantissa()).asFloat();
  return p * powerOfTwo(half, f) * rest;
}

/// The lowest exponent: both of its halves are 2^-127 (2^-1023), whose bits are those of 0, so that a masked score
/// becomes 0 by a product of zeros. Products below the normal numbers would take a slow path in a CPU.
static double lowest(Format f) { return f.pick(-0x1.602p+7, -0x1.628cp+10); }

Power powerOf(Expr x, double shift, Format f) {
  Expr biased = fma(x, kLog2E, shift), n = biased - shift;
  Expr r = fma(n, -f.ln2Low(), fma(n, -f.ln2High(), x));
  return {fma(fma(horner(r, f.pick(kExp32, kExp64)), r, 1.0), r, 1.0), n, biased};
}

Expr exp(Expr x) {
  Format f(x);
  x = clampBelow(clampAbove(x, mostExp(f)), lowest(f));
  Power e = powerOf(x, f.magic() + 2 * f.bias(), f);
  return scale(e.p, x, kLog2E, e.biased, f);
}

Expr exp(Pair given) {
  Format f(given.high);
  Expr x = clampBelow(clampAbove(given.high, 710), lowest(f));
  double shift = f.magic() + 2 * f.bias();
  Expr biased = fma(x, kLog2E, shift), n = biased - shift;
  Expr r = fma(n, -f.ln2Low(), fma(n, -f.ln2High(), x)) + given.low;
  Expr p = fma(fma(horner(r, kExp64), r, 1.0), r, 1.0);
  return scale(p, x, kLog2E, biased, f);
}

Expr expm1(Expr x) {
  Format f(x);
  Expr y = clampBelow(clampAbove(x, f.pick(89, 710)), f.pick(-20, -40));
  // Halved, as 2^128 is no float: e^x - 1 = 2 (s q + (s - 1/2)) with s = 2^(n-1), q = e^r - 1.
  double shift = f.magic() + f.bias();
  Expr biased = fma(y, kLog2E, shift), n = biased - shift;
  Expr r = fma(n, -f.ln2Low(), fma(n, -f.ln2High(), y));
  Expr q = fma(horner(r, f.pick(kExpm1_32, kExpm1_64)), r * r, r);
  Expr s = powerOfTwo(biased - 1.0, f);
  Expr half = fma(q, s, s - 0.5);
  // Halving a denormal would lose its last bit; there e^x - 1 is x.
  return select(abs(x) < f.pick(0x1p-25, 0x1p-54), x, half + half);
}

/// With s = 2^n, x = n ln2 / 2 + r and t = tanh(r): u / (u + 2 - 2 t), u = s - 1 + (s + 1) t. For n = 0 that is t; for
/// large n the denominator has the rounding error of the numerator.
Expr tanh(Expr x) {
  Format f(x);
  Expr a = clampAbove(abs(x), f.pick(10, 20));
  // n goes from 0 to 1 where tanh passes 1/4, and to 2 just behind where it passes 1/2: the errors of the new terms are
  // largest there, and count half in units of such a result.
  double shift = f.magic() + f.bias();
  Expr biased = fma(a - 0.0825, 2 * kLog2E, shift), n = biased - shift;
  Expr r = fma(n, -f.ln2High() / 2, a), square = r * r;
  Expr t = fma(horner(square, f.pick(kTanh32, kTanh64)), square * r, r);
  Expr s = powerOfTwo(biased, f);
  Expr u = fma(s + 1.0, t, s - 1.0);
  return copySign(u / (u + fma(t, -2.0, 2.0)), x);
}

Expr erf(Expr x) {
  Format f(x);
  Expr t = clampAbove(abs(x), f.pick(3.9375, 6));
  Expr near = fma(horner(t * t, f.pick(kErfNear32, kErfNear64)), t, t);
  // far = 1 - 2^g: rounding errors in the exponential matter less the further out, so a short polynomial suffices.
  Expr g = horner(t, f.pick(kErfFar32, kErfFar64));
  double shift = f.magic() + f.bias();
  Expr biased = g + shift, r = g - (biased - shift);
  Expr p = f.isDouble ? fma(horner(r, kExp2_64), r, 1.0) : horner(r, kExp2Short);
  Expr far = fma(-p, powerOfTwo(biased, f), x.like(1.0));
  return copySign(select(t >= f.pick(0.9, 1), far, near), x);
}

/// e^x / 2 for a nonnegative x: finite for as long as sinh and cosh are.
static Expr halfExp(Expr x, Format f) {
  x = clampAbove(x, f.pick(90, 711));
  Power e = powerOf(x, f.magic() + 2 * f.bias(), f);
  return scale(e.p, x, kLog2E, e.biased - 1.0, f);
}

Expr sinh(Expr x) {
  Format f(x);
  Expr a = abs(x), square = a * a;
  Expr near = fma(horner(square, f.pick(kSinh32, kSinh64)), square * a, a);
  Expr h = halfExp(a, f);
  return copySign(select(a >= 1, h - x.like(0.25) / h, near), x);
}

Expr cosh(Expr x) {
  Expr h = halfExp(abs(x), Format(x));
  return h + x.like(0.25) / h;
}

/// e^y for y below 88 (double: 709), or 0 where that is not a normal number: the caller adds 1 or 2 to it, or its
/// result is below 2^-126 itself.
static Expr normalExp(Expr y, Format f) {
  Power e = powerOf(y, f.magic() + f.bias(), f);
  return select(y < f.pick(-0x1.5d589ep+6, -0x1.6232bdd7abcd2p+9), y.like(0), e.p * powerOfTwo(e.biased, f));
}

/// a / d for d between 1 and 2. It is faster than a division, which would occupy the divider for as long as the whole
/// function takes, and as accurate except for the last rounding.
static Expr quotient(Expr a, Expr d) {
  if (Format(a).isDouble)
    return a / d;
  Expr r = horner(d, kReciprocalTo2);
  Expr e = fma(-d, r, 1.0);
  r = fma(fma(e, e, e), r, r);
  Expr q = a * r;
  return fma(fma(-d, q, a), r, q);
}

Expr logistic(Expr x) {
  Expr t = normalExp(-abs(x), Format(x));
  return quotient(select(x < 0, t, x.like(1)), t + 1.0);
}

/// max(x, 0) + ln(1 + e^-|x|): the exponential cannot overflow, and the logarithm sees no cancellation.
Expr log1pExp(Expr x) {
  Format f(x);
  Expr t = normalExp(-abs(x), f);
  Expr tail = f.isDouble ? log1p(t) : fma(horner(t, kLog1pTo1), t * t, t);
  return clampBelow(x, 0) + tail;
}

/// tanh(ln(1 + e^x)) = n / (n + 2) with n = e (e + 2), e = e^x; for x = 30 that is 1.
Expr mishGate(Expr x) {
  Expr e = normalExp(clampAbove(x, 30), Format(x));
  Expr n = fma(e, e, e + e);
  return n / (n + 2.0);
}

/// 1/2 + s (1/2 - 2^(g - 1)), where s is x's sign and g = log2(erfc(|x| / sqrt 2)). From where |x| is clamped on, the
/// subtracted tail is below half a unit.
Expr normalCdf(Expr x) {
  Format f(x);
  if (f.isDouble) {
    Expr y = clampBelow(clampAbove(x, 9), -9); // an infinity would spoil the second product
    return (erf(fma(y, kSqrtHalf[0], y * kSqrtHalf[1])) + 1.0) * 0.5;
  }
  Expr t = clampAbove(abs(x), 5.625);
  Expr g = horner(t, kNormalTail) * t;
  double shift = f.magic() + f.bias() - 1;
  Expr biased = g + shift, r = g - (biased - shift);
  Expr p = fma(horner(r, kExp2_32), r, 1.0);
  return copySign(fma(-p, powerOfTwo(biased, f), 0.5), x) + 0.5;
}

} // namespace tutti
