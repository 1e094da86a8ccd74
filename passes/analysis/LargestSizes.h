// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest sizes of what a module's program computes.
#ifndef TUTTI_PASSES_ANALYSIS_LARGESTSIZES_H
#define TUTTI_PASSES_ANALYSIS_LARGESTSIZES_H

#include "dialects/tutti/Module.h"
#include "dialects/tutti/Sizes.h"

#include "llvm/ADT/StringMap.h"

namespace tutti {

/// The largest value of each size that a call decides.
class LargestSizes {
public:
  explicit LargestSizes(mlir::ModuleOp module) : chunk(getChunk(module)) {
    if (std::optional<int64_t> members = getMembers(module))
      largest[activeName] = *members;
    for (const SizeRange &range : getSizeRanges(module))
      largest[range.symbol] = range.most;
    for (auto [group, members] : llvm::enumerate(getGroups(module)))
      largest[activeSize(group).str()] = members.size();
  }

  /// The most members that run at once, where the members of a call run in pieces.
  const std::optional<int64_t> chunk;

  /// The largest value of a symbol; nothing if the module does not know it.
  std::optional<int64_t> of(llvm::StringRef symbol) const {
    auto found = largest.find(symbol);
    return found == largest.end() ? std::nullopt : std::optional(found->second);
  }
  /// The largest value of a size; nothing on overflow, or with an unknown symbol.
  std::optional<int64_t> of(const Size &size) const {
    return size.at([&](llvm::StringRef symbol) { return of(symbol); });
  }
  /// The largest value of a size of what one piece of the members makes.
  std::optional<int64_t> ofPiece(const Size &size) const {
    return size.at([&](llvm::StringRef symbol) {
      std::optional<int64_t> most = of(symbol);
      return most && isActiveName(symbol) ? std::min(*most, chunk.value_or(*most)) : most;
    });
  }

private:
  llvm::StringMap<int64_t> largest;
};

} // namespace tutti

#endif
