// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Searches through the ops that a value is made of.
#ifndef TUTTI_PASSES_ANALYSIS_UPSTREAM_H
#define TUTTI_PASSES_ANALYSIS_UPSTREAM_H

#include "dialects/tutti/Tutti.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tutti {

/// Whether a search from a value through the operands of its producers finds what `look` looks for. `look` returns
/// true: found; false: go no further there; nothing: go on at the operands of the producer. At most `most` values are
/// visited, since a pattern searches for each op of a graph, whose chains are as long as users like.
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

/// The most values that a pattern visits: more are in no kernel.
constexpr size_t mostUpstream = 256;

/// Whether x is a contraction, or maps of one.
inline bool isOfContraction(mlir::Value x) {
  auto look = [](mlir::Value value) -> std::optional<bool> {
    mlir::Operation *op = value.getDefiningOp();
    return llvm::isa_and_nonnull<MapOp>(op) ? std::nullopt : std::optional(llvm::isa_and_nonnull<ContractOp>(op));
  };
  return isFoundUpstream(x, look, mostUpstream);
}

} // namespace tutti

#endif
