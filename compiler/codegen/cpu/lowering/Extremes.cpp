// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The larger and the smaller of two floats by AVX-512's `vrange`, which knows that -0 is below +0; a NaN is what the
// sum of both is. LLVM makes three selections of it, by which a loop over two streams waits for fewer lines at a time.
#include "Vectors.h"

#include "compiler/codegen/Passes.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_CPUEXTREMESPASS
#include "compiler/codegen/Passes.h.inc"

static Value extreme(ImplicitLocOpBuilder &b, Value x, Value y, bool largest) {
  constexpr int32_t ownSign = 1 << 2, roundAsTold = 4;
  auto type = cast<VectorType>(x.getType());
  const char *name =
      type.getElementType().isF64() ? "llvm.x86.avx512.mask.range.pd.512" : "llvm.x86.avx512.mask.range.ps.512";
  Type mask = b.getIntegerType(type.getNumElements());
  auto number = [&](int32_t value) -> Value { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); };
  Value everywhere = arith::ConstantOp::create(b, b.getIntegerAttr(mask, -1));
  Value arguments[] = {x, y, number(ownSign | largest), x, everywhere, number(roundAsTold)};
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), arguments).getResult(0);
}

template <typename Op> static void rewrite(ModuleOp module, bool largest) {
  replaceInRegisters<Op>(module, [&](ImplicitLocOpBuilder &b, Op op) -> Value {
    Value x = op.getLhs(), y = op.getRhs();
    Value number = byRegister(b, {x, y}, [&](ValueRange parts) { return extreme(b, parts[0], parts[1], largest); });
    Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, y);
    return arith::SelectOp::create(b, isNan, arith::AddFOp::create(b, x, y), number);
  });
}

namespace {
struct Extremes : impl::CpuExtremesPassBase<Extremes> {
  void runOnOperation() override {
    rewrite<arith::MaximumFOp>(getOperation(), /*largest=*/true);
    rewrite<arith::MinimumFOp>(getOperation(), /*largest=*/false);
  }
};
} // namespace

} // namespace tutti
