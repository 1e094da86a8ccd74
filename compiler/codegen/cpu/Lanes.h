// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last one to eight columns of a weight in panels: lanes run over the terms, and a tree adds them up.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_LANES_H
#define TUTTI_COMPILER_CODEGEN_CPU_LANES_H

#include "Tile.h"

#include "passes/analysis/Through.h"
#include "runtime/schema/Layout.h"

namespace tutti {

class LanesEmitter : TileEmitter {
public:
  /// For the rows of `tile`. Those that are read through a move are put together in `together`, run by run.
  LanesEmitter(const TileEmitter &tile, mlir::Value together, llvm::ArrayRef<ReadThrough::Run> runs)
      : TileEmitter(tile), together(together), runs(runs) {}

  /// The weights of the block lie at `pointer`, its first column is the result's `column`.
  void emit(const rt::PanelBlock &block, mlir::Value pointer, mlir::Value column);

private:
  /// Columns of the block.
  struct Columns {
    int64_t first, count;
  };
  /// Terms, in whole vectors from `from` to `to`, or none; and what is left of them behind whole vectors.
  struct Terms {
    mlir::Value from, to;
    bool rest;
  };
  /// Where sums by lanes begin, and where they end, of a part of the lanes, a row and a column of the block.
  using FirstSum = llvm::function_ref<mlir::Value(int64_t part, int64_t row, int64_t column)>;
  using LastSum = llvm::function_ref<void(int64_t part, int64_t row, int64_t column, mlir::Value sum)>;

  mlir::Value together;
  llvm::ArrayRef<ReadThrough::Run> runs;

  int64_t lanesOfRegister() const { return std::min(lanes, e.level.vectorBits / (bytes * 8)); }
  int64_t wholeTerms() const { return llvm::alignDown(K, lanes); }
  int64_t placeTogether(int64_t row) const { return row * int64_t(llvm::alignTo(K, lanes)) * bytes; }
  /// Puts rows together whose terms lie apart.
  void putTogether(llvm::ArrayRef<mlir::Value> starts);
  /// Terms from k on of a row. `told`: their places, if rows are read through a move and not put together.
  mlir::Value vectorAt(llvm::ArrayRef<mlir::Value> starts, mlir::Value top, int64_t row, mlir::Value k,
                       mlir::Value told, mlir::Value mask, int64_t width);
  /// Whether the sums of so many rows and columns do, and what they are made of.
  bool fitRegisters(int64_t rows, int64_t columns) const {
    return rows * columns + std::min(rows, columns) + 1 <= e.level.registers;
  }
  /// Adds terms to sums of so many rows and some columns. Registers of a level may hold a part of the lanes, and not
  /// that of all sums: a part after the other, and of it some rows and columns at a time.
  void addTerms(Columns columns, mlir::Value pointer, mlir::Value top, int64_t rows, llvm::ArrayRef<mlir::Value> starts,
                Terms terms, FirstSum first, LastSum last);
  /// Sums by lanes of so many rows and columns, of all terms or, with `first`, of what is left of them.
  llvm::SmallVector<mlir::Value> sumsOf(const rt::PanelBlock &block, mlir::Value pointer, mlir::Value top, int64_t rows,
                                        std::optional<FirstSum> first);
  /// Goes through more weights than the first cache holds, a piece of the terms after the other, for so many rows that
  /// their sums fit into the partials: `finish` takes what is in front of the last terms.
  void overPieces(const rt::PanelBlock &block, mlir::Value pointer, int64_t most, mlir::Value group,
                  llvm::function_ref<void(mlir::Value row, int64_t rows, FirstSum)> finish);
};

} // namespace tutti

#endif
