// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ring of stages (ring.cuh) by copies in bulk and mbarriers, from sm_90 on.
#pragma once

#include "tutti/bulk.cuh"
#include "tutti/ring.cuh"

#if TUTTI_CAPABILITY >= 90

namespace tutti {

/// By bulk copies: the first warp asks for whole panels and rows as soon as all warps have left a stage; the others
/// only wait for what they need. Two barriers a stage lie before the ring: `full` counts bytes, `empty` warps.
template <class Math, class Tile, int depth, int stageBytes, int offset, class Stages> class BulkRing {
public:
  static constexpr int barrierBytes = 128; ///< before `offset`

  __device__ __forceinline__ BulkRing(int count, int rows, const Stages &stageOf)
      : stageOf(stageOf), barriers(shared<uint64_t>(offset - barrierBytes, 2 * depth)), count(count), rows(rows) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < depth; ++i) {
        mbarrierInit(&barriers[i], 1);
        mbarrierInit(&barriers[depth + i], blockDim.x / 32);
      }
      mbarrierInitFence();
    }
    __syncthreads();
    if (threadIdx.x < 32)
#pragma unroll 1
      for (; begun < depth && begun < count; ++begun)
        begin(begun);
  }
  __device__ __forceinline__ int next() {
    int stage = slot;
    if (taken > 0) {
      __syncwarp(); // all its lanes have left the stage before
      if (threadIdx.x % 32 == 0)
        mbarrierArrive(&barriers[depth + before]);
      if (threadIdx.x < 32 && begun < count) {
        mbarrierWait(&barriers[depth + before], before < slot ? round : round ^ 1);
        begin(before);
        ++begun;
      }
    }
    mbarrierWait(&barriers[stage], round);
    ++taken;
    before = stage;
    slot = stage + 1 == depth ? 0 : stage + 1;
    round ^= slot == 0;
    return offset + stage * stageBytes;
  }

private:
  /// All lanes of the first warp: each asks for a panel, and for rows.
  __device__ __forceinline__ void begin(int slot) {
    const Stage stage = stageOf(begun);
    constexpr int panelWords = Tile::template panelWords<Math>, pitch = rowPitch(Tile::stageK);
    static_assert(Tile::passPanels <= 32, "a lane has one panel at most");
    int at = offset + slot * stageBytes, lane = threadIdx.x;
    // Others' bytes may land before thread 0 expects them: until its arrival the phase cannot end.
    if (lane == 0)
      mbarrierExpect(&barriers[slot], stage.bytes(rows));
    if (lane < stage.panels)
      bulkCopy(&shared<uint32_t>(at, Tile::passPanels * panelWords)[lane * panelWords],
               &stage.weights[stage.panelFrom(lane)], stage.panelWords(lane) * 4, &barriers[slot]);
    if (stage.columns == 0)
      return;
    const Shared<float> beside = shared<float>(at + Tile::template weightBytes<Math>, Tile::rows * pitch);
#pragma unroll 1
    for (int row = lane; row < rows; row += 32)
      bulkCopy(&beside[row * pitch], &stage.rows[row * stage.pitch + stage.column], stage.columns * 4, &barriers[slot]);
  }
  const Stages &stageOf;
  Shared<uint64_t> barriers;
  int count, rows, begun = 0, taken = 0, slot = 0, before = 0, round = 0;
};

} // namespace tutti

#endif
