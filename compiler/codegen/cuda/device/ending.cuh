// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows a pass on tensor cores: its sums, which lie in registers as fragments, by rows and runs of neighbouring columns.
#pragma once

#include "tutti/layer.cuh"
#include "tutti/store.cuh"

#if TUTTI_CAPABILITY >= 80

namespace tutti {

/// What columns(column) reads of a lane's two runs of a panel, or what will read it. Where the run is not whole it is of
/// other columns, but for slices: each of its own is read by itself.
template <class L, class Columns, class Read> struct ReadAhead {
  static constexpr bool isThere = true;
  Columns columns;
  Read runs[2];
  __device__ __forceinline__ Read of(const Runs<L> &, int run) const { return run == 0 ? runs[0] : runs[1]; }
};
/// The same of the one run that a lane has of slices.
template <class L, class Columns, class Read> struct ReadRunAhead {
  static constexpr bool isThere = true;
  Columns columns;
  Read run;
  __device__ __forceinline__ Read of(const Runs<L> &, int) const { return run; }
};
template <class L, class Columns> struct ReadLater {
  static constexpr bool isThere = false;
  Columns columns;
  __device__ __forceinline__ auto of(const Runs<L> &mine, int) const {
    constexpr int n = Runs<L>::most;
    return readColumns<n>(columns, mine.column, L::Tile::slices > 1 ? mine.count : n);
  }
};

/// Of a panel, or of the last where there is no such.
template <class L, class Columns>
__device__ __forceinline__ auto readPanel(const Layer &layer, int panel, Columns columns) {
  constexpr int n = Runs<L>::most;
  int last = panelsOf(layer.tiles) - 1;
  const auto read = [&](int number) {
    const Runs<L> run(layer, panel < last ? panel : last, number);
    int end = layer.N - n, column = run.column < end ? run.column : end;
    if constexpr (L::widths & 1) // a layer may have fewer columns than that
      if (end < 0)
        return readColumns<n>(columns, 0, layer.N);
    return readColumns<n>(columns, column, n);
  };
  return ReadAhead<L, Columns, decltype(read(0))>{columns, {read(0), read(1)}};
}

/// What storeSums() needs of columns(column) in a pass: read before the products, of a warpgroup's panels the first, if
/// registers have room for it; else touch(column) asks for it, for one of each eight columns.
template <class L, class Columns, class Touch>
__device__ __forceinline__ auto readAhead(const Layer &layer, int pass, Columns columns, [[maybe_unused]] Touch touch) {
  using Tile = typename L::Tile;
  constexpr bool few = sizeof(columns(0)) <= 8;
  int panel = Tile::ownPanel(pass), last = panelsOf(layer.tiles) - 1, lane = threadIdx.x % 32;
  if constexpr (Tile::warpPanels > 1 || !few) {
    int mine = panel + (lane / 4 < Tile::warpPanels ? lane / 4 : 0) * Tile::panelStep,
        column = firstTileOf(layer.tiles, mine < last ? mine : last) * 8 + lane % 4 * 8;
    touch(column < layer.N ? column : layer.N - 1);
  }
  if constexpr (few && Tile::slices > 1 && L::pieces == 1) {
    const Runs<L> only(layer, panel < last ? panel : last, Tile::slice() % 2);
    const auto read = readColumns<Runs<L>::most>(columns, only.column, only.count);
    return ReadRunAhead<L, Columns, decltype(read)>{columns, read};
  } else if constexpr (few && Tile::slices == 1 && (Tile::wide || (Tile::warpPanels == 1 && Tile::rowTiles <= 2))) {
    return readPanel<L>(layer, panel, columns);
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
  int lane = threadIdx.x % 32, row = Tile::firstRow() + lane / 4, panel = Tile::ownPanel(pass),
      all = panelsOf(layer.tiles);
  if constexpr (Tile::slices > 1) {
    if (panel >= all)
      return;
#pragma unroll
    for (int i = 0; i < L::pieces; ++i) {
      int piece = Tile::slice() * L::pieces + i; // rows g or g + 8, and one of two runs
      const Runs<L> run(layer, panel, piece % 2);
      if (run.count <= 0)
        continue;
      Neighbours<Runs<L>::most> mine;
      mine.count = run.count;
#pragma unroll
      for (int j = 0; j < Runs<L>::most; ++j)
        mine.sum[j] = sums.of[0][i][0][j];
      store(row + piece / 2 * 8, run.column, mine, ahead.of(run, piece % 2));
    }
  } else {
    // Sums move to the front of a queue, so that what is made of them stands in one place; of many panels in some.
    constexpr int panels = Tile::warpPanels, halves = Tile::rowTiles * 2, n = Runs<L>::most,
                  together = panels < 4 ? 1 : 4;
    float queue[panels][2 * halves][4]; // of each panel runs one after the other, of each the rows
#pragma unroll
    for (int i = 0; i < panels * 2 * halves; ++i)
#pragma unroll
      for (int j = 0; j < n; ++j)
        queue[i / halves / 2][i % (2 * halves)][j] = sums.of[i / halves / 2][i % halves / 2][j][i % 2 * 2 + i / halves % 2];
    constexpr int atOnce = halves < 4 ? halves : 4, parts = halves / atOnce; // rows at a time: more is code that hides no wait
    // Of a whole run, rows that come first in the queue have no branch between them; of others each column is made by
    // itself, and none beyond the last.
    const auto storeWhole = [&](const auto &queue, const Runs<L> &run, const auto &shared, int row) {
#pragma unroll
      for (int half = 0; half < atOnce; ++half) {
        Neighbours<n> mine;
        mine.count = n;
#pragma unroll
        for (int j = 0; j < n; ++j)
          mine.sum[j] = queue[half][j];
        store(row + half * 8, run.column, mine, shared);
      }
    };
    const auto storeSome = [&](const auto &queue, const Runs<L> &run, int row) {
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
    };
    const auto storePanel = [&](auto &queue, int panel, const auto &ahead) {
      const Runs<L> second(layer, panel, 1);
      if (together > 1 && second.count >= n) { // both runs are whole: they wait side by side
        const Runs<L> first(layer, panel, 0);
        const auto ofFirst = ahead.of(first, 0);
        const auto ofSecond = ahead.of(second, 1);
        storeWhole(queue, first, ofFirst, row);
        storeWhole(reinterpret_cast<const float(&)[halves][4]>(queue[halves]), second, ofSecond, row);
        return;
      }
      forParts<2, halves>(queue, 0, [&](int number) {
        const Runs<L> run(layer, panel, number);
        if (run.count >= n) {
          const auto shared = ahead.of(run, number);
          forParts<parts, atOnce>(queue, 0, [&](int part) { storeWhole(queue, run, shared, row + part * atOnce * 8); });
        } else {
          forParts<parts, atOnce>(queue, 0, [&](int part) { storeSome(queue, run, row + part * atOnce * 8); });
        }
      });
    };
    auto next = ahead;
#pragma unroll 1
    for (int i = 0; i < panels && panel < all; i += together) {
#pragma unroll
      for (int j = 0; j < together; ++j, panel += Tile::panelStep)
        if (together == 1 || panel < all) {
          const auto mine = next;
          if constexpr (Ahead::isThere && panels > 1) {
            const auto read = readPanel<L>(layer, panel + Tile::panelStep, ahead.columns);
            next.runs[0] = read.runs[0], next.runs[1] = read.runs[1];
          }
          storePanel(queue[j], panel, mine);
        }
#pragma unroll
      for (int j = 0; j + together < panels; ++j)
#pragma unroll
        for (int e = 0; e < 2 * halves; ++e)
#pragma unroll
          for (int k = 0; k < n; ++k)
            queue[j][e][k] = queue[j + together][e][k];
    }
  }
}

} // namespace tutti

#endif
