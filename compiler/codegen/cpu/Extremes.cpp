// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The larger and the smaller of two floats by AVX-512's `vrange`, which knows that -0 is below +0; a NaN is what the
// sum of both is. LLVM makes three selections of it, by which a loop over two streams waits for fewer lines at a time.
#include "Image.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tutti {

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
  constexpr int64_t registerBits = 512;
  SmallVector<Op> found;
  module.walk([&](Op op) { found.push_back(op); });
  for (Op op : found) {
    auto type = dyn_cast<VectorType>(op.getType());
    unsigned width = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
    int64_t lanes = registerBits / width;
    if (!type || width < 32 || !llvm::isPowerOf2_64(type.getNumElements()) || type.getNumElements() < lanes)
      continue;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value x = op.getLhs(), y = op.getRhs();
    SmallVector<Value> parts;
    for (int64_t i = 0; i < type.getNumElements() / lanes; ++i)
      parts.push_back(extreme(b, partOf(b, x, i, lanes), partOf(b, y, i, lanes), largest));
    Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, y), sum = arith::AddFOp::create(b, x, y);
    op.replaceAllUsesWith(arith::SelectOp::create(b, isNan, sum, endToEnd(b, std::move(parts))).getResult());
    op.erase();
  }
}

void rangeExtremes(ModuleOp module) {
  rewrite<arith::MaximumFOp>(module, /*largest=*/true);
  rewrite<arith::MinimumFOp>(module, /*largest=*/false);
}

} // namespace tutti
