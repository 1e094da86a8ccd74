// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family: a tile of rows times a weight that lies in panels (runtime/schema/Layout.h), sums in registers.
//
// A warp takes a panel and eight rows: a lane is a column, and each weight that it loads meets eight elements of the
// tile, which all lanes read at the same address. docs/numerics.md fixes the order of every sum; rows, warps and lanes
// decide none.
#pragma once

#include "tutti/rows.cuh"
#include "tutti/scalar.cuh"
#include "tutti/store.cuh"

namespace tutti {

/// store(row, column, sums of neighbouring columns, what columns(column) reads) for every element of left [rows, K]
/// times `count` columns of a weight, from `first` on, that lie in panels of `width` columns from `offset` on. All
/// threads of the block come here.
template <int K, int width, int chunk, class Left, class Columns, class Store>
__device__ __forceinline__ void multiplyPanels(int rows, const Left &left, Global<const float> weights, int offset,
                                               int first, int count, Columns columns, Store store) {
  constexpr int rowsAtOnce = 8;
  int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  int groups = (rows + rowsAtOnce - 1) / rowsAtOnce, panels = (count + width - 1) / width;
  for (int unit = warp; unit < panels * groups; unit += warps) {
    int panel = unit / groups, row = unit % groups * rowsAtOnce;
    // Lanes beyond the panel compute its last column again.
    int mine = offset + panel * K * width + (lane < width ? lane : width - 1);
    float total[rowsAtOnce];
#pragma unroll
    for (int i = 0; i < rowsAtOnce; ++i)
      total[i] = -0.0f; // -0 + s is s
    for (int from = 0; from < K; from += chunk) {
      float sum[rowsAtOnce];
#pragma unroll
      for (int i = 0; i < rowsAtOnce; ++i)
        sum[i] = 0.0f;
      int to = from + chunk < K ? from + chunk : K;
#pragma unroll 4
      for (int k = from; k < to; ++k) {
        float w = weights[mine + k * width];
#pragma unroll
        for (int i = 0; i < rowsAtOnce; ++i)
          sum[i] = __fmaf_rn(left.at(row + i < rows ? row + i : rows - 1, k), w, sum[i]);
      }
#pragma unroll
      for (int i = 0; i < rowsAtOnce; ++i)
        total[i] = total[i] + sum[i];
    }
    if (lane >= width || panel * width + lane >= count)
      continue;
    int column = first + panel * width + lane;
    const auto shared = readColumns<1>(columns, column, 1);
#pragma unroll
    for (int i = 0; i < rowsAtOnce; ++i)
      if (row + i < rows)
        store(row + i, column, alone(total[i]), shared);
  }
}

/// The last one to eight columns: 16 lanes run over k, and a tree adds them up. Half a warp makes one sum.
template <int K, class Left>
__device__ __forceinline__ float laneSum(const Left &left, int row, Global<const float> weights, int offset, int lane) {
  float sum = 0.0f;
  constexpr int rounds = (K + 15) / 16;
  for (int i = 0; i < rounds; ++i) {
    int k = i * 16 + lane;
    bool inside = k < K;
    sum = __fmaf_rn(inside ? left.at(row, k) : 0.0f, inside ? float(weights[offset + k]) : 0.0f, sum);
  }
#pragma unroll
  for (int distance = 8; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
  return sum;
}

/// The same for the one to eight columns that lie one behind the other, a column's K elements together.
template <int K, int count, class Left, class Columns, class Store>
__device__ __forceinline__ void multiplyLanes(int rows, const Left &left, Global<const float> weights, int offset,
                                              int first, Columns columns, Store store) {
  int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  for (int pair = warp; pair * 2 < rows * count; pair += warps) {
    int unit = pair * 2 + lane / 16;
    bool inside = unit < rows * count;
    int row = inside ? unit / count : 0, n = inside ? unit % count : 0;
    float sum = laneSum<K>(left, row, weights, offset + n * K, lane % 16);
    if (inside && lane % 16 == 0)
      store(row, first + n, alone(sum), readColumns<1>(columns, first + n, 1));
  }
}

} // namespace tutti
