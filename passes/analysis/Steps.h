// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel's task goes through its body: which values it stores, where, and in which order.
#ifndef TUTTI_PASSES_ANALYSIS_STEPS_H
#define TUTTI_PASSES_ANALYSIS_STEPS_H

#include "Rows.h"
#include "Transposed.h"
#include "dialects/plan/Plan.h"

#include "llvm/ADT/MapVector.h"

namespace tutti {

/// Where a value of a kernel's body lies while a task runs.
struct Place {
  enum Kind {
    argument, ///< a buffer of the launch: `index` is the block argument's
    result,   ///< a buffer of the launch: `index` is the yield's operand's
    scratch   ///< the worker's memory: `offset` bytes per row of the tile before it, rows of `stride` elements
  } kind;
  unsigned index = 0;
  int64_t offset = 0, stride = 0;
  /// In scratch as the 16 bits that contractions make of it, since only they read it: bf16 or f16.
  std::optional<NumericsProduct> narrow = {};
};

/// One pass over a tile of rows.
struct Step {
  /// One by the panels rule, or a product (Products.h): `stores` are it, or maps of it, taken from the registers. None:
  /// every value of `stores` is written row by row, and so that a row is there when the next phase reads it.
  ContractOp contraction;
  llvm::SmallVector<mlir::Value> stores;
  /// Ops for an element of each of them, about; of what is written row by row.
  int64_t work = 0;
  /// The maps of a contraction's sums are so long that they need the registers: the sums wait in the partials.
  bool longMaps = false;
};

/// Whether a value that lies in memory is reached through a table with an address for each member: a lifted weight, and
/// what lies among other groups' members.
bool isTable(plan::KernelOp kernel, mlir::Value value, const Place &place);

/// Bytes of the sums of a contraction that a row has under way at a time: a panel's columns.
constexpr int64_t partialBytes = 128;

/// A kernel's steps. A map that no step stores is computed wherever it is read.
struct Steps {
  RowForm form;
  llvm::SmallVector<Step> steps;
  llvm::SmallVector<HeadOp> heads;
  llvm::MapVector<mlir::Value, Place> places;
  /// Bytes of scratch that grow with the rows of the tile, for one row.
  int64_t scratchPerRow = 0;
  /// Values that would have to be kept, but whose rows have no fixed length: no kernel that is run has any (passes/fuse
  /// has them stored).
  llvm::SmallVector<mlir::Value> unbounded;
  /// True if sums wait in memory, for those of later chunks or for registers: `partialBytes` a row.
  bool needsPartials = false;
  /// What rows read transposed, where a worker has memory for copies of it.
  TransposedReads transposed;
  /// Bytes that a row of a CPU's tile takes. Of the tile, all rows' values come first, then their sums that wait, then
  /// the working memory.
  int64_t rowBytes() const { return scratchPerRow + (needsPartials ? partialBytes : 0); }
  /// Bytes of working memory, whatever the tile: of a phase of a row, and behind it the copies of what is transposed.
  int64_t phaseBytes = 0;
  int64_t workBytes() const { return phaseBytes + transposed.bytes; }

  static Steps of(plan::KernelOp kernel);

  /// Whether a value lies in memory; what does not is a map's or the like, and made where it is read.
  bool isStored(mlir::Value value) const { return places.contains(value); }
  /// Where such a value lies.
  const Place &placeOf(mlir::Value value) const { return places.at(value); }
};

/// Operands among which an element of a concat is chosen where it is read. A concat of more is stored, one operand
/// after the other.
constexpr unsigned mostSelected = 8;

/// Whether maps make `value` of `sums`.
bool isMadeOf(mlir::Value value, mlir::Value sums);

} // namespace tutti

#endif
