// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expansions of the math ops. What each computes, its error and its special values: docs/numerics.md.
#include "compiler/codegen/math/Math.h"
#include "compiler/codegen/Passes.h"
#include "compiler/codegen/math/Functions.h"
#include "dialects/tutti/Tutti.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "compiler/codegen/Passes.h.inc"

/// Whether a bit is set in any lane.
static Value anyOf(Expr bit) {
  auto vector = dyn_cast<VectorType>(bit.type());
  if (!vector)
    return bit;
  ImplicitLocOpBuilder &b = bit.builder();
  auto bits = b.getIntegerType(vector.getNumElements());
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, LLVM::BitcastOp::create(b, bits, bit),
                               arith::ConstantOp::create(b, b.getIntegerAttr(bits, 0)));
}

llvm::SmallVector<Expr> whereAny(Expr rare, ArrayRef<Expr> usual, llvm::function_ref<SmallVector<Expr>()> make) {
  ImplicitLocOpBuilder &b = rare.builder();
  SmallVector<Value> kept(usual);
  auto branch = scf::IfOp::create(b, TypeRange(ValueRange(kept)), anyOf(rare), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> made;
    for (auto [other, own] : llvm::zip_equal(make(), usual))
      made.push_back(select(rare, other, own));
    scf::YieldOp::create(b, made);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, kept);
  }
  SmallVector<Expr> results;
  for (Value result : branch.getResults())
    results.emplace_back(b, result);
  return results;
}

