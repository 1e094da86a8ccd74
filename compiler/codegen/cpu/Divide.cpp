// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divisions of a vector by one number, without the divider, which takes sixteen cycles for a vector.
//
// With z = 1 / y, q = x z and r = x - q y, each rounded once, q + r z rounded once is x / y rounded to nearest, unless
// something under- or overflows on the way (Markstein, IBM J. Res. Dev. 34, 1990; Brisebarre, Muller and Raina, IEEE
// Trans. Comput. 53, 2004). So no bit changes: where an exponent is far out, the division stays.
#include "Image.h"

#include "compiler/codegen/ValueExpr.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tutti {

/// 2^-60 and 2^60: quotients, their errors and all products are normal numbers between these.
constexpr uint64_t leastBits = uint64_t(127 - 60) << 23, mostBits = uint64_t(127 + 60) << 23;

static Expr isIn(arith::CmpIPredicate predicate, Expr a, Expr b) {
  return {a.builder(), arith::CmpIOp::create(a.builder(), predicate, a, b)};
}
/// Whether |x| is from 2^-60 to 2^60.
static Expr isModerate(Expr x) {
  Expr bits = x.bits() & x.bits().likeInt(0x7fffffff),
       above = {x.builder(), arith::SubIOp::create(x.builder(), bits, bits.likeInt(leastBits))};
  return isIn(arith::CmpIPredicate::ule, above, above.likeInt(mostBits - leastBits));
}

static void divide(arith::DivFOp op, Value scalar) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Expr x(b, op.getLhs()), y(b, op.getRhs()), divisor(b, scalar);
  auto type = cast<VectorType>(op.getType());
  // A zero is as good as any moderate number, but for its sign.
  Expr fit = isModerate(x) | equal(x, 0);
  Type bits = b.getIntegerType(type.getNumElements());
  Value all = LLVM::BitcastOp::create(b, bits, Value(fit));
  all =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, all, arith::ConstantOp::create(b, b.getIntegerAttr(bits, -1)));
  all = arith::AndIOp::create(b, all, isModerate(divisor));
  auto branch = scf::IfOp::create(b, TypeRange{type}, all, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  Expr z(b, vector::BroadcastOp::create(b, type, divisor.like(1) / divisor));
  Expr q = x * z, r = fma(-q, y, x);
  scf::YieldOp::create(b, Value(copySign(fma(r, z, q), q)));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, Value(x / y));
  op.replaceAllUsesWith(branch.getResult(0));
  op.erase();
}

void divideByOne(ModuleOp module) {
  SmallVector<std::pair<arith::DivFOp, Value>> found;
  module.walk([&](arith::DivFOp op) {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32())
      return;
    if (auto splat = op.getRhs().getDefiningOp<vector::BroadcastOp>();
        splat && !isa<VectorType>(splat.getSource().getType()))
      return found.emplace_back(op, splat.getSource()), void();
    auto constant = op.getRhs().getDefiningOp<arith::ConstantOp>();
    auto dense = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
    if (dense && dense.isSplat())
      found.emplace_back(op, nullptr);
  });
  for (auto [op, scalar] : found) {
    Value divisor = scalar;
    if (!divisor) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      auto dense = cast<DenseFPElementsAttr>(op.getRhs().getDefiningOp<arith::ConstantOp>().getValue());
      divisor = arith::ConstantOp::create(b, dense.getSplatValue<FloatAttr>());
    }
    divide(op, divisor);
  }
}

} // namespace tutti
