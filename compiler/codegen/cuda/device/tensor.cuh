// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family on tensor cores: a tile of rows times a weight that lies in fragments (runtime/schema/Layout.h).
// Weights, and rows that are not in shared memory, come through a ring of stages of 32 k; sums stay in registers.
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

/// A lane's words of one word row of `tiles` tiles.
template <int tiles>
__device__ __forceinline__ void loadWords(uint32_t (&words)[tiles], const Shared<uint32_t> &from, int at) {
  if constexpr (tiles == 4) {
    uint4 v = from.load4(at);
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
  } else if constexpr (tiles == 2) {
    uint2 v = from.load2(at);
    words[0] = v.x, words[1] = v.y;
  } else {
    words[0] = from[at];
  }
}

template <class Math, int step, int tiles, int rowTiles>
__device__ __forceinline__ void multiplyFrom(float (&sum)[rowTiles][4][4], const typename Math::Left (&left)[rowTiles],
                                             const typename Math::Right (&right)[tiles]) {
#pragma unroll
  for (int j = 0; j < tiles; ++j)
#pragma unroll
    for (int m = 0; m < rowTiles; ++m)
      Math::template multiply<step>(sum[m][j], left[m], right[j]);
  if constexpr (step + 1 < Math::steps)
    multiplyFrom<Math, step + 1>(sum, left, right);
}

