// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What decides bits, from the one-member op alone. docs/numerics.md states the rules.
#include "Numerics.h"
#include "Target.h"
#include "dialects/tutti/Mistake.h"
#include "runtime/schema/Layout.h"

using namespace mlir;

namespace tutti {

int64_t chunkOf(int64_t k) {
  if (k <= 256)
    return k;
  int64_t chunks = llvm::divideCeil(k, 256);
  return llvm::alignTo(llvm::divideCeil(k, chunks), 8);
}

bool isRowsTimesWeight(const ContractSpec &spec, Value right, bool bytes) {
  auto get = right.getDefiningOp<GetOp>();
  if (!get)
    return false;
  auto type = typeOf(right);
  Type element = type.getElementType();
  bool hasTiles = element.isF32() || (element.isF64() && TargetTraits::of(get).tilesFloat64);
  return (bytes || hasTiles) && spec.isRowsTimesWeight(isLifted(type));
}

bool endsInLanes(int64_t k, int64_t n, Type element) {
  return llvm::any_of(rt::planPanels(k, n, storageBytes(element)),
                      [](const rt::PanelBlock &block) { return block.lanes; });
}

NumericsProduct productOf(int64_t k, int64_t n, const TargetTraits &target, Precision precision) {
  if (!target.hasTensorCores)
    return NumericsProduct::fma;
  switch (precision) {
  case Precision::f32:
    // Three TF32 products for one are worth it where a chain of fma loses more than the split does, and where a tile of
    // 8 columns is not mostly padding.
    return k >= 48 && n > 8 ? NumericsProduct::tf32x3 : NumericsProduct::fma;
  case Precision::f32_ffma:
    return NumericsProduct::fma;
  case Precision::tf32:
    return NumericsProduct::tf32;
  case Precision::bf16:
    return NumericsProduct::bf16;
  case Precision::f16:
    return NumericsProduct::f16;
  }
  llvm_unreachable("every precision has its product");
}

TypedAttr neutralOf(ReduceKind kind, Type element) {
  Builder b(element.getContext());
  bool largest = kind == ReduceKind::max;
  if (kind == ReduceKind::sum || kind == ReduceKind::mean)
    return b.getZeroAttr(element);
  if (kind == ReduceKind::prod)
    return b.getOneAttr(element);
  if (auto number = dyn_cast<FloatType>(element))
    return FloatAttr::get(number, APFloat::getInf(number.getFloatSemantics(), /*Negative=*/largest));
  unsigned width = element.getIntOrFloatBitWidth();
  return IntegerAttr::get(element, largest ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
}

LogicalResult requireNumerics(ModuleOp module) {
  WalkResult walked = module.walk([](NumericsOpInterface op) {
    if (op.getNumericsAttr())
      return WalkResult::advance();
    mistake(op->emitOpError("expected 'numerics': --tutti-numerics comes before this pass"));
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

} // namespace tutti
