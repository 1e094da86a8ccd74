// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What differs between the classes of targets.
#ifndef TUTTI_PASSES_ANALYSIS_TARGET_H
#define TUTTI_PASSES_ANALYSIS_TARGET_H

#include "runtime/schema/Limits.h"

#include "mlir/IR/BuiltinOps.h"

namespace tutti {

/// Rows times weights in one kernel of a CUDA device (TargetTraits::mostLayers).
constexpr size_t mostCudaLayers = 32;

/// What analyses and rewrites do otherwise for one class of targets than for another. They ask for it by name: which
/// class there is, only `of` asks.
struct TargetTraits {
  // What decides bits.
  /// Tensor cores multiply rows by weights, at the precision asked for. Else chains of fma do, at every precision.
  bool hasTensorCores;
  /// Words of bytes are multiplied by weights in panels. Else as products of integers are, by the general family.
  bool hasPanelsOfBytes;
  /// Products of float64 have tiles, as those of float32 have, and weights of float64 lie in panels. Else they are the
  /// general family's.
  bool tilesFloat64;

  // What is in a kernel, and what its steps keep.
  /// Rows times weights in one kernel. Where they are many more, a CUDA device's registers do not last, and its
  /// compiler takes a time that grows with their square.
  size_t mostLayers;
  /// Phases of rows, reductions and such, in one kernel, for the same reason. What is cut into equal parts, as a loop
  /// over hundreds of rows of a constant, becomes one kernel and, on a CUDA device, one launch.
  size_t mostPhases;
  /// Buffers of a kernel that multiplies no rows by weights: a CUDA thread has registers for an address each.
  int64_t mostBuffersOfMaps;
  /// Rows times weights read their rows through a move of what lies in memory (Through.h). A CUDA block copies its rows
  /// into shared memory.
  bool readsInPlace;
  /// What a gather reads is stored, if it takes as many elements as there are: a vector would compute them at places
  /// far apart. A CUDA thread computes the one that it takes.
  bool storesWhatIsGathered;
  /// What a row has one of is stored, if each of its columns reads it: they would compute it one after the other. CUDA
  /// threads do so side by side.
  bool storesWhatRowsRepeat;
  /// What takes many ops, as a sum over a window does, is stored before a function of it is computed: with both at once
  /// a vector's registers do not last. A CUDA thread's do.
  bool storesBeforeFunctions;
  /// Rows of few elements lie end to end in scratch memory, and maps that are worth it take as many as fill a vector; a
  /// kernel of maps alone has longer rows, where it can (fuse/Columns.h). CUDA threads take an element each, wherever
  /// it lies.
  bool packsNarrowRows;
  /// Rows of scratch memory that are a multiple of so many elements apart get in each other's way: on a CPU in one set
  /// of a cache, on a CUDA device, where lanes read four neighbours in each of several rows at once, in one bank of
  /// shared memory.
  int64_t conflictingStride;
  /// A worker has memory beside its rows' values, for phases of a row and for copies of what rows read transposed
  /// (Steps::workBytes). A CUDA device's threads read in place.
  bool hasWorkMemory;

  // What is worth a rewrite.
  /// Rows of a product that read the same columns are brought together where a row reads at least so many elements: on
  /// a CUDA device that is a launch more, and columns that stay in the first cache are not worth it.
  int64_t leastBroughtTogether;
  /// A row that reads a parameter by a quotient of its columns goes by runs of them, which have to be long, since in
  /// short ones a division a lane would be left. A CUDA thread divides.
  bool readsByRuns;
  /// What is little is computed more often than it has to be, which saves a launch: a number that a member has one of
  /// for each element that reads it (tutti-compose), what all members share for each of them (tutti-fuse). A CPU's
  /// launches take less than that.
  bool repeatsForLaunches;

  // What a launch takes.
  /// A launch has at most so many words of parameters, 8 bytes each.
  int64_t launchWords;
  /// Whether compiling decides how many rows a task has (tutti-schedule): then tasks are counted in 31 bits. A call of
  /// a CUDA kernel takes one of several geometries; there rows are.
  bool schedulesTasks;
  /// The rows of a task have at most so many bytes of working memory. A CUDA block's is shared memory, which tutti-fuse
  /// keeps to.
  int64_t scratchBytes;

  static const TargetTraits &of(mlir::ModuleOp module);
  /// The traits of the target that the module around an op is for.
  static const TargetTraits &of(mlir::Operation *op) { return of(op->getParentOfType<mlir::ModuleOp>()); }
};

/// The most words of parameters, 8 bytes each, that a CUDA launch has.
constexpr int64_t mostLaunchWords = rt::kMaxParameterBytes / 8;

/// Buffers that a launch can be given: what the sizes of the call, the members' count and the tickets leave.
int64_t mostBuffers(mlir::ModuleOp module);

} // namespace tutti

#endif
