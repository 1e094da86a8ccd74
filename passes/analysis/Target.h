// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The traits in which the classes of targets differ.
#ifndef TUTTI_PASSES_ANALYSIS_TARGET_H
#define TUTTI_PASSES_ANALYSIS_TARGET_H

#include "runtime/schema/Limits.h"

#include "mlir/IR/BuiltinOps.h"

namespace tutti {

/// Rows times weights in one kernel of a CUDA device (TargetTraits::mostLayers).
constexpr size_t mostCudaLayers = 32;

/// What analyses and rewrites do differently for each class of targets. They ask for a trait by its name; only `of`
/// asks which class there is.
struct TargetTraits {
  // What decides bits.
  /// Tensor cores multiply rows by weights at the precision asked for. Targets without them use chains of fma at every
  /// precision.
  bool hasTensorCores;
  /// Contractions of bytes, packed into words, with weights follow the panels rule. Otherwise the general family
  /// computes them, as products of integers.
  bool hasPanelsOfBytes;
  /// float64 has register tiles, as float32 has, and its weights lie in panels. Otherwise the general family computes
  /// contractions of float64.
  bool tilesFloat64;

  // What is in a kernel, and what its steps keep.
  /// The most contractions with weights in one kernel. Many more would make a CUDA device's registers spill, and the
  /// time of its compiler grows with the square of their number.
  size_t mostLayers;
  /// The most row phases (reductions and such) in one kernel, for the same reason. Where the limit cuts a function into
  /// equal parts, as a loop over hundreds of rows of a constant, these are one kernel and, on a CUDA device, one
  /// launch.
  size_t mostPhases;
  /// The most buffers of a kernel without rows times weights: a CUDA thread keeps an address of each in registers.
  int64_t mostBuffersOfMaps;
  /// Rows times weights read their rows where they lie in memory, through a move (Through.h). A CUDA block copies its
  /// rows into shared memory.
  bool readsInPlace;
  /// The operand of gathers is stored if they take as many elements as it has: a vector would compute elements that lie
  /// far apart. A CUDA thread computes the one that it takes.
  bool storesWhatIsGathered;
  /// A costly value of one column is stored if it is broadcast along rows: on a CPU each column would compute it again,
  /// one after the other. CUDA threads compute it side by side.
  bool storesWhatRowsRepeat;
  /// A value of many ops, such as a sum over a window, is stored before a costly function of it is computed: with both
  /// at once a CPU's vector registers would spill. A CUDA thread has enough.
  bool storesBeforeFunctions;
  /// Rows of few elements lie end to end in scratch memory, and costly maps take as many as fill a vector. A kernel of
  /// maps alone gets longer rows where it can (fuse/Columns.h). A CUDA thread takes one element, wherever it lies.
  bool packsNarrowRows;
  /// Strides of rows in scratch memory that are a multiple of this many elements cause conflicts: on a CPU in one set
  /// of a cache, on a CUDA device, where lanes read four neighbours in each of several rows at once, in one bank of
  /// shared memory.
  int64_t conflictingStride;
  /// A worker has memory beside its rows' values, for phases of a row and for copies of operands that rows read
  /// transposed (Steps::workBytes). CUDA threads read them in place.
  bool hasWorkMemory;

  // What is worth a rewrite.
  /// The fewest elements of the right operand in a row of a product for which rows that read the same columns are made
  /// neighbours. That costs a CUDA device another launch, which columns that stay in the first cache do not repay.
  int64_t leastBroughtTogether;
  /// A row that indexes a parameter by a quotient of its columns is processed in runs of columns with one quotient.
  /// Runs have to be long: short ones would leave a division in each lane. A CUDA thread divides.
  bool readsByRuns;
  /// Cheap values are recomputed where that saves a launch: a number of each member for every element that reads it
  /// (tutti-compose), a value that members share for each of them (tutti-fuse). A CPU's launches cost less than that.
  bool repeatsForLaunches;

  // What a launch takes.
  /// The most words of parameters, 8 bytes each, of a launch.
  int64_t launchWords;
  /// Whether tutti-schedule decides at compile time how many rows a task has: then tasks are counted in 31 bits.
  /// Otherwise each call takes one of several geometries, as of a CUDA kernel, and rows are counted in 31 bits.
  bool schedulesTasks;
  /// The most bytes of working memory for the rows of a task. A CUDA block's working memory is shared memory, whose
  /// limit tutti-fuse observes.
  int64_t scratchBytes;

  static const TargetTraits &of(mlir::ModuleOp module);
  /// The traits of the target that the module around an op is for.
  static const TargetTraits &of(mlir::Operation *op) { return of(op->getParentOfType<mlir::ModuleOp>()); }
};

/// The most words of parameters, 8 bytes each, that a CUDA launch has.
constexpr int64_t mostLaunchWords = rt::kMaxParameterBytes / 8;

/// The most buffers that a launch can be given. The sizes of the call, the members' count and the tickets take
/// parameter words, too.
int64_t mostBuffers(mlir::ModuleOp module);

} // namespace tutti

#endif
