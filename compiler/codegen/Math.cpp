// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expansions of the math ops. What each computes, its error and its special values: docs/numerics.md.
#include "compiler/codegen/Math.h"
#include "compiler/codegen/MathCoefficients.h"
#include "compiler/codegen/ValueExpr.h"
#include "dialects/tutti/Tutti.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLog2E = 0x1.71547652b82fep+0;

/// What an expansion has to know of its float format. The sequences are the same for both.
struct Format {
  explicit Format(Expr x) : isDouble(x.width() == 64) {}
  bool isDouble;
  double pick(double single, double twice) const { return isDouble ? twice : single; }
  ArrayRef<double> pick(ArrayRef<double> single, ArrayRef<double> twice) const { return isDouble ? twice : single; }
  unsigned mantissa() const { return isDouble ? 52 : 23; }
  int64_t bias() const { return isDouble ? 1023 : 127; }
  /// Added to a number of moderate size, leaves it rounded to an integer, half to even, in the low mantissa bits.
  double magic() const { return isDouble ? 0x1.8p52 : 0x1.8p23; }
  /// ln 2 rounded to the format, and what is left of it.
  double ln2High() const { return pick(0x1.62e43p-1, kLn2); }
  double ln2Low() const { return pick(-0x1.05c61p-29, 0x1.abc9e3b39803fp-56); }
};

/// 2^k, for the k + bias (k a normal exponent) that lies in the low mantissa bits of `biased`.
Expr powerOfTwo(Expr biased, Format f) { return (biased.bits() << f.mantissa()).asFloat(); }

/// p * 2^round(y) for y from below the exponent of the smallest denormal to the one that overflows: rounded once, also
/// to a denormal. `biased` is y + magic + 2 * bias. Two factors, as no one float holds all of 2^y.
Expr scale(Expr p, Expr y, double perUnit, Expr biased, Format f) {
  Expr half = fma(y, perUnit / 2, f.magic() + f.bias());
  Expr rest = ((biased.bits() - half.bits()) << f.mantissa()).asFloat();
  return p * powerOfTwo(half, f) * rest;
}

Expr exp(Expr x) {
  Format f(x);
  x = clampBelow(clampAbove(x, f.pick(89, 710)), f.pick(-104, -746));
  double shift = f.magic() + 2 * f.bias();
  Expr biased = fma(x, kLog2E, shift), n = biased - shift;
  Expr r = fma(n, -f.ln2Low(), fma(n, -f.ln2High(), x));
  Expr p = fma(fma(horner(r, f.pick(kExp32, kExp64)), r, 1.0), r, 1.0);
  return scale(p, x, kLog2E, biased, f);
}

