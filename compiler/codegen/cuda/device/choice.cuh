// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices along a row: the place of the largest element, and the places of the largest ones in their order; half a warp
// a row.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/memory.cuh"
#include "tutti/scalar.cuh"

namespace tutti {

/// Maps elements to integers in the same order: a choice prefers the larger key. -0 and +0 of floats share a key, and
/// so do all NaN, whose key is the largest or the smallest.
template <bool preferSmall, bool preferNan> __device__ __forceinline__ int keyOf(float x) {
  int bits = __float_as_int(x + 0.0f);
  int key = bits ^ ((bits >> 31) & 0x7fffffff);
  return x != x ? (preferNan ? 0x7fffffff : -0x7fffffff - 1) : preferSmall ? ~key : key;
}
template <bool preferSmall, bool preferNan> __device__ __forceinline__ long long keyOf(double x) {
  long long bits = __double_as_longlong(x + 0.0);
  long long key = bits ^ ((bits >> 63) & 0x7fffffffffffffffll);
  return x != x ? (preferNan ? 0x7fffffffffffffffll : -0x7fffffffffffffffll - 1) : preferSmall ? ~key : key;
}
template <bool preferSmall, bool preferNan> __device__ __forceinline__ long long keyOf(long long x) {
  return preferSmall ? ~x : x;
}
template <bool preferSmall, bool preferNan> __device__ __forceinline__ int keyOf(int x) { return preferSmall ? ~x : x; }

/// The place of the largest of `count` keys, key(k): of equal ones the first, or the last.
template <bool last, int count, class KeyAt> __device__ __forceinline__ long long argOf(KeyAt key) {
  auto best = key(0);
  int place = 0;
  for (int k = 1; k < count; ++k) {
    auto mine = key(k);
    if (last ? mine >= best : mine > best) {
      best = mine;
      place = k;
    }
  }
  return place;
}

/// Calls store(row, i, place) for i < count and each row, with the places of the largest keys of `columns`, key(row,
/// column), in descending order; of equal keys the first comes first, or with `last` the last. Each of `count` rounds
/// takes the largest key that comes after the previous one. All threads of the block come here.
template <int columns, int count, bool last, class KeyAt, class Store>
__device__ __forceinline__ void chooseInRows(int rows, KeyAt key, Store store) {
  int lane = threadIdx.x % 16, half = threadIdx.x / 16, halves = taskThreads() / 16;
  int rounds = (rows + halves - 1) / halves; // the same for all: they shuffle together
  using Key = decltype(key(0, 0));
  const auto comesFirst = [](Key a, int placeA, Key b, int placeB) {
    return a > b || (a == b && (last ? placeA > placeB : placeA < placeB));
  };
  for (int round = 0; round < rounds; ++round) {
    int row = round * halves + half;
    Key before = 0;
    int placeBefore = -1;
    for (int i = 0; i < count; ++i) {
      Key best = 0;
      int place = -1; // none yet
      for (int column = lane; row < rows && column < columns; column += 16) {
        Key mine = key(row, column);
        if (i > 0 && !comesFirst(before, placeBefore, mine, column))
          continue;
        if (place < 0 || comesFirst(mine, column, best, place)) {
          best = mine;
          place = column;
        }
      }
#pragma unroll
      for (int distance = 8; distance > 0; distance /= 2) {
        Key other = __shfl_xor_sync(0xffffffff, best, distance);
        int otherPlace = __shfl_xor_sync(0xffffffff, place, distance);
        if (otherPlace >= 0 && (place < 0 || comesFirst(other, otherPlace, best, place))) {
          best = other;
          place = otherPlace;
        }
      }
      if (row < rows && lane == 0)
        store(row, i, static_cast<long long>(place));
      before = best;
      placeBefore = place;
    }
  }
}

} // namespace tutti
