// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions in the precisions of tensor cores for devices that have none, or tiles without warps for them: sums in
// the order of product.cuh, without the split.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/product.cuh"
#include "tutti/scalar.cuh"
#include "tutti/shape.cuh"
#include "tutti/store.cuh"

namespace tutti {

/// Multiplies a tile of rows by a weight that lies in matrices (runtime/schema/Layout.h) with fma, reading its words
/// from global memory: a warp takes 32 columns and `rowsAtOnce` rows, a lane one column.
template <class P, int rowsAtOnce, class Left, class Columns, class Store>
__device__ __forceinline__ void multiplyPlain(int rows, const Left &left, Global<const uint32_t> weights,
                                              Columns columns, Store store) {
  using Math = typename P::Math;
  int warp = threadIdx.x / 32, warps = taskThreads() / 32, lane = threadIdx.x % 32;
  int groups = (rows + rowsAtOnce - 1) / rowsAtOnce, panels = (P::N + 31) / 32;
  for (int unit = warp; unit < panels * groups; unit += warps) {
    int row = unit % groups * rowsAtOnce, column = unit / groups * 32 + lane,
        inside = column < P::N ? column : P::N - 1;
    constexpr int wide = P::tiles / 4;
    int panel = inside / 32 < wide ? inside / 32 : P::tiles % 4 >= 2 && inside / 8 >= wide * 4 + 2 ? wide + 1 : wide;
    int tiles = tilesOf(P::tiles, panel), begin = firstTileOf(P::tiles, panel), place = inside - begin * 8,
        g = place / tiles, j = place % tiles;
    int band = begin / bandTiles * bandTiles, ofBand = P::tiles - band < bandTiles ? P::tiles - band : bandTiles;
    int first = (band * P::groups + begin - band + j) * P::groupWords;
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
          int word = k / 16 * P::groupWords * ofBand +
                     (Math::parts == 1 ? k % 4 * 32 + g * 4 + k % 16 / 4 : k % 16 / 8 * 32 + g * 4 + k % 8 / 2);
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
