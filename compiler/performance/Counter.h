// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counting of one kernel's work, in the making.
#ifndef TUTTI_COMPILER_PERFORMANCE_COUNTER_H
#define TUTTI_COMPILER_PERFORMANCE_COUNTER_H

#include "Work.h"
#include "compiler/codegen/cuda/Contraction.h"

#include "Layout.h"

#include "llvm/ADT/DenseSet.h"

#include <cmath>

namespace tutti {

/// What reading one element of a value takes of a lane.
struct Reading {
  double fp32 = 0, integer = 0, special = 0, fp64 = 0, moves = 0;
  double waits = 0, far = 0; ///< loads that wait for each other; of what is in global memory the first ones

  Reading &operator+=(const Reading &other) {
    fp32 += other.fp32, integer += other.integer, special += other.special, fp64 += other.fp64, moves += other.moves;
    waits = std::max(waits, other.waits), far = std::max(far, other.far);
    return *this;
  }
  Reading times(double n) const { return {fp32 * n, integer * n, special * n, fp64 * n, moves * n, waits * n, far}; }
  static Reading of(ScalarWork own) { return {own.fp32, own.integer, own.special, own.fp64}; }
  /// What is neither a product nor a function: half of it are moves and multiplications, which IMAD does beside fma.
  static Reading plain(double n) { return {.fp32 = n / 2, .integer = n / 2}; }
  /// As a warp goes through them, in latencies of a plain one: nearly each waits for the one before, and a special
  /// function takes two, as its units have a quarter of 16 lanes for a warp.
  double inTurn() const { return fp32 + integer + 2 * special + fp64 + moves; }
};

class Counter {
public:
  Counter(plan::KernelOp kernel, const CudaGeometry &geometry, const CallSizes &sizes)
      : kernel(kernel), geometry(geometry), sizes(sizes), steps(Steps::of(kernel)) {}

  KernelWork count();

private:
  plan::KernelOp kernel;
  CudaGeometry geometry;
  const CallSizes &sizes;
  Steps steps;
  KernelWork work;
  double rowsInAll = 0, rows = 0; ///< of a member, and of a block's tile
  llvm::DenseMap<mlir::Operation *, ScalarWork> scalars;
  llvm::DenseSet<mlir::Value> touched;
  llvm::DenseSet<mlir::Value> known; ///< what was read or computed for the element that is being counted
  StepWork *step = nullptr;          ///< that is being counted
  double readers = INFINITY;         ///< elements of a block, or their terms, for which it reads

  StepWork &once(); ///< what a block does before its members' steps
  void countBegin();
  double product(llvm::ArrayRef<Size> of);
  /// Terms of each of a contraction's sums.
  double termsOf(ContractOp op);
  /// How the weight lies.
  static rt::Layout layoutOf(Contraction c);
  double warps() const { return double(geometry.threads) / 32; }

  /// Bytes of a value in global memory, all members' or one's.
  double bytesOf(mlir::Value value, bool ofAll);
  /// Of a value that has the tile's rows, the part of the block; else the whole of its member's.
  double bytesOfBlock(mlir::Value value);
  void countMemory();
  /// What is counted next.
  void begin(const llvm::Twine &what);
  /// Global memory is read through L1 or once into shared memory, so a block has each byte from the L2 cache once; no
  /// more than its readers ask for, a sector each where they do not read `neighbours`.
  void touch(mlir::Value value, bool neighbours = true);

  ScalarWork scalarOf(MapOp map);
  /// Element by element, at the reader's own index. What an element needs twice is computed once.
  Reading reading(mlir::Value value, bool neighbours = true);
  Reading computing(mlir::Value value);
  Reading element(mlir::Value value); ///< that is to be stored: its computing, from nothing
  /// A map of a contraction's sums is computed from them, whether it is stored or not; `sums` themselves cost nothing.
  /// What all rows of a column share goes to `ofColumn`. `access`: of the kernel's space.
  Reading throughRegisters(mlir::Value value, mlir::Value sums, mlir::AffineMap access, Reading &ofColumn);
  void add(double elements, const Reading &one);
  /// `each` of these one after the other by each warp.
  void addToAll(double each, const Reading &one);
  /// `elements` of a value, computed and stored, by all threads.
  void countElements(double elements, const Reading &one, mlir::Value stored);

  void countZeros(double columns);
  double rounding(double together);

  // Contractions, in Products.cpp.
  void countContraction(const Step &of);
  void countProduct(const Step &of); ///< of two values
  double countPanels(Contraction c);
  double countPanels(Contraction c, int64_t panels); ///< of a width
  double countLast(Contraction c, const rt::PanelBlock &block);
  static bool keepsWeights(Contraction c);
  static double rowsAtOnce(Contraction c); ///< of those that multiply by fma
  double rowLoads(Contraction c);
  bool copiesRows(Contraction c); ///< to shared memory first
  /// Of so many elements, of which a lane has `each`.
  void countEnd(const Step &of, double elements, double each, bool fragments = false);

  // On tensor cores, in Fragments.cpp.
  struct Part {
    double panels = 0, tiles = 0; ///< panels or parts of them, and their tiles
    double made = 0;              ///< tiles that are multiplied
    double visits = 0;            ///< times that rows are read: once for all panels of a pass
  };
  struct Share {
    Part all, busiest; ///< of the warps that have the same rows and k together, and of the one that has most
    double tiles = 0;  ///< of the block
    double uneven = 1; ///< the busiest of the processor's four parts has so many times its share
  };
  Share shareOf(Contraction c);
  double warpRows(); ///< of the block's rows of warps those that have any
  double rowTiles(); ///< of a warp's tiles of 16 rows the same
  void countFragments(Contraction c, const Share &own);
  void countCopiedRows(Contraction c);
  bool liesInHalves(Contraction c);
  Reading ofGroup(Contraction c, const Part &part);
  void countWaits(Contraction c, const Share &own);
  void countRing(Contraction c, double bytes, bool streams);
  void countSlices(Contraction c, double bytes);
  void countFragmentsEnd(const Step &of, const Share &own);
  bool readsColumnsLater();

  void countRows(const Step &of);
  void countScatter(ScatterOp op);
  void countHeads();
};

} // namespace tutti

#endif