Expr exp2(Expr x) {
  Format f(x);
  x = clampBelow(clampAbove(x, f.pick(129, 1025)), f.pick(-151, -1076));
  double shift = f.magic() + 2 * f.bias();
  Expr biased = x + shift, r = x - (biased - shift);
  Expr p = fma(horner(r, f.pick(kExp2_32, kExp2_64)), r, 1.0);
  return scale(p, x, 1.0, biased, f);
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

Expr tanh(Expr x) {
  Format f(x);
  Expr a = clampAbove(abs(x), f.pick(10, 20));
  Expr square = a * a;
  Expr near = fma(horner(square, f.pick(kTanhNear32, kTanhNear64)), square * a, a);
  // 1 - 2 / (e^2a + 1)
  double shift = f.magic() + f.bias();
  Expr biased = fma(a, 2 * kLog2E, shift), n = biased - shift;
  Expr r = fma(n, -f.ln2High() / 2, a);
  Expr p = fma(fma(horner(r, f.pick(kTanhFar32, kTanhFar64)), r, 2.0), r, 1.0);
  Expr far = x.like(1) - x.like(2) / fma(p, powerOfTwo(biased, f), 1.0);
  return copySign(select(a >= 0.55, far, near), x);
}

Expr erf(Expr x) {
  Format f(x);
  Expr t = clampAbove(abs(x), f.pick(3.9375, 6));
  Expr near = fma(horner(t * t, f.pick(kErfNear32, kErfNear64)), t, t);
  // 1 - 2^g: what rounding does to the exponential counts less the further out, so a short one will do.
  Expr g = horner(t, f.pick(kErfFar32, kErfFar64));
  double shift = f.magic() + f.bias();
  Expr biased = g + shift, r = g - (biased - shift);
  Expr p = f.isDouble ? fma(horner(r, kExp2_64), r, 1.0) : horner(r, kExp2Short);
  Expr far = fma(-p, powerOfTwo(biased, f), x.like(1.0));
  return copySign(select(t >= f.pick(0.9, 1), far, near), x);
}

/// x = m 2^e with 3/4 <= m < 3/2: the exponent as integer bits in its field, and the rest as a float.
struct Split {
  Expr exponent;
  Expr fraction;
};
Expr exponentField(Expr bits, Format f) {
  // 3/4 is half a mantissa below 1: subtracting its bits rounds the exponent so that m straddles 1.
  uint64_t threeQuarters = f.isDouble ? 0x3fe8000000000000 : 0x3f400000;
  uint64_t field = f.isDouble ? 0xfff0000000000000 : 0xff800000;
  return (bits - bits.likeInt(threeQuarters)) & bits.likeInt(field);
}
Split split(Expr x, Format f) {
  Expr e = exponentField(x.bits(), f);
  return {e, (x.bits() - e).asFloat()};
}
/// log 2^e from e in the exponent's field, plus `rest`.
Expr addExponent(Expr e, Expr rest, Format f) {
  if (!f.isDouble) // The field read as an integer is e 2^23, exactly a float.
    return fma(e.toFloat(), 0x1.62e43p-24, rest);
  // No vector conversion from 64-bit integers everywhere: put e + 2048 into the mantissa of 2^52 instead.
  Expr raised = ((e + e.likeInt(uint64_t(2048) << 52)) >> 52) | e.likeInt(0x4330000000000000);
  return fma(raised.asFloat() - (0x1p52 + 2048), kLn2, rest);
}

Expr log(Expr x, ArrayRef<double> coefficients, bool denormals) {
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
Expr logInDouble(Expr x) { return log(x.toF64(), kPowLog, /*denormals=*/false); }
Expr log2(Expr x) { return (logInDouble(x) * kLog2E).toF32(); }
Expr log10(Expr x) { return (logInDouble(x) * 0x1.bcb7b1526e50ep-2).toF32(); }

Expr pow(Expr x, Expr y) {
  Expr z = clampBelow(clampAbove(y.toF64() * logInDouble(abs(x)), 200), -200);
  Format f(z);
  double shift = f.magic() + f.bias();
  Expr biased = fma(z, kLog2E, shift), n = biased - shift, r = fma(n, -kLn2, z);
  Expr p = fma(fma(horner(r, kPowExp), r, 1.0), r, 1.0);
  Expr result = (p * powerOfTwo(biased, f)).toF32();
  // 1^y and x^0 are 1 for every y and x, so is (-1)^inf; the product above is a NaN there.
  Expr infinite = equal(abs(y), kInf), half = y * 0.5;
  Expr one = select(infinite, abs(x), x);
  result = select(equal(one, 1), x.like(1), select(equal(y, 0), x.like(1), result));
  // A negative base: no real power but of integers, and of odd ones a negative. Every large float is even.
  Expr isInteger = equal(roundEven(y), y);
  Expr isEven = equal(roundEven(half), half);
  Expr sign = x.bits() & x.bits().likeInt(0x80000000);
  Expr sameSign = result.bits() | sign;
  Expr odd = select(isEven, result, sameSign.asFloat());
  Expr negative = (x < 0), finite = x > -kInf;
  result = select(isInteger, odd, select(negative, select(finite, x.like(kNaN), result), result));
  return result;
}

/// sin (quarter = 0) or cos (quarter = 1) of a float: |x| 2 / pi modulo 4 in double, exactly, whatever x; then a
/// polynomial in float over the last half quadrant.
Expr sinOrCos(Expr x, int quarter) {
  Expr d = x.toF64();
  Expr rest = d.like(0), turns = d.like(quarter);
  // Each product is exact, so is what is left of it modulo 4, and, as the pieces fall by 2^26 and 50 bits are taken by
  // a product, so is the running rest until nothing larger than its own last bit can still cancel.
  for (double piece : kTwoOverPi) {
    Expr y = d * (piece / 4);
    Expr sum = fma(y - roundEven(y), d.like(4), rest);
    Expr n = roundEven(sum);
    rest = sum - n;
    turns = turns + n;
  }
  Expr r = (rest * 0x1.921fb54442d18p+0).toF32(), s = r * r;
  Expr sine = fma(horner(s, kSin), s * r, r), cosine = fma(horner(s, kCos), s, 1.0);
  Expr quadrant = (turns.toF32() + Format(x).magic()).bits();
  Expr isOdd(x.builder(), arith::CmpIOp::create(x.builder(), arith::CmpIPredicate::ne, quadrant & quadrant.likeInt(1),
                                                quadrant.likeInt(0)));
  Expr sign = (quadrant & quadrant.likeInt(2)) << 30;
  return (select(isOdd, cosine, sine).bits() ^ sign).asFloat();
}
Expr sin(Expr x) { return select(equal(x, 0), x, sinOrCos(x, 0)); }
Expr cos(Expr x) { return sinOrCos(x, 1); }

/// e^-|x|, or 0 where that is no normal number: what follows adds 1 or 2 to it, or is below 2^-126 itself.
Expr decay(Expr x, Format f) {
  Expr y = -abs(x);
  double shift = f.magic() + f.bias();
  Expr biased = fma(y, kLog2E, shift), n = biased - shift;
  Expr r = fma(n, -f.ln2Low(), fma(n, -f.ln2High(), y));
  Expr p = fma(fma(horner(r, f.pick(kExp32, kExp64)), r, 1.0), r, 1.0);
  return select(y < f.pick(-0x1.5d589ep+6, -0x1.6232bdd7abcd2p+9), x.like(0), p * powerOfTwo(biased, f));
}

/// a / d for a d between 1 and where the first polynomial ends: faster than a division, which keeps the divider busy for as
/// long as a whole function takes, and as good as one but for the last rounding.
Expr quotient(Expr a, Expr d, ArrayRef<double> reciprocal) {
  if (Format(a).isDouble)
    return a / d;
  Expr r = horner(d, reciprocal);
  Expr e = fma(-d, r, 1.0);
  r = fma(fma(e, e, e), r, r);
  Expr q = a * r;
  return fma(fma(-d, q, a), r, q);
}

Expr logistic(Expr x) {
  Expr t = decay(x, Format(x));
  return quotient(select(x < 0, t, x.like(1)), t + 1.0, kReciprocalTo2);
}

/// max(x, 0) + ln(1 + e^-|x|): the exponential cannot overflow, and the logarithm sees no cancellation.
Expr log1pExp(Expr x) {
  Format f(x);
  Expr t = decay(x, f);
  Expr tail = f.isDouble ? log1p(t) : fma(horner(t, kLog1pTo1), t * t, t);
  return clampBelow(x, 0) + tail;
}

/// tanh(ln(1 + e^x)) = n / (n + 2) with n = e (e + 2), e = e^x; for positive x over e^2, in which t = e^-x.
Expr mishGate(Expr x) {
  Expr t = decay(x, Format(x));
  auto isNegative = x < 0;
  Expr linear = t + t, square = t * t;
  Expr n = select(isNegative, square + linear, linear + 1.0);
  return quotient(n, n + select(isNegative, x.like(2), square + square), kReciprocalTo5);
}

Expr rsqrt(Expr x) { return x.like(1) / x.make<math::SqrtOp>(); }
/// Halves away from zero.
Expr round(Expr x) {
  Expr whole = x.make<math::TruncOp>();
  return select(abs(x - whole) >= 0.5, whole + copySign(x.like(1), x), whole);
}

/// x^n for integers, modulo 2^width as products are; 1 / x^-n, which is 0 but for x = 1 and -1, for negative n.
Expr integerPower(Expr x, Expr n) {
  auto is = [&](arith::CmpIPredicate predicate, Expr a, Expr b) {
    return Expr(a.builder(), arith::CmpIOp::create(a.builder(), predicate, a, b));
  };
  Expr zero = x.likeInt(0), one = x.likeInt(1), minusOne = x.likeInt(~uint64_t(0));
  Expr result = one, power = x;
  for (unsigned bit = 0; bit + 1 < x.width(); ++bit) {
    Expr set = is(arith::CmpIPredicate::ne, (n >> bit) & one, zero);
    result = select(set, result.with<arith::MulIOp>(power), result);
    power = power.with<arith::MulIOp>(power);
  }
  // The low bits of a negative n end in the parity that -1 needs.
  Expr odd = is(arith::CmpIPredicate::ne, n & one, zero);
  Expr unit = select(is(arith::CmpIPredicate::eq, x, one), one,
                     select(is(arith::CmpIPredicate::eq, x, minusOne), select(odd, minusOne, one), zero));
  return select(is(arith::CmpIPredicate::slt, n, zero), unit, result);
}

/// The number that a constant, or a constant splat, holds.
std::optional<double> constantOf(Value value) {
  if (auto splat = value.getDefiningOp<vector::BroadcastOp>())
    value = splat.getSource();
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseFPElementsAttr>(attr); dense && dense.isSplat())
    return dense.getSplatValue<APFloat>().convertToDouble();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  return std::nullopt;
}

/// maximumf or minimumf with a number: the same bits as the op in one or two instructions instead of three to six. A
/// comparison with the number first keeps NaN, and x where both are zero, which is the rule but for max(-0, +0) = +0
/// and min(+0, -0) = -0.
template <bool largest> Expr bounded(Expr x, double bound) {
  using arith::CmpFPredicate;
  Expr limit = x.like(bound);
  if (bound == 0 && std::signbit(bound) != largest)
    return select(x.compare(largest ? CmpFPredicate::UGT : CmpFPredicate::ULT, limit), x, limit);
  return largest ? clampBelow(x, bound) : clampAbove(x, bound);
}
template <typename Op> void expandBounded(Operation *root) {
  SmallVector<Op> ops;
  root->walk([&](Op op) { ops.push_back(op); });
  for (Op op : ops) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    for (auto [x, other] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      std::optional<double> bound = constantOf(other);
      if (!bound || std::isnan(*bound))
        continue;
      op.replaceAllUsesWith(Value(bounded<std::is_same_v<Op, arith::MaximumFOp>>(Expr(b, x), *bound)));
      op.erase();
      break;
    }
  }
}

