// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel is laid out on a CUDA device: its tile of rows, its warps, its shared memory.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_GEOMETRY_H
#define TUTTI_COMPILER_CODEGEN_CUDA_GEOMETRY_H

#include "dialects/plan/Plan.h"
#include "images/Architectures.h"
#include "passes/analysis/Target.h"

#include <optional>
#include <vector>

namespace tutti {

/// The largest number of blocks in a cluster that every device with clusters can launch.
constexpr int mostCluster = 8;

/// How warps share a tile where tensor cores multiply (device/tensor.cuh). They form a grid of rows x columns x
/// panelParts x slices warps. A warp has `rowTiles` times 16 rows, and `panels` panels of columns or one of
/// `panelParts` parts of a panel; slices share the terms of the sums. In a cluster the parts of a panel belong to
/// different blocks. Each row of warps reads the weights in shared memory once, each column of warps the rows.
struct WarpGrid {
  int rowTiles = 0, rows = 0, columns = 0, slices = 1;
  int cluster = 1; ///< blocks that share a tile's columns
  int panels = 1, panelParts = 1;
  bool wide = false; ///< four rows of warps are a warpgroup and multiply together (device/warpgroup.cuh)

  /// False: threads multiply, and read weights from global memory.
  explicit operator bool() const { return rows > 0; }
  /// The threads of a block.
  int threads() const { return 32 * rows * columns * (cluster > 1 ? 1 : panelParts) * slices; }
  /// The number of panels of a weight that a block multiplies by in a pass.
  int64_t ownPanels() const { return int64_t(columns) * panels; }
  /// The number of panels that all blocks of a cluster multiply by in a pass.
  int64_t passPanels() const { return ownPanels() * (cluster > 1 ? cluster / panelParts : 1); }
  bool operator==(const WarpGrid &) const = default;
};

/// The ring buffer in shared memory through which weights arrive. A stage holds weights, followed by `rowBytes` of an
/// input's rows if these arrive with the weights.
struct WeightRing {
  int64_t offset = 0, stages = 0, stageBytes = 0, rowBytes = 0;
  int columnPlaces = 0;    ///< places for one float a column of a pass (biases), before the barriers; 0: none arrive
  bool bulkCopies = false; ///< filled by bulk copies and mbarriers; else by cp.async
  int producerWarps = 0;   ///< extra warps that fill the ring: one, or a warpgroup that also gives registers away

  /// Room for the mbarriers, eight bytes each, which lie before the ring.
  static constexpr int64_t barrierBytes = 128;
  /// False: slices read weights from global memory.
  explicit operator bool() const { return stages > 0; }
  int64_t end() const { return offset + stages * stageBytes; }
  bool operator==(const WeightRing &) const = default;
};

/// The place in shared memory where slices add up their sums, or where warpgroups keep the low parts of weights.
struct Exchange {
  int64_t offset = 0, stages = 0; ///< how many stages' sums it holds at a time
  int64_t handovers = 0;          ///< where the mbarriers lie by which blocks of a cluster hand over activations

  static constexpr int64_t handoverBytes = 8 * mostCudaLayers;
  bool operator==(const Exchange &) const = default;
};

/// How a kernel is launched: one block of threads for each tile of `rows` rows (and for each member, if the kernel is
/// lifted), with `sharedBytes` of dynamic shared memory.
struct CudaGeometry {
  int64_t rows, threads, sharedBytes = 0; ///< `threads` does not count the producer's
  int residentBlocks = 2;                 ///< blocks whose registers fit a multiprocessor together

  WarpGrid warps = {};
  int pairs = 1;     ///< a stage has 32 * pairs terms for each slice
  int passTiles = 0; ///< the most tiles of eight columns that a block computes in a pass
  WeightRing ring = {};
  Exchange exchange = {};
  int64_t flagOffset = 0;  ///< where the heads' flag lies in shared memory
  int64_t copyOffset = -1; ///< where rows are copied to (Contraction::isCopied); -1: nowhere

  /// A block processes several members, and the producer prefetches the next one's weights. If the grid has n blocks
  /// along y and z, a block takes every n-th member; n may also be the number of members.
  bool persistent = false;
  bool wordsApart = false;     ///< a lane reads a weight's floats one by one, which takes fewer registers
  bool keepsAddresses = false; ///< threads keep a member's addresses in registers; else they look them up each pass

  int64_t blockThreads() const { return threads + ring.producerWarps * 32; }
  /// The number of a block's threads that are not the producer's: taskThreads of device/barrier.cuh.
  static int64_t tasksOf(int64_t blockThreads) {
    return blockThreads >= 384 ? blockThreads - 128 : blockThreads / 64 * 64;
  }
  /// The terms of a stage.
  int64_t stageK() const { return 32 * warps.slices * pairs; }
  /// The bytes that the slices' partial sums of one stage take.
  int64_t gatheredBytes() const { return threads / 32 * warps.rowTiles * 4 * (32 * (4 / warps.panelParts) + 16) * 4; }
  /// Whether both have the same tile, shared by warps in the same way; passTiles may differ.
  bool hasWarpsOf(const CudaGeometry &other) const {
    return rows == other.rows && threads == other.threads && pairs == other.pairs && warps == other.warps;
  }
  bool operator==(const CudaGeometry &) const = default;
};

/// The ways to launch a kernel on an architecture, from the fewest blocks to the most: tiles from large to small, then
/// clusters. All give the same bits. Empty if a single row does not fit into shared memory, or if a count does not fit
/// an int (Counts.h). In a launch that several kernels share, a panel belongs to one warp.
std::vector<CudaGeometry> cudaGeometries(plan::KernelOp kernel, const Architecture &architecture,
                                         bool sharesLaunch = false);
/// The geometry with clusters, for calls that do not fill the device. The blocks of a cluster share a tile's columns:
/// each has one panel at a time, or one of `panelParts` parts of a panel. It needs sm_90 or later and products of
/// floats that are three TF32 products. None for a kernel whose layers are too narrow, or too wide for parts.
std::optional<CudaGeometry> clusterGeometry(plan::KernelOp kernel, const Architecture &architecture,
                                            int panelParts = 1);
/// A geometry on tensor cores with the tile and the warps of another kernel's; none if it does not fit.
std::optional<CudaGeometry> cudaGeometryLike(plan::KernelOp kernel, const Architecture &architecture,
                                             const CudaGeometry &other);

} // namespace tutti

#endif
