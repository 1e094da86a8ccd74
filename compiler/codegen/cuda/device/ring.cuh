// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A ring of stages in shared memory: copies fill the next ones with weights and rows while the block works on one.
//
// stageOf(n) says what stage n of the kernel holds: the stages of all contractions follow each other, so that the next
// layer's weights come while this one is finished. It says so in numbers, not in types: the copies are one piece of
// code for all layers.
#pragma once

#include "tutti/async.cuh"
#include "tutti/layer.cuh"
#include "tutti/shape.cuh"

namespace tutti {

/// What a stage holds of a contraction: of each of the pass's panels the weights of some k, and of each row the same k,
/// or nothing if the rows lie in shared memory.
struct Stage {
  Global<const uint32_t> weights;
  int panels; ///< of this pass and block
  int tiles;  ///< from the first of them to the last of the matrix
  int from, stride, k,
      words; ///< of the weights: where the first panel begins, words of a tile, those before and those of the stage
  Global<const float> rows;
  int pitch = 0, column = 0,
      columns = 0; ///< elements from row to row, and of those the first of the stage, and how many

  /// Where panel i lies among the weights, and how many words of it the stage has.
  __device__ __forceinline__ int panelFrom(int i) const {
    return from + firstTileOf(tiles, i) * stride + k * tilesOf(tiles, i);
  }
  __device__ __forceinline__ int panelWords(int i) const { return words * tilesOf(tiles, i); }
  __device__ __forceinline__ int bytes(int rowCount) const {
    int ofWeights = panels ? words * (firstTileOf(tiles, panels - 1) + tilesOf(tiles, panels - 1)) : 0;
    return (ofWeights + columns * rowCount) * 4;
  }
};

/// Stage n of a contraction whose rows do not come through the ring.
template <class P, class Tile> __device__ __forceinline__ Stage stageOfProduct(int n, Global<const uint32_t> weights) {
  constexpr int rounds = P::template rounds<Tile>, most = Tile::stageK / 16;
  int group = n % rounds * most, panel = Tile::firstPanel(n / rounds), tile = firstTileOf(P::tiles, panel);
  int panels = panel < P::panels ? P::panels - panel : 0; // a block of a cluster may have none
  return {.weights = weights,
          .panels = panels < Tile::passPanels ? panels : Tile::passPanels,
          .tiles = P::tiles - tile,
          .from = tile * P::groups * P::groupWords,
          .stride = P::groups * P::groupWords,
          .k = group * P::groupWords,
          .words = (P::groups - group < most ? P::groups - group : most) * P::groupWords,
          .rows = Global<const float>(0, 0)};
}
/// The same, whose rows do, [t.rows, K] from the first of the tile on.
template <class P, class Tile>
__device__ __forceinline__ Stage stageOfProduct(int n, Global<const uint32_t> weights, Global<const float> rows) {
  Stage stage = stageOfProduct<P, Tile>(n, weights);
  stage.rows = rows;
  stage.pitch = P::K;
  stage.column = n % P::template rounds<Tile> * Tile::stageK;
  stage.columns = P::K - stage.column < Tile::stageK ? P::K - stage.column : Tile::stageK;
  return stage;
}

/// By cp.async: each thread brings its part and waits for it, and a barrier makes the parts a stage. All threads of the
/// block come to the constructor and to next(). A row is copied by `rowUnit` floats, as its alignment allows.
template <class Math, class Tile, int depth, int stageBytes, int offset, int rowUnit, class Stages> class AsyncRing {
public:
  __device__ __forceinline__ AsyncRing(int count, int rows, const Stages &stageOf)
      : stageOf(stageOf), count(count), rows(rows) {
#pragma unroll 1
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
    if (begun < count) {
      const Stage stage = stageOf(begun);
      constexpr int units = Tile::template panelWords<Math> / 4, pitch = rowPitch(Tile::stageK);
      const Shared<uint32_t> to = shared<uint32_t>(filled, Tile::passPanels * units * 4);
#pragma unroll 1
      for (int unit = threadIdx.x; unit < stage.panels * units; unit += blockDim.x) {
        int panel = unit / units, word = unit % units * 4;
        if (word < stage.panelWords(panel))
          __pipeline_memcpy_async(&to[unit * 4], &stage.weights[stage.panelFrom(panel) + word], 16);
      }
      const Shared<float> beside =
          shared<float>(filled + Tile::template weightBytes<Math>, stage.columns ? Tile::rows * pitch : 0);
#pragma unroll 1
      for (int i = threadIdx.x * rowUnit; i < (stage.columns ? rows * Tile::stageK : 0); i += blockDim.x * rowUnit) {
        int row = i / Tile::stageK, column = i % Tile::stageK;
        if (column < stage.columns)
          __pipeline_memcpy_async(&beside[row * pitch + column], &stage.rows[row * stage.pitch + stage.column + column],
                                  rowUnit * 4);
      }
    }
    ++begun;
    filled = after(filled);
    __pipeline_commit(); // an empty one too: waits count groups
  }
  const Stages &stageOf;
  int count, rows, begun = 0, filled = offset, taken = offset;
};

} // namespace tutti
