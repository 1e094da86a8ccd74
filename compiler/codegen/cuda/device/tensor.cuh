// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family on tensor cores: a tile of rows times a weight that lies in fragments (runtime/schema/Layout.h). Weights, and
// rows that are not in shared memory, come through a ring of stages of 32 k; sums stay in registers.
//
// The block's warps share a tile as a grid of warpRows x warpColumns. A warp has 16 rowTiles rows and a panel of 32 columns, and the
// block makes warpColumns panels in a pass. docs/numerics.md fixes the order of every sum; the tile decides none.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/product.cuh"
#include "tutti/shape.cuh"
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

/// sum += the products of the group of 16 k from `k` on, for a warp's rows from `first` on and a panel of `tiles` tiles whose words
/// of it lie from `at` on in a stage. Rows past the last are the last once more.
template <class P, int tiles, int rowTiles, class Left>
__device__ __forceinline__ void multiplyGroup(float (&sum)[rowTiles][4][4], const Shared<uint32_t> &words, int at, const Left &left,
                                              int leftStage, int first, int rows, int k) {
  using Math = typename P::Math;
  int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  typename Math::Left a[rowTiles];
#pragma unroll
  for (int m = 0; m < rowTiles; ++m) {
    int row = first + m * 16 + g, upper = row < rows ? row : rows - 1, lower = row + 8 < rows ? row + 8 : rows - 1;
    a[m] = Math::left(left.four(leftStage, upper, k + t * 4), left.four(leftStage, lower, k + t * 4));
  }
  uint32_t word[Math::words][tiles];
#pragma unroll
  for (int i = 0; i < Math::words; ++i)
    loadWords<tiles>(word[i], words, at + (i * 32 + lane) * tiles);
  typename Math::Right b[tiles];
#pragma unroll
  for (int j = 0; j < tiles; ++j) {
    uint32_t own[Math::words];
#pragma unroll
    for (int i = 0; i < Math::words; ++i)
      own[i] = word[i][j];
    b[j] = Math::right(own);
  }
  multiplyFrom<Math, 0>(sum, a, b);
}

