// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family on tensor cores: a tile of rows times a weight that lies in fragments (runtime/schema/Layout.h).
// Weights, and rows that are not in shared memory, come through a ring of stages of 32 k or 64; sums stay in registers.
//
// The block's warps share a tile as a grid of warpRows x warpColumns. A warp has 16 rowTiles rows and a panel of 32
// columns, and the block makes warpColumns panels in a pass. docs/numerics.md fixes the order of every sum; the tile
// decides none.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/layer.cuh"
#include "tutti/product.cuh"
#include "tutti/rows.cuh"
#include "tutti/store.cuh"

namespace tutti {

#if TUTTI_CAPABILITY >= 80

/// A lane's words of 16 k, the stage's `group`, of each tile of a panel of `tiles`. A tile that the panel lacks has the words of
/// another: its products are thrown away, which costs less than to ask for each whether it is wanted.
template <int widths, int words, int most>
__device__ __forceinline__ void loadWords(uint32_t (&word)[most][words], const Shared<uint32_t> &from, int group, int tiles) {
  constexpr int atOnce = most < 4 / words ? most : 4 / words;
  int lane = int(threadIdx.x) % 32, at = group * words * 32 * tiles;
  if constexpr (widths % 2 && atOnce == 2)
    if (tiles == 1) { // two words, not four
      uint2 v = from.load2(at + lane * 2);
#pragma unroll
      for (int j = 0; j < most; ++j)
        word[j][0] = v.x, word[j][1] = v.y;
      return;
    }
#pragma unroll
  for (int j = 0; j < most; j += atOnce) {
    int mine = widths == most || j < tiles ? j : 0;
    if constexpr (atOnce * words == 4) {
      uint4 v = from.load4(at + mine * words * 32 + lane * 4);
      const uint32_t four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
        word[j + i / words][i % words] = four[i];
    } else {
      uint2 v = from.load2(at + lane * 2);
      word[j][0] = v.x, word[j][1] = v.y;
    }
  }
}

template <int rowTiles, int tiles>
__device__ __forceinline__ void fill(float (&sums)[rowTiles][tiles][4], float value) {
#pragma unroll
  for (int m = 0; m < rowTiles; ++m)
#pragma unroll
    for (int j = 0; j < tiles; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[m][j][i] = value;
}

template <int rowTiles>
__device__ __forceinline__ void addTo(float (&total)[rowTiles][4][4], const float (&sum)[rowTiles][4][4]) {
#pragma unroll
  for (int m = 0; m < rowTiles; ++m)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        total[m][j][i] = total[m][j][i] + sum[m][j][i];
}

/// Slices of a tile meet in shared memory, from byte `exchange` on: total += their sums of 32 k each, in their order.
/// Of the 4 rowTiles pieces of 16 rows and 8 columns, each warp takes `own` one after the other, its sums of them from
/// its registers. `again`: they will meet once more before all of the block meet.
template <class Tile, int exchange, int own>
__device__ __forceinline__ void addSlices(float (&total)[own][1][4], const float (&sum)[Tile::rowTiles][4][4],
                                          int tiles, int count, bool again) {
  constexpr int rowTiles = Tile::rowTiles, slices = Tile::slices, words = rowTiles * 4 * 32 * 4;
  int lane = threadIdx.x % 32, slice = Tile::slice(), group = threadIdx.x / 32 / slices;
  const Shared<float> sums = shared<float>(exchange + group * slices * words * 4, slices * words);
  float4 mine[own] = {};
#pragma unroll
  for (int piece = 0; piece < rowTiles * 4; ++piece) {
    const float (&s)[4] = sum[piece / 4][piece % 4];
    if (piece / own == slice)
      mine[piece % own] = make_float4(s[0], s[1], s[2], s[3]);
    else if (piece % 4 < tiles && slice < count)
      sums.store4(slice * words + (piece * 32 + lane) * 4, make_float4(s[0], s[1], s[2], s[3]));
  }
  barrierSync(1 + group, slices * 32); // all sums are there
  for (int i = 0; i < count; ++i)
#pragma unroll
    for (int piece = 0; piece < own; ++piece) {
      if ((slice * own + piece) % 4 >= tiles)
        continue;
      float4 s = i == slice ? mine[piece] : sums.load4(i * words + ((slice * own + piece) * 32 + lane) * 4);
      float (&t)[4] = total[piece][0];
      t[0] += s.x, t[1] += s.y, t[2] += s.z, t[3] += s.w;
    }
  if (again) {
    barrierSync(1 + group, slices * 32); // and read, before they are overwritten
  }
}

/// What this warp has to do of a pass. Rows past the last are the last once more.
template <class L> __device__ __forceinline__ void beginPass(const Layer &layer, int pass, int rows, typename L::Share &share) {
  using Tile = typename L::Tile;
#pragma unroll
  for (int i = 0; i < Tile::warpPanels; ++i) {
    int panel = Tile::firstPanel(pass) + Tile::column() + i * Tile::warpColumns;
    share.tiles[i] = panel < panelsOf(layer.tiles) && Tile::firstRow() < rows ? tilesOf(layer.tiles, panel) : 0;
  }
  int stride = L::strideOf(layer), lane = threadIdx.x % 32, begin = Tile::slice() * 32 + lane % 4 * 4;
#pragma unroll
  for (int m = 0; m < Tile::rowTiles; ++m) {
    int upper = Tile::firstRow() + m * 16 + lane / 4, lower = upper + 8;
    share.upper[m] = (upper < rows ? upper : rows - 1) * stride + begin;
    share.lower[m] = (lower < rows ? lower : rows - 1) * stride + begin;
  }
}

/// No sums: so they are before the first stage of a pass, and registers are free for what follows the last one.
template <class L> __device__ __forceinline__ void clear(typename L::Sums &sums) {
#pragma unroll
  for (int i = 0; i < L::Tile::warpPanels; ++i)
    fill(sums.of[i], L::Math::chunked ? -0.0f : 0.0f); // -0 + s is s
}

/// sums += the k of a stage: a layer's rows [rows, K] times this block's panels of its weight. All threads of the block
/// come here.
template <class L>
__device__ __forceinline__ void multiply(const Layer &layer, const Place &place, int stage, const typename L::Share &share,
                                         typename L::Sums &sums) {
  using Math = typename L::Math;
  using Tile = typename L::Tile;
  constexpr int rowTiles = Tile::rowTiles, most = L::widths >= 4 ? 4 : L::widths >= 2 ? 2 : 1,
                panelWords = Tile::template panelWords<Math>;
  if (share.tiles[0] == 0) // and no other panel, and no slice
    return;
#pragma unroll 1
  for (int first = 0; first < 32 * Tile::pairs; first += 32) {
    if (Tile::pairs > 1 && place.from + first >= layer.K)
      break;
    float pair[rowTiles][4][4]; // of chunks: their sums are added first
    if (Math::chunked)
      fill(pair, -0.0f);
    // One chain of many tiles has enough to do between a group's loads; the others need the next group's beside them.
#pragma unroll(Math::chunked || rowTiles * Tile::warpPanels <= 2 ? 2 : 1)
    for (int group = 0; group < 2; ++group) {
      if (place.from + Tile::slice() * 32 + first + group * 16 >= layer.K)
        break;
      typename Math::Left left[rowTiles];
#pragma unroll
      for (int m = 0; m < rowTiles; ++m)
        left[m] = L::left(layer, stage + Tile::template weightBytes<Math>, place.from, first + group * 16, share.upper[m],
                          share.lower[m]);
      float sum[rowTiles][4][4];
      if (Math::chunked)
        fill(sum, 0.0f);
#pragma unroll
      for (int i = 0; i < Tile::warpPanels; ++i) {
        int tiles = share.tiles[i];
        if (tiles == 0)
          continue;
        const Shared<uint32_t> words =
            shared<uint32_t>(stage + (Tile::column() + i * Tile::warpColumns) * panelWords * 4, panelWords);
        uint32_t word[most][Math::words];
        loadWords<L::widths>(word, words, Tile::slice() * 2 + first / 16 + group, tiles);
        typename Math::Right right[most];
#pragma unroll
        for (int j = 0; j < most; ++j)
          right[j] = Math::right(word[j]);
#pragma unroll
        for (int step = 0; step < Math::steps; ++step)
#pragma unroll
          for (int j = 0; j < most; ++j)
#pragma unroll
            for (int m = 0; m < rowTiles; ++m)
              Math::multiply(step, Math::chunked ? sum[m][j] : sums.of[i][m][j], left[m], right[j]);
      }
      if constexpr (Math::chunked)
        addTo(pair, sum);
    }
    int slices = Tile::slices < (layer.K - place.from + 31) / 32 ? Tile::slices : (layer.K - place.from + 31) / 32;
    if constexpr (Tile::slices > 1)
      addSlices<Tile, L::exchange>(sums.of[0], pair, share.tiles[0], slices,
                                   place.from + Tile::stageK < layer.K || place.pass + 1 < layer.template passes<Tile>());
    else if constexpr (Math::chunked)
      addTo(sums.of[0], pair);
  }
}

/// store(row, column, sums, columns(column) and so on) for the sums of a pass. One piece of code is for all layers,
/// panels and rows.
template <class L, class Columns, class Store>
__device__ __forceinline__ void storeSums(const typename L::Sums &sums, const Layer &layer, int pass, int rows,
                                          Columns columns, Store store) {
  using Tile = typename L::Tile;
  constexpr int widths = L::widths;
  constexpr bool oneWidth = widths == 4 || widths == 2 || widths == 1;
  int lane = threadIdx.x % 32, t = lane % 4, first = Tile::firstRow() + lane / 4,
      panel = Tile::firstPanel(pass) + Tile::column(), all = panelsOf(layer.tiles);
  if constexpr (Tile::slices > 1) {
    if (panel >= all)
      return;
    int tiles = oneWidth ? widths : tilesOf(layer.tiles, panel), column = firstTileOf(layer.tiles, panel) * 8;
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
        const auto shared = readColumns<1>(columns, mine, 1);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          int row = first + (piece / 4 * 2 + half) * 8;
          if (row < rows)
            store(row, mine, alone(sums.of[0][i][0][half * 2 + run]), shared);
        }
      }
    }
  } else {
    // Of a row in a panel a lane has two runs of neighbours, one of each tile.
    constexpr int panels = Tile::warpPanels, halves = Tile::rowTiles * 2, n = widths >= 4 ? 4 : widths >= 2 ? 2 : 1;
    float queue[panels * 2 * halves][4];
#pragma unroll
    for (int i = 0; i < panels * 2 * halves; ++i)
#pragma unroll
      for (int j = 0; j < n; ++j)
        queue[i][j] = sums.of[i / halves / 2][i % halves / 2][j][i % 2 * 2 + i / halves % 2];
#pragma unroll 1
    for (int i = 0; i < panels && panel < all; ++i, panel += Tile::warpColumns) {
      forParts<2, halves>(queue, 0, [&](int run) {
        int tiles = oneWidth ? widths : tilesOf(layer.tiles, panel),
            column = firstTileOf(layer.tiles, panel) * 8 + (t * 2 + run) * tiles;
        Neighbours<n> mine;
        mine.count = tiles < layer.N - column ? tiles : layer.N - column;
        const auto shared = readColumns<n>(columns, column, mine.count);
        forParts<halves, 1>(queue, 0, [&](int half) {
          int row = first + half * 8;
#pragma unroll
          for (int j = 0; j < n; ++j)
            mine.sum[j] = queue[0][j];
          if (row < rows)
            store(row, column, mine, shared);
        });
      });
#pragma unroll
      for (int j = 0; j < (panels - 1) * 2 * halves; ++j)
#pragma unroll
        for (int e = 0; e < n; ++e)
          queue[j][e] = queue[j + 2 * halves][e];
    }
  }
}

