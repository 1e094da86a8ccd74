// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch's geometry makes of contractions: what multiplies, where rows come from, which part is whose. The text
// of kernels and what counts their work ask the same.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_CONTRACTION_H
#define TUTTI_COMPILER_CODEGEN_CUDA_CONTRACTION_H

#include "Kernel.h"
#include "passes/analysis/Steps.h"

namespace tutti {

/// A contraction of rows with a weight, and what multiplies.
struct Contraction {
  explicit Contraction(ContractOp op);

  ContractOp op;
  int64_t K, N;
  NumericsProduct product;

  bool onTensorCores() const { return product != NumericsProduct::fma; }
  llvm::StringRef math() const; ///< device/product.cuh's name of what multiplies on tensor cores
  int64_t wordBytes() const;    ///< of an element of the weight as it is stored
  /// Warps multiply its tiles, on tensor cores; else threads do, at the same precision.
  bool isOfWarps(const CudaGeometry &geometry) const { return onTensorCores() && geometry.warps.rows > 0; }
  /// Its rows are read where they lie in an input, or come piece by piece with the weights.
  bool readsInput(const Steps &steps, const CudaGeometry &geometry);
  bool streamsRows(const Steps &steps, const CudaGeometry &geometry);
  /// Its rows lie in an input so that no four neighbours are one load, or would be rounded to 16 bits by whoever reads
  /// them: they may be copied to where they lie better.
  bool copiesRows(const Steps &steps, const CudaGeometry &geometry);
  /// Elements from one of the copied rows to the next, and bytes of a row.
  int64_t copiedStride(const CudaGeometry &geometry) const;
  int64_t copiedBytes(const CudaGeometry &geometry) const {
    return copiedStride(geometry) * (isOfWarps(geometry) ? 2 : 4);
  }
  /// Of rows that become 16-bit rows (device/rows.cuh): a thread reads so many elements, or fours of them, before it
  /// stores the first, or of long rows, of which each is a warp's, its part of so many.
  struct Narrowing {
    bool longRows;
    int64_t atOnce, rounds, own; ///< own: elements or fours of a thread
  };
  Narrowing narrowing(const CudaGeometry &geometry) const;
  int64_t panels() const; ///< of up to 32 columns
  /// How many blocks of a large cluster, from the first on, have columns of it.
  int64_t blocks(const CudaGeometry &geometry) const;
  /// That a block takes of its ring.
  int64_t stages(const CudaGeometry &geometry) const;
};

/// What a thread makes of a product of two values (device/tile.cuh): as many rows and columns as leave none of the
/// block without work, of those that the sums' endings have short code for.
struct ProductTile {
  int64_t rows = 1, columns = 1;
  static ProductTile of(const Step &step, const Steps &steps, const CudaGeometry &geometry);
};

/// How many blocks of a cluster, from the first on, read a value that contractions on tensor cores make: one without a
/// panel of the products that it goes into, or whose sums it is made something of with, needs none of it. Nor would it
/// say before it is stored over that it has come: who hands over has heard of those that read, and of no others.
int64_t blocksThatRead(mlir::Value value, const Steps &steps, const CudaGeometry &geometry);

/// Which bytes of a row's scratch memory a value takes; none where it lies elsewhere.
struct ScratchRange {
  int64_t begin = 0, end = 0;
  static ScratchRange of(mlir::Value value, const Steps &steps);
  bool overlaps(const ScratchRange &other) const { return begin < other.end && other.begin < end; }
  bool operator==(const ScratchRange &) const = default;
};

/// Whether what a step stores is the block's own: in shared memory.
bool storesInScratch(const Step &step, const Steps &steps);
/// Whether blocks of a cluster hand over what `step` makes by stores that do not wait (device/share.cuh). Where the
/// next product on tensor cores follows at once it must need that: so who makes the next activations has heard of all
/// blocks.
bool handsOver(const Step &step, const Step *next, const Steps &steps, const CudaGeometry &geometry);

/// Whether steps store over what a layer reads beside its rows and its sums: who has all that blocks hand over, or
/// meets others of its rows, has not seen that all warps have read it. They have all read the rows by then.
bool storesOver(llvm::ArrayRef<Step> steps, const Step &layer, const Steps &all);

/// Whether a step's product is on tensor cores, or would be on a device that has them; and all of a kernel's such, in
/// order.
bool isOnTensorCores(const Step &step);
llvm::SmallVector<Contraction> tensorContractions(const Steps &steps);
/// Operations of the longest thing that a step makes of a contraction's sum and stores, about.
int64_t lengthOfEnding(const Step &step);
/// Whether an access of a kernel's space is of no row: all rows of a column read the same.
bool isOfColumn(mlir::AffineMap access);

} // namespace tutti

#endif
