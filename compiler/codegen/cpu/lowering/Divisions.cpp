// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divisions of a vector by one number, without the divider, which takes sixteen cycles for a vector.
//
// With z = 1 / y, q = x z and r = x - q y, each rounded once, q + r z rounded once is x / y rounded to nearest, unless
// something under- or overflows on the way (Markstein, IBM J. Res. Dev. 34, 1990; Brisebarre, Muller and Raina, IEEE
// Trans. Comput. 53, 2004). So no bit changes: where an exponent is far out, the division stays.
#include "Vectors.h"

#include "compiler/codegen/Passes.h"
#include "compiler/codegen/math/ValueExpr.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_CPUDIVISIONSPASS
#include "compiler/codegen/Passes.h.inc"

/// The range of divisors, as float bits: from 2^-60 to 2^60.
constexpr uint64_t leastBits = uint64_t(127 - 60) << 23, mostBits = uint64_t(127 + 60) << 23;

static Expr compared(arith::CmpIPredicate predicate, Expr a, Expr b) {
  return {a.builder(), arith::CmpIOp::create(a.builder(), predicate, a, b)};
}
static Expr isModerate(Expr divisor) {
  Expr bits = divisor.bits() & divisor.bits().likeInt(0x7fffffff),
       above = {divisor.builder(), arith::SubIOp::create(divisor.builder(), bits, bits.likeInt(leastBits))};
  return compared(arith::CmpIPredicate::ule, above, above.likeInt(mostBits - leastBits));
}

/// Whether a vector of conditions holds everywhere.
static Value all(Expr conditions) {
  ImplicitLocOpBuilder &b = conditions.builder();
  Type bits = b.getIntegerType(cast<VectorType>(conditions.type()).getNumElements());
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, LLVM::BitcastOp::create(b, bits, Value(conditions)),
                               arith::ConstantOp::create(b, b.getIntegerAttr(bits, -1)));
}

/// A bit that is set if |x| is in [2^-63, 2^64), where exactly one of the upper two exponent bits is set. With a
/// divisor as above, quotients, their errors and all products are then normal numbers.
constexpr uint64_t moderateBit = 0x40000000;
static Expr moderation(Expr x) { return x.bits() ^ (x.bits() << 1); }

/// The lanes of a register.
constexpr int64_t lanes = registerBits / 32;

static void divide(arith::DivFOp op, Value scalar) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Expr x(b, op.getLhs()), y(b, op.getRhs()), divisor(b, scalar);
  auto type = cast<VectorType>(op.getType());
  Expr fits = moderation(x);
  if (type.getNumElements() > lanes && type.getNumElements() % lanes == 0) {
    auto part = [&](int64_t at) { return Expr(b, partOf(b, fits, at, lanes)); };
    Expr every = part(0);
    for (int64_t i = 1; i < type.getNumElements() / lanes; ++i)
      every = every & part(i);
    fits = every;
  }
  Expr bit = fits.likeInt(moderateBit);
  Value numerators = all(compared(arith::CmpIPredicate::eq, fits & bit, bit));
  auto divided = [&](bool keepsSign) {
    Expr z(b, vector::BroadcastOp::create(b, type, divisor.like(1) / divisor));
    Expr q = x * z, r = fma(-q, y, x);
    Expr whole = fma(r, z, q);
    return scf::YieldOp::create(b, Value(keepsSign ? copySign(whole, q) : whole));
  };
  Value moderate = isModerate(divisor);
  auto usual =
      scf::IfOp::create(b, TypeRange{type}, arith::AndIOp::create(b, moderate, numerators), /*withElseRegion=*/true);
  b.setInsertionPointToStart(usual.thenBlock());
  divided(/*keepsSign=*/false);
  // A zero dividend is handled like a moderate number, except for its sign.
  b.setInsertionPointToStart(usual.elseBlock());
  Expr wide = moderation(x), wideBit = wide.likeInt(moderateBit);
  Expr zeros = compared(arith::CmpIPredicate::eq, wide & wideBit, wideBit) | equal(x, 0);
  auto branch =
      scf::IfOp::create(b, TypeRange{type}, arith::AndIOp::create(b, moderate, all(zeros)), /*withElseRegion=*/true);
  scf::YieldOp::create(b, branch.getResult(0));
  b.setInsertionPointToStart(branch.thenBlock());
  divided(/*keepsSign=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, Value(x / y));
  op.replaceAllUsesWith(usual.getResult(0));
  op.erase();
}

/// A division and its divisor, which is null if it is a constant.
using Division = std::pair<arith::DivFOp, Value>;
static std::optional<Division> byOneNumber(arith::DivFOp op) {
  if (!hasLanes(op.getType()) || !getElementTypeOrSelf(op.getType()).isF32())
    return std::nullopt;
  if (auto splat = op.getRhs().getDefiningOp<vector::BroadcastOp>();
      splat && !isa<VectorType>(splat.getSource().getType()))
    return Division(op, splat.getSource());
  SplatElementsAttr constant;
  return matchPattern(op.getRhs(), m_Constant(&constant)) ? std::optional(Division(op, nullptr)) : std::nullopt;
}

namespace {
struct Divisions : impl::CpuDivisionsPassBase<Divisions> {
  void runOnOperation() override {
    SmallVector<Division> found;
    getOperation().walk([&](arith::DivFOp op) {
      if (std::optional<Division> division = byOneNumber(op))
        found.push_back(*division);
    });
    for (auto [op, divisor] : found) {
      SplatElementsAttr constant;
      if (!divisor && matchPattern(op.getRhs(), m_Constant(&constant))) {
        ImplicitLocOpBuilder b(op.getLoc(), op);
        divisor = arith::ConstantOp::create(b, constant.getSplatValue<FloatAttr>());
      }
      divide(op, divisor);
    }
  }
};
} // namespace

} // namespace tutti
