// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of tensor axes: fixed, or monomials over the symbols that a call binds.
#ifndef TUTTI_DIALECTS_TUTTI_SIZES_H
#define TUTTI_DIALECTS_TUTTI_SIZES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <tuple>

namespace tutti {

/// The length of an axis: `factor` times the product of `symbols` (sorted, with repetition). No symbols: fixed.
class Size {
public:
  Size(int64_t fixed = 0) : factor(fixed) {}
  static Size symbol(llvm::StringRef name);

  bool isFixed() const { return symbols.empty(); }
  int64_t getFixed() const { return factor; }
  int64_t getFactor() const { return factor; }
  llvm::ArrayRef<std::string> getSymbols() const { return symbols; }
  std::string str() const;
  /// The length in a call that has these values of the symbols; nothing when it overflows 63 bits, or a symbol has
  /// none.
  std::optional<int64_t> at(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf) const;

  /// The product; nothing when the factor overflows 63 bits.
  std::optional<Size> times(const Size &other) const;
  /// The quotient, when this is a multiple of `other` for every value of the symbols.
  std::optional<Size> dividedBy(const Size &other) const;
  /// Whether it is larger for every value of the symbols, as far as factors tell.
  bool isKnownLarger(const Size &other) const { return symbols == other.symbols && factor > other.factor; }
  bool operator==(const Size &other) const { return factor == other.factor && symbols == other.symbols; }
  bool operator!=(const Size &other) const { return !(*this == other); }
  /// An arbitrary order, for containers.
  bool operator<(const Size &other) const { return std::tie(factor, symbols) < std::tie(other.factor, other.symbols); }
  friend llvm::hash_code hash_value(const Size &size) {
    return llvm::hash_combine(size.factor, llvm::hash_combine_range(size.symbols));
  }

private:
  int64_t factor;
  llvm::SmallVector<std::string, 1> symbols;
};

using Sizes = llvm::SmallVector<Size, 4>;
inline llvm::hash_code hash_value(const Sizes &sizes) { return llvm::hash_combine_range(sizes); }

/// NumPy's broadcast of two shapes; nothing if they do not fit.
std::optional<Sizes> broadcast(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);
/// The product of the sizes; nothing on overflow.
std::optional<Size> product(llvm::ArrayRef<Size> sizes);
/// The first reduced axis, if there is one and all axes behind it are reduced, too, or have length 1: from there on all
/// are one row, which a reduction runs along (docs/numerics.md, 3).
std::optional<int64_t> firstOfRow(llvm::ArrayRef<Size> sizes, llvm::ArrayRef<int64_t> reduced);
/// A run of axes of one shape that holds the same elements, in row-major order, as a run of axes of another.
struct AxisRuns {
  unsigned first[2], count[2];
};
/// Cuts both shapes, of equally many elements, from the left into the shortest such runs; nothing on overflow.
std::optional<llvm::SmallVector<AxisRuns>> matchAxes(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);
/// The last run of axes in which a reshape mixes places of an axis that is not fixed; nothing if it keeps them apart.
/// It does if each run has the symbol on its outermost axis, before and after; what is one axis on either side stays as
/// it is.
std::optional<AxisRuns> mixedByReshape(llvm::ArrayRef<Size> from, llvm::ArrayRef<Size> to);
/// "(batch, 784)", for messages.
std::string str(llvm::ArrayRef<Size> sizes);

} // namespace tutti

#endif