template <int rowTiles, int tiles> __device__ __forceinline__ void fill(float (&sums)[rowTiles][tiles][4], float value) {
#pragma unroll
  for (int m = 0; m < rowTiles; ++m)
#pragma unroll
    for (int j = 0; j < tiles; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[m][j][i] = value;
}

template <int tiles, int rowTiles>
__device__ __forceinline__ void addTo(float (&total)[rowTiles][4][4], const float (&sum)[rowTiles][4][4]) {
#pragma unroll
  for (int m = 0; m < rowTiles; ++m)
#pragma unroll
    for (int j = 0; j < tiles; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        total[m][j][i] = total[m][j][i] + sum[m][j][i];
}

/// Slices of a tile meet in shared memory, from byte `exchange` on: total += their sums of 32 k each, in their order. Of the 4 rowTiles
/// pieces of 16 rows and 8 columns, each warp takes `own` one after the other, its sums of them from its registers.
template <class Tile, int exchange, int tiles, int own>
__device__ __forceinline__ void addSlices(float (&total)[own][1][4], const float (&sum)[Tile::rowTiles][4][4], int slice,
                                          int count) {
  constexpr int rowTiles = Tile::rowTiles, slices = Tile::slices, words = rowTiles * 4 * 32 * 4;
  int lane = threadIdx.x % 32, group = threadIdx.x / 32 / slices;
  const Shared<float> sums = shared<float>(exchange + group * slices * words * 4, slices * words);
  float4 mine[own] = {};
#pragma unroll
  for (int piece = 0; piece < rowTiles * 4; ++piece) {
    const float(&s)[4] = sum[piece / 4][piece % 4];
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
      float(&t)[4] = total[piece][0];
      t[0] += s.x, t[1] += s.y, t[2] += s.z, t[3] += s.w;
    }
  barrierSync(1 + group, slices * 32); // and read
}

/// store(row, column, sums) for the tiles from `firstTile` on of a panel of `tiles`. A lane's columns of the tiles are neighbours.
template <class P, int tiles, int rowTiles, int own, class Store>
__device__ __forceinline__ void storeTotals(const float (&total)[rowTiles][own][4], int firstTile, int first, int rows, int column,
                                            Store store) {
  int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  constexpr int inRow = own == 4 ? tiles : own, runs = own == 4 ? 1 : 2, n = own == 4 ? tiles * 2 : own;
#pragma unroll
  for (int m = 0; m < rowTiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int run = 0; run < runs; ++run) {
        int row = first + m * 16 + half * 8 + g, mine = column + (t * 2 + run) * tiles + firstTile;
        if (row >= rows || (own < 4 && firstTile >= tiles))
          continue;
        Neighbours<n> sums;
        sums.count = own < 4 && tiles - firstTile < n ? tiles - firstTile : n;
        if (P::N % 32 && mine + sums.count > P::N)
          sums.count = P::N - mine;
#pragma unroll
        for (int i = 0; i < n; ++i)
          sums.sum[i] = total[m][i % inRow][half * 2 + run + i / inRow];
        store(row, mine, sums);
      }
}

/// Calls f(the number of tiles) with a constant, for those that a panel of the product may have; 0 tiles: nothing.
template <int tiles> struct Tiles {
  static constexpr int value = tiles;
};
template <class P, class F> __device__ __forceinline__ void withTiles(int tiles, F f) {
  if (P::wide && tiles == 4)
    f(Tiles<4>());
  else if (P::tiles % 4 >= 2 && tiles == 2)
    f(Tiles<2>());
  else if (P::tiles % 2 && tiles == 1)
    f(Tiles<1>());
}

/// store(row, column, sums) for every element of left [rows, K] times a weight, or of this block's panels of it. All threads of the
/// block come here. `exchange`: where the slices of a tile meet in shared memory.
template <class P, class Tile, int exchange = 0, class Ring, class Left, class Store>
__device__ __forceinline__ void multiply(int rows, Ring &ring, const Left &left, Store store) {
  constexpr int rowTiles = Tile::rowTiles, slices = Tile::slices, panelWords = P::template panelWords<Tile>;
  constexpr int pieces = slices == 1 ? rowTiles : rowTiles * 4 / slices, own = slices == 1 ? 4 : 1;
  static_assert(slices == 1 || P::Math::chunked, "one chain cannot be cut");
  int warp = threadIdx.x / 32, slice = warp % slices, column = warp / slices % Tile::warpColumns;
  int first = warp / slices / Tile::warpColumns * rowTiles * 16;
  for (int pass = 0; pass < P::template passes<Tile>; ++pass) {
    int panel = P::template firstPanel<Tile>(pass) + column;
    int tiles = panel < P::panels && first < rows ? P::tilesOf(panel) : 0; // 0: this warp has nothing to do
    float total[pieces][own][4];
    fill(total, P::Math::chunked ? -0.0f : 0.0f); // -0 + s is s
    for (int from = 0; from < P::K; from += Tile::stageK) {
      int stage = ring.next(), leftStage = stage + P::template weightBytes<Tile>, k = from + slice * 32;
      withTiles<P>(tiles, [&](auto n) {
        constexpr int groupWords = P::groupWords * n.value;
        const Shared<uint32_t> words = shared<uint32_t>(stage + (column * panelWords + slice * 2 * groupWords) * 4, 2 * groupWords);
        float pair[rowTiles][4][4]; // of chunks: their sums are added first
        fill(pair, -0.0f);
#pragma unroll(P::Math::chunked ? 2 : 1)
        for (int group = 0; group < 2; ++group) {
          int at = k + group * 16;
          if ((slices > 1 || P::groups % 2) && at >= P::K)
            break;
          if constexpr (!P::Math::chunked) {
            multiplyGroup<P, n.value>(total, words, group * groupWords, left, leftStage, first, rows, at);
          } else {
            float sum[rowTiles][4][4];
            fill(sum, 0.0f);
            multiplyGroup<P, n.value>(sum, words, group * groupWords, left, leftStage, first, rows, at);
            addTo<n.value>(pair, sum);
          }
        }
        if constexpr (P::Math::chunked && slices == 1)
          addTo<n.value>(total, pair);
        else if constexpr (slices > 1)
          addSlices<Tile, exchange, n.value>(total, pair, slice, slices < (P::K - from + 31) / 32 ? slices : (P::K - from + 31) / 32);
      });
    }
    withTiles<P>(tiles, [&](auto n) {
      if constexpr (slices == 1) {
        storeTotals<P, n.value>(total, 0, first, rows, P::firstTile(panel) * 8, store);
      } else {
#pragma unroll
        for (int i = 0; i < pieces; ++i) {
          int piece = slice * pieces + i;
          const float one[1][1][4] = {{{total[i][0][0], total[i][0][1], total[i][0][2], total[i][0][3]}}};
          storeTotals<P, n.value>(one, piece % 4, first + piece / 4 * 16, rows, P::firstTile(panel) * 8, store);
        }
      }
    });
  }
}

#endif

/// The same by fma, weights straight from global memory: a warp takes 32 columns and eight rows, a lane is a column.
template <class P, class Left, class Store>
__device__ __forceinline__ void multiplyPlain(int rows, const Left &left, Global<const uint32_t> weights, Store store) {
  using Math = typename P::Math;
  constexpr int rowsAtOnce = 8;
  int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  int groups = (rows + rowsAtOnce - 1) / rowsAtOnce, panels = (P::N + 31) / 32;
  for (int unit = warp; unit < panels * groups; unit += warps) {
    int row = unit % groups * rowsAtOnce, column = unit / groups * 32 + lane, inside = column < P::N ? column : P::N - 1;
    int panel = inside / 32 < P::wide ? inside / 32 : P::tiles % 4 >= 2 && inside / 8 >= P::wide * 4 + 2 ? P::wide + 1 : P::wide;
    int tiles = P::tilesOf(panel), place = inside - P::firstTile(panel) * 8, g = place / tiles, j = place % tiles;
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
          float w = Math::weight(weights[P::firstTile(panel) * P::groups * P::groupWords + word * tiles + j], k % Math::parts);
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
#pragma unroll
    for (int i = 0; i < rowsAtOnce; ++i)
      if (row + i < rows && column < P::N)
        store(row + i, column, alone(total[i]));
  }
}

} // namespace tutti
