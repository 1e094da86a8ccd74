// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last one to eight columns of a weight in panels: lanes run over the terms, and a tree adds up the lanes.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_LANES_H
#define TUTTI_COMPILER_CODEGEN_CPU_LANES_H

#include "Tile.h"

#include "passes/analysis/Through.h"
#include "runtime/schema/Layout.h"

namespace tutti {

class LanesEmitter : TileEmitter {
public:
  /// Emits for the rows of `tile`. Rows that are read through a move are made contiguous in `together`, run by run.
  LanesEmitter(const TileEmitter &tile, mlir::Value together, llvm::ArrayRef<ReadThrough::Run> runs)
      : TileEmitter(tile), together(together), runs(runs) {}

  /// The weights of the block lie at `pointer`, its first column is the result's `column`.
  void emit(const rt::PanelBlock &block, mlir::Value pointer, mlir::Value column);

private:
  /// Columns of the block.
  struct Columns {
    int64_t first, count;
  };
  /// A range of terms: whole vectors from `from` to `to` (none if `to` is null), and with `rest` the terms left over
  /// behind the whole vectors.
  struct Terms {
    mlir::Value from, to;
    bool rest;
  };
  /// The initial value, and the consumer of the final value, of the lane sums of a part of the lanes, a row and a
  /// column of the block.
  using FirstSum = llvm::function_ref<mlir::Value(int64_t part, int64_t row, int64_t column)>;
  using LastSum = llvm::function_ref<void(int64_t part, int64_t row, int64_t column, mlir::Value sum)>;

  mlir::Value together;
  llvm::ArrayRef<ReadThrough::Run> runs;

  int64_t lanesOfRegister() const { return std::min(lanes, e.level.vectorBits / (bytes * 8)); }
  int64_t wholeTerms() const { return llvm::alignDown(K, lanes); }
  int64_t placeTogether(int64_t row) const { return row * int64_t(llvm::alignTo(K, lanes)) * bytes; }
  /// Makes rows contiguous whose terms lie apart.
  void putTogether(llvm::ArrayRef<mlir::Value> starts);
  /// A vector of a row's terms from k on. `told`: their places, if rows are read through a move and were not made
  /// contiguous.
  mlir::Value vectorAt(llvm::ArrayRef<mlir::Value> starts, mlir::Value top, int64_t row, mlir::Value k,
                       mlir::Value told, mlir::Value mask, int64_t width);
  /// Whether the sums of so many rows and columns, and the operands at hand, fit the registers.
  bool fitRegisters(int64_t rows, int64_t columns) const {
    return rows * columns + std::min(rows, columns) + 1 <= e.level.registers;
  }
  /// Adds terms to the sums of so many rows and some columns. A level's register may hold only a part of the lanes, and
  /// the registers may not hold that part of all sums. So it takes one part of the lanes after the other, and of each
  /// part some rows and columns at a time.
  void addTerms(Columns columns, mlir::Value pointer, mlir::Value top, int64_t rows, llvm::ArrayRef<mlir::Value> starts,
                Terms terms, FirstSum first, LastSum last);
  /// The lane sums of so many rows and columns: over all terms or, with `first`, over the left-over terms on top of it.
  llvm::SmallVector<mlir::Value> sumsOf(const rt::PanelBlock &block, mlir::Value pointer, mlir::Value top, int64_t rows,
                                        std::optional<FirstSum> first);
  /// Multiplies by more weights than the L1 cache holds, one piece of the terms after the other, for groups of rows
  /// whose sums fit into the partials. `finish` gets the sums of all whole vectors and adds the left-over terms.
  void overPieces(const rt::PanelBlock &block, mlir::Value pointer, int64_t most, mlir::Value group,
                  llvm::function_ref<void(mlir::Value row, int64_t rows, FirstSum)> finish);
};

} // namespace tutti

#endif
