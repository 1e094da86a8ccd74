// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps that are computed as part of the op that reads them: rows of a product that do not lie one behind the other, and
// indices.
#ifndef TUTTI_PASSES_ANALYSIS_THROUGH_H
#define TUTTI_PASSES_ANALYSIS_THROUGH_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// How rows times a weight reads its rows through a move of a value in memory, such as the windows of an image, so that
/// the moved rows are never written. An element's place is the sum of what its row adds and what its term adds, which
/// tables hold. A block is all rows that have one index along the first axis; blocks are `block` elements apart. None
/// of this decides a bit.
struct ReadThrough {
  MapOp move;
  mlir::Value from;           ///< the move's operand
  int64_t rowsOfBlock = 1;    ///< the product of the further row axes
  int64_t block = 0;          ///< elements of `from` from block to block
  mlir::AffineMap first = {}; ///< the place in `from` of a member's first row and term, by the member
  llvm::SmallVector<mlir::AffineExpr> ofRows = {},
                                      ofTerms = {}; ///< summands by the move's dimensions, and their strides
  llvm::SmallVector<int64_t> rowStrides = {}, termStrides = {};

  /// The form for an op. Nothing where the target reads no rows in place, the left operand is no move of other rows
  /// that only this op reads, or its places are no such sums or lie too far apart for a table.
  static std::optional<ReadThrough> of(ContractOp op);
  /// Whether tables for rows of this form, and for the terms, are small enough.
  static bool fits(mlir::RankedTensorType rows);

  /// The distances of `count` rows from the first row of their block, in elements; and those of the terms.
  llvm::SmallVector<int64_t> rowPlaces(int64_t count);
  llvm::SmallVector<int64_t> termPlaces();

  /// A run of terms that lie side by side: number and place of the first, and how many they are.
  struct Run {
    int64_t first, place, length;
  };
  llvm::SmallVector<Run> runs();
  /// How many rows are gathered in working memory at a time, where lanes share the terms of a row.
  static constexpr int64_t rowsTogether = 8;
  /// The bytes of that memory, rows `alignTo(terms, 16)` elements apart. 0 where runs are so short, or rows so long,
  /// that each term is better taken from where it lies.
  int64_t workBytes();

private:
  /// Whether a block has more terms than elements that they read; and whether most terms lie side by side. Where
  /// neither holds, as in a transposition, each term would touch a cache line of its own, and a copy pays.
  bool readsOften();
  bool readsNeighbours();
};

/// The map that computes a gather's indices, if it is so cheap that each gathered element may compute its own. Null
/// where no map computes them, or they lie in the rows of the result.
MapOp littleMapOfIndices(GatherOp op);

/// The producer of an operand that is computed as part of an op, whatever rows it has itself: the move of such a
/// product; the few operations that compute a gather's indices, as of one column among several; the gather whose rows a
/// move puts side by side, or a reduction adds up. Each element is computed where it is read. The op alone reads the
/// producer, which may have such a part itself. Null where there is none.
mlir::Operation *readThrough(mlir::Operation *op);
/// Whether an op is part of its one reader in this way.
bool isReadThrough(mlir::Operation *op);

} // namespace tutti

#endif
