// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-numerics: writes on each contraction and reduction what decides its bits.
#include "passes/analysis/Numerics.h"
#include "dialects/tutti/Model.h"
#include "dialects/tutti/Module.h"
#include "passes/Passes.h"
#include "passes/analysis/Target.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_NUMERICSPASS
#include "passes/Passes.h.inc"

namespace {

struct NumericsPass : impl::NumericsPassBase<NumericsPass> {
  void runOnOperation() override {
    if (failed(checkModel(getOperation())))
      return signalPassFailure();
    bool broken = false;
    getOperation().walk([&](ContractOp op) {
      bool isFixed = llvm::all_of(op.mixedSizes(), [](const Size &size) { return size.isFixed(); });
      if (!isFixed)
        op.emitOpError("is not parallel along a size that a call decides: --tutti-parallel comes before this pass");
      else if (!op.terms())
        op.emitOpError("sums more terms than there are numbers");
      broken |= !isFixed || !op.terms();
    });
    if (broken)
      return signalPassFailure();
    getOperation().walk([&](NumericsOpInterface op) {
      auto contract = dyn_cast<ContractOp>(*op);
      op.setNumericsAttr(contract ? ofContraction(contract)
                                  : get(isRowPhase(op) ? NumericsRule::lanes : NumericsRule::chain));
    });
    getOperation().walk([](GetOp op) { partReaders(op); });
  }

  /// Splits a weight that products read in a layout of theirs, and something else as it is, into two values.
  static void partReaders(GetOp op) {
    if (ContractOp reader = readerOfWeight(op); !reader || llvm::all_of(op->getUses(), readsInPanels))
      return;
    OpBuilder builder(op);
    auto inPanels = cast<GetOp>(builder.clone(*op));
    op.getResult().replaceUsesWithIf(inPanels.getResult(), readsInPanels);
  }

  NumericsAttr get(NumericsRule rule, std::optional<int64_t> chunk = {},
                   NumericsProduct product = NumericsProduct::fma) {
    return NumericsAttr::get(&getContext(), rule, chunk, product);
  }

  NumericsAttr ofContraction(ContractOp contract) {
    int64_t k = contract.terms()->getFixed();
    if (contract.getBytes()) // their sums are the same in any order
      return get(isRowsTimesWeight(contract) && TargetTraits::of(getOperation()).hasPanelsOfBytes ? NumericsRule::panels
                                                                                                  : NumericsRule::chain,
                 k);
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
