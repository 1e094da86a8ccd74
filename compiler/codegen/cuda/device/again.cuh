// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recomputes the sums of a pass that are not finite, by the slower split that handles every float (product.cuh).
#pragma once

#include "tutti/product.cuh"
#include "tutti/ring.cuh"
#include "tutti/sums.cuh"

#if TUTTI_CAPABILITY >= 80

namespace tutti {

/// Whether all of a lane's sums of a pass are finite: then 0 times each of them is 0. The chains are four, since only
/// their own latency counts: nothing here waits for memory.
template <class L> __device__ __forceinline__ bool areFinite(const typename L::Sums &sums) {
  float zero[4] = {};
#pragma unroll
  for (int panel = 0; panel < L::Tile::warpPanels; ++panel)
#pragma unroll
    for (int i = 0; i < L::pieces; ++i)
#pragma unroll
      for (int j = 0; j < L::own; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          zero[e] = __fmaf_rn(sums.of[panel][i][j][e], 0.0f, zero[e]);
  return (zero[0] + zero[1]) + (zero[2] + zero[3]) == 0;
}

/// The index of tile `i`, of up to `most` a panel, among a warp's tiles of a pass; 0 if the warp has no such tile.
template <class L> __device__ __forceinline__ int placeOf(const typename L::Share &share, int i) {
  if constexpr (L::Tile::wide) {
    int panel = i / L::most, tile = i % L::most, all = share.tiles[0];
    return panel < panelsOf(all) && tile < tilesOf(all, panel) ? firstTileOf(all, panel) + tile : 0;
  } else {
    return i < share.tiles[0] ? i : 0;
  }
}

/// Recomputes a warp's sums of a pass over all k, from the weights and rows in memory, as the ring has moved on. With
/// slices, a warp's threads own four rows; the warp recomputes the 16 rows that contain them. Finite sums keep their
/// bits. It goes tile by tile, since few registers are free beside what the kernel holds.
template <class L>
__device__ __forceinline__ void multiplyAgain(const Layer &layer, int pass, const typename L::Share &share,
                                              typename L::Sums &sums) {
  using Tile = typename L::Tile;
  using Math = typename L::Math::All;
  using All = typename L::template By<Math>;
  constexpr int rowTiles = Tile::slices == 1 ? Tile::rowTiles : 1, most = L::most,
                columns = Tile::warpPanels * most; // in tiles
  const Stages<Math, Tile> stages(layer, pass);
  float made[rowTiles * columns][4] = {}; // 16 rows by eight columns each; the newest is shifted in at the end
#pragma unroll 1
  for (int tile = 0; tile < rowTiles * columns; ++tile) {
    int m = Tile::slices == 1 ? tile / columns : Tile::slice() / 4, j = placeOf<L>(share, tile % columns);
    typename All::Share own;
#pragma unroll
    for (int i = 0; i < Tile::rowTiles; ++i)
      if (m == i)
        own.upper[0] = L::inMemory(layer, share.upper[i]), own.lower[0] = L::inMemory(layer, share.lower[i]);
    int at = share.words[0] + j * Math::words * 32 + int(threadIdx.x) % 32;
    float total[4], pair[4];
    fill(total, -0.0f);
    fill(pair, -0.0f);
#pragma unroll 1
    for (int from = 0; from < layer.K; from += 16) {
      const auto group = stages.group(from, 0);
      const uint32_t words[4] = {group[at], group[at + 32], group[at + 64], group[at + 96]};
      typename Math::Right right = Math::right(words);
      typename Math::Left left = All::elements(layer, from - Tile::slice() * 32, own, 0).left();
      float sum[4] = {};
#pragma unroll
      for (int step = 0; step < Math::steps; ++step)
        Math::multiply(step, sum, left, right);
      addTo(pair, sum);
      if (from % 32 > 0 || from + 16 >= layer.K) { // the last of the pair
        addTo(total, pair);
        fill(pair, -0.0f);
      }
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int i = 1; i < rowTiles * columns; ++i)
        made[i - 1][e] = made[i][e];
      made[rowTiles * columns - 1][e] = total[e];
    }
  }
  if constexpr (Tile::slices == 1) {
#pragma unroll
    for (int tile = 0; tile < rowTiles * columns; ++tile)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        sums.of[tile % columns / most][tile / columns][tile % most][e] = made[tile][e];
  } else { // hand each sum to the thread that owns its row and columns
    const OwnSums<L> mine;
    const int from = mine.row % 8 * 4 + mine.place / 2, half = mine.row / 8 % 2; // uniform in a warp
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      const float left = __shfl_sync(0xffffffff, half ? made[j][2] : made[j][0], from),
                  right = __shfl_sync(0xffffffff, half ? made[j][3] : made[j][1], from);
      sums.of[0][0][0][j] = mine.place % 2 ? right : left;
    }
  }
}

} // namespace tutti

#endif
