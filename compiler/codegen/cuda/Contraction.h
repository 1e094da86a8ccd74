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
  /// Whether the rows are read in place from an input, and whether they arrive stage by stage with the weights.
  bool readsInput(const Steps &steps, const CudaGeometry &geometry) const;
  bool streamsRows(const Steps &steps, const CudaGeometry &geometry) const;
  /// Whether copying the rows to shared memory first pays: one load cannot read four neighbours of an input's row, or
  /// every reader would round them to 16 bits again. `isCopied`: whether the geometry has room for the copy, too.
  bool wantsCopies(const Steps &steps, const CudaGeometry &geometry) const;
  bool isCopied(const Steps &steps, const CudaGeometry &geometry) const {
    return geometry.copyOffset >= 0 && wantsCopies(steps, geometry);
  }
  /// How a warp multiplies panels by fma, one lane per column (device/contract.cuh, device/plain.cuh). It takes
  /// `rowsAtOnce` rows at a time and loads runs of `run` weights for them, one after the other. `keepsWeights`: a run
  /// holds all K weights of a column and stays in registers for all rows.
  struct Walk {
    int64_t rowsAtOnce, run;
    bool keepsWeights;
  };
  Walk walk() const;
  /// Whether one thread computes a sum of a block whose lanes run over the terms, by fma. Otherwise half a warp does.
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
  /// The number of blocks of a cluster that have columns of the weight; they are the first ones.
  int64_t blocks(const CudaGeometry &geometry) const;
  /// The number of ring stages that a block consumes for this contraction.
  int64_t stages(const CudaGeometry &geometry) const;
};

/// The tile of a product of two values that one thread computes (device/tile.cuh): the largest one that leaves no
/// thread of the block idle, among those whose code behind the sums stays short.
struct ProductTile {
  int64_t rows = 1, columns = 1;
  static ProductTile of(const Step &step, const Steps &steps, const CudaGeometry &geometry);
};

/// The number of blocks of a cluster (the first ones) that read a value made by a contraction on tensor cores. A block
/// does not need the value if it has no panel of the contractions that read it or whose sums are combined with it. Such
/// a block gets no copy, since it would not report its arrival before the memory is written again.
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

/// Whether a step's product has the numerics of tensor cores, even on a device without them.
bool isOnTensorCores(const Step &step);
/// A kernel's contractions with the numerics of tensor cores, in order.
llvm::SmallVector<Contraction> tensorContractions(const Steps &steps);

/// A value that a store of a contraction's step needs, as it is read at `access` of the kernel's index space.
struct EndingValue {
  enum Kind {
    sum,    ///< the contraction's own result, in a register
    made,   ///< a map of sums, computed from them even if it is also stored
    column, ///< read; the same for all rows, and there before the kernel begins
    row,    ///< read; differs per row
  };
  mlir::Value value;
  mlir::AffineMap access;
  Kind kind;
};
/// The values that `stored` needs, once per access and each after its own operands; `stored` itself comes last.
llvm::SmallVector<EndingValue> endingOf(const Step &step, mlir::Value stored, const Steps &steps);
/// The approximate number of operations of the longest computation between a contraction's sum and a store of the step.
int64_t lengthOfEnding(const Step &step, const Steps &steps);

} // namespace tutti

#endif
