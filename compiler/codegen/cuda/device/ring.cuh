// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A ring of stages in shared memory: copies fill the next ones with weights and rows while the block works on one.
//
// The stages of all layers follow each other, so that the next layer's weights come while this one is finished. Layers are
// numbers, not types: the copies are one piece of code for all of them, and stand in it once. A ring is filled by the
// first calls of next(), which give no stage yet.
#pragma once

#include "tutti/async.cuh"
#include "tutti/layer.cuh"
#include "tutti/shape.cuh"

namespace tutti {

/// What the stages of a pass hold: of each of its panels the weights of some k, and of each row the same k, or nothing if
/// the rows lie in shared memory. Of most of that a stage differs in nothing from the one before.
template <class Math, class Tile> class Stages {
public:
  static constexpr int groupWords = Math::words * 32; ///< of a tile
  int panels = 0;                                     ///< of this block; or less than one

  Stages() = default;
  __device__ __forceinline__ Stages(const Layer &layer, int pass)
      : panels(panelsOf(layer.tiles) - Tile::firstPanel(pass)), K(layer.K),
        tiles(layer.tiles - firstTileOf(layer.tiles, Tile::firstPanel(pass))),
        begin(firstTileOf(layer.tiles, Tile::firstPanel(pass)) * groupWords * groupsOf(layer.K)), weights(layer.weights),
        rows(layer.input), streams(layer.left == streamed) {
    if (panels > Tile::passPanels)
      panels = Tile::passPanels;
  }

  /// Panel i of the pass, all its k, and its words of 16 k.
  __device__ __forceinline__ Global<const uint32_t> panel(int i) const {
    int all = groupsOf(K), words = panelWords(i);
    return weights.slice(begin + firstTileOf(tiles, i) * groupWords * all, words * all);
  }
  __device__ __forceinline__ int panelWords(int i) const { return groupWords * tilesOf(tiles, i); }
  // Of the stage whose first k is `from`.
  /// How many 16 k it has.
  __device__ __forceinline__ int groups(int from) const {
    int left = groupsOf(K - from);
    return left < Tile::stageK / 16 ? left : Tile::stageK / 16;
  }
  /// Its elements of row i, and how many there are.
  __device__ __forceinline__ auto row(int i, int from) const { return &rows[i * K + from]; }
  __device__ __forceinline__ int columns(int from) const {
    return !streams ? 0 : K - from < Tile::stageK ? K - from : Tile::stageK;
  }

private:
  int K = 0, tiles = 0, begin = 0; ///< tiles from the first of this pass to the last of the matrix, and where they begin
  Global<const uint32_t> weights = {uint64_t(0), 0};
  Global<const float> rows = {uint64_t(0), 0};
  bool streams = false;

  __device__ __forceinline__ static int groupsOf(int k) { return unsigned(k + 15) / 16; }
};

/// The `columns` elements from `from` on of each row, by cp.async: each thread its part, `unit` floats at a time, of every
/// so many rows.
template <class Tile, int unit, class Math>
__device__ __forceinline__ void copyRows(const Stages<Math, Tile> &stages, const Shared<float> &to, int rows, int from,
                                         int columns) {
  constexpr int units = Tile::stageK / unit, atOnce = Tile::threads / units;
  static_assert(Tile::threads % units == 0, "a thread has the same columns of all its rows");
  int column = threadIdx.x % units * unit;
  if (column >= columns)
    return;
#pragma unroll 4
  for (int i = 0; i < (Tile::rows + atOnce - 1) / atOnce; ++i) {
    int row = int(threadIdx.x) / units + i * atOnce;
    if (row < rows)
      __pipeline_memcpy_async(&to[row * rowPitch(Tile::stageK) + column], stages.row(row, from + column), unit * 4);
  }
}

/// By cp.async: each thread brings its part and waits for it, and a barrier makes the parts a stage. All threads of the
/// block come to next(). A row is copied by `rowUnit` floats, as its alignment allows.
template <class Math, class Tile, int depth, int stageBytes, int offset, int rowUnit, class LayerOf> class AsyncRing {
public:
  __device__ __forceinline__ AsyncRing(int layers, int rows, const LayerOf &layerOf)
      : layerOf(layerOf), layers(layers), rows(rows) {}
  /// Where the next stage lies, once all of it is there. The stage before may be overwritten from now on. Negative: the
  /// ring was not full yet; -1: it is now.
  __device__ __forceinline__ int next() {
    if (missing == 0) {
      __pipeline_wait_prior(depth - 2);
      __syncthreads(); // everybody's copies are there, and everybody has done with the stage before
    }
    begin();
    if (missing > 0)
      return -missing--;
    int stage = taken;
    taken = after(taken);
    return stage;
  }

private:
  __device__ __forceinline__ static int after(int stage) {
    return stage == offset + (depth - 1) * stageBytes ? offset : stage + stageBytes;
  }
  __device__ __forceinline__ void begin() {
    if (ahead.layer < layers) {
      if (ahead.from == 0) {
        layer = layerOf(ahead.layer);
        stages = Stages<Math, Tile>(layer, ahead.pass);
      }
      int from = ahead.from, columns = stages.columns(from);
      constexpr int units = Tile::template panelWords<Math> / 4, pitch = rowPitch(Tile::stageK);
      const Shared<uint32_t> to = shared<uint32_t>(filled, Tile::passPanels * units * 4);
#pragma unroll 1
      for (int unit = threadIdx.x; unit < stages.panels * units; unit += blockDim.x) {
        int panel = unit / units, word = unit % units * 4, words = stages.panelWords(panel);
        if (word < stages.groups(from) * words)
          __pipeline_memcpy_async(&to[unit * 4], &stages.panel(panel)[from / 16 * words + word], 16);
      }
      const Shared<float> beside =
          shared<float>(filled + Tile::template weightBytes<Math>, columns ? Tile::rows * pitch : 0);
      copyRows<Tile, rowUnit>(stages, beside, rows, from, columns);
      if (!ahead.nextInPass<Tile>(layer))
        ahead.nextPass<Tile>(layer);
    }
    filled = after(filled);
    __pipeline_commit(); // an empty one too: waits count groups
  }
  const LayerOf &layerOf;
  int layers, rows, missing = depth - 1, filled = offset, taken = offset;
  Place ahead; ///< whose stage is copied next
  Layer layer;
  Stages<Math, Tile> stages;
};

} // namespace tutti
