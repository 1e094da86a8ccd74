// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values that a call computes: a thread has a tile of rows and columns, and their sums in registers.
//
// Consecutive rows that read the same columns of the right operand, `run` of them, are cut into groups. A thread's
// columns lie as many apart as there are threads beside it, so that neighbouring threads read neighbours.
// docs/numerics.md fixes the order of every sum; groups and threads do not affect it.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/memory.cuh"
#include "tutti/scalar.cuh"
#include "tutti/store.cuh"

namespace tutti {

/// Loads `count` terms of an operand from `at` on, `step` elements apart; `fours`: four neighbours are one load.
template <bool fours, int count, class View>
__device__ __forceinline__ void loadTerms(float (&x)[count], const View &view, int64_t at, int64_t step) {
  if constexpr (fours && count == 4) {
    const float4 four = view.load4(at);
    x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
  } else {
#pragma unroll
    for (int t = 0; t < count; ++t)
      x[t] = view[at + t * step];
  }
}

/// An operand: its elements, whether four neighbouring terms are one load, and the elements from term to term.
template <bool fours, class View> struct Operand {
  View view;
  int64_t step;
  template <int count> __device__ __forceinline__ void load(float (&x)[count], int64_t at, int k) const {
    loadTerms<fours>(x, view, at + k * step, step);
  }
};
template <bool fours, class View> __device__ __forceinline__ Operand<fours, View> operand(View view, int64_t step) {
  return {view, step};
}

/// sum[i][j] += the products of `count` terms of row i and column j, from k on.
template <int count, int R, int C, class Left, class Right>
__device__ __forceinline__ void multiplyTerms(float (&sum)[R][C], const Left &left, const int64_t (&rowAt)[R],
                                              const Right &right, const int64_t (&columnAt)[C], int k) {
  float x[R][count], w[C][count];
#pragma unroll
  for (int i = 0; i < R; ++i)
    left.load(x[i], rowAt[i], k);
#pragma unroll
  for (int j = 0; j < C; ++j)
    right.load(w[j], columnAt[j], k);
#pragma unroll
  for (int t = 0; t < count; ++t)
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < C; ++j)
        sum[i][j] = __fmaf_rn(x[i][t], w[j][t], sum[i][j]);
}

/// Calls store(row, column, sum, what columns(column) reads) for each of the tile's rows and `count` columns, with sums
/// of K terms: row r's first term in the left operand is at leftAt(r), and column c's first term for it in the right
/// one at rightAt(r) + c * columnStep. A thread has R rows and C columns. All threads of the block come here.
template <int K, int chunk, int R, int C, class Left, class LeftAt, class Right, class RightAt, class Columns,
          class Store>
__device__ __forceinline__ void multiplyValues(int firstRow, int rows, int run, int count, const Left &left,
                                               LeftAt leftAt, const Right &right, RightAt rightAt, int64_t columnStep,
                                               Columns columns, Store store) {
  const int groupsOfRun = (run + R - 1) / R, slots = (count + C - 1) / C;
  const auto groupOf = [&](int row) { return row / run * groupsOfRun + row % run / R; };
  const int firstGroup = groupOf(firstRow), groups = groupOf(firstRow + rows - 1) - firstGroup + 1;
#pragma unroll 1
  for (int unit = threadIdx.x; unit < groups * slots; unit += taskThreads()) {
    const int slot = unit % slots, group = firstGroup + unit / slots, above = group / groupsOfRun;
    // The group's rows that lie in the run and in the tile.
    int row = above * run + group % groupsOfRun * R - firstRow, end = (above + 1) * run - firstRow;
    end = row + R < end ? row + R : end;
    end = rows < end ? rows : end;
    row = row < 0 ? 0 : row;
    int64_t rowAt[R], columnAt[C];
    // Rows past the last repeat the last; columns past the last repeat the thread's first.
#pragma unroll
    for (int i = 0; i < R; ++i)
      rowAt[i] = leftAt(row + i < end ? row + i : end - 1);
    const int64_t base = rightAt(row);
#pragma unroll
    for (int j = 0; j < C; ++j)
      columnAt[j] = base + (slot + j * slots < count ? slot + j * slots : slot) * columnStep;

    float total[R][C];
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < C; ++j)
        total[i][j] = -0.0f; // -0 + s is s
#pragma unroll 1
    for (int from = 0; from < K; from += chunk) {
      const int to = from + chunk < K ? from + chunk : K;
      float sum[R][C] = {};
      int k = from;
#pragma unroll 1
      for (; k + 4 <= to; k += 4)
        multiplyTerms<4>(sum, left, rowAt, right, columnAt, k);
      if constexpr (K % 4 != 0) {
#pragma unroll 1
        for (; k < to; ++k)
          multiplyTerms<1>(sum, left, rowAt, right, columnAt, k);
      }
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < C; ++j)
          total[i][j] = total[i][j] + sum[i][j];
    }
#pragma unroll
    for (int j = 0; j < C; ++j) {
      const int column = slot + j * slots;
      if (column >= count)
        continue;
      const auto shared = readColumns<1>(columns, column, 1);
#pragma unroll
      for (int i = 0; i < R; ++i)
        if (row + i < end)
          store(row + i, column, alone(total[i][j]), shared);
    }
  }
}

} // namespace tutti
