// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plan gives memory: where a value lies, and how large it can be.
#ifndef TUTTI_PASSES_PLAN_VALUES_H
#define TUTTI_PASSES_PLAN_VALUES_H

#include "dialects/tutti/Module.h"
#include "passes/analysis/Views.h"

#include "llvm/ADT/StringMap.h"

namespace tutti {

/// Where a value lies: a view is the whole, and so is the part of a group, which its kernel finds through a table.
inline mlir::Value wholeOf(mlir::Value value) {
  value = throughViews(value);
  auto part = value.getDefiningOp<PartOp>();
  return part ? wholeOf(part.getX()) : value;
}

/// The sizes that calls decide, each at its largest.
class LargestSizes {
public:
  explicit LargestSizes(mlir::ModuleOp module) : chunk(getChunk(module).value_or(0)) {
    if (std::optional<int64_t> members = getMembers(module))
      largest[activeName] = *members;
    for (const SizeRange &range : getSizeRanges(module))
      largest[range.symbol] = range.most;
    for (auto [group, members] : llvm::enumerate(getGroups(module)))
      largest[activeSize(group).str()] = members.size();
  }

  /// Members that run at once where a call's members run in pieces; 0: all.
  const int64_t chunk;

  bool know(llvm::StringRef symbol) const { return largest.contains(symbol); }
  /// 0 of one that the module does not know.
  int64_t of(llvm::StringRef symbol) const { return largest.lookup(symbol); }
  /// Nothing on overflow.
  std::optional<int64_t> of(const Size &size) const {
    return size.at([&](llvm::StringRef symbol) { return of(symbol); });
  }
  /// The largest value of a size of what one piece of the members makes.
  std::optional<int64_t> ofPiece(const Size &size) const {
    return size.at(
        [&](llvm::StringRef symbol) { return isActiveName(symbol) ? std::min(chunk, of(symbol)) : of(symbol); });
  }

private:
  llvm::StringMap<int64_t> largest;
};

} // namespace tutti

#endif
