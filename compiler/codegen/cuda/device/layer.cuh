// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction on tensor cores in numbers: one piece of code multiplies for all layers of a kernel.
#pragma once

#include "tutti/half.cuh"
#include "tutti/memory.cuh"
#include "tutti/shape.cuh"

namespace tutti {

/// Where a contraction's rows lie.
enum Lefts : int {
  streamed = 1, ///< in an input: pieces of them come with the weights
  floats = 2,   ///< in shared memory
  halves = 4,   ///< the same as 16-bit floats, which the product takes as they are
  inGlobal = 8, ///< in global memory, where this block has written them
};

/// A weight [K, N] in fragments, and the rows that it meets.
struct Layer {
  int K = 0, N = 0, tiles = 0; ///< elements of a row; columns, and in tiles of eight
  Global<const uint32_t> weights = {uint64_t(0), 0};
  Lefts left = streamed;
  int at = 0, stride = 0;                        ///< where the rows begin in shared memory, and elements from one to the next
  Global<const float> input = {uint64_t(0), 0}; ///< the rows that are streamed, of the tile
  Global<float> rows = {uint64_t(0), 0};        ///< those in global memory

  template <class Tile> __device__ __forceinline__ int passes() const {
    return (panelsOf(tiles) + Tile::passPanels * Tile::blocks - 1) / (Tile::passPanels * Tile::blocks);
  }
};
__device__ __forceinline__ Layer layerOfProduct(int K, int N, Global<const uint32_t> weights, Lefts left, int at, int stride) {
  return {.K = K, .N = N, .tiles = (N + 7) / 8, .weights = weights, .left = left, .at = at, .stride = stride};
}
__device__ __forceinline__ Layer layerOfProduct(int K, int N, Global<const uint32_t> weights, Global<const float> input) {
  return {.K = K, .N = N, .tiles = (N + 7) / 8, .weights = weights, .left = streamed, .input = input};
}
__device__ __forceinline__ Layer layerOfProduct(int K, int N, Global<const uint32_t> weights, Global<float> rows) {
  return {.K = K, .N = N, .tiles = (N + 7) / 8, .weights = weights, .left = inGlobal, .stride = K, .rows = rows};
}

/// The block's way through its layers: of each its passes, of each pass the k of a stage at a time.
struct Place {
  int layer = 0, pass = 0, from = 0;

  template <class Tile> __device__ __forceinline__ bool nextInPass(const Layer &of) {
    from = from + Tile::stageK < of.K ? from + Tile::stageK : 0;
    return from != 0;
  }
  template <class Tile> __device__ __forceinline__ bool nextPass(const Layer &of) {
    pass = pass + 1 < of.passes<Tile>() ? pass + 1 : 0;
    layer += pass == 0;
    return pass != 0;
  }
};

/// Where a stage has `columns` of each row, rows lie an odd number of 16 floats apart: lanes that read four neighbours
/// in each of two rows meet different banks.
__device__ constexpr int rowPitch(int columns) { return columns + 16; }

/// All layers of a kernel: what multiplies, how the warps share a tile, which of Lefts occur, which numbers of tiles a
/// panel may have (4 | 2 | 1), what every K is a multiple of (16, 4 or 1), and where in shared memory the slices of a tile meet.
template <class Math_, class Tile_, int lefts_, int widths_, int unit_, int exchange_ = 0> struct Layers {
  using Math = Math_;
  using Tile = Tile_;
  static constexpr int lefts = lefts_, widths = widths_, unit = unit_, exchange = exchange_;

  /// What a warp has of a pass: sums of own tiles of 16 rows, its panels' one after the other; or of slices, single
  /// tiles.
  static constexpr int own = Tile::slices == 1 ? 4 : 1,
                       pieces = Tile::slices == 1 ? Tile::rowTiles : Tile::rowTiles * 4 / Tile::slices;
  static_assert(Tile::slices == 1 || Math::chunked, "one chain cannot be cut");
  static_assert(Tile::warpPanels == 1 || !Math::chunked, "chunks of several panels would need too many registers");
  struct Sums {
    float of[Tile::warpPanels][pieces][own][4];
    int tiles[Tile::warpPanels]; ///< of each panel; 0: this warp has nothing to do
  };

  /// The elements k to k + 3 of the rows `upper` and `lower`, k a multiple of four, as a fragment; those past K are 0.
  /// What is streamed lies from byte `stage` on, and begins with the element `from`.
  __device__ __forceinline__ static typename Math::Left left(const Layer &layer, int stage, int from, int upper,
                                                             int lower, int k) {
    if constexpr (lefts & halves)
      if (lefts == halves || layer.left == halves) {
        const Shared<unsigned short> rows = shared<unsigned short>(layer.at, Tile::rows * layer.stride);
        return Math::left(pairs(rows, layer, upper, k), pairs(rows, layer, lower, k));
      }
    if constexpr (lefts & inGlobal)
      if (lefts == inGlobal || layer.left == inGlobal)
        return Math::left(four(layer.rows, layer, upper * layer.stride, k, layer.stride % 4 == 0),
                          four(layer.rows, layer, lower * layer.stride, k, layer.stride % 4 == 0));
    bool inStage = !(lefts & floats) || (lefts & streamed && layer.left == streamed);
    int at = inStage ? stage : layer.at, stride = inStage ? rowPitch(Tile::stageK) : layer.stride,
        skipped = inStage ? from : 0;
    const Shared<float> rows = shared<float>(at, Tile::rows * stride);
    return Math::left(four(rows, layer, upper * stride - skipped, k, true),
                      four(rows, layer, lower * stride - skipped, k, true));
  }

private:
  template <class View>
  __device__ __forceinline__ static float4 four(const View &rows, const Layer &layer, int row, int k, bool aligned) {
    if ((unit >= 4 || aligned) && (unit == 16 || k + 4 <= layer.K))
      return rows.load4(row + k);
    float4 v = make_float4(0, 0, 0, 0);
    if constexpr (unit >= 4)
      return v;
    if (k < layer.K)
      v.x = rows[row + k];
    if (k + 1 < layer.K)
      v.y = rows[row + k + 1];
    if (k + 2 < layer.K)
      v.z = rows[row + k + 2];
    if (k + 3 < layer.K)
      v.w = rows[row + k + 3];
    return v;
  }
  __device__ __forceinline__ static uint2 pairs(const Shared<unsigned short> &rows, const Layer &layer, int row,
                                                int k) {
    int at = row * layer.stride + k;
    if (unit == 16 || k + 4 <= layer.K)
      return rows.template load<uint2>(at);
    uint2 v = make_uint2(0, 0);
    if constexpr (unit >= 4)
      return v;
    if (k < layer.K)
      v.x = rows[at];
    if (k + 1 < layer.K)
      v.x |= uint32_t(rows[at + 1]) << 16;
    if (k + 2 < layer.K)
      v.y = rows[at + 2];
    return v;
  }
};

} // namespace tutti
