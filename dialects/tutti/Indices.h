// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the index expressions of maps come to.
#ifndef TUTTI_DIALECTS_TUTTI_INDICES_H
#define TUTTI_DIALECTS_TUTTI_INDICES_H

#include "Sizes.h"

#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace tutti {

/// The least and the most of an index, both included; nothing where an end is unknown or past 64 bits.
struct IndexRange {
  std::optional<int64_t> least, most;
  /// Whether the known ends are exact: some values of the dimensions reach each of them.
  bool isReached = false;

  /// The range of an index that is made of dimensions, each in [0, size); of symbols nothing is known.
  static IndexRange of(mlir::AffineExpr expr, llvm::ArrayRef<Size> sizes);
  /// Whether some values of the dimensions give an index outside of [0, size), as far as that is known.
  bool leaves(const Size &size) const;
};

/// Whether an index that is a dimension in [0, size), or one plus a number, leaves [0, `axis`) where each symbol is 1,
/// or is not known to stay there. It is for axes and dimensions whose sizes a call decides; false for other indices.
bool leavesOpenAxis(mlir::AffineExpr index, llvm::ArrayRef<Size> sizes, const Size &axis);

/// Whether an index may be negative although none of its dimensions and symbols is: quotients and remainders of a
/// negative index round down.
bool mayBeNegative(mlir::AffineExpr expr);

} // namespace tutti

#endif
