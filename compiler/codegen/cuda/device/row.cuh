// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row family: reductions along a row by the lanes rule of docs/numerics.md, half a warp a row.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/memory.cuh"
#include "tutti/scalar.cuh"

namespace tutti {

/// Combines two lanes of a reduction.
template <class T> struct SumOf {
  __device__ static __forceinline__ T combine(T a, T b) { return plus(a, b); }
};
template <class T> struct ProductOf {
  __device__ static __forceinline__ T combine(T a, T b) { return times(a, b); }
};
template <class T> struct LargestOf {
  __device__ static __forceinline__ T combine(T a, T b) { return maximum(a, b); }
};
template <class T> struct SmallestOf {
  __device__ static __forceinline__ T combine(T a, T b) { return minimum(a, b); }
};

/// Reduces the `columns` elements at(row, column) of each row, and calls store(row, result). Missing elements are
/// `neutral`. All threads of the block come here.
template <class Rule, int columns, class T, class At, class Store>
__device__ __forceinline__ void reduceRows(int rows, T neutral, At at, Store store) {
  int lane = threadIdx.x % 16, half = threadIdx.x / 16, halves = taskThreads() / 16;
  int rounds = (rows + halves - 1) / halves; // the same for all: they shuffle together
  for (int round = 0; round < rounds; ++round) {
    int row = round * halves + half;
    bool inside = row < rows;
    T all = neutral;
    for (int column = lane; column < (columns + 15) / 16 * 16; column += 16)
      all = Rule::combine(all, inside && column < columns ? at(row, column) : neutral);
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2) {
      T other = __shfl_xor_sync(0xffffffff, all, distance);
      // The lower lane's value comes first, in both lanes.
      all = lane & distance ? Rule::combine(other, all) : Rule::combine(all, other);
    }
    if (inside && lane == 0)
      store(row, all);
  }
}

/// Scans the `columns` elements at(row, column) of each row by Rule, in the order of docs/numerics.md, and calls
/// store(row, column, result). `none` changes nothing; an exclusive scan begins with `empty`. All threads of the block
/// come here.
template <class Rule, int columns, bool exclusive, bool reverse, class T, class At, class Store>
__device__ __forceinline__ void scanRows(int rows, T none, T empty, At at, Store store) {
  int lane = threadIdx.x % 16, half = threadIdx.x / 16, halves = taskThreads() / 16;
  int rounds = (rows + halves - 1) / halves; // the same for all: they shuffle together
  for (int round = 0; round < rounds; ++round) {
    int row = round * halves + half;
    T before = none, shown = empty;
    for (int start = 0; start < columns; start += 16) {
      int column = reverse ? columns - 1 - start - lane : start + lane;
      bool inside = row < rows && start + lane < columns;
      T all = inside ? at(row, column) : none;
#pragma unroll
      for (int by = 1; by < 16; by *= 2) {
        T other = __shfl_up_sync(0xffffffff, all, by, 16);
        all = Rule::combine(lane < by ? none : other, all);
      }
      all = Rule::combine(before, all);
      T previous = __shfl_up_sync(0xffffffff, all, 1, 16);
      if (inside)
        store(row, column, exclusive ? (lane ? previous : shown) : all);
      before = shown = __shfl_sync(0xffffffff, all, 15, 16);
    }
  }
}

/// Scans the elements of a row that lie `step` apart; each such sequence is scanned in order by one thread.
template <class Rule, int columns, int step, bool exclusive, bool reverse, class T, class At, class Store>
__device__ __forceinline__ void scanColumns(int rows, T empty, At at, Store store) {
  for (int i = threadIdx.x; i < rows * step; i += taskThreads()) {
    int row = i / step, column = i % step + (reverse ? columns - step : 0);
    T all = at(row, column);
    store(row, column, exclusive ? empty : all);
    for (int k = step; k < columns; k += step) {
      column += reverse ? -step : step;
      T next = Rule::combine(all, at(row, column));
      store(row, column, exclusive ? all : next);
      all = next;
    }
  }
}

/// Calls body(row, column) for each element of a tile. All threads of the block come here.
template <class Body> __device__ __forceinline__ void forElements(int rows, int columns, Body body) {
  for (int i = threadIdx.x; i < rows * columns; i += taskThreads())
    body(i / columns, i % columns);
}

} // namespace tutti
