// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ring of stages (ring.cuh) by copies in bulk and mbarriers, from sm_90 on.
#pragma once

#include "tutti/bulk.cuh"
#include "tutti/ring.cuh"

#if TUTTI_CAPABILITY >= 90

namespace tutti {

/// By bulk copies: the first warp asks for whole panels as soon as all warps have left a stage; the others only wait for
/// what they need. Two barriers a stage lie before the ring: `full` counts bytes, `empty` warps.
///
/// Of the first `streams` layers there are some whose rows come, too. A stage has little of each, and a copy in bulk
/// takes its turn whoever asks for it, so all threads bring them by cp.async, each its part, and `full` counts threads
/// as well; where no rows come the first of them counts for all.
template <class Math, class Tile, int depth, int stageBytes, int offset, int streams, class LayerOf> class BulkRing {
public:
  static constexpr int barrierBytes = 128; ///< before `offset`

  __device__ __forceinline__ BulkRing(int layers, int rows, const LayerOf &layerOf)
      : layerOf(layerOf), barriers(shared<uint64_t>(offset - barrierBytes, 2 * depth)), layers(layers), rows(rows) {
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int i = 0; i < depth; ++i) {
        mbarrierInit(&barriers[i], streams ? 1 + blockDim.x : 1);
        mbarrierInit(&barriers[depth + i], blockDim.x / 32);
      }
      mbarrierInitFence();
    }
    __syncthreads();
  }
  /// As AsyncRing's.
  __device__ __forceinline__ int next() {
    if (freed >= 0) {
      __syncwarp(); // all its lanes have left the stage before
      if (threadIdx.x % 32 == 0) {
        mbarrierArrive(&barriers[depth + freed]);
      }
    }
    if (ahead.layer < (threadIdx.x < 32 ? layers : streams))
      begin(freed >= 0 ? freed : depth - 1 - missing);
    if (missing > 0)
      return -missing--;
    int stage = slot;
    mbarrierWait(&barriers[stage], round);
    freed = stage;
    slot = stage + 1 == depth ? 0 : stage + 1;
    round ^= slot == 0;
    return offset + stage * stageBytes;
  }

private:
  /// All lanes of the first warp: each asks for a panel. All threads, where rows come.
  __device__ __forceinline__ void begin(int filled) {
    const Layer layer = layerOf(ahead.layer);
    const Stages<Math, Tile> stages(layer, ahead.pass);
    constexpr int panelWords = Tile::template panelWords<Math>, pitch = rowPitch(Tile::stageK);
    static_assert(Tile::passPanels <= 32, "a lane has one panel at most");
    int at = offset + filled * stageBytes, from = ahead.from, columns = streams ? stages.columns(from) : 0;
    if (freed >= 0 && (threadIdx.x < 32 || columns > 0)) {
      mbarrierWait(&barriers[depth + filled], filled < slot ? round : round ^ 1);
    }
    if (threadIdx.x < 32) {
      int lane = threadIdx.x;
      // Others' bytes may land before thread 0 expects them: until its arrival the phase cannot end.
      if (lane == 0)
        mbarrierExpect(&barriers[filled], stages.bytes(from));
      if (streams && columns == 0 && lane == 0)
        mbarrierArriveTimes(&barriers[filled], blockDim.x);
      if (lane < stages.panels)
        bulkCopy(&shared<uint32_t>(at, Tile::passPanels * panelWords)[lane * panelWords], stages.panel(lane, from, 0),
                 stages.panelWords(lane, from) * 4, &barriers[filled]);
    }
    if (streams && columns > 0) {
      copyRows<Tile, 4>(stages, shared<float>(at + Tile::template weightBytes<Math>, Tile::rows * pitch), rows, from,
                        columns);
      copyAsyncArrive(&barriers[filled]); // of the next phase, as this thread has seen the end of the last one
    }
    if (!ahead.nextInPass<Tile>(layer))
      ahead.nextPass<Tile>(layer);
  }
  const LayerOf &layerOf;
  Shared<uint64_t> barriers;
  int layers, rows, missing = depth - 1, slot = 0, freed = -1, round = 0;
  Place ahead; ///< whose stage is copied next
};

} // namespace tutti

#endif
