// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family: a tile of rows times a weight that lies in panels (runtime/schema/Layout.h), sums in registers.
//
// A warp takes a panel and some rows (Contraction::walk), a lane one column. Each weight that it loads is multiplied by
// an element of each row, which all lanes read at the same address, four k at a time. docs/numerics.md fixes the order
// of every sum; rows, warps and lanes do not affect it.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/rows.cuh"
#include "tutti/scalar.cuh"
#include "tutti/store.cuh"

namespace tutti {

/// Loads the weights of `count` neighbouring k of a column.
template <int count, int most>
__device__ __forceinline__ void loadColumn(float (&w)[most], const Global<const float> &weights, int at, int width) {
#pragma unroll
  for (int j = 0; j < count; ++j)
    w[j] = weights[at + j * width];
}

/// A run of a column's K weights.
template <int run> struct Run {
  float w[run];
  /// Loads the run from k on, or what is left of it; behind the last run, the first one again, for the next rows.
  template <int K>
  __device__ __forceinline__ void load(const Global<const float> &weights, int column, int k, int width) {
    if (k + run <= K)
      loadColumn<run>(w, weights, column + k * width, width);
    else if (K % run != 0 && k < K)
      loadColumn<K % run>(w, weights, column + k * width, width);
    else
      loadColumn<run>(w, weights, column, width);
  }
};

/// sum[i] += the products of the elements k, k + 1 and so on of row `row` + i with the weights w. Rows past the last
/// repeat the last.
template <int count, int rowsAtOnce, int most, class Left>
__device__ __forceinline__ void multiplyRun(float (&sum)[rowsAtOnce], const Left &left, int row, int rows, int k,
                                            const float (&w)[most]) {
#pragma unroll
  for (int i = 0; i < rowsAtOnce; ++i) {
    int mine = row + i < rows ? row + i : rows - 1;
#pragma unroll
    for (int j = 0; j + 4 <= count; j += 4) {
      const float4 x = left.four(mine, k + j);
      sum[i] = __fmaf_rn(x.x, w[j], sum[i]);
      sum[i] = __fmaf_rn(x.y, w[j + 1], sum[i]);
      sum[i] = __fmaf_rn(x.z, w[j + 2], sum[i]);
      sum[i] = __fmaf_rn(x.w, w[j + 3], sum[i]);
    }
#pragma unroll
    for (int j = count / 4 * 4; j < count; ++j)
      sum[i] = __fmaf_rn(left.at(mine, k + j), w[j], sum[i]);
  }
}

/// Calls store(row, column, sums of neighbouring columns, what columns(column) reads) for every element of left [rows,
/// K] times `count` columns of a weight, from `first` on, that lie in panels of `width` columns from `offset` on. All
/// threads of the block come here. A `run` of all K weights stays in registers: a warp's units of a panel follow each
/// other.
template <int K, int width, int chunk, int rowsAtOnce, int run, class Left, class Columns, class Store>
__device__ __forceinline__ void multiplyPanels(int rows, const Left &left, Global<const float> weights, int offset,
                                               int first, int count, Columns columns, Store store) {
  constexpr bool keeps = run == K;
  static_assert(!keeps || K <= chunk, "a run has no second chunk");
  static_assert(keeps || K <= chunk || chunk % run == 0, "only the last chunk ends within a run");
  int warp = threadIdx.x / 32, warps = taskThreads() / 32, lane = threadIdx.x % 32;
  int groups = (rows + rowsAtOnce - 1) / rowsAtOnce, units = (count + width - 1) / width * groups;
  int unit = units * warp / warps, end = units * (warp + 1) / warps;
#pragma unroll 1
  while (unit < end) {
    int panel = unit / groups, group = unit % groups, last = end - unit < groups - group ? group + end - unit : groups;
    unit += last - group;
    // Lanes beyond the panel compute its last column again.
    int mine = offset + panel * K * width + (lane < width ? lane : width - 1);
    Run<run> next;
    next.template load<K>(weights, mine, 0, width);
#pragma unroll 1
    for (; group < last; ++group) {
      int row = group * rowsAtOnce;
      float total[rowsAtOnce];
#pragma unroll
      for (int i = 0; i < rowsAtOnce; ++i)
        total[i] = -0.0f; // -0 + s is s
      for (int from = 0; from < K; from += chunk) {
        float sum[rowsAtOnce] = {};
        if constexpr (keeps) {
          multiplyRun<K>(sum, left, row, rows, 0, next.w);
        } else {
          int k = from, to = from + chunk < K ? from + chunk : K;
#pragma unroll 1
          for (; k + run <= to; k += run) {
            const Run<run> present = next;
            next.template load<K>(weights, mine, k + run, width); // while this one is multiplied
            multiplyRun<run>(sum, left, row, rows, k, present.w);
          }
          if (K % run != 0 && k < to) {
            const Run<run> present = next;
            next.template load<K>(weights, mine, K, width);
            multiplyRun<K % run>(sum, left, row, rows, k, present.w);
          }
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
}

/// The same for a panel of one to eight columns and few k, which would leave most lanes of a warp without a column:
/// each thread computes one sum.
template <int K, int width, int count, class Left, class Columns, class Store>
__device__ __forceinline__ void multiplyNarrow(int rows, const Left &left, Global<const float> weights, int offset,
                                               int first, Columns columns, Store store) {
#pragma unroll 1
  for (int unit = threadIdx.x; unit < rows * count; unit += taskThreads()) {
    int row = unit / count, n = unit % count;
    float w[K], sum[1] = {};
    loadColumn<K>(w, weights, offset + n, width);
    multiplyRun<K>(sum, left, row, rows, 0, w);
    store(row, first + n, alone(sum[0]), readColumns<1>(columns, first + n, 1));
  }
}

/// A sum of the last one to eight columns for more k: 16 lanes run over k, and a tree adds them. Half a warp computes
/// it.
template <class Left>
__device__ __forceinline__ float laneSum(int K, const Left &left, int row, Global<const float> weights, int offset,
                                         int lane) {
  float sum = 0.0f;
  for (int i = 0; i < (K + 15) / 16; ++i) {
    int k = i * 16 + lane;
    bool inside = k < K;
    sum = __fmaf_rn(inside ? left.at(row, k) : 0.0f, inside ? float(weights[offset + k]) : 0.0f, sum);
  }
#pragma unroll
  for (int distance = 8; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
  return sum;
}

/// The same sum by one thread, for few k: the partial sums of the 16 lanes lie in its registers.
template <int K, class Left>
__device__ __forceinline__ float treeSum(const Left &left, int row, Global<const float> weights, int offset) {
  float part[16] = {};
#pragma unroll
  for (int k = 0; k < (K + 15) / 16 * 16; k += 4) {
    float x[4] = {}, w[4] = {};
    if (k + 4 <= K) {
      const float4 four = left.four(row, k);
      x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (k + j < K && k + 4 > K)
        x[j] = left.at(row, k + j);
      if (k + j < K)
        w[j] = weights[offset + k + j];
      part[k % 16 + j] = __fmaf_rn(x[j], w[j], part[k % 16 + j]);
    }
  }
#pragma unroll
  for (int level = 0; level < 4; ++level)
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i < 8 >> level)
        part[i] += part[i + (8 >> level)];
  return part[0];
}

/// All sums of the last one to eight columns, each by one thread; a column's K elements are contiguous.
template <int K, int count, class Left, class Columns, class Store>
__device__ __forceinline__ void multiplyTrees(int rows, const Left &left, Global<const float> weights, int offset,
                                              int first, Columns columns, Store store) {
  for (int unit = threadIdx.x; unit < rows * count; unit += taskThreads()) {
    int row = unit / count, n = unit % count;
    store(row, first + n, alone(treeSum<K>(left, row, weights, offset + n * K)), readColumns<1>(columns, first + n, 1));
  }
}

/// The same for more k, each by half a warp.
template <int count, class Left, class Columns, class Store>
__device__ __forceinline__ void multiplyLanes(int K, int rows, const Left &left, Global<const float> weights,
                                              int offset, int first, Columns columns, Store store) {
  int warp = threadIdx.x / 32, warps = taskThreads() / 32, lane = threadIdx.x % 32;
  for (int pair = warp; pair * 2 < rows * count; pair += warps) {
    int unit = pair * 2 + lane / 16;
    bool inside = unit < rows * count;
    int row = inside ? unit / count : 0, n = inside ? unit % count : 0;
    float sum = laneSum(K, left, row, weights, offset + n * K, lane % 16);
    if (inside && lane % 16 == 0)
      store(row, first + n, alone(sum), readColumns<1>(columns, first + n, 1));
  }
}

} // namespace tutti
