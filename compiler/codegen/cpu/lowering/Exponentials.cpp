// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// e^x = p 2^n by AVX-512's one instruction that multiplies by 2^n, for any n, and rounds once. In arithmetic n lies in
// two factors, as no float holds all powers of two, which takes six instructions; as the first product is exact, that
// is the same number (docs/numerics.md).
#include "Vectors.h"

#include "compiler/codegen/Passes.h"
#include "compiler/codegen/math/Functions.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_CPUEXPONENTIALSPASS
#include "compiler/codegen/Passes.h.inc"

/// p 2^n for a register, +0 where `counts` is not set.
static Value scaled(ImplicitLocOpBuilder &b, Value p, Value n, Value counts) {
  constexpr int32_t roundAsTold = 4;
  auto type = cast<VectorType>(p.getType());
  Type mask = b.getIntegerType(type.getNumElements());
  const char *name =
      type.getElementType().isF64() ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512";
  Value arguments[] = {p, n, arith::ConstantOp::create(b, b.getZeroAttr(type)),
                       LLVM::BitcastOp::create(b, mask, counts),
                       arith::ConstantOp::create(b, b.getI32IntegerAttr(roundAsTold))};
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), arguments).getResult(0);
}

static Value exponential(ImplicitLocOpBuilder &b, Value argument) {
  Expr x(b, argument);
  Format f(x);
  // e to this bound is less than half the smallest denormal, so the result is 0. A scaling that underflows takes a slow
  // path in the CPU.
  Value counts = x.compare(arith::CmpFPredicate::UGE, x.like(f.pick(-104, -746)));
  Power e = powerOf(clampAbove(x, mostExp(f)), f.magic(), f);
  return byRegister(b, {Value(e.p), Value(e.n), counts},
                    [&](ValueRange parts) { return scaled(b, parts[0], parts[1], parts[2]); });
}

namespace {
struct Exponentials : impl::CpuExponentialsPassBase<Exponentials> {
  void runOnOperation() override {
    replaceInRegisters<math::ExpOp>(
        getOperation(), [](ImplicitLocOpBuilder &b, math::ExpOp op) { return exponential(b, op.getOperand()); });
  }
};
} // namespace

} // namespace tutti
