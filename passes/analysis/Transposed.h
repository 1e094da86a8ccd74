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

/// What a CPU copies, transposing it in registers, before a block of rows reads it. Element by element it would touch a
/// line for each.
struct TransposedReads {
  struct Operand {
    mlir::Value value;
    mlir::AffineMap access;        ///< from the kernel's index space
    Size columns;                  ///< that a row reads
    int64_t stride;                ///< elements from column to column
    int64_t offset = 0, pitch = 0; ///< the copy: bytes in the memory for it, elements from row to row
  };
  llvm::SmallVector<Operand> operands;
  /// Rows whose elements are neighbours: those along an axis of the kernel's rows, so many, `step` rows apart.
  unsigned axis = 0;
  int64_t length = 0, step = 1;
  /// A block: rows, and columns if not all.
  int64_t rows = 0;
  std::optional<int64_t> columns;
  /// The rows are few elements each, and lie end to end in all that a block reads and writes: it is one long row.
  bool endToEnd = false;
  int64_t bytes = 0; ///< of all copies

  /// What the steps that are written row by row read so; their values have places.
  static TransposedReads of(plan::KernelOp kernel, const Steps &steps);
  /// Those that some of the steps read.
  llvm::SmallVector<Operand> readBy(plan::KernelOp kernel, const Steps &steps, llvm::ArrayRef<Step> some) const;
  /// Rows that tasks should have a multiple of.
  int64_t quantum() const { return std::min<int64_t>(length, lanes) * step; }
};

} // namespace tutti

#endif
