// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the work of one kernel.
#ifndef TUTTI_COMPILER_PERFORMANCE_COUNTER_H
#define TUTTI_COMPILER_PERFORMANCE_COUNTER_H

#include "Work.h"
#include "compiler/codegen/cuda/Contraction.h"

#include "runtime/schema/Layout.h"

#include "llvm/ADT/DenseSet.h"

#include <cmath>

namespace tutti {

/// The instructions that a lane needs to read or compute one element of a value.
struct Reading {
  double fp32 = 0, integer = 0, special = 0, fp64 = 0, moves = 0;
  double waits = 0, far = 0; ///< dependent loads, and how many of them go to global memory

  Reading &operator+=(const Reading &other) {
    fp32 += other.fp32, integer += other.integer, special += other.special, fp64 += other.fp64, moves += other.moves;
    waits = std::max(waits, other.waits), far = std::max(far, other.far);
    return *this;
  }
  Reading times(double n) const { return {fp32 * n, integer * n, special * n, fp64 * n, moves * n, waits * n, far}; }
  static Reading of(ScalarWork own) { return {own.fp32, own.integer, own.special, own.fp64}; }
  /// n operations on elements of a type; 16-bit floats are computed in float32.
  static Reading arithmetic(mlir::Type element, double n) {
    Reading one;
    (element.isF64() ? one.fp64 : mlir::isa<mlir::FloatType>(element) ? one.fp32 : one.integer) = n;
    return one;
  }
  /// n other instructions. Half of them are moves and integer multiplications, which run on the pipe of fma.
  static Reading plain(double n) { return {.fp32 = n / 2, .integer = n / 2}; }
  /// The latency of the whole in latencies of a plain instruction: nearly each waits for the one before, and a special
  /// function counts twice, as its units serve a quarter of the lanes at a time.
  double inTurn() const { return fp32 + integer + 2 * special + fp64 + moves; }
};

/// Counts what one block of a kernel does, step by step, as the emitter (compiler/codegen/cuda) writes it: a change
/// there is a change here.
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
  double rowsInAll = 0, rows = 0; ///< a member's rows, and the rows of a block's tile
  llvm::DenseMap<mlir::Operation *, ScalarWork> scalars;
  llvm::DenseSet<mlir::Value> touched;
  llvm::DenseSet<mlir::Value> known; ///< values that the current element has read or computed already
  StepWork *step = nullptr;          ///< the step that is being counted
  double readers = INFINITY;         ///< elements (or terms of sums) of the block that read the value being touched

  StepWork &once(); ///< the step that a block does once, before its members' steps
  void countBegin();
  double product(llvm::ArrayRef<Size> of);
  /// The number of terms of a contraction's sum.
  double termsOf(ContractOp op);
  double warps() const { return double(geometry.threads) / 32; }

  /// The bytes of a member's value in global memory.
  double bytesOf(mlir::Value value);
  /// The bytes of all members' values in global memory.
  double bytesOfAll(mlir::Value value);
  /// The bytes that a block reads of a value: its tile's rows, or the whole value of its member if the value has other
  /// rows.
  double bytesOfBlock(mlir::Value value);
  void countMemory();
  /// Begins a step, which `what` describes.
  void begin(const llvm::Twine &what);
  /// Counts a read of global memory. A block reads each byte from the L2 cache once, as the read goes through L1 or
  /// once into shared memory. It reads no more than its readers request, which is a sector each if they read no
  /// `neighbours`.
  void touch(mlir::Value value, bool neighbours = true);

  ScalarWork scalarOf(MapOp map);
  /// The instructions for one element of a value at the reader's index. Values that it needs twice are counted once.
  Reading reading(mlir::Value value, bool neighbours = true);
  Reading computing(mlir::Value value);
  Reading element(mlir::Value value); ///< an element that is to be stored, computed with nothing `known`
  /// Bytes of an element in shared memory.
  static double sharedBytesOf(mlir::Value value);
  void add(double elements, const Reading &one);
  /// Adds `each` of these, one after the other, to every warp.
  void addToAll(double each, const Reading &one);
  /// Counts `elements` of a value that all threads compute and store.
  void countElements(double elements, const Reading &one, mlir::Value stored);

  void countZeros(double columns);
  double rounding(double together);

  // Contractions, in Products.cpp.
  void countContraction(const Step &of);
  void countProduct(const Step &of); ///< a product of two values
  double countPanels(Contraction c);
  double countPanels(Contraction c, int64_t panels); ///< panels of equal width
  double countLast(Contraction c, const rt::PanelBlock &block);
  double rowLoads(Contraction c);
  /// Counts the ending of the sums of so many elements, of which a lane has `each`.
  void countEnd(const Step &of, double elements, double each, bool fragments = false);

  // On tensor cores, in Fragments.cpp.
  struct Part {
    double panels = 0, tiles = 0; ///< panels, or parts of panels, and their tiles of columns
    double made = 0;              ///< tiles that are multiplied, including partial ones
    double visits = 0;            ///< how often rows are read: once for all panels of a pass
  };
  struct Share {
    Part all, busiest; ///< the part of all warps with the same rows and terms, and of the busiest warp
    double tiles = 0;  ///< of the block
    double uneven = 1; ///< the work of the busiest of the processor's four partitions over its even share
  };
  Share shareOf(Contraction c);
  double warpRows(); ///< the rows of warps that have any rows of the call
  double rowTiles(); ///< the same of a warp's tiles of 16 rows
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
