// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel is laid out on a CUDA device: its tile of rows, its warps, what lies where in shared memory.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_GEOMETRY_H
#define TUTTI_COMPILER_CODEGEN_CUDA_GEOMETRY_H

#include "dialects/plan/Plan.h"
#include "images/Architectures.h"
#include "passes/analysis/Target.h"

#include <optional>
#include <vector>

namespace tutti {

/// As many blocks as every device with clusters can launch in one.
constexpr int mostCluster = 8;

/// How warps share a tile where tensor cores multiply (device/tensor.cuh): rows x columns x panelParts x slices of
/// them, each with 16 rowTiles rows and so many panels, or one of panelParts parts of a panel, which in a cluster are
/// a block's each. Weights in shared memory are read once by each row of warps, rows once by each column.
struct WarpGrid {
  int rowTiles = 0, rows = 0, columns = 0, slices = 1;
  int cluster = 1; ///< blocks that share a tile's columns
  int panels = 1, panelParts = 1;
  bool wide = false; ///< four rows of warps are a warpgroup and multiply together (device/warpgroup.cuh)

  /// None: weights are read from memory by whoever multiplies.
  explicit operator bool() const { return rows > 0; }
  /// Of a block of a cluster all warps lie in it.
  int threads() const { return 32 * rows * columns * (cluster > 1 ? 1 : panelParts) * slices; }
  /// Of a weight, that a block has in a pass.
  int64_t ownPanels() const { return int64_t(columns) * panels; }
  /// The same of all blocks of a cluster.
  int64_t passPanels() const { return ownPanels() * (cluster > 1 ? cluster / panelParts : 1); }
  bool operator==(const WarpGrid &) const = default;
};

/// The ring in shared memory that weights come through; of a stage rows, if any come, lie behind the weights.
struct WeightRing {
  int64_t offset = 0, stages = 0, stageBytes = 0, rowBytes = 0;
  int columnPlaces = 0;    ///< before its barriers, to each of which come floats of a pass' columns; 0: it brings none
  bool bulkCopies = false; ///< and mbarriers, instead of cp.async
  int producerWarps = 0;   ///< beside the others: one that fills it, or a warpgroup that also gives registers away

  /// Mbarriers, eight bytes each, which lie before it.
  static constexpr int64_t barrierBytes = 128;
  /// None: slices read weights from global memory.
  explicit operator bool() const { return stages > 0; }
  int64_t end() const { return offset + stages * stageBytes; }
  bool operator==(const WeightRing &) const = default;
};

/// Where slices' sums meet in shared memory, or warpgroups have low parts of weights.
struct Exchange {
  int64_t offset = 0, stages = 0; ///< of which there are slices' sums at a time
  int64_t handovers = 0;          ///< where mbarriers lie of what layers of a cluster hand over

  static constexpr int64_t handoverBytes = 8 * mostCudaLayers;
  bool operator==(const Exchange &) const = default;
};

/// How a kernel is launched: blocks of `threads`, one a member (if lifted) and tile of `rows` rows, with `sharedBytes`
/// of dynamic shared memory.
struct CudaGeometry {
  int64_t rows, threads, sharedBytes = 0; ///< threads without a producer's
  int residentBlocks = 2;                 ///< on a multiprocessor, that the registers of a thread leave room for

  WarpGrid warps = {};
  int pairs = 1;     ///< a stage has 32 pairs k a slice
  int passTiles = 0; ///< the most tiles of eight columns that a block makes at a time
  WeightRing ring = {};
  Exchange exchange = {};
  int64_t flagOffset = 0;  ///< of the heads' flag in shared memory
  int64_t copyOffset = -1; ///< where rows of an input are copied to that lie badly, or -1: they are not

  /// Blocks may go on from one member to the next, whose weights the producer brings by then: each takes every so many
  /// as the grid has blocks along y and z. A grid with a block for each member is right, too.
  bool persistent = false;
  bool wordsApart = false;     ///< a lane reads a weight's floats one by one, which takes fewer registers
  bool keepsAddresses = false; ///< threads have registers for those of a member; else they are looked up each pass

  int64_t blockThreads() const { return threads + ring.producerWarps * 32; }
  /// How many of a block's threads work on its task, as kernels count them (device/barrier.cuh).
  static int64_t tasksOf(int64_t blockThreads) {
    return blockThreads >= 384 ? blockThreads - 128 : blockThreads / 64 * 64;
  }
  /// K of a stage.
  int64_t stageK() const { return 32 * warps.slices * pairs; }
  /// Of the sums of a stage's slices.
  int64_t gatheredBytes() const { return threads / 32 * warps.rowTiles * 4 * (32 * (4 / warps.panelParts) + 16) * 4; }
  /// The same tile, shared by warps in the same way; passTiles may differ.
  bool hasWarpsOf(const CudaGeometry &other) const {
    return rows == other.rows && threads == other.threads && pairs == other.pairs && warps == other.warps;
  }
  bool operator==(const CudaGeometry &) const = default;
};

/// Ways to launch a kernel on an architecture, from the fewest blocks to the most: tiles from large to small, then
/// clusters; all give the same bits. None if a single row does not fit into shared memory. Kernels that share a launch
/// share its warps: a panel is one warp's.
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

} // namespace tutti

#endif
