// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op reads through a map that is part of it: rows of a product, elsewhere than one behind the other, and
// indices.
#ifndef TUTTI_PASSES_ANALYSIS_THROUGH_H
#define TUTTI_PASSES_ANALYSIS_THROUGH_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// How rows times a weight reads its rows through a move that makes them of a value in memory, such as the windows of
/// an image: an element's place is the sum of what the row adds and what the term adds, which tables tell. So the rows
/// are never written. A block is all rows that have one index along the first axis; each lies so far behind the one
/// before. It decides no bit.
struct ReadThrough {
  MapOp move;
  mlir::Value from;           ///< what is moved
  int64_t rowsOfBlock = 1;    ///< the product of the further row axes
  int64_t block = 0;          ///< elements of `from` from block to block
  mlir::AffineMap first = {}; ///< the place in `from` of a member's first row and term, by the member
  llvm::SmallVector<mlir::AffineExpr> ofRows = {},
                                      ofTerms = {}; ///< summands by the move's dimensions, and their strides
  llvm::SmallVector<int64_t> rowStrides = {}, termStrides = {};

  /// Nothing where the target reads no rows so, the left operand is no move of other rows that only this op reads, or
  /// its places are no such sums or lie too far apart for a table.
  static std::optional<ReadThrough> of(ContractOp op);
  /// Whether tables for rows of this form, and for the terms, are small enough.
  static bool fits(mlir::RankedTensorType rows);

  /// How much further than a block's first row the elements of each of `count` rows lie, in elements; and of each term.
  llvm::SmallVector<int64_t> rowPlaces(int64_t count);
  llvm::SmallVector<int64_t> termPlaces();

  /// Terms that lie side by side: the first one's number and place, and how many.
  struct Run {
    int64_t first, place, length;
  };
  llvm::SmallVector<Run> runs();
  /// Where lanes share the terms of a row, rows are put together in working memory, so many at a time.
  static constexpr int64_t rowsTogether = 8;
  /// The bytes of that memory, rows `alignTo(terms, 16)` elements apart; 0 where rows are of so short runs, or so long,
  /// that each term is better taken from where it lies.
  int64_t workBytes();

private:
  /// Whether a block has more terms than elements that they read; and whether most terms lie side by side. Where
  /// neither is so, as in a transposition, each term would have a line of its own, and a copy pays.
  bool readsOften();
  bool readsNeighbours();
};

/// The map that makes a gather's indices, if it is so little that each element that is taken may do it again. Null
/// where indices are no map's, or lie in the rows of the result.
MapOp littleMapOfIndices(GatherOp op);

/// What an op reads an operand through, whatever rows that has itself: the move of such a product; the few operations
/// that make a gather's indices, as of one column among several; the gather whose rows a move puts side by side, or a
/// reduction adds up. Each element is computed where it is read. It is part of the op, which alone reads it, as is what
/// it reads through. Null where there is none.
mlir::Operation *readThrough(mlir::Operation *op);
/// Whether an op is what another reads through.
bool isReadThrough(mlir::Operation *op);

} // namespace tutti

#endif
