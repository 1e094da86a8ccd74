// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on the sizes of tensor axes.
#include "Sizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace tutti {

Size Size::symbol(llvm::StringRef name) {
  Size size(1);
  size.symbols.push_back(name.str());
  return size;
}

std::string Size::str() const {
  if (isFixed())
    return std::to_string(factor);
  std::string names = llvm::join(symbols, "*");
  return factor == 1 ? names : std::to_string(factor) + "*" + names;
}

std::optional<int64_t> Size::at(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf) const {
  int64_t length = factor;
  for (const std::string &name : symbols)
    if (std::optional<int64_t> value = valueOf(name); !value || llvm::MulOverflow(length, *value, length))
      return std::nullopt;
  return length;
}

std::optional<Size> Size::times(const Size &other) const {
  Size result;
  if (llvm::MulOverflow(factor, other.factor, result.factor))
    return std::nullopt;
  if (result.factor == 0)
    return Size(0);
  result.symbols = symbols;
  result.symbols.append(other.symbols.begin(), other.symbols.end());
  llvm::sort(result.symbols);
  return result;
}

std::optional<Size> Size::dividedBy(const Size &other) const {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(); // has no quotient by -1
  if (other.factor == 0 || (factor == least && other.factor == -1) || factor % other.factor != 0)
    return std::nullopt;
  Size result(factor / other.factor);
  result.symbols = symbols;
  for (const std::string &name : other.symbols) {
    auto *place = llvm::find(result.symbols, name);
    if (place == result.symbols.end())
      return std::nullopt;
    result.symbols.erase(place);
  }
  return result;
}

std::optional<Sizes> broadcast(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Sizes result(a);
  for (unsigned i = 0; i < b.size(); ++i) {
    Size &mine = result[a.size() - b.size() + i];
    if (mine == b[i] || b[i] == Size(1))
      continue;
    if (mine != Size(1))
      return std::nullopt;
    mine = b[i];
  }
  return result;
}

std::optional<Size> product(llvm::ArrayRef<Size> sizes) {
  std::optional<Size> result(Size(1));
  for (const Size &size : sizes)
    if (result)
      result = result->times(size);
  return result;
}

std::optional<int64_t> firstOfRow(llvm::ArrayRef<Size> sizes, llvm::ArrayRef<int64_t> reduced) {
  int64_t rank = sizes.size(), first = rank;
  for (int64_t axis : reduced)
    first = std::min(first, axis);
  for (int64_t axis = first; axis < rank; ++axis)
    if (!llvm::is_contained(reduced, axis) && sizes[axis] != Size(1))
      return std::nullopt;
  return first + 1 < rank ? std::optional(first) : std::nullopt;
}

std::optional<llvm::SmallVector<AxisRuns>> matchAxes(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b) {
  llvm::SmallVector<AxisRuns> runs;
  for (unsigned i = 0, j = 0; i < a.size() || j < b.size();) {
    unsigned firstA = i, firstB = j;
    Size elementsA(1), elementsB(1);
    auto take = [](Size &elements, const Size &size) {
      std::optional<Size> more = elements.times(size);
      elements = more ? *more : elements;
      return more.has_value();
    };
    do {
      // Grow the side that divides the other; where neither does, both.
      bool growA = i < a.size() && (elementsB.dividedBy(elementsA) || j == b.size());
      bool growB = j < b.size() && !growA && (elementsA.dividedBy(elementsB) || i == a.size());
      bool both = !growA && !growB;
      if ((growA || both) && i < a.size() && !take(elementsA, a[i++]))
        return std::nullopt;
      if ((growB || both) && j < b.size() && !take(elementsB, b[j++]))
        return std::nullopt;
    } while (elementsA != elementsB && (i < a.size() || j < b.size()));
    runs.push_back({{firstA, firstB}, {i - firstA, j - firstB}});
  }
  return runs;
}

/// Whether none but axes of length 1 are before the one whose size is not fixed.
static bool hasOuter(llvm::ArrayRef<Size> sizes) {
  bool inner = false;
  for (const Size &size : sizes) {
    if (!size.isFixed() && (inner || size.getSymbols().size() > 1))
      return false;
    inner |= size != Size(1);
  }
  return true;
}

std::optional<AxisRuns> mixedByReshape(llvm::ArrayRef<Size> from, llvm::ArrayRef<Size> to) {
  std::optional<llvm::SmallVector<AxisRuns>> runs = matchAxes(from, to);
  if (!runs)
    return AxisRuns{{0, 0}, {unsigned(from.size()), unsigned(to.size())}};
  for (const AxisRuns &run : llvm::reverse(*runs)) {
    if (run.count[0] == 1 && run.count[1] == 1)
      continue;
    if (!hasOuter(from.slice(run.first[0], run.count[0])) || !hasOuter(to.slice(run.first[1], run.count[1])))
      return run;
  }
  return std::nullopt;
}

std::string str(llvm::ArrayRef<Size> sizes) {
  std::string text = "(";
  for (auto [i, size] : llvm::enumerate(sizes))
    text += (i ? ", " : "") + size.str();
  return text + ")";
}

} // namespace tutti
