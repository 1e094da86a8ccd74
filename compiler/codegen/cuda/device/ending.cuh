// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows a pass on tensor cores: its sums, fragments in registers, are handed on by rows and by runs of
// neighbouring columns.
#pragma once

#include "tutti/layer.cuh"
#include "tutti/store.cuh"

#if TUTTI_CAPABILITY >= 80

namespace tutti {

/// A source of columns(column) that reads it from where it lies.
template <class L, class Columns> struct InPlace {
  Columns columns;
  /// Reads a lane's run of a panel, or of the last panel if there is no such. For an incomplete run it reads other
  /// columns.
  __device__ __forceinline__ auto run(const Layer &layer, int panel, int number) const {
    constexpr int n = Runs<L>::most;
    int last = panelsOf(layer.tiles) - 1;
    const Runs<L> run(layer, panel < last ? panel : last, number);
    return from<n>(layer, run.column);
  }
  /// Reads n neighbours from `column` on, or the layer's last n if these end before.
  template <int n> __device__ __forceinline__ auto from(const Layer &layer, int column) const {
    int end = layer.N - n;
    if constexpr (n > 1 && L::widths & 1) // a layer may have fewer than n columns
      if (end < 0)
        return readColumns<n>(columns, 0, layer.N);
    return readColumns<n>(columns, column < end ? column : end, n);
  }
  __device__ __forceinline__ void leave() const {}
};

/// The same for one float a column that a ring brings.
template <class L, class Ring, class One> struct Brought {
  Ring &ring;
  int first; ///< the block's first in this pass

  template <int n> __device__ __forceinline__ auto from(const Layer &, int column) const {
    struct {
      One of[n];
      __device__ __forceinline__ const One &operator[](int i) const { return of[i]; }
    } all;
    constexpr int last = L::Tile::passColumns - n;
    int mine = column - first, at = mine < last ? mine : last;
    const Shared<float> columns = shared<float>(ring.columnsAt(), L::Tile::passColumns);
    if constexpr (n % 4 == 0) {
#pragma unroll
      for (int i = 0; i < n; i += 4) {
        const float4 x = columns.load4(at + i);
        all.of[i] = {x.x}, all.of[i + 1] = {x.y}, all.of[i + 2] = {x.z}, all.of[i + 3] = {x.w};
      }
    } else {
#pragma unroll
      for (int i = 0; i < n; ++i)
        all.of[i] = {columns[at + i]};
    }
    return all;
  }
  __device__ __forceinline__ void leave() const { ring.leaveColumns(); }
};

/// What a lane has read ahead: its two runs of a panel (ReadRuns), its only run with slices or its eight neighbours of
/// a warpgroup's whole panel (ReadAhead). ReadLater and ReadBrought read on demand.
template <class L, class Source, class Read> struct ReadRuns {
  static constexpr bool isThere = true;
  Source source;
  Read runs[2];
  __device__ __forceinline__ Read of(int number, int, int) const { return number == 0 ? runs[0] : runs[1]; }
};
template <class L, class Source, class Read> struct ReadAhead {
  static constexpr bool isThere = true;
  Source source;
  Read run;
  __device__ __forceinline__ Read of(int, int, int) const { return run; }
  __device__ __forceinline__ Read whole(int) const { return run; }
};
template <class L, class Source> struct ReadLater {
  static constexpr bool isThere = false;
  Source source;
  __device__ __forceinline__ auto of(int, int column, int count) const {
    constexpr int n = Runs<L>::most;
    return readColumns<n>(source.columns, column, L::Tile::slices > 1 ? count : n);
  }
  __device__ __forceinline__ auto whole(int column) const { return readColumns<8>(source.columns, column, 8); }
};
/// What a ring brings is in shared memory, so it is read where it is needed.
template <class L, class Source> struct ReadBrought {
  static constexpr bool isThere = false;
  Source source;
  const Layer &layer;
  __device__ __forceinline__ auto whole(int column) const { return source.template from<8>(layer, column); }
};

template <class L, class Source>
__device__ __forceinline__ auto readRuns(const Layer &layer, int panel, const Source &source) {
  return ReadRuns<L, Source, decltype(source.run(layer, panel, 0))>{
      source, {source.run(layer, panel, 0), source.run(layer, panel, 1)}};
}
template <class L, class Source>
__device__ __forceinline__ auto readWhole(const Layer &layer, int panel, const Source &source) {
  auto read = source.template from<8>(layer, panel * 32 + int(threadIdx.x) % 4 * 8);
  return ReadAhead<L, Source, decltype(read)>{source, read};
}

/// Prepares, before the products, what storeSums() needs of columns(column) in a pass. It is read if registers have
/// room for it, for the first of a warpgroup's panels; touch(column) prefetches the rest, one of each eight columns.
template <class L, class Columns, class Touch>
__device__ __forceinline__ auto readAhead(const Layer &layer, int pass, Columns columns, [[maybe_unused]] Touch touch) {
  using Tile = typename L::Tile;
  using Source = InPlace<L, Columns>;
  constexpr bool few = sizeof(columns(0)) <= 8;
  int panel = Tile::ownPanel(pass), last = panelsOf(layer.tiles) - 1, lane = threadIdx.x % 32;
  if constexpr (Tile::warpPanels > 1 || !few) {
    int mine = panel + (lane / 4 < Tile::warpPanels ? lane / 4 : 0) * Tile::panelStep,
        column = firstTileOf(layer.tiles, mine < last ? mine : last) * 8 + lane % 4 * 8;
    touch(column < layer.N ? column : layer.N - 1);
  }
  if constexpr (few && Tile::slices > 1) {
    const Runs<L> only = OwnSums<L>().run(layer, panel < last ? panel : last);
    auto read = readColumns<Runs<L>::most>(columns, only.column, only.count);
    return ReadAhead<L, Source, decltype(read)>{{columns}, read};
  } else if constexpr (few && Tile::wide) {
    return readWhole<L>(layer, panel, Source{columns});
  } else if constexpr (few && Tile::slices == 1 && Tile::warpPanels == 1 && Tile::rowTiles <= 2) {
    return readRuns<L>(layer, panel, Source{columns});
  } else {
    return ReadLater<L, Source>{{columns}};
  }
}
/// The same for what the ring brings with a pass, as One, which has one float.
template <class L, class One, class Ring>
__device__ __forceinline__ auto broughtBy(Ring &ring, const Layer &layer, int pass) {
  return ReadBrought<L, Brought<L, Ring, One>>{{ring, firstTileOf(layer.tiles, L::Tile::firstPanel(pass)) * 8}, layer};
}

/// Stores the sums of a run's neighbours in `halves` rows that are eight apart.
template <int n, int halves, int most, class Shared, class Store>
__device__ __forceinline__ void storeWhole(const float (&sums)[halves][most], int row, int column, const Shared &shared,
                                           Store store) {
#pragma unroll
  for (int half = 0; half < halves; ++half) {
    Neighbours<n> mine;
    mine.count = n;
#pragma unroll
    for (int j = 0; j < n; ++j)
      mine.sum[j] = sums[half][j];
    store(row + half * 8, column, mine, shared);
  }
}
/// The same for an incomplete run: each column is computed by itself, and none beyond the last.
template <int halves, class L, class Source, class Store>
__device__ __forceinline__ void storeSome(const float (&sums)[halves][4], const Layer &layer, int row,
                                          const Runs<L> &run, const Source &source, Store store) {
#pragma unroll 1
  for (int j = 0; j < run.count; ++j) {
    const auto own = source.template from<1>(layer, run.column + j);
#pragma unroll
    for (int half = 0; half < halves; ++half) {
      float sum = sums[half][0];
#pragma unroll
      for (int e = 1; e < Runs<L>::most; ++e)
        sum = j == e ? sums[half][e] : sum;
      store(row + half * 8, run.column + j, alone(sum), own);
    }
  }
}

/// storeSums() for slices.
template <class L, class Ahead, class Store>
__device__ __forceinline__ void storeSlices(const typename L::Sums &sums, const Layer &layer, int panel,
                                            const Ahead &ahead, Store store) {
  const OwnSums<L> own;
  const Runs<L> run = own.run(layer, panel);
  if (panel >= panelsOf(layer.tiles) || run.count <= 0)
    return;
  Neighbours<Runs<L>::most> mine;
  mine.count = run.count;
#pragma unroll
  for (int j = 0; j < Runs<L>::most; ++j)
    mine.sum[j] = sums.of[0][0][0][j];
  store(own.row, run.column, mine, ahead.of(0, run.column, run.count));
}

/// storeSums() for warps that multiply by themselves.
template <class L, class Ahead, class Store>
__device__ __forceinline__ void storeFragments(const typename L::Sums &sums, const Layer &layer, int panel, int row,
                                               const Ahead &ahead, Store store) {
  // Sums are shifted to the front of a queue, so that the code that consumes them exists once.
  using Tile = typename L::Tile;
  constexpr int panels = Tile::warpPanels, halves = Tile::rowTiles * 2, n = Runs<L>::most;
  constexpr int atOnce = halves < 4 ? halves : 4,
                parts = halves / atOnce; // rows at a time: more would add code, but hide no wait
  float queue[panels][2 * halves][4];    // by panel, then run, then row
#pragma unroll
  for (int i = 0; i < panels * 2 * halves; ++i)
#pragma unroll
    for (int j = 0; j < n; ++j)
      queue[i / halves / 2][i % (2 * halves)][j] =
          sums.of[i / halves / 2][i % halves / 2][j][i % 2 * 2 + i / halves % 2];
  auto next = ahead;
#pragma unroll 1
  for (int i = 0; i < panels && panel < panelsOf(layer.tiles); ++i, panel += Tile::panelStep) {
    const auto mine = next;
    if constexpr (Ahead::isThere && panels > 1) {
      const auto read = readRuns<L>(layer, panel + Tile::panelStep, ahead.source);
      next.runs[0] = read.runs[0], next.runs[1] = read.runs[1];
    }
    // The rows of a whole run at the front of the queue have no branch between them.
    forParts<2, halves>(queue[0], 0, [&](int number) {
      const Runs<L> run(layer, panel, number);
      const auto &front = reinterpret_cast<const float (&)[atOnce][4]>(queue[0]);
      if (run.count >= n) {
        const auto shared = mine.of(number, run.column, run.count);
        forParts<parts, atOnce>(
            queue[0], 0, [&](int part) { storeWhole<n>(front, row + part * atOnce * 8, run.column, shared, store); });
      } else {
        forParts<parts, atOnce>(queue[0], 0, [&](int part) {
          storeSome<atOnce>(front, layer, row + part * atOnce * 8, run, ahead.source, store);
        });
      }
    });
#pragma unroll
    for (int j = 0; j + 1 < panels; ++j)
#pragma unroll
      for (int e = 0; e < 2 * halves; ++e)
#pragma unroll
        for (int k = 0; k < n; ++k)
          queue[j][e][k] = queue[j + 1][e][k];
  }
}

/// storeSums() for a warpgroup's panels. They have 32 columns, except for a layer's last ones, which occur at the
/// places of a pass that have a bit in `rests`. `together` panels follow each other without a loop.
template <class L, int together, unsigned rests, class Ahead, class Store>
__device__ __forceinline__ void storePanels(const typename L::Sums &sums, const Layer &layer, int panel, int row,
                                            const Ahead &ahead, Store store) {
  constexpr int most = L::Tile::warpPanels, n = Runs<L>::most, atOnce = together < most ? together : most;
  float queue[most][2][2][4]; // by panel, run and row
#pragma unroll
  for (int i = 0; i < most * 4; ++i)
#pragma unroll
    for (int j = 0; j < n; ++j)
      queue[i / 4][i / 2 % 2][i % 2][j] = sums.of[i / 4][0][j][i % 2 * 2 + i / 2 % 2];
  int own = panelsOf(layer.tiles) - panel, whole = layer.N / 32 - panel, column = panel * 32 + int(threadIdx.x) % 4 * 8;
  own = own < most ? own : most;
  auto next = ahead;
#pragma unroll 1
  for (int from = 0; from < own; from += atOnce) {
#pragma unroll
    for (int i = 0; i < atOnce; ++i, column += 32) {
      if (n == 4 && from + i < whole) {
        const auto mine = next.whole(column);
        if constexpr (Ahead::isThere && most > 1)
          next.run = ahead.source.template from<8>(layer, column + 32);
        float both[2][8]; // the runs are adjacent
#pragma unroll
        for (int e = 0; e < 16; ++e)
          both[e / 8][e % 8] = queue[i][e / 4 % 2][e / 8][e % 4];
        storeWhole<8>(both, row, column, mine, store);
        continue;
      }
      constexpr unsigned folded = rests | rests >> atOnce; // of all rounds
      if (folded >> i & 1 && from + i < own) {
#pragma unroll 1
        for (int number = 0; number < 2; ++number) {
          const Runs<L> run(layer, panel + from + i, number);
          if (run.count >= n)
            storeWhole<n>(queue[i][0], row, run.column, ahead.source.template from<n>(layer, run.column), store);
          else
            storeSome<2>(queue[i][0], layer, row, run, ahead.source, store);
#pragma unroll
          for (int e = 0; e < 2 * n; ++e)
            queue[i][0][e / n][e % n] = queue[i][1][e / n][e % n];
        }
      }
    }
#pragma unroll
    for (int i = 0; i + atOnce < most; ++i)
#pragma unroll
      for (int e = 0; e < 4 * n; ++e)
        queue[i][e / n / 2][e / n % 2][e % n] = queue[i + atOnce][e / n / 2][e / n % 2][e % n];
    if constexpr (atOnce == most)
      break;
  }
}

/// Calls store(row, column, sums, what columns(column) reads) for the sums of a pass, including rows past the last,
/// whose sums repeat the last row's. One piece of code serves all layers and panels; for warpgroups see storePanels().
template <class L, int together = 1, unsigned rests = 0, class Ahead, class Store>
__device__ __forceinline__ void storeSums(const typename L::Sums &sums, const Layer &layer, int pass,
                                          const Ahead &ahead, Store store) {
  using Tile = typename L::Tile;
  int row = Tile::firstRow() + int(threadIdx.x) % 32 / 4, panel = Tile::ownPanel(pass);
  if constexpr (Tile::slices > 1)
    storeSlices<L>(sums, layer, panel, ahead, store);
  else if constexpr (Tile::wide)
    storePanels<L, together, rests>(sums, layer, panel, row, ahead, store);
  else
    storeFragments<L>(sums, layer, panel, row, ahead, store);
  ahead.source.leave();
}

} // namespace tutti

#endif
