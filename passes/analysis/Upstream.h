// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a value is made of.
#ifndef TUTTI_PASSES_ANALYSIS_UPSTREAM_H
#define TUTTI_PASSES_ANALYSIS_UPSTREAM_H

#include "dialects/tutti/Tutti.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tutti {

/// Whether a value, or one that it is made of, is what is looked for. `look`: true, it is; false, look no further
/// there; nothing, at the operands of what makes it. No more than `most` values are looked at: a pattern asks for each
/// op of a graph, whose chains are as long as users like.
inline bool isFoundUpstream(mlir::Value value, llvm::function_ref<std::optional<bool>(mlir::Value)> look,
                            size_t most = SIZE_MAX) {
  llvm::SmallVector<mlir::Value> open = {value};
  llvm::SmallDenseSet<mlir::Value> seen = {value};
  for (size_t looked = 0; !open.empty() && looked < most; ++looked) {
    mlir::Value next = open.pop_back_val();
    std::optional<bool> found = look(next);
    if (found.value_or(false))
      return true;
    if (found || !next.getDefiningOp())
      continue;
    for (mlir::Value operand : next.getDefiningOp()->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return false;
}

/// Values that a pattern looks at: more are in no kernel.
constexpr size_t mostUpstream = 256;

/// Whether maps make x of a contraction.
inline bool isOfContraction(mlir::Value x) {
  auto look = [](mlir::Value value) -> std::optional<bool> {
    mlir::Operation *op = value.getDefiningOp();
    return llvm::isa_and_nonnull<MapOp>(op) ? std::nullopt : std::optional(llvm::isa_and_nonnull<ContractOp>(op));
  };
  return isFoundUpstream(x, look, mostUpstream);
}

} // namespace tutti

#endif
