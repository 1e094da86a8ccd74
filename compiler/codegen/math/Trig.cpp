// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trigonometric functions and their inverses. What each computes, its error and its special values: docs/numerics.md.
#include "compiler/codegen/math/Functions.h"

#include <cmath>

using namespace mlir;

namespace tutti {

namespace {
/// An angle reduced to -pi / 4 to pi / 4, in two parts, and the number of quadrants, whose low two bits count.
struct Reduced {
  Expr angle, low, quadrant;

  Expr isOdd() const {
    Expr zero = quadrant.likeInt(0);
    return {quadrant.builder(),
            arith::CmpIOp::create(quadrant.builder(), arith::CmpIPredicate::ne, quadrant & quadrant.likeInt(1), zero)};
  }
};
} // namespace

/// Reduces a number below 2^16, after Cody and Waite, with pi / 2 as three numbers of its type. The remainder after the
/// first is exact, as it is a multiple of the last bit of x or of the constant. So is the rounding error of the
/// remainder after the second, by Dekker, since it is a multiple of the second's last bit.
static Reduced reduceFew(Expr x) {
  Format f(x);
  auto part = [&](int i) { return f.pick(kHalfPiOfFloats[i], kHalfPiOfDoubles[i]); };
  Expr biased = fma(x, f.pick(0x1.45f306p-1, 0x1.45f306dc9c883p-1), f.magic()), n = biased - f.magic();
  Expr rest = fma(n, -part(0), x), second = n * part(1);
  Expr r = rest - second, low = (rest - r) - second;
  low = fma(n, -part(2), low + fma(n, -part(1), second));
  return {r, low, biased.bits()};
}

/// Reduces any float as if in exact arithmetic.
static Reduced reduceFloat(Expr x) {
  Expr d = x.toF64();
  Expr rest = d.like(0), turns = d.like(0);
  // Each product is exact, and so is its remainder modulo 4. The pieces fall by 2^26 and a product takes 50 bits, so
  // the running rest is exact, too, until nothing larger than its own last bit can still cancel.
  for (double piece : kTwoOverPi) {
    Expr y = d * (piece / 4);
    Expr sum = fma(y - roundEven(y), d.like(4), rest);
    Expr n = roundEven(sum);
    rest = sum - n;
    turns = turns + n;
  }
  Expr angle = rest * kHalfPi, high = angle.toF32();
  return {high, (angle - high.toF64()).toF32(), (turns.toF32() + Format(x).magic()).bits()};
}

/// Reduces a double. Each half of it, of 27 and of 26 bits, times a piece is exact. The rest is a pair that is
/// renormalized at every step, so that it keeps its bits where it becomes small.
static Reduced reduceDouble(Expr x) {
  SmallVector<Expr> isAbove;
  for (int j = 1; j < 8; ++j)
    isAbove.push_back(abs(x) >= std::ldexp(1.0, 128 * j));
  auto pick = [&](auto valueOf) {
    Expr value = x.like(valueOf(0));
    for (int j = 1; j < 8; ++j)
      value = select(isAbove[j - 1], x.like(valueOf(j)), value);
    return value;
  };
  Expr y = x * pick([](int j) { return std::ldexp(1.0, -128 * j); });
  Expr upper = (y.bits() & y.bits().likeInt(~uint64_t((1 << 26) - 1))).asFloat();
  Expr rest = x.like(0), low = x.like(0), turns = x.like(0);
  for (const auto &row : kTwoOverPiGroups) {
    Expr piece = pick([&](int j) { return row[j]; });
    for (Expr half : {upper, y - upper}) {
      Expr product = half * piece, part = (product - roundEven(product)) * 4.0;
      Expr sum = rest + part, other = sum - rest;
      low = low + ((rest - (sum - other)) + (part - other));
      Expr n = roundEven(sum);
      sum = sum - n;
      turns = turns + n;
      rest = sum + low;
      low = low - (rest - sum);
    }
  }
  Expr angle = rest * kHalfPi;
  Expr lost = fma(rest, kHalfPi, -angle) + fma(rest, 0x1.1a62633145c07p-54, low * kHalfPi);
  return {angle, lost, (turns + Format(x).magic()).bits()};
}

/// Most numbers are small: the long way is taken only if one of a vector's numbers is not.
static Reduced reduce(Expr x) {
  Reduced few = reduceFew(x);
  SmallVector<Expr> all = whereAny(abs(x) >= 0x1p16, {few.angle, few.low, few.quadrant}, [&]() -> SmallVector<Expr> {
    Reduced many = Format(x).isDouble ? reduceDouble(x) : reduceFloat(x);
    return {many.angle, many.low, many.quadrant};
  });
  return {all[0], all[1], all[2]};
}

/// Below this, sin x and tan x are x. The test keeps the sign of 0, and a denormal's last bit.
static Expr tiny(Expr x) { return Format(x).isDouble ? abs(x) < 0x1p-27 : equal(x, 0); }

/// sin (quarter = 0) or cos (quarter = 1): a polynomial over the remaining half quadrant.
static Expr sinOrCos(Expr x, int quarter) {
  Format f(x);
  Reduced q = reduce(x);
  q.quadrant = q.quadrant + q.quadrant.likeInt(quarter);
  Expr r = q.angle, s = r * r;
  Expr tail = horner(s, f.pick(kSin, kSin64)), sine = r + fma(tail, s * r, q.low);
  Expr cosine = fma(horner(s, f.pick(kCos, kCos64)), s, f.isDouble ? fma(-r, q.low, 1.0) : x.like(1));
  Expr sign = (q.quadrant & q.quadrant.likeInt(2)) << (x.width() - 2);
  return (select(q.isOdd(), cosine, sine).bits() ^ sign).asFloat();
}
Expr sin(Expr x) { return select(tiny(x), x, sinOrCos(x, 0)); }
Expr cos(Expr x) { return sinOrCos(x, 1); }

/// tan of the reduced angle; in odd quadrants -1 / tan.
Expr tan(Expr x) {
  Format f(x);
  Reduced q = reduce(x);
  Expr r = q.angle, s = r * r;
  Expr t = fma(horner(s, f.pick(kTan32, kTan64)), s * r, r);
  t = fma(fma(t, t, 1.0), q.low, t);
  return select(tiny(x), x, select(q.isOdd(), x.like(-1) / t, t));
}

/// pi / 2 - y, with pi / 2 in two parts.
static Expr fromHalfPi(Expr y, Format f) {
  return y.like(f.pick(0x1.921fb6p+0, kHalfPi)) - (y - f.pick(-0x1.777a5cp-25, 0x1.1a62633145c07p-54));
}

/// arcsin |x|; above 1/2 its `value` is arcsin sqrt((1 - |x|) / 2): arcsin |x| = pi / 2 - 2 arcsin sqrt((1 - |x|) / 2).
namespace {
struct Arc {
  Expr value, isFar;
};
} // namespace
static Arc arcOf(Expr x, Format f) {
  Expr a = abs(x), isFar = a > 0.5;
  Expr square = select(isFar, fma(a, -0.5, 0.5), a * a);
  Expr s = select(isFar, square.make<math::SqrtOp>(), a);
  return {fma(horner(square, f.pick(kAsin32, kAsin64)), square * s, s), isFar};
}
Expr asin(Expr x) {
  Format f(x);
  auto [arc, isFar] = arcOf(x, f);
  return copySign(select(isFar, fromHalfPi(arc + arc, f), arc), x);
}
Expr acos(Expr x) {
  Format f(x);
  auto [arc, isFar] = arcOf(x, f);
  Expr beyond = fromHalfPi(arc, f);
  Expr far = select(x < 0, beyond + beyond, arc + arc);
  return select(isFar, far, fromHalfPi(copySign(arc, x), f));
}

/// Above 1, arctan x is pi / 2 - arctan(1 / x).
Expr atan(Expr x) {
  Format f(x);
  Expr a = abs(x), isFar = a > 1;
  Expr t = select(isFar, x.like(1) / a, a), square = t * t;
  Expr near = fma(horner(square, f.pick(kAtan32, kAtan64)), square * t, t);
  return copySign(select(isFar, fromHalfPi(near, f), near), x);
}

} // namespace tutti