using Unary = Expr (*)(Expr);

/// The expansion of a unary op for floats of `width` bits, or null.
Unary expansionOf(Operation *op, unsigned width) {
  Unary both = TypeSwitch<Operation *, Unary>(op)
                   .Case([](math::ExpOp) { return exp; })
                   .Case([](math::Exp2Op) { return exp2; })
                   .Case([](math::ExpM1Op) { return expm1; })
                   .Case([](math::TanhOp) { return tanh; })
                   .Case([](math::ErfOp) { return erf; })
                   .Case([](math::LogOp) { return static_cast<Unary>(log); })
                   .Case([](math::Log1pOp) { return log1p; })
                   .Case([](math::RsqrtOp) { return rsqrt; })
                   .Case([](math::RoundOp) { return round; })
                   .Case([](LogisticOp) { return logistic; })
                   .Case([](Log1pExpOp) { return log1pExp; })
                   .Case([](MishGateOp) { return mishGate; })
                   .Default([](Operation *) -> Unary { return nullptr; });
  if (both || width == 64)
    return both;
  return TypeSwitch<Operation *, Unary>(op)
      .Case([](math::Log2Op) { return log2; })
      .Case([](math::Log10Op) { return log10; })
      .Case([](math::SinOp) { return sin; })
      .Case([](math::CosOp) { return cos; })
      .Default([](Operation *) -> Unary { return nullptr; });
}

} // namespace

