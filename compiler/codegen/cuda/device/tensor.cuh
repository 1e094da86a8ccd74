// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family on tensor cores: a tile of rows times a weight that lies in fragments (runtime/schema/Layout.h).
// Weights come through a ring of stages of 32 k or 64, and rows of an input with them. With slices, warps read what
// they need themselves (slices.cuh). Sums stay in registers.
//
// shape.cuh says how the block's warps share a tile. docs/numerics.md fixes the order of every sum; the tile does not
// affect it.
#pragma once

#include "tutti/again.cuh"
#include "tutti/barrier.cuh"
#include "tutti/ending.cuh"
#include "tutti/plain.cuh"
#include "tutti/rows.cuh"
#include "tutti/slices.cuh"
#include "tutti/wide.cuh"

namespace tutti {

#if TUTTI_CAPABILITY >= 80

/// Loads a lane's words of 16 k of each tile of a panel of `tiles`, from `at` on. One load takes four core matrices:
/// those of one tile of floats, or of two tiles of 16 bits. A tile that the panel lacks gets the words of another:
/// throwing its products away costs less than a branch for each tile.
template <class Tile, int widths, int words, int most>
__device__ __forceinline__ void loadWords(uint32_t (&word)[most][words], const Shared<uint32_t> &from, int at,
                                          int tiles) {
  constexpr int atOnce = 4 / words;
  int lane = int(threadIdx.x) % 32;
  if (words == 2 && widths % 2 && tiles == 1)
    lane %= 16; // a single tile, twice
#pragma unroll
  for (int j = 0; j < most; j += atOnce) {
    int mine = widths == most || j < tiles ? j : 0;
    uint32_t four[4];
    if constexpr (words == 4 && Tile::wordsApart)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        four[i] = from[at + mine * 128 + i * 32 + lane];
    else
      ldmatrix4(four, &from[at + mine * words * 32 + lane * 4]);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (j + i / words < most)
        word[j + i / words][i % words] = four[i];
  }
}

/// Synchronizes the warps that have the same rows of a tile.
template <class Tile> __device__ __forceinline__ void rowsSync(TUTTI_WHERE) {
  if constexpr (Tile::threads == 32 * Tile::warpRows) {
    __syncwarp(0xffffffff TUTTI_AND_THERE);
  } else {
    static_assert(Tile::warpRows <= NamedBarriers::mostRows, "each row of warps has a barrier");
    barrierSync(NamedBarriers::rows + Tile::warpRow(), Tile::threads / Tile::warpRows TUTTI_AND_THERE);
  }
}

/// zeroBeyond() for the rows of this row of warps, one thread a row.
template <class Tile, class T> __device__ __forceinline__ void zeroBeyondOwn(const Shared<T> &rows, int N, int stride) {
  int row = Tile::firstRow() + Tile::threadOfRows(), end = (N + 15) & ~15;
  if (row < Tile::firstRow() + Tile::rowTiles * 16)
    for (int column = N; column < end; ++column)
      rows[row * stride + column] = T{};
}

/// This warp's share of a pass. Rows past the last repeat the last. The warps of a warpgroup differ: they wait only for
/// those of their rows and multiply together whether they have any, so they read their own rows where all are there
/// (Layer::whole).
template <class L> __device__ __forceinline__ typename L::Share shareOf(const Layer &layer, int pass, int rows) {
  using Tile = typename L::Tile;
  constexpr int groupWords = L::Math::words * 32;
  typename L::Share share;
  int first = Tile::wide ? Tile::firstRow() / 64 * 64 : Tile::firstRow(); // of the warps that multiply together
  if constexpr (Tile::wide) {
    int before = firstTileOf(layer.tiles, Tile::firstPanel(pass)), all = panelsOf(layer.tiles),
        panel = Tile::ownPanel(pass), end = panel + Tile::warpPanels, begin = firstTileOf(layer.tiles, panel);
    share.tiles[0] =
        panel < all && first < rows ? (end < all ? firstTileOf(layer.tiles, end) : layer.tiles) - begin : 0;
    share.words[0] = (begin - before) * groupWords;
  } else {
#pragma unroll
    for (int i = 0; i < Tile::warpPanels; ++i) {
      const PanelPart<typename L::Math, Tile> part(layer.tiles, pass, i);
      share.tiles[i] = first < rows ? part.tiles : 0;
      share.words[i] = part.words;
    }
  }
  share.groupWords = passTiles<Tile>(layer.tiles, pass) * groupWords;
  int stride = L::strideOf(layer), lane = threadIdx.x % 32, begin = Tile::slice() * 32 + L::Math::firstK(lane % 4),
      last = Tile::wide && layer.whole ? Tile::rows - 1 : rows - 1;
#pragma unroll
  for (int m = 0; m < Tile::rowTiles; ++m) {
    int first = Tile::firstRow() + m * 16, upper = first + lane / 4, lower = upper + 8, asked = first + lane % 16;
    share.upper[m] = (upper < last ? upper : last) * stride + begin;
    share.lower[m] = (lower < last ? lower : last) * stride + begin;
    share.matrix[m] = (asked < last ? asked : last) * stride + lane / 16 * 8;
  }
  return share;
}

/// Sets the sums to zero before a pass' first stage; until then their registers are free for what follows the last
/// pass.
template <class L> __device__ __forceinline__ void clear(typename L::Sums &sums) {
#pragma unroll
  for (int i = 0; i < L::Tile::warpPanels; ++i)
    fill(sums.of[i], L::Math::chunked ? -0.0f : 0.0f); // -0 + s is s
}

/// sum += 16 k of a stage, whose weights begin at word `at`; leftOf(m) gives the fragments of 16 rows.
template <class L, class LeftOf>
__device__ __forceinline__ void
multiplyGroup(int stage, int at, const typename L::Share &share, LeftOf leftOf,
              float (&sums)[L::Tile::warpPanels][L::Tile::rowTiles][L::Tile::panelTiles][4]) {
  using Math = typename L::Math;
  using Tile = typename L::Tile;
  constexpr int rowTiles = Tile::rowTiles, most = L::most;
  const Shared<uint32_t> words = shared<uint32_t>(stage, Tile::template weightBytes<Math> / 4);
  typename Math::Left left[rowTiles];
#pragma unroll
  for (int m = 0; m < rowTiles; ++m)
    left[m] = leftOf(m);
#pragma unroll
  for (int i = 0; i < Tile::warpPanels; ++i) {
    int tiles = share.tiles[i];
    if (i > 0 && tiles == 0)
      continue;
    uint32_t word[most][Math::words];
    loadWords<Tile, L::ownWidths>(word, words, at + share.words[i], tiles);
    typename Math::Right right[most];
#pragma unroll
    for (int j = 0; j < most; ++j)
      right[j] = Math::right(word[j]);
    multiplyFragments<Math>(sums[i], left, right);
  }
}

/// pair += the sums of two chunks, the first with its weights at word `at`; `left` k remain from there on. No branch
/// lies between them: the second one's fragments are made while the first ones are multiplied. A missing second chunk
/// has rows of zeros, and the weights of the first.
template <class L, class First, class Second>
__device__ __forceinline__ void multiplyPair(int stage, int at, int left, const typename L::Share &share, First first,
                                             Second second, float (&pair)[L::Tile::rowTiles][L::Tile::panelTiles][4]) {
  float sum[2][1][L::Tile::rowTiles][L::Tile::panelTiles][4];
  fill(sum, 0.0f);
  multiplyGroup<L>(stage, at, share, first, sum[0]);
  addTo(pair, sum[0][0]);
  multiplyGroup<L>(stage, at + (L::unit % 32 == 0 || left > 16 ? share.groupWords : 0), share, second, sum[1]);
  addTo(pair, sum[1][0]);
}

/// sums += a stage's k, for rows that lie as `kind` says.
template <class L, Lefts kind>
__device__ __forceinline__ void multiplyStage(const Layer &layer, int from, int stage, const typename L::Share &share,
                                              typename L::Sums &sums) {
  using Tile = typename L::Tile;
  int rows = stage + Tile::template weightBytes<typename L::Math>, at = 0;
  if constexpr (L::Math::chunked) { // sums of two chunks first
#pragma unroll 1
    for (int in = 0; in < 32 * Tile::pairs; in += 32, at += 2 * share.groupWords) {
      if (Tile::pairs > 1 && from + in >= layer.K)
        break;
      float pair[Tile::rowTiles][Tile::panelTiles][4];
      fill(pair, -0.0f);
      multiplyPair<L>(
          stage, at, layer.K - from - in, share,
          [&](int m) { return L::template left<kind>(layer, rows, from, in, share, m); },
          [&](int m) { return L::template left<kind, true>(layer, rows, from, in + 16, share, m); }, pair);
      addTo(sums.of[0], pair);
    }
  } else { // one chain
    const auto group = [&](int in) {
      multiplyGroup<L>(
          stage, at, share, [&](int m) { return L::template left<kind>(layer, rows, from, in, share, m); }, sums.of);
      at += share.groupWords;
    };
    if (from + Tile::stageK <= layer.K) {
#pragma unroll
      for (int in = 0; in < Tile::stageK; in += 16)
        group(in);
    } else {
#pragma unroll 1
      for (int in = 0; from + in < layer.K; in += 16)
        group(in);
    }
  }
}

/// One of Lefts, as a type.
template <Lefts kind_> struct RowsKind {
  static constexpr Lefts kind = kind_;
};
/// Calls f with where this layer's rows lie.
template <class L, class F> __device__ __forceinline__ void byRows(const Layer &layer, F f) {
  if (L::has(layer, halves)) {
    if constexpr (L::lefts & halves)
      f(RowsKind<halves>());
  } else if (L::has(layer, inGlobal)) {
    if constexpr (L::lefts & inGlobal)
      f(RowsKind<inGlobal>());
  } else if constexpr (L::lefts & (ofInput | floats)) {
    f(RowsKind<floats>());
  }
}

/// multiply() for three products of floats and a warpgroup with fewer panels than it may have, or incomplete ones: each
/// warp multiplies by itself. (With products by warpgroups in two places of a kernel, NVRTC 13 often finds no registers
/// for both, and waits for each product.)
template <class L, Lefts kind, class Ring>
__device__ __forceinline__ void multiplyByPanel(const Layer &layer, Ring &ring, const typename L::Share &share,
                                                typename L::Sums &sums) {
  using Panel = typename L::ByPanel;
  constexpr int panels = L::Tile::warpPanels;
  typename Panel::Share own[panels];
  typename Panel::Sums parts[panels];
#pragma unroll
  for (int i = 0; i < panels; ++i) {
    int all = share.tiles[0], there = i < panelsOf(all);
    own[i] = {{there ? tilesOf(all, i) : 0},
              {share.words[0] + (there ? firstTileOf(all, i) * L::Math::words * 32 : 0)},
              share.groupWords,
              {share.upper[0]},
              {share.lower[0]},
              {share.matrix[0]}};
    clear<Panel>(parts[i]);
  }
#pragma unroll 1
  for (int from = 0; from < layer.K; from += L::Tile::stageK) {
    int stage = ring.take();
#pragma unroll
    for (int i = 0; i < panels; ++i)
      if (own[i].tiles[0] > 0)
        multiplyStage<Panel, kind>(layer, from, stage, own[i], parts[i]);
    ring.leave();
  }
#pragma unroll
  for (int i = 0; i < panels; ++i)
    addTo(sums.of[i], parts[i].of[0]); // to -0
}

/// sums += a layer's rows [rows, K] times this block's panels of its weight, as the ring brings them. A kernel calls it
/// in one place, since the ring's code is inlined there. All threads of the task come here.
template <class L, class Ring>
__device__ __forceinline__ void multiply(const Layer &layer, int pass, Ring &ring, const typename L::Share &share,
                                         typename L::Sums &sums) {
  if constexpr (L::Tile::slices > 1) {
    multiplySlices<L>(layer, pass, ring, share, sums);
  } else {
    int from = 0;
#if TUTTI_CAPABILITY == 90
    if constexpr (L::Tile::wide)
      if (share.tiles[0] > 0) {
        byRows<L>(layer, [&](auto rows) __attribute__((always_inline)) {
          if constexpr (L::Math::chunked) {
            if constexpr (L::Wide::hasRest)
              if (share.tiles[0] < L::Tile::warpPanels * 4)
                return multiplyByPanel<L, rows.kind>(layer, ring, share, sums);
          }
          multiplyWide<L, rows.kind>(decltype(L::Wide::widthsOf(rows))(), layer, ring, share, sums);
        });
        from = layer.K;
      }
#endif
#pragma unroll 1
    for (; from < layer.K; from += L::Tile::stageK) {
      int stage = ring.take();
      if constexpr (!L::Tile::wide)
        if (share.tiles[0] > 0) // else there is no other panel
          byRows<L>(layer, [&](auto rows) __attribute__((always_inline)) {
            multiplyStage<L, rows.kind>(layer, from, stage, share, sums);
          });
      ring.leave();
    }
  }
  if constexpr (L::Math::chunked)
    if (share.tiles[0] > 0 && __any_sync(0xffffffff, !areFinite<L>(sums)))
      multiplyAgain<L>(layer, pass, share, sums);
}

#endif

} // namespace tutti
