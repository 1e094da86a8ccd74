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
  double depth = 0, waits = 0; ///< plain operations, and loads, that wait for each other

  Reading &operator+=(const Reading &other) {
    fp32 += other.fp32, integer += other.integer, special += other.special, fp64 += other.fp64, moves += other.moves;
    depth += other.depth, waits = std::max(waits, other.waits);
    return *this;
  }
  Reading times(double n) const {
    return {fp32 * n, integer * n, special * n, fp64 * n, moves * n, depth * n, waits * n};
  }
  /// A map's own code: the functions are chains of fma, so hardly an operation does not wait for the one before.
  static Reading of(ScalarWork own) {
    return {own.fp32, own.integer, own.special, own.fp64, 0, own.fp32 + own.integer + own.fp64, 0};
  }
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

  double instructionsOf(const StepWork &one) const;
  StepWork &once(); ///< what a block does before its members' steps
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
  /// `elements` of a value, computed and stored, by all threads.
  void countElements(double elements, const Reading &one, mlir::Value stored);

  // Contractions, in Products.cpp.
  struct Share {
    double panels = 0, tiles = 0, made = 0; ///< of a block: panels or parts of them, their tiles, and those multiplied
    double visits = 0; ///< of warps that read its rows: one for all panels that a warp has in a pass
    double uneven = 1; ///< the busiest of the processor's four parts has so many times its share
  };
  Share shareOf(Contraction c);
  void countContraction(const Step &of);
  void countProduct(const Step &of); ///< of two values
  void countPanels(Contraction c);
  void countPanels(Contraction c, int64_t panels); ///< of a width
  void countFragments(Contraction c, Share own);
  void countLast(Contraction c, const rt::PanelBlock &block);
  static bool keepsWeights(Contraction c);
  static double rowsAtOnce(Contraction c); ///< of those that multiply by fma
  double rowLoads(Contraction c);
  bool copiesRows(Contraction c); ///< to shared memory first
  void countEnd(const Step &of, double columns, bool fragments = false);

  void countRows(const Step &of);
  void countScatter(ScatterOp op);
  void countHeads();
};

} // namespace tutti

#endif