bool isExpanded(Operation *op) {
  if (!isa_and_nonnull<math::MathDialect, TuttiDialect>(op->getDialect()) || op->getNumResults() != 1)
    return false;
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  return isa<math::IPowIOp>(op) ||
         (element && element.getWidth() <= 64 &&
          ((isa<math::PowFOp>(op) && element.getWidth() <= 32) || expansionOf(op, element.getWidth())));
}

void expandMath(Operation *root, llvm::function_ref<bool(Operation *)> keep) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isExpanded(op) && !(keep && keep(op)))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (auto power = dyn_cast<math::IPowIOp>(op)) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      power.replaceAllUsesWith(Value(integerPower(Expr(b, power.getLhs()), Expr(b, power.getRhs()))));
      op->erase();
      continue;
    }
    auto element = cast<FloatType>(getElementTypeOrSelf(op->getResult(0)));
    ImplicitLocOpBuilder b(op->getLoc(), op);
    auto operand = [&](unsigned i) {
      Expr x(b, op->getOperand(i));
      return element.getWidth() < 32 ? x.make<arith::ExtFOp>(x.withElement(b.getF32Type())) : x;
    };
    Expr result = isa<math::PowFOp>(op) ? pow(operand(0), operand(1)) : expansionOf(op, element.getWidth())(operand(0));
    if (element.getWidth() < 32)
      result = result.make<arith::TruncFOp>(op->getResult(0).getType());
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
  expandBounded<arith::MaximumFOp>(root);
  expandBounded<arith::MinimumFOp>(root);
}

namespace {
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  StringRef getArgument() const override { return "tutti-expand-math"; }
  StringRef getDescription() const override {
    return "writes math ops as IEEE operations, by the rules of docs/numerics.md";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() override { expandMath(getOperation()); }
};
} // namespace

void registerExpandMathPass() { PassRegistration<ExpandMathPass>(); }

} // namespace tutti
