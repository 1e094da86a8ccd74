// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a tensor splits into member, rows and columns, and what "reads only its own row" means.
#ifndef TUTTI_PASSES_ANALYSIS_ROWS_H
#define TUTTI_PASSES_ANALYSIS_ROWS_H

#include "dialects/tutti/Tutti.h"

#include "llvm/ADT/SetVector.h"

namespace tutti {

/// A tensor's axes as kernels see them: `[active,] rows..., columns`. A tensor of rank 0 has no rows and one column.
struct RowForm {
  bool lifted = false;
  Size members = 1; ///< how many, if it is lifted: all active ones, or those of a group
  Sizes rows;
  Size columns = 1;

  static RowForm of(mlir::RankedTensorType type);
  bool sameRows(const RowForm &other) const {
    return lifted == other.lifted && members == other.members && rows == other.rows;
  }
  /// Dimensions of the kernel's index space: member, rows, column.
  unsigned dims() const { return rows.size() + 2; }
};

/// The index of a tensor of this form as a function of the kernel's index space (member, rows..., column). A single
/// column has index 0.
mlir::AffineMap ownRow(const RowForm &form, mlir::MLIRContext *context);

/// Whether an access in the kernel's index space stays in its own row of a tensor of this form, whatever the column. A
/// row axis of length 1 may be indexed by 0.
bool staysInRow(mlir::AffineMap access, const RowForm &form);

/// Whether an access stays in its own row and its own column.
bool isOwnElement(mlir::AffineMap access, const RowForm &form);

/// The access of a map's operand in the kernel's index space, given the access of the map's result.
mlir::AffineMap operandAccess(MapOp map, unsigned operand, mlir::AffineMap access);
mlir::AffineMap operandAccess(mlir::AffineMap ofMap, mlir::AffineMap access);

/// Adds the lengths of the runs of columns within which an access uses dimension `column` only by the number of the run
/// (`column floordiv length`) or the place in it (`column mod length`). Adds 1 where it divides anything else.
void addRuns(mlir::AffineMap access, unsigned column, llvm::SmallSetVector<int64_t, 2> &lengths);
/// The shortest run that is processed by itself; shorter ones would leave a division in each lane.
constexpr int64_t shortestRun = 64;
/// The length of the runs into which a row of `value` is cut by what it reads, directly or through maps that are
/// computed where they are read. `column` is the columns' dimension in the kernel's space. 0 if there are no runs, if
/// they differ or are too short.
int64_t runOf(mlir::Value value, unsigned column, llvm::function_ref<bool(mlir::Value)> isStored);

/// The number of operations for an element of a map. A math function counts as a dozen.
int64_t bodyLength(MapOp map);

/// Whether a map could be fused into the kernel of its first operand, of which it reads its own row only.
bool staysInKernel(MapOp map);
bool staysInKernel(mlir::AffineMap access, mlir::RankedTensorType operand, mlir::RankedTensorType result);

} // namespace tutti

#endif
