// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-numerics: what decides bits, from the one-member op alone. docs/numerics.md states the rules.
#include "passes/analysis/Numerics.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"
#include "passes/analysis/Target.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_NUMERICSPASS
#include "passes/Passes.h.inc"

int64_t chunkOf(int64_t k) {
  if (k <= 256)
    return k;
  int64_t chunks = llvm::divideCeil(k, 256);
  return llvm::alignTo(llvm::divideCeil(k, chunks), 8);
}

bool isRowsTimesWeight(const ContractSpec &spec, Value right) {
  auto get = right.getDefiningOp<GetOp>();
  auto type = cast<RankedTensorType>(right.getType());
  if (!get || !type.getElementType().isF32())
    return false;
  bool lifted = isLifted(type);
  std::string weight = lifted ? spec.rhs.substr(1) : spec.rhs;
  std::string rows = spec.result.substr(0, spec.result.size() - 1);
  std::string left = spec.lhs.substr(0, spec.lhs.size() - 1);
  if (weight.size() != 2 || spec.lhs.empty() || spec.result.empty() || spec.lhs.back() != weight[0] ||
      spec.result.back() != weight[1])
    return false;
  // [m]rows,k x [m]k,n -> [m]rows,n: the member label leads wherever it is.
  if (lifted && (rows.empty() || rows[0] != spec.rhs[0]))
    return false;
  if (lifted && (left.empty() || left[0] != spec.rhs[0]))
    rows = rows.substr(1);
  return left == rows;
}

NumericsProduct productOf(int64_t k, int64_t n, const TargetTraits &target, StringRef precision) {
  if (!target.hasTensorCores)
    return NumericsProduct::fma;
  // Three products of halves are worth it where a chain of fma loses more than the split does, and where a tile of 8
  // columns is not mostly padding.
  if (precision == "f32")
    return k >= 48 && n > 8 ? NumericsProduct::tf32x3 : NumericsProduct::fma;
  return symbolizeNumericsProduct(precision).value_or(NumericsProduct::fma);
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
    op->emitOpError("expected 'numerics': --tutti-numerics comes before this pass");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

namespace {

struct NumericsPass : impl::NumericsPassBase<NumericsPass> {
  void runOnOperation() override {
    getOperation().walk([&](NumericsOpInterface op) {
      auto contract = dyn_cast<ContractOp>(*op);
      op.setNumericsAttr(contract ? ofContraction(contract)
                                  : get(isRowPhase(op) ? NumericsRule::lanes : NumericsRule::chain));
    });
  }

  NumericsAttr get(NumericsRule rule, std::optional<int64_t> chunk = {},
                   NumericsProduct product = NumericsProduct::fma) {
    return NumericsAttr::get(&getContext(), rule, chunk, product);
  }

  NumericsAttr ofContraction(ContractOp contract) {
    auto spec = ContractSpec::parse(contract.getSpec());
    int64_t k = 1;
    Sizes sizes = getSizes(cast<RankedTensorType>(contract.getLhs().getType()));
    for (char label : spec->contracted())
      k *= sizes[spec->lhs.find(label)].getFixed();
    if (!isRowsTimesWeight(contract))
      return get(NumericsRule::chain, chunkOf(k));
    int64_t n = getSizes(contract.getType()).back().getFixed();
    NumericsProduct product = productOf(k, n, TargetTraits::of(getOperation()), getPrecision(getOperation()));
    return get(NumericsRule::panels,
               product == NumericsProduct::fma      ? chunkOf(k)
               : product == NumericsProduct::tf32x3 ? splitChunk
                                                    : k,
               product);
  }
};

} // namespace
} // namespace tutti