/// sum += a warp's rows times the 16 k of a panel of `tiles` tiles, whose words of them lie from `at` on in a stage.
template <class Math, int tiles, int rowTiles>
__device__ __forceinline__ void multiplyGroup(float (&sum)[rowTiles][4][4], const typename Math::Left (&left)[rowTiles],
                                              const Shared<uint32_t> &words, int at) {
  uint32_t word[Math::words][tiles];
#pragma unroll
  for (int i = 0; i < Math::words; ++i)
    loadWords<tiles>(word[i], words, at + (i * 32 + int(threadIdx.x) % 32) * tiles);
  typename Math::Right right[tiles];
#pragma unroll
  for (int j = 0; j < tiles; ++j) {
    uint32_t own[Math::words];
#pragma unroll
    for (int i = 0; i < Math::words; ++i)
      own[i] = word[i][j];
    right[j] = Math::right(own);
  }
  multiplyFrom<Math, 0>(sum, left, right);
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

/// Calls f(the number of tiles) with a constant, one of `widths`; 0 tiles: nothing.
template <int tiles> struct Tiles {
  static constexpr int value = tiles;
};
template <int widths, class F> __device__ __forceinline__ void withTiles(int tiles, F f) {
  if (widths & 4 && tiles == 4)
    f(Tiles<4>());
  else if (widths & 2 && tiles == 2)
    f(Tiles<2>());
  else if (widths & 1 && tiles == 1)
    f(Tiles<1>());
}

/// The sums of a pass: of a layer's rows [rows, K] times this block's panels of its weight. All threads of the block
/// come here.
template <class L, class Ring>
__device__ __forceinline__ void multiply(const Layer &layer, int pass, int rows, Ring &ring, typename L::Sums &sums) {
  using Math = typename L::Math;
  using Tile = typename L::Tile;
  constexpr int rowTiles = Tile::rowTiles, panels = Tile::warpPanels, groupWords = Math::words * 32;
  int lane = threadIdx.x % 32, first = Tile::firstRow(), column = Tile::column(), all = panelsOf(layer.tiles);
  int tiles[panels]; // 0: this warp has nothing to do
#pragma unroll
  for (int i = 0; i < panels; ++i) {
    int panel = Tile::firstPanel(pass) + column + i * Tile::warpColumns;
    tiles[i] = panel < all && first < rows ? tilesOf(layer.tiles, panel) : 0;
    fill(sums.of[i], Math::chunked ? -0.0f : 0.0f); // -0 + s is s
  }
#pragma unroll 1
  for (int from = 0; from < layer.K; from += Tile::stageK) {
    int stage = ring.next(), begin = from + Tile::slice() * 32;
    if (tiles[0] == 0) // and no other panel, and no slice
      continue;
    float pair[rowTiles][4][4]; // of chunks: their sums are added first
    if (Math::chunked)
      fill(pair, -0.0f);
#pragma unroll 1
    for (int group = 0; group < 2; ++group) {
      int k = begin + group * 16;
      if (k >= layer.K)
        break;
      // Rows past the last are the last once more.
      typename Math::Left left[rowTiles];
#pragma unroll
      for (int m = 0; m < rowTiles; ++m) {
        int row = first + m * 16 + lane / 4, upper = row < rows ? row : rows - 1,
            lower = row + 8 < rows ? row + 8 : rows - 1;
        left[m] = L::left(layer, stage + Tile::template weightBytes<Math>, from, upper, lower, k + lane % 4 * 4);
      }
      float sum[rowTiles][4][4];
      if (Math::chunked)
        fill(sum, 0.0f);
#pragma unroll
      for (int i = 0; i < panels; ++i)
        withTiles<L::widths>(tiles[i], [&](auto n) {
          constexpr int panelWords = Tile::template panelWords<Math>;
          const Shared<uint32_t> words =
              shared<uint32_t>(stage + (column + i * Tile::warpColumns) * panelWords * 4, panelWords);
          int at = (Tile::slice() * 2 + group) * groupWords * n.value;
          if constexpr (Math::chunked)
            multiplyGroup<Math, n.value>(sum, left, words, at);
          else
            multiplyGroup<Math, n.value>(sums.of[i], left, words, at);
        });
      if constexpr (Math::chunked)
        addTo(pair, sum);
    }
    int slices = Tile::slices < (layer.K - from + 31) / 32 ? Tile::slices : (layer.K - from + 31) / 32;
    if constexpr (Tile::slices > 1)
      addSlices<Tile, L::exchange>(sums.of[0], pair, tiles[0], slices,
                                   from + Tile::stageK < layer.K || pass + 1 < layer.template passes<Tile>());
    else if constexpr (Math::chunked)
      addTo(sums.of[0], pair);
  }
}

/// What a lane has of a row in a panel of `tiles` tiles: its columns are neighbours, and of each tile it has two.
template <int widths, int n>
__device__ __forceinline__ Neighbours<n> neighboursOf(const float (&sums)[4][2], int tiles, int count) {
  Neighbours<n> row;
  row.count = count;
  constexpr int most = n / 2;
#pragma unroll
  for (int i = 0; i < n; ++i)
    row.sum[i] = sums[i % most][i / most];
  // Of fewer tiles the second column of the first comes sooner.
  if constexpr (widths & 1 && most > 1)
    row.sum[1] = tiles == 1 ? sums[0][1] : row.sum[1];
  if constexpr (widths & 2 && most > 2) {
    row.sum[2] = tiles == 2 ? sums[0][1] : row.sum[2];
    row.sum[3] = tiles == 2 ? sums[1][1] : row.sum[3];
  }
  return row;
}

/// store(half, the sums of a lane in it) for the first `count` of some halves of 16 rows. One piece of code is for
/// `atOnce` of them: the next ones' sums go where theirs were.
template <int count, int atOnce, int all, class StoreHalf>
__device__ __forceinline__ void storeHalves(float (&sums)[all][4][2], int first, StoreHalf store) {
  if constexpr (count == atOnce) {
#pragma unroll
    for (int j = 0; j < count; ++j)
      store(first + j, sums[j]);
  } else {
#pragma unroll 1
    for (int i = 0; i < count; i += count / 2) {
      storeHalves<count / 2, atOnce>(sums, first + i, store);
#pragma unroll
      for (int j = 0; j < count / 2; ++j)
#pragma unroll
        for (int e = 0; e < 8; ++e)
          sums[j][e / 2][e % 2] = sums[count / 2 + j][e / 2][e % 2];
    }
  }
}

/// store(row, column, sums, columns(column) and so on) for the sums of a pass, of the product P. One piece of code is
/// for all panels, and for `atOnce` of a lane's rows.
template <class P, class L, int atOnce, class Columns, class Store>
__device__ __forceinline__ void storeSums(const typename L::Sums &sums, int pass, int rows, Columns columns,
                                          Store store) {
  using Tile = typename L::Tile;
  constexpr int widths = (P::tiles >= 4 ? 4 : 0) | P::tiles % 4;
  constexpr bool oneWidth = widths == 4 || widths == 2 || widths == 1;
  int lane = threadIdx.x % 32, t = lane % 4, first = Tile::firstRow() + lane / 4,
      panel = Tile::firstPanel(pass) + Tile::column();
  if constexpr (Tile::slices > 1) {
    if (panel >= P::panels)
      return;
    int tiles = oneWidth ? widths : tilesOf(P::tiles, panel), column = firstTileOf(P::tiles, panel) * 8;
#pragma unroll
    for (int i = 0; i < L::pieces; ++i) {
      int piece = Tile::slice() * L::pieces + i;
      if (piece % 4 >= tiles)
        continue;
#pragma unroll
      for (int run = 0; run < 2; ++run) {
        int mine = column + (t * 2 + run) * tiles + piece % 4;
        if (P::N % 8 && mine >= P::N)
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
    constexpr int panels = Tile::warpPanels, halves = Tile::rowTiles * 2, n = widths >= 4 ? 8 : widths >= 2 ? 4 : 2;
    float queue[panels * halves][4][2];
#pragma unroll
    for (int i = 0; i < panels * halves; ++i)
#pragma unroll
      for (int e = 0; e < 8; ++e)
        queue[i][e / 2][e % 2] = sums.of[i / halves][i % halves / 2][e / 2][i % 2 * 2 + e % 2];
#pragma unroll 1
    for (int i = 0; i < panels && panel < P::panels; ++i, panel += Tile::warpColumns) {
      int tiles = oneWidth ? widths : tilesOf(P::tiles, panel),
          column = firstTileOf(P::tiles, panel) * 8 + t * 2 * tiles, count = tiles * 2;
      if (P::N % 8 && count > P::N - column)
        count = P::N - column;
      const auto shared = readColumns<n>(columns, column, count);
      storeHalves<halves, atOnce>(queue, 0, [&](int half, const float (&mine)[4][2]) {
        int row = first + half * 8;
        if (row < rows)
          store(row, column, neighboursOf<widths, n>(mine, tiles, count), shared);
      });
#pragma unroll
      for (int j = 0; j < (panels - 1) * halves; ++j)
#pragma unroll
        for (int e = 0; e < 8; ++e)
          queue[j][e / 2][e % 2] = queue[j + halves][e / 2][e % 2];
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
          int word = (k / 16 * Math::words + k % 4 / Math::parts) * 32 + g * 4 + k % 16 / 4;
          float w = Math::weight(weights[begin * P::groups * P::groupWords + word * tiles + j], k % Math::parts);
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
