// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of rows times columns whose sums lie in registers, and the stores of a step's values from them.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_TILE_H
#define TUTTI_COMPILER_CODEGEN_CPU_TILE_H

#include "Emitters.h"

namespace tutti {

/// The base of the emitters of contractions. docs/numerics.md fixes the order of every sum.
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
  /// The level's tile shapes for such elements: rows and vectors of a full tile, and vectors of a tile of one or two
  /// rows.
  int64_t tileRows, tileVectors, wideVectors;
  /// The number of a sum's lanes that are computed, the first ones.
  int64_t lanesOfSums = lanes;
  int64_t K = 0; ///< terms of a sum
  int64_t chunk; ///< terms of a chain

  /// The left operand: the address of row 0, and the elements from row to row and from term to term. If it is read
  /// through a move (ReadThrough): the address of the member's first row, and tables of byte offsets for the rows of a
  /// block and for the terms. A block has `rowsOfBlock` rows, and the next one begins `block` bytes further.
  struct Left {
    mlir::Value pointer, rowStride, stride;
    mlir::Value rowPlaces = {}, termPlaces = {};
    int64_t rowsOfBlock = 0, block = 0;
  } left;
  /// The range of rows that tiles cover; null: all rows of the task, from 0 on.
  mlir::Value firstRow, endRow;
  mlir::Value partials;

  /// 16 columns of a tile: the right operand's address, its elements from term to term, the lanes that may be read, and
  /// the lanes that count.
  struct Column {
    mlir::Value right; // at term 0
    mlir::Value stride;
    mlir::Value readable;
    mlir::Value column; // of the result
    mlir::Value mask;
    int64_t partial = 0; // place among the partial sums
  };

  // Tiles of at most this many rows take many columns at once: the few chains of sums of a normal tile would leave the
  // multipliers idle.
  static constexpr int64_t wideRows = 2;

  mlir::Value begin() { return firstRow ? firstRow : code.num(0); }
  mlir::Value end() { return endRow ? endRow : e.rows(); }
  /// The addresses of `rows` rows from `row` on; empty if they are evenly spaced.
  llvm::SmallVector<mlir::Value> rowPointers(mlir::Value row, int64_t rows);
  mlir::Value multiplyAdd(mlir::Value left, mlir::Value right, mlir::Value sum);
  mlir::Value plus(mlir::Value a, mlir::Value c);
  /// The sum of no terms: -0 + s is s, whatever s is.
  mlir::Value noSum();

  /// Sums of products over terms in [from, to), with one accumulator per row and column vector. `beside` emits
  /// additional code for each term.
  llvm::SmallVector<mlir::Value> sums(
      mlir::Value row, int64_t rows, llvm::ArrayRef<Column> columns, mlir::Value from, mlir::Value to,
      llvm::function_ref<void(mlir::Value k)> beside = [](mlir::Value) {});
  /// The same over all terms, unrolled, as they are few.
  llvm::SmallVector<mlir::Value> sumsOfFew(mlir::Value row, int64_t rows, llvm::ArrayRef<Column> columns);
  /// The same over all terms, chain by chain.
  llvm::SmallVector<mlir::Value> wholeSums(mlir::Value row, int64_t rows, llvm::ArrayRef<Column> columns);

  mlir::Value partialAt(mlir::Value row, int64_t i, const Column &column);
  /// Computes and stores the step's values from the finished sums.
  void store(mlir::Value row, int64_t rows, llvm::ArrayRef<Column> columns, llvm::ArrayRef<mlir::Value> results);
  /// Stores the step's values from sums that wait in the partials, for rows from `from` on. Long maps need the
  /// registers that sums would occupy; they take as many vectors at a time as suit the level.
  void storeWaiting(mlir::Value from, mlir::Value count, llvm::ArrayRef<Column> columns);

  using Rows = llvm::function_ref<void(mlir::Value row, int64_t rows)>;
  /// Calls `tile(row, rows)` for all rows, `most` at a time, then for the rest in powers of two.
  void overRows(int64_t most, Rows tile);
  /// Calls `tile(row, rows)` for the tiles of all rows, and behind each `after(row, rows)`, where rows is a value.
  void overTiles(
      Rows tile, llvm::function_ref<void(mlir::Value row, mlir::Value rows)> after = [](mlir::Value, mlir::Value) {});

private:
  llvm::SmallVector<mlir::Value> zeros(int64_t count);
  /// Sums extended to all their lanes; the added lanes do not count.
  llvm::SmallVector<mlir::Value> widened(llvm::SmallVector<mlir::Value> sums);
  /// The sums with term k added. `starts`: the result of rowPointers.
  llvm::SmallVector<mlir::Value> withTerm(mlir::Value k, mlir::Value row, llvm::ArrayRef<mlir::Value> starts,
                                          int64_t rows, llvm::ArrayRef<Column> columns, mlir::ValueRange sums,
                                          llvm::function_ref<void(mlir::Value k)> beside);
  mlir::Value tileOf(mlir::Value row);
};

} // namespace tutti

#endif
