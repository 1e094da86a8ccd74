// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel's task goes through its body: which values it stores, where, and in which order.
#ifndef TUTTI_PASSES_ANALYSIS_STEPS_H
#define TUTTI_PASSES_ANALYSIS_STEPS_H

#include "Rows.h"
#include "Transposed.h"
#include "dialects/plan/Plan.h"

#include "llvm/ADT/MapVector.h"

namespace tutti {

/// The place of a value of a kernel's body while a task runs.
struct Place {
  enum Kind {
    argument, ///< a buffer of the launch: `index` is that of the block argument
    result,   ///< a buffer of the launch: `index` is that of the yield's operand
    scratch   ///< the worker's memory: `offset` bytes per row of the tile before it, rows of `stride` elements
  } kind;
  unsigned index = 0;
  int64_t offset = 0, stride = 0;
  /// The type of 16 bits, bf16 or f16, in which scratch holds the value, if contractions of that precision alone read
  /// it.
  std::optional<NumericsProduct> narrow = {};
};

/// One pass over a tile of rows.
struct Step {
  /// The contraction of a step with registers: by the panels rule, or a product (Products.h). `stores` are its sums or
  /// maps of them, taken from the registers. Null in a rows step: it writes every value of `stores` row by row, so that
  /// a row is there when the next phase reads it.
  ContractOp contraction;
  llvm::SmallVector<mlir::Value> stores;
  /// Operations for an element of `stores` in a rows step, about.
  int64_t work = 0;
  /// Whether the maps of the contraction's sums are so long that they need the registers: then the sums wait in the
  /// partials.
  bool longMaps = false;
};

/// Whether a value in memory is reached through a table with an address for each member: lifted weights, and values
/// that lie among those of other groups' members.
bool isTable(plan::KernelOp kernel, mlir::Value value, const Place &place);

/// Bytes of the partial sums of a contraction in one row: a panel's columns.
constexpr int64_t partialBytes = 128;

/// A kernel's steps. A map that no step stores is computed wherever it is read.
struct Steps {
  RowForm form;
  llvm::SmallVector<Step> steps;
  llvm::SmallVector<HeadOp> heads;
  llvm::MapVector<mlir::Value, Place> places;
  /// Bytes of scratch that grow with the rows of the tile, for one row.
  int64_t scratchPerRow = 0;
  /// Values that scratch would have to keep, although their rows have no fixed length. Kernels that run have none:
  /// passes/fuse has them stored.
  llvm::SmallVector<mlir::Value> unbounded;
  /// Whether sums wait in memory, for later chunks or for maps that need the registers: `partialBytes` a row.
  bool needsPartials = false;
  /// The operands that rows read transposed, where a worker has memory for copies of them.
  TransposedReads transposed;
  /// Bytes of a CPU's tile per row. All rows' values come first in the tile, then their sums that wait, then the
  /// working memory.
  int64_t rowBytes() const { return scratchPerRow + (needsPartials ? partialBytes : 0); }
  /// Bytes of working memory of the largest phase of a row, whatever the tile. The copies of transposed operands lie
  /// behind it.
  int64_t phaseBytes = 0;
  int64_t workBytes() const { return phaseBytes + transposed.bytes; }

  static Steps of(plan::KernelOp kernel);

  /// Whether a value lies in memory. Any other, a map or the like, is computed where it is read.
  bool isStored(mlir::Value value) const { return places.contains(value); }
  /// The place of a stored value.
  const Place &placeOf(mlir::Value value) const { return places.at(value); }
};

/// The most operands of a concat that is not stored: each element selects its operand where it is read. Larger concats
/// are stored, one operand after the other.
constexpr unsigned mostSelected = 8;

/// Whether `value` is `sums`, or made of it by maps alone.
bool isMadeOf(mlir::Value value, mlir::Value sums);

} // namespace tutti

#endif
