// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known about sizes, and the equality of sizes that an op compares.
#include "compiler/import/emit/SizeFacts.h"

using namespace mlir;

namespace tutti {

bool SizeFacts::same(const Size &a, const Size &b) {
  if (a == b)
    return true;
  if (dims && dims->equate(a, b))
    restart = true;
  return false;
}

std::optional<SizeFacts::SizePair> SizeFacts::meet(ArrayRef<Size> a, ArrayRef<Size> b) {
  for (auto [mine, theirs] : llvm::zip(llvm::reverse(a), llvm::reverse(b)))
    if (mine != theirs && mine != Size(1) && theirs != Size(1) && !same(mine, theirs))
      return restart ? std::nullopt : std::optional(SizePair(mine, theirs));
  return std::nullopt;
}

Operand SizeFacts::misfit(const Size &a, const Size &b, const Twine &what, const Twine &verb) {
  if (a.isFixed() && b.isFixed())
    return malformed(what + " do not " + verb);
  return unsupported(what + " " + verb + " only for some sizes of a call", toBind({a, b}));
}

/// The range of a symbol; null where none is known.
static const SizeRange *rangeOf(ArrayRef<SizeRange> ranges, StringRef symbol) {
  const SizeRange *range = llvm::find_if(ranges, [&](const SizeRange &each) { return each.symbol == symbol; });
  return range == ranges.end() ? nullptr : range;
}

bool SizeFacts::isAboveOne(const Size &size) const {
  return size.getFactor() > 1 || llvm::any_of(size.getSymbols(), [&](StringRef name) {
           const SizeRange *range = rangeOf(ranges, name);
           return range && range->least > 1;
         });
}

std::optional<int64_t> SizeFacts::mostOf(const Size &size) const {
  return size.at([&](StringRef name) {
    const SizeRange *range = rangeOf(ranges, name);
    return range ? std::optional(range->most) : std::nullopt;
  });
}

} // namespace tutti
