// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel's contractions run under a launch geometry: which unit multiplies, where the rows come from, and which
// block or warp owns which part. Both the emitter and the performance model decide by these functions.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_CONTRACTION_H
#define TUTTI_COMPILER_CODEGEN_CUDA_CONTRACTION_H

#include "Kernel.h"
#include "passes/analysis/Steps.h"
#include "runtime/schema/Layout.h"

namespace tutti {

/// A contraction of rows with a weight, and the unit that multiplies them.
struct Contraction {
  explicit Contraction(ContractOp op);

  ContractOp op;
  int64_t K, N;
  NumericsProduct product;

  bool onTensorCores() const { return product != NumericsProduct::fma; }
  llvm::StringRef math() const; ///< the class of device/product.cuh that multiplies on tensor cores
  int64_t wordBytes() const;    ///< bytes of one stored element of the weight
  rt::Layout layout() const;    ///< of the weight
  /// Whether warps multiply its tiles on tensor cores. Otherwise single threads do, at the same precision.
  bool isOfWarps(const CudaGeometry &geometry) const { return onTensorCores() && geometry.warps.rows > 0; }
  mlir::Value rows() const;
  /// Whether its rows are read in place from an input; whether they arrive stage by stage with the weights.
  bool readsInput(const Steps &steps, const CudaGeometry &geometry) const;
  bool streamsRows(const Steps &steps, const CudaGeometry &geometry) const;
  /// Whether its rows are better copied to shared memory first: where four neighbours of an input's row cannot be read
  /// by one load, or every reader would have to round them to 16 bits again. And whether they are, as there is room.
  bool wantsCopies(const Steps &steps, const CudaGeometry &geometry) const;
  bool isCopied(const Steps &steps, const CudaGeometry &geometry) const {
    return geometry.copyOffset >= 0 && wantsCopies(steps, geometry);
  }
  /// How a warp goes through panels by fma, a lane a column (device/contract.cuh, device/plain.cuh): so many rows of a
  /// panel at a time, for which it loads a run of weights after the other. A run of all k stays while the rows go by.
  struct Walk {
    int64_t rowsAtOnce, run;
    bool keepsWeights;
  };
  Walk walk() const;
  /// Whether a thread makes a sum of a block of lanes, by fma: else half a warp does.
  bool isSumOfThread() const { return K <= 64; }
  /// The distance between two copied rows in elements, and the bytes of one.
  int64_t copiedStride(const CudaGeometry &geometry) const;
  int64_t copiedBytes(const CudaGeometry &geometry) const {
    return copiedStride(geometry) * (isOfWarps(geometry) ? 2 : 4);
  }
  /// How threads copy rows to 16 bits (device/rows.cuh). A thread reads `atOnce` units (elements, or groups of four)
  /// before it stores the first of them, and does so `rounds` times; `own` is how many units it has in all. A long row
  /// belongs to one warp.
  struct Narrowing {
    bool longRows;
    int64_t atOnce, rounds, own;
  };
  Narrowing narrowing(const CudaGeometry &geometry) const;
  int64_t panels() const; ///< the weight's columns in groups of up to 32
  /// How many blocks of a cluster have columns of it; they are the first ones.
  int64_t blocks(const CudaGeometry &geometry) const;
  /// How many stages of its ring a block takes for it.
  int64_t stages(const CudaGeometry &geometry) const;
};

/// The tile of a product of two values that one thread computes (device/tile.cuh): the largest one that leaves no
/// thread of the block idle, among those whose code behind the sums stays short.
struct ProductTile {
  int64_t rows = 1, columns = 1;
  static ProductTile of(const Step &step, const Steps &steps, const CudaGeometry &geometry);
};

/// How many blocks of a cluster (the first ones) read a value that a contraction on tensor cores makes. A block does
/// not need it if it has no panel of the contractions that read it, nor of those whose sums are combined with it. Such
/// a block gets no copy, since it would not report that it has received one before the memory is written again.
int64_t blocksThatRead(mlir::Value value, const Steps &steps, const CudaGeometry &geometry);

/// The bytes of a row's scratch memory that a value occupies; empty if it lies elsewhere.
struct ScratchRange {
  int64_t begin = 0, end = 0;
  static ScratchRange of(mlir::Value value, const Steps &steps);
  bool overlaps(const ScratchRange &other) const { return begin < other.end && other.begin < end; }
  bool operator==(const ScratchRange &) const = default;
};

/// Whether a step stores to shared memory, which no other block sees.
bool storesInScratch(const Step &step, const Steps &steps);
/// Whether the blocks of a cluster pass on what `step` makes by asynchronous stores (device/share.cuh). If `next` is a
/// product on tensor cores, it has to read what is passed on: only then has a block heard from all others before it
/// makes the next activations.
bool handsOver(const Step &step, const Step *next, const Steps &steps, const CudaGeometry &geometry);

/// Whether a step's product has numerics of tensor cores (also if the device has none).
bool isOnTensorCores(const Step &step);
/// A kernel's contractions of that kind, in order.
llvm::SmallVector<Contraction> tensorContractions(const Steps &steps);

/// A value that a store of a contraction's step needs, as it is read at `access` of the kernel's index space.
struct EndingValue {
  enum Kind {
    sum,    ///< the contraction's own result, in a register
    made,   ///< a map of sums, computed from them whether it is stored elsewhere or not
    column, ///< read: all rows have it in common, and it is there before the kernel begins
    row,    ///< read, for each row
  };
  mlir::Value value;
  mlir::AffineMap access;
  Kind kind;
};
/// All that `stored` needs, once for each access, everything behind its own operands: `stored` itself comes last.
llvm::SmallVector<EndingValue> endingOf(const Step &step, mlir::Value stored, const Steps &steps);
/// About how many operations the longest computation between a contraction's sum and a store of the step has.
int64_t lengthOfEnding(const Step &step, const Steps &steps);

} // namespace tutti

#endif
