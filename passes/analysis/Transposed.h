// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operands rows read transposed: elements of a column, not of a row, are neighbours there.
#ifndef TUTTI_PASSES_ANALYSIS_TRANSPOSED_H
#define TUTTI_PASSES_ANALYSIS_TRANSPOSED_H

#include "Numerics.h"
#include "Rows.h"
#include "dialects/plan/Plan.h"

namespace tutti {

struct Step;
struct Steps;

/// Operands that a CPU copies, transposed in registers, before a block of rows reads them. Reading them element by
/// element would touch a cache line for each.
struct TransposedReads {
  struct Operand {
    mlir::Value value;
    mlir::AffineMap access;        ///< from the kernel's index space
    Size columns;                  ///< how many a row reads
    int64_t stride;                ///< elements from column to column
    int64_t offset = 0, pitch = 0; ///< the copy's place in bytes, and its row stride in elements
  };
  llvm::SmallVector<Operand> operands;
  /// The rows whose elements are neighbours: `length` rows along axis `axis` of the kernel's rows, `step` rows apart.
  unsigned axis = 0;
  int64_t length = 0, step = 1;
  /// The size of a block: its rows, and its columns unless it has all.
  int64_t rows = 0;
  std::optional<int64_t> columns;
  /// Whether rows of few elements lie end to end in all that a block reads and writes, which so is one long row.
  bool endToEnd = false;
  int64_t bytes = 0; ///< of all copies

  /// The operands that rows steps read transposed; the values of `steps` have places.
  static TransposedReads of(plan::KernelOp kernel, const Steps &steps);
  /// The operands that some of the steps read.
  llvm::SmallVector<Operand> readBy(plan::KernelOp kernel, const Steps &steps, llvm::ArrayRef<Step> some) const;
  /// The number that the rows of a task should be a multiple of.
  int64_t quantum() const { return std::min<int64_t>(length, lanes) * step; }
};

} // namespace tutti

#endif
