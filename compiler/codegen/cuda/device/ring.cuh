// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A ring of stages in shared memory: copies fill the next ones with weights and rows while the block works on one.
//
// stageOf(n, visit) calls visit(stage of the contraction, its Product, its left operand, its weight) for stage n of the kernel:
// the stages of all contractions follow each other, so that the next layer's weights come while this one is finished.
#pragma once

#include "tutti/async.cuh"
#include "tutti/shape.cuh"

namespace tutti {

/// Of one stage of a contraction: elements from `k` on, and the panels [first, last).
template <class P, class Tile> struct StageOf {
  int k, first, last;

  __device__ __forceinline__ explicit StageOf(int n)
      : k(n % P::template rounds<Tile> * Tile::stageK), first(P::template firstPanel<Tile>(n / P::template rounds<Tile>)),
        last(first + Tile::warpColumns < P::panels ? first + Tile::warpColumns : P::panels) {}
  /// Where a panel's words for the stage are, and how many.
  __device__ __forceinline__ int wordsFrom(int panel) const {
    return (P::firstTile(panel) * P::groups + k / 16 * P::tilesOf(panel)) * P::groupWords;
  }
  __device__ __forceinline__ int words(int panel) const {
    constexpr int most = Tile::stageK / 16;
    int groups = P::groups - k / 16 < most ? P::groups - k / 16 : most;
    return groups * P::tilesOf(panel) * P::groupWords;
  }
};

/// By cp.async: each thread brings its part and waits for it, and a barrier makes the parts a stage. All threads of the block
/// come to the constructor and to next().
template <class Tile, int depth, int stageBytes, int offset, class Stages> class AsyncRing {
public:
  __device__ __forceinline__ AsyncRing(int count, int rows, const Stages &stageOf)
      : stageOf(stageOf), count(count), rows(rows) {
    for (int i = 0; i + 1 < depth; ++i)
      begin();
  }
  /// Where the next stage lies, once all of it is there. The stage before may be overwritten from now on.
  __device__ __forceinline__ int next() {
    __pipeline_wait_prior(depth - 2);
    __syncthreads(); // everybody's copies are there, and everybody has done with the stage before
    begin();
    int stage = taken;
    taken = after(taken);
    return stage;
  }

private:
  __device__ __forceinline__ static int after(int stage) {
    return stage == offset + (depth - 1) * stageBytes ? offset : stage + stageBytes;
  }
  __device__ __forceinline__ void begin() {
    if (begun < count)
      stageOf(begun, [&](int n, auto product, const auto &left, Global<const uint32_t> weights) {
        using P = decltype(product);
        StageOf<P, Tile> stage(n);
        constexpr int panelWords = P::template panelWords<Tile>, units = panelWords / 4;
        const Shared<uint32_t> to = shared<uint32_t>(filled, Tile::warpColumns * panelWords);
        for (int unit = threadIdx.x; unit < (stage.last - stage.first) * units; unit += blockDim.x) {
          int own = unit / units, panel = stage.first + own, word = unit % units * 4;
          if (word < stage.words(panel))
            __pipeline_memcpy_async(&to[own * panelWords + word], &weights[stage.wordsFrom(panel) + word], 16);
        }
        left.bring(filled + P::template weightBytes<Tile>, stage.k, rows);
      });
    ++begun;
    filled = after(filled);
    __pipeline_commit(); // an empty one too: waits count groups
  }
  const Stages &stageOf;
  int count, rows, begun = 0, filled = offset, taken = offset;
};

} // namespace tutti
