// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of rows times columns whose sums lie in registers, and what a step stores of them.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_TILE_H
#define TUTTI_COMPILER_CODEGEN_CPU_TILE_H

#include "Emitters.h"

namespace tutti {

/// What the emitters of contractions share. docs/numerics.md fixes the order of every sum.
class TileEmitter {
protected:
  TileEmitter(StepEmitter &emitter, const Step &step);

  StepEmitter &e;
  Code &code;
  const Step &step;
  ContractOp op;
  mlir::Type element; ///< of operands and sums
  int64_t bytes;      ///< of an element
  mlir::VectorType vector;
  /// The level's, for such elements: a full tile, and columns of a tile of one or two rows.
  int64_t tileRows, tileVectors, wideVectors;
  /// Lanes of a sum while it is made, the first ones.
  int64_t lanesOfSums = lanes;
  int64_t K = 0; ///< terms of a sum
  int64_t chunk; ///< terms of a chain

  /// The left operand: where row 0 begins, and elements from row to row and from term to term. If it is read through a
  /// move (ReadThrough): where the member's first row begins, and tables of how many bytes further others begin, for
  /// the rows of a block, so many bytes from the next one, and for the terms.
  struct Left {
    mlir::Value pointer, rowStride, stride;
    mlir::Value rowPlaces = {}, termPlaces = {};
    int64_t rowsOfBlock = 0, block = 0;
  } left;
  /// The rows that tiles are made of; null: all of the task, from 0 on.
  mlir::Value firstRow, endRow;
  mlir::Value partials;

  /// 16 columns of a tile: where the right operand's are, how many elements from term to term, which lanes may be read,
  /// and which count.
  struct Column {
    mlir::Value right; // at term 0
    mlir::Value stride;
    mlir::Value readable;
    mlir::Value column; // of the result
    mlir::Value mask;
    int64_t partial = 0; // place among the partial sums
  };

  // Tiles of so few rows take many columns at once: one row's chain of sums would leave the multipliers idle.
  static constexpr int64_t wideRows = 2;

  mlir::Value begin() { return firstRow ? firstRow : code.num(0); }
  mlir::Value end() { return endRow ? endRow : e.rows(); }
  /// Where so many rows begin; nothing if they lie evenly apart.
  llvm::SmallVector<mlir::Value> rowPointers(mlir::Value row, int64_t rows);
  mlir::Value multiplyAdd(mlir::Value left, mlir::Value right, mlir::Value sum);
  mlir::Value plus(mlir::Value a, mlir::Value c);
  /// The sum of no terms: -0 + s is s, whatever s is.
  mlir::Value noSum();

  /// Sums of products over terms in [from, to), one accumulator a row and column vector. `beside` writes what else is
  /// done at a term.
  llvm::SmallVector<mlir::Value> sums(
      mlir::Value row, int64_t rows, llvm::ArrayRef<Column> columns, mlir::Value from, mlir::Value to,
      llvm::function_ref<void(mlir::Value k)> beside = [](mlir::Value) {});
  /// The same over all terms, which are few: code for each.
  llvm::SmallVector<mlir::Value> sumsOfFew(mlir::Value row, int64_t rows, llvm::ArrayRef<Column> columns);
  /// The same over all terms, chain by chain.
  llvm::SmallVector<mlir::Value> wholeSums(mlir::Value row, int64_t rows, llvm::ArrayRef<Column> columns);

  mlir::Value partialAt(mlir::Value row, int64_t i, const Column &column);
  /// What the step stores, from the finished sums.
  void store(mlir::Value row, int64_t rows, llvm::ArrayRef<Column> columns, llvm::ArrayRef<mlir::Value> results);
  /// Long maps need the registers that sums would lie in: these wait in the partials, rows from `from` on, and maps
  /// take as many vectors at a time as the level likes.
  void storeWaiting(mlir::Value from, mlir::Value count, llvm::ArrayRef<Column> columns);

  using Rows = llvm::function_ref<void(mlir::Value row, int64_t rows)>;
  /// Calls `tile(row, rows)` for all rows, `most` at a time, then for what is left in powers of two.
  void overRows(int64_t most, Rows tile);
  /// Calls `tile(row, rows)` for the tiles of all rows, and `after(row, rows)`, rows a value, behind each.
  void overTiles(
      Rows tile, llvm::function_ref<void(mlir::Value row, mlir::Value rows)> after = [](mlir::Value, mlir::Value) {});

private:
  llvm::SmallVector<mlir::Value> zeros(int64_t count);
  /// Sums with all their lanes, of which the further ones do not count.
  llvm::SmallVector<mlir::Value> widened(llvm::SmallVector<mlir::Value> sums);
  /// `starts`: what rowPointers gives.
  llvm::SmallVector<mlir::Value> withTerm(mlir::Value k, mlir::Value row, llvm::ArrayRef<mlir::Value> starts,
                                          int64_t rows, llvm::ArrayRef<Column> columns, mlir::ValueRange sums,
                                          llvm::function_ref<void(mlir::Value k)> beside);
  mlir::Value tileOf(mlir::Value row);
};

} // namespace tutti

#endif