#endif

/// The same by fma, weights straight from global memory: a warp takes 32 columns and eight rows, a lane is a column.
template <class P, class Left, class Columns, class Store>
__device__ __forceinline__ void multiplyPlain(int rows, const Left &left, Global<const uint32_t> weights,
                                              Columns columns, Store store) {
  using Math = typename P::Math;
  constexpr int rowsAtOnce = 8;
  int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  int groups = (rows + rowsAtOnce - 1) / rowsAtOnce, panels = (P::N + 31) / 32;
  for (int unit = warp; unit < panels * groups; unit += warps) {
    int row = unit % groups * rowsAtOnce, column = unit / groups * 32 + lane,
        inside = column < P::N ? column : P::N - 1;
    constexpr int wide = P::tiles / 4;
    int panel = inside / 32 < wide ? inside / 32 : P::tiles % 4 >= 2 && inside / 8 >= wide * 4 + 2 ? wide + 1 : wide;
    int tiles = tilesOf(P::tiles, panel), begin = firstTileOf(P::tiles, panel), place = inside - begin * 8,
        g = place / tiles, j = place % tiles;
    int atOnce = tiles < Math::parts ? tiles : Math::parts, // tiles whose words a lane has side by side
        first = begin * P::groups * P::groupWords + j / atOnce * atOnce * Math::words * 32 + j % atOnce * Math::words;
    float total[rowsAtOnce];
#pragma unroll
    for (int i = 0; i < rowsAtOnce; ++i)
      total[i] = -0.0f;
    constexpr int chunk = Math::chunked ? 16 : P::K, pair = Math::chunked ? 32 : P::K;
    for (int from = 0; from < P::K; from += pair) {
      float both[rowsAtOnce];
#pragma unroll
      for (int i = 0; i < rowsAtOnce; ++i)
        both[i] = -0.0f;
      for (int start = from; start < from + pair && start < P::K; start += chunk) {
        float sum[rowsAtOnce] = {};
#pragma unroll 4
        for (int k = start; k < start + chunk && k < P::K; ++k) {
          int word = k / 16 * P::groupWords * tiles + (g * 4 + k % 16 / 4) * atOnce * Math::words + k % 4 / Math::parts;
          float w = Math::weight(weights[first + word], k % Math::parts);
#pragma unroll
          for (int i = 0; i < rowsAtOnce; ++i)
            sum[i] = __fmaf_rn(Math::rounded(left.at(row + i < rows ? row + i : rows - 1, k)), w, sum[i]);
        }
#pragma unroll
        for (int i = 0; i < rowsAtOnce; ++i)
          both[i] = both[i] + sum[i];
      }
#pragma unroll
      for (int i = 0; i < rowsAtOnce; ++i)
        total[i] = total[i] + both[i];
    }
    if (column >= P::N)
      continue;
    const auto shared = readColumns<1>(columns, column, 1);
#pragma unroll
    for (int i = 0; i < rowsAtOnce; ++i)
      if (row + i < rows)
        store(row + i, column, alone(total[i]), shared);
  }
}

} // namespace tutti
