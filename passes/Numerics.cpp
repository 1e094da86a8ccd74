// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-numerics: what decides bits, from the one-member op alone. docs/numerics.md states the rules.
#include "passes/analysis/Numerics.h"
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"
#include "passes/analysis/Target.h"

#include "llvm/ADT/StringSwitch.h"

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

StringRef productOf(int64_t k, int64_t n, StringRef target, StringRef precision) {
  // Three products of halves are worth it where a chain of fma loses more than the split does, and where a tile of 8
  // columns is not mostly padding.
  bool split = k >= 48 && n > 8;
  return target != "cuda" ? "fma"
                          : llvm::StringSwitch<StringRef>(precision)
                                .Case("f32", split ? "tf32x3" : "fma")
                                .Cases({"tf32", "bf16", "f16"}, precision)
                                .Default("fma");
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
  WalkResult walked = module.walk([](Operation *op) {
    if (!op->hasTrait<HasNumerics>())
      return WalkResult::advance();
    auto numerics = op->getAttrOfType<DictionaryAttr>("numerics");
    if (numerics && numerics.getAs<StringAttr>("rule") &&
        (!isa<ContractOp>(op) || numerics.getAs<IntegerAttr>("chunk")))
      return WalkResult::advance();
    op->emitOpError("expected 'numerics' with its rule: --tutti-numerics comes before this pass");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

namespace {

struct NumericsPass : impl::NumericsPassBase<NumericsPass> {
  void runOnOperation() override {
    Builder b(&getContext());
    getOperation().walk([&](Operation *op) {
      if (auto contract = dyn_cast<ContractOp>(op)) {
        auto spec = ContractSpec::parse(contract.getSpec());
        int64_t k = 1;
        Sizes sizes = getSizes(cast<RankedTensorType>(contract.getLhs().getType()));
        for (char label : spec->contracted())
          k *= sizes[spec->lhs.find(label)].getFixed();
        auto set = [&](int64_t chunk, StringRef rule, StringRef product) {
          NamedAttrList numerics;
          numerics.set("chunk", b.getI64IntegerAttr(chunk));
          numerics.set("rule", b.getStringAttr(rule));
          if (!product.empty())
            numerics.set("product", b.getStringAttr(product));
          op->setAttr("numerics", numerics.getDictionary(&getContext()));
        };
        if (!isRowsTimesWeight(contract)) {
          set(chunkOf(k), "chain", "");
        } else {
          int64_t n = getSizes(contract.getType()).back().getFixed();
          StringRef product = productOf(k, n, targetOf(getOperation()), precisionOf(getOperation()));
          set(product == "fma" ? chunkOf(k) : product == "tf32x3" ? splitChunk : k, "panels", product);
        }
      } else if (op->hasTrait<HasNumerics>()) {
        StringRef rule = isRowPhase(op) ? "lanes" : "chain";
        op->setAttr("numerics", b.getDictionaryAttr({b.getNamedAttr("rule", b.getStringAttr(rule))}));
      }
    });
  }
};

} // namespace
} // namespace tutti
