// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ring of stages (ring.cuh) by copies in bulk and mbarriers, from sm_90 on.
#pragma once

#include "tutti/bulk.cuh"
#include "tutti/ring.cuh"

#if TUTTI_CAPABILITY >= 90

namespace tutti {

/// By bulk copies: each of the first warps asks for one panel of a stage; all only wait for what they need. Two barriers a stage
/// lie before the ring: `full` counts bytes and who asked for them, `empty` warps.
///
/// A stage is filled a turn after it was left, where there are three or more: whoever fills it does not wait for the
/// slowest warp then.
///
/// Of the first `streams` layers there are some whose rows come, too. A stage has little of each, and a copy in bulk
/// takes its turn whoever asks for it, so all threads bring them by cp.async, each its part, and `full` counts threads
/// as well; where no rows come the first of them counts for all.
template <class Math, class Tile, int depth, int stageBytes, int offset, int streams, class LayerOf> class BulkRing {
public:
  static constexpr int barrierBytes = 128; ///< before `offset`

  __device__ __forceinline__ BulkRing(int layers, int rows, const LayerOf &layerOf)
      : layerOf(layerOf), barriers(shared<uint64_t>(offset - barrierBytes, 2 * depth)),
        asked(asks() ? layers : streams), rows(rows) {
    static_assert(Tile::passPanels <= Tile::threads / 32 && 2 * depth * 8 <= barrierBytes, "a panel a warp at most");
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int i = 0; i < depth; ++i) {
        mbarrierInit(&barriers[i], Tile::passPanels + (streams ? Tile::threads : 0));
        mbarrierInit(&barriers[depth + i], Tile::threads / 32);
      }
      mbarrierInitFence();
    }
    __syncthreads();
  }
  /// As AsyncRing's.
  __device__ __forceinline__ int next() {
    if (left >= 0) {
      __syncwarp(); // all its lanes have left the stage before
      if (threadIdx.x % 32 == 0) {
        mbarrierArrive(&barriers[depth + left]);
      }
    }
    if (ahead.layer < asked)
      begin();
    if (missing > 0)
      return -missing--;
    mbarrierWait(&barriers[taken], takenRound);
    left = taken;
    taken = after(taken);
    takenRound ^= taken == 0;
    return offset + left * stageBytes;
  }

private:
  __device__ __forceinline__ static bool asks() { return int(threadIdx.x) / 32 < Tile::passPanels; }
  __device__ __forceinline__ static int after(int stage) { return stage + 1 == depth ? 0 : stage + 1; }
  /// By warps that ask for a panel; by all, where rows come.
  __device__ __forceinline__ void begin() {
    int lane = threadIdx.x % 32, panel = threadIdx.x / 32;
    if (ahead.from == 0) {
      layer = layerOf(ahead.layer);
      stages = Stages<Math, Tile>(layer, ahead.pass);
      if (asks() && panel < stages.panels) {
        weights = stages.panel(panel);
        words = stages.panelWords(panel);
      } else {
        words = 0;
      }
    }
    constexpr int panelWords = Tile::template panelWords<Math>, pitch = rowPitch(Tile::stageK);
    int from = ahead.from, at = offset + filled * stageBytes, columns = streams ? stages.columns(from) : 0;
    if (asks() || columns > 0) {
      mbarrierWait(&barriers[depth + filled], filledRound); // of the first round: over from the start
    }
    if (asks() && lane == 0) {
      int bytes = stages.groups(from) * words * 4;
      mbarrierExpect(&barriers[filled], bytes);
      if (bytes)
        bulkCopy(&shared<uint32_t>(at, Tile::passPanels * panelWords)[panel * panelWords], &weights[from / 16 * words], bytes,
                 &barriers[filled]);
      if (streams && columns == 0 && panel == 0) {
        mbarrierArriveTimes(&barriers[filled], Tile::threads);
      }
    }
    if (streams && columns > 0) {
      copyRows<Tile, 4>(stages, shared<float>(at + Tile::template weightBytes<Math>, Tile::rows * pitch), rows, from,
                        columns);
      copyAsyncArrive(&barriers[filled]); // of the next phase, as this thread has seen the end of the last one
    }
    filled = after(filled);
    filledRound ^= filled == 0;
    if (!ahead.nextInPass<Tile>(layer))
      ahead.nextPass<Tile>(layer);
  }
  const LayerOf &layerOf;
  Shared<uint64_t> barriers;
  int asked, rows; ///< layers of which this warp brings something
  int missing = depth > 2 ? depth - 2 : 1, filled = 0, filledRound = 1, taken = 0, takenRound = 0, left = -1;
  Place ahead; ///< whose stage is copied next
  Layer layer;
  Stages<Math, Tile> stages;
  Global<const uint32_t> weights = {uint64_t(0), 0}; ///< of the panel that this warp asks for
  int words = 0;                                     ///< of 16 k; 0: there is none
};

} // namespace tutti

#endif
