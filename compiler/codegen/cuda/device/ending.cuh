// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows a pass on tensor cores: its sums, which lie in registers as fragments, by rows and runs of neighbouring columns.
#pragma once

#include "tutti/layer.cuh"
#include "tutti/store.cuh"

#if TUTTI_CAPABILITY >= 80

namespace tutti {

/// What columns(column) reads of a lane's two runs of a panel, or what will read it.
template <class L, class Columns, class Read> struct ReadAhead {
  Columns columns;
  Read runs[2];
  __device__ __forceinline__ Read of(const Runs<L> &, int run) const { return run == 0 ? runs[0] : runs[1]; }
};
template <class L, class Columns> struct ReadLater {
  Columns columns;
  __device__ __forceinline__ auto of(const Runs<L> &mine, int) const {
    return readColumns<Runs<L>::most>(columns, mine.column, mine.count);
  }
};

/// What storeSums() needs of columns(column) in a pass: read before the products, if registers have room for it.
template <class L, class Columns>
__device__ __forceinline__ auto readAhead(const Layer &layer, int pass, Columns columns) {
  using Tile = typename L::Tile;
  if constexpr (Tile::slices == 1 && Tile::warpPanels == 1 && Tile::rowTiles <= 2 && sizeof(columns(0)) <= 8) {
    int panel = Tile::firstPanel(pass) + Tile::column(), last = panelsOf(layer.tiles) - 1;
    const Runs<L> first(layer, panel < last ? panel : last, 0), second(layer, panel < last ? panel : last, 1);
    const auto read = [&](const Runs<L> &run) { return readColumns<Runs<L>::most>(columns, run.column, run.count); };
    return ReadAhead<L, Columns, decltype(read(first))>{columns, {read(first), read(second)}};
  } else {
    return ReadLater<L, Columns>{columns};
  }
}

/// store(row, column, sums, what columns(column) reads) for the sums of a pass, for rows past the last, too: their sums
/// are those of the last once more. One piece of code is for all layers and panels.
template <class L, class Ahead, class Store>
__device__ __forceinline__ void storeSums(const typename L::Sums &sums, const Layer &layer, int pass,
                                          const Ahead &ahead, Store store) {
  using Tile = typename L::Tile;
  int lane = threadIdx.x % 32, t = lane % 4, first = Tile::firstRow() + lane / 4,
      panel = Tile::firstPanel(pass) + Tile::column(), all = panelsOf(layer.tiles);
  if constexpr (Tile::slices > 1) {
    if (panel >= all)
      return;
    int tiles = Runs<L>::oneWidth ? L::widths : tilesOf(layer.tiles, panel),
        column = firstTileOf(layer.tiles, panel) * 8;
#pragma unroll
    for (int i = 0; i < L::pieces; ++i) {
      int piece = Tile::slice() * L::pieces + i;
      if (piece % 4 >= tiles)
        continue;
#pragma unroll
      for (int run = 0; run < 2; ++run) {
        int mine = column + (t * 2 + run) * tiles + piece % 4;
        if (mine >= layer.N)
          continue;
        const auto shared = readColumns<1>(ahead.columns, mine, 1);
#pragma unroll
        for (int half = 0; half < 2; ++half)
          store(first + (piece / 4 * 2 + half) * 8, mine, alone(sums.of[0][i][0][half * 2 + run]), shared);
      }
    }
  } else {
    constexpr int panels = Tile::warpPanels, halves = Tile::rowTiles * 2, n = Runs<L>::most;
    float queue[panels * 2 * halves][4]; // runs one after the other, of each the rows
#pragma unroll
    for (int i = 0; i < panels * 2 * halves; ++i)
#pragma unroll
      for (int j = 0; j < n; ++j)
        queue[i][j] = sums.of[i / halves / 2][i % halves / 2][j][i % 2 * 2 + i / halves % 2];
    constexpr int atOnce = halves < 4 ? halves : 4, parts = halves / atOnce; // more is code that hides no wait
    // Some rows of a run, which come first in the queue. Whole runs have no branch between them; of others each column
    // is made by itself, and none beyond the last.
    const auto storeRows = [&](const Runs<L> &run, const auto &shared, int row) {
      if (run.count >= n) {
#pragma unroll
        for (int half = 0; half < atOnce; ++half) {
          Neighbours<n> mine;
          mine.count = n;
#pragma unroll
          for (int j = 0; j < n; ++j)
            mine.sum[j] = queue[half][j];
          store(row + half * 8, run.column, mine, shared);
        }
      } else {
#pragma unroll 1
        for (int j = 0; j < run.count; ++j) {
          const auto own = readColumns<1>(ahead.columns, run.column + j, 1);
#pragma unroll
          for (int half = 0; half < atOnce; ++half) {
            float sum = queue[half][0];
#pragma unroll
            for (int e = 1; e < n; ++e)
              sum = j == e ? queue[half][e] : sum;
            store(row + half * 8, run.column + j, alone(sum), own);
          }
        }
      }
    };
#pragma unroll 1
    for (int i = 0; i < panels && panel < all; ++i, panel += Tile::warpColumns) {
      forParts<2, halves>(queue, 0, [&](int run) {
        const Runs<L> mine(layer, panel, run);
        const auto shared = ahead.of(mine, run);
        forParts<parts, atOnce>(queue, 0, [&](int part) { storeRows(mine, shared, first + part * atOnce * 8); });
      });
#pragma unroll
      for (int j = 0; j < (panels - 1) * 2 * halves; ++j)
#pragma unroll
        for (int e = 0; e < n; ++e)
          queue[j][e] = queue[j + 2 * halves][e];
    }
  }
}

} // namespace tutti

#endif
