// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as CUDA C++: the skeletons of device/, configured, with the scalar code of its body.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_KERNEL_H
#define TUTTI_COMPILER_CODEGEN_CUDA_KERNEL_H

#include "dialects/plan/Plan.h"
#include "images/Architectures.h"
#include "passes/analysis/Target.h"

#include "llvm/Support/Error.h"

#include <optional>
#include <tuple>

namespace tutti {

/// How a kernel is launched: blocks of `threads`, one a member (if lifted) and tile of `rows` rows, with `sharedBytes`
/// of dynamic shared memory.
struct CudaGeometry {
  int64_t rows, threads, sharedBytes = 0; ///< threads without a producer's
  int residentBlocks = 2;                 ///< on a multiprocessor, that the registers of a thread leave room for

  /// How the warps share the tile where tensor cores multiply (device/tensor.cuh): a grid of warpRows x warpColumns x
  /// panelParts x slices, each with 16 rowTiles rows and warpPanels panels, or one of panelParts parts of a panel,
  /// which in a cluster are a block's each; a stage has 32 pairs k a slice. No warps: weights are read from memory by
  /// whoever multiplies.
  int rowTiles = 0, warpRows = 0, warpColumns = 0, panelParts = 1, slices = 1, warpPanels = 1, pairs = 1;
  int passTiles = 0; ///< the most tiles of eight columns that a block makes at a time
  int cluster = 1;   ///< blocks that share a tile's columns
  bool wide = false; ///< four rows of warps are a warpgroup and multiply together (device/warpgroup.cuh)
  /// The ring in shared memory: of a stage rows, if any come, lie behind the weights.
  int64_t stages = 0, stageBytes = 0, stageRowBytes = 0, ringOffset = 0;
  int columnPlaces = 0;    ///< before its barriers, to each of which come floats of a pass' columns; 0: it brings none
  bool bulkCopies = false; ///< and mbarriers, instead of cp.async
  int producerWarps = 0;   ///< beside `threads`: one that fills the ring, or a warpgroup that also gives registers away
  /// Blocks may go on from one member to the next, whose weights the producer brings by then: each takes every so many
  /// as the grid has blocks along y and z. A grid with a block for each member is right, too.
  bool persistent = false;
  bool wordsApart = false;     ///< a lane reads a weight's floats one by one, which takes fewer registers
  bool keepsAddresses = false; ///< threads have registers for those of a member; else they are looked up each pass
  int64_t flagOffset = 0;      ///< of the heads' flag in shared memory
  int64_t copyOffset = -1;     ///< where rows of an input are copied to that lie badly, or -1: they are not
  int64_t exchangeOffset = 0;  ///< where slices' sums meet, or warpgroups have low parts of weights
  int64_t gatheredStages = 0;  ///< of which there are slices' sums at a time
  int64_t handoverOffset = 0;  ///< of mbarriers of what layers of a cluster hand over

  /// Mbarriers of the ring, and those of what layers hand over, eight bytes each.
  static constexpr int64_t barrierBytes = 128, handoverBytes = 8 * mostCudaLayers;
  /// Weights come through a ring; slices read them from global memory.
  bool hasRing() const { return stages > 0; }
  /// Of a weight, that all blocks of a cluster have in a pass.
  int64_t passPanels() const { return warpColumns * warpPanels * (cluster > 1 ? cluster / panelParts : 1); }
  /// Of the sums of a stage's slices.
  int64_t gatheredBytes() const { return threads / 32 * rowTiles * 4 * (32 * (4 / panelParts) + 16) * 4; }

  int64_t blockThreads() const { return threads + producerWarps * 32; }
  /// How many of a block's threads work on its task, as kernels count them (device/barrier.cuh).
  static int64_t tasksOf(int64_t blockThreads) {
    return blockThreads >= 384 ? blockThreads - 128 : blockThreads / 64 * 64;
  }
  /// K of a stage.
  int64_t stageK() const { return 32 * slices * pairs; }
  bool operator==(const CudaGeometry &) const = default;
  /// The same tile, shared by warps in the same way; passTiles may differ.
  bool hasWarpsOf(const CudaGeometry &other) const {
    auto shape = [](const CudaGeometry &g) {
      return std::tuple(g.rows, g.threads, g.rowTiles, g.warpRows, g.warpColumns, g.panelParts, g.slices, g.warpPanels,
                        g.pairs, g.cluster, g.wide);
    };
    return shape(*this) == shape(other);
  }
};

/// What became of a geometry whose kernel may have had to be compiled by another version (images/Image.h).
struct BuiltCode {
  unsigned registers; ///< of a thread
  int64_t threads;    ///< of a block
  bool persistent;    ///< blocks go on to further members
};

/// The position in the active set is blockIdx.y + membersInPlane * blockIdx.z, where a grid's y ends at 65535.
constexpr int64_t mostPlaneMembers = 65535, membersInPlane = 32768;
/// As many blocks as every device with clusters can launch in one.
constexpr int mostCluster = 8;

/// Ways to launch a kernel on an architecture, from the fewest blocks to the most: tiles from large to small, then
/// clusters; all give the same bits. None if a
/// single row does not fit into shared memory. Kernels that share a launch share its warps: a panel is one warp's.
std::vector<CudaGeometry> cudaGeometries(plan::KernelOp kernel, const Architecture &architecture,
                                         bool sharesLaunch = false);
/// From sm_90 on, where products of floats are three: blocks share a tile's columns, for calls that do not fill the
/// device, each a panel at a time or one of `panelParts` of it. None for a kernel whose layers are too narrow, or too
/// wide for parts.
std::optional<CudaGeometry> clusterGeometry(plan::KernelOp kernel, const Architecture &architecture,
                                            int panelParts = 1);
/// With the tile and the warps of another kernel's, on tensor cores; none if it does not fit.
std::optional<CudaGeometry> cudaGeometryLike(plan::KernelOp kernel, const Architecture &architecture,
                                             const CudaGeometry &other);

/// The translation unit of a kernel, its entry called `name`. Its one parameter is a struct of the launch's arguments
/// as addresses, then the sizes of the call; `sizes` are their symbols in that order. blockIdx.x / cluster is the tile
/// of rows. Rows are counted in 31 bits. Of several kernels, each with its geometry, all of so many threads and with
/// such clusters: one entry that has the parts' arguments one after the other, and a grid of their tiles times members,
/// summed up (device/tasks.cuh), blockIdx.x / cluster its task.
llvm::Expected<std::string> emitCudaKernel(llvm::ArrayRef<plan::KernelOp> parts, llvm::ArrayRef<std::string> sizes,
                                           llvm::StringRef name, llvm::ArrayRef<CudaGeometry> geometries);

} // namespace tutti

#endif