namespace {

/// x - n y with n = x / y rounded towards zero, exactly. It is a long division that takes some bits of the quotient at
/// a time: as many as a float counts with its last bit in doubt. Each remainder is a float. Most quotients need one
/// step.
Expr remainder(Expr x, Expr y) {
  Format f(x);
  int bits = f.isDouble ? 50 : 21,
      range = f.isDouble ? 2098 : 277; // of exponents, from the largest to the smallest number
  Expr divisor = abs(y);
  auto divide = [&](Expr rest, int shift) {
    Expr d = divisor;
    for (int left = shift, most = f.isDouble ? 1000 : 100; left > 0; left -= most)
      d = d * std::ldexp(1.0, std::min(left, most));
    Expr n = (rest / d).make<math::TruncOp>();
    Expr less = fma(-n, d, rest);
    less = select(less < 0, less + d, less);
    return select(rest.compare(arith::CmpFPredicate::ULT, d), rest, less);
  };
  Expr whole = abs(x), isLong = whole.compare(arith::CmpFPredicate::OGE, divisor * std::ldexp(1.0, bits));
  Expr rest = whereAny(isLong, whole, [&]() -> SmallVector<Expr> {
    Expr rest = whole;
    for (int shift = range / bits * bits; shift > 0; shift -= bits)
      rest = divide(rest, shift);
    return {rest};
  })[0];
  rest = divide(rest, 0);
  Expr result = select(divisor < kInf, rest, select(whole < kInf, whole, x.like(kNaN)));
  return copySign(select(equal(y, y), result, y), x);
}

/// x^n for integers, modulo 2^width like products; for negative n it is 1 / x^-n, which is 0 except for x = 1 and -1.
/// There is one squaring for each bit up to the highest that any lane's n has, or that the constant n has.
Expr integerPower(Expr x, Expr n) {
  ImplicitLocOpBuilder &b = x.builder();
  auto is = [&](arith::CmpIPredicate predicate, Expr a, Expr c) {
    return Expr(b, arith::CmpIOp::create(b, predicate, a, c));
  };
  Expr zero = x.likeInt(0), one = x.likeInt(1), minusOne = x.likeInt(~uint64_t(0));
  if (APInt known; matchPattern(Value(n), m_ConstantInt(&known)) && !known.isNegative()) {
    if (known.isZero())
      return one;
    Expr result = x;
    for (unsigned bit = known.getActiveBits() - 1; bit > 0; --bit) {
      result = result.with<arith::MulIOp>(result);
      result = known[bit - 1] ? result.with<arith::MulIOp>(x) : result;
    }
    return result;
  }
  Expr odd = is(arith::CmpIPredicate::ne, n & one, zero), negative = is(arith::CmpIPredicate::slt, n, zero);
  Expr unit = select(is(arith::CmpIPredicate::eq, x, one), one,
                     select(is(arith::CmpIPredicate::eq, x, minusOne), select(odd, minusOne, one), zero));
  Value values[] = {select(negative, unit, one), x, select(negative, zero, n)};
  auto loop = scf::WhileOp::create(
      b, TypeRange(ValueRange(values)), values,
      [&](OpBuilder &, Location, ValueRange now) {
        scf::ConditionOp::create(b, anyOf(is(arith::CmpIPredicate::ne, Expr(b, now[2]), zero)), now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        Expr result(b, now[0]), power(b, now[1]), rest(b, now[2]);
        Expr set = is(arith::CmpIPredicate::ne, rest & one, zero);
        scf::YieldOp::create(
            b, {select(set, result.with<arith::MulIOp>(power), result), power.with<arith::MulIOp>(power), rest >> 1});
      });
  return {b, loop.getResult(0)};
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

/// maximumf or minimumf with a number: the bits of the op in one or two instructions instead of three to six. Comparing
/// with the number first keeps NaN, and keeps x where both are zero. That is the op's rule except for max(-0, +0) = +0
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

/// The expansion of a unary op, or null.
Unary expansionOf(Operation *op) {
  return TypeSwitch<Operation *, Unary>(op)
      .Case([](math::ExpOp) { return static_cast<Unary>(exp); })
      .Case([](math::ExpM1Op) { return expm1; })
      .Case([](math::LogOp) { return log; })
      .Case([](math::SinOp) { return sin; })
      .Case([](math::CosOp) { return cos; })
      .Case([](math::TanOp) { return tan; })
      .Case([](math::AsinOp) { return asin; })
      .Case([](math::AcosOp) { return acos; })
      .Case([](math::AtanOp) { return atan; })
      .Case([](math::SinhOp) { return sinh; })
      .Case([](math::CoshOp) { return cosh; })
      .Case([](math::TanhOp) { return tanh; })
      .Case([](math::AsinhOp) { return asinh; })
      .Case([](math::AcoshOp) { return acosh; })
      .Case([](math::AtanhOp) { return atanh; })
      .Case([](math::ErfOp) { return erf; })
      .Case([](LogisticOp) { return logistic; })
      .Case([](Log1pExpOp) { return log1pExp; })
      .Case([](MishGateOp) { return mishGate; })
      .Case([](NormalCdfOp) { return normalCdf; })
      .Default([](Operation *) -> Unary { return nullptr; });
}

} // namespace

using Binary = Expr (*)(Expr, Expr);

/// The expansion of an op of two floats, or null.
static Binary binaryOf(Operation *op) {
  return isa<arith::RemFOp>(op) ? remainder : isa<math::PowFOp>(op) ? pow : nullptr;
}

bool isExpanded(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa_and_nonnull<math::MathDialect, TuttiDialect, arith::ArithDialect>(op->getDialect()))
    return false;
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  return isa<math::IPowIOp>(op) || (element && element.getWidth() <= 64 && (binaryOf(op) || expansionOf(op)));
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
    Binary binary = binaryOf(op);
    Expr result = binary ? binary(operand(0), operand(1)) : expansionOf(op)(operand(0));
    if (element.getWidth() < 32)
      result = result.make<arith::TruncFOp>(op->getResult(0).getType());
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
  expandBounded<arith::MaximumFOp>(root);
  expandBounded<arith::MinimumFOp>(root);
}

namespace {
struct ExpandMath : impl::ExpandMathPassBase<ExpandMath> {
  void runOnOperation() override { expandMath(getOperation()); }
};
} // namespace

} // namespace tutti
