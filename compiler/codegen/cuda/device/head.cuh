// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads: one answer of the active members, read in the order of the set (docs/numerics.md, "Heads").
#pragma once

#include "tutti/memory.cuh"
#include "tutti/scalar.cuh"

namespace tutti {

/// Whether this block is the last of `count` to come here with this ticket; whoever is leaves it at zero. What the other blocks
/// have written before is visible then. All threads of the block come here.
__device__ __forceinline__ bool isLastOf(int count, Global<unsigned> tickets, int ticket, Shared<int> flag) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    bool last = atomicAdd(&tickets[ticket], 1u) + 1 == unsigned(count);
    if (last)
      tickets[ticket] = 0;
    flag[0] = last;
  }
  __syncthreads();
  __threadfence();
  return flag[0] != 0;
}

/// A floating type's number of members.
template <class T, class At> __device__ __forceinline__ T meanOf(int count, At at) {
  T sum = T(0);
  for (int m = 0; m < count; ++m)
    sum = sum + T(at(m));
  return sum / T(count);
}
template <class T, class At> __device__ __forceinline__ T varOf(int count, At at) {
  T mean = meanOf<T>(count, at), sum = T(0);
  for (int m = 0; m < count; ++m) {
    T distance = T(at(m)) - mean;
    sum = sum + distance * distance;
  }
  return sum / T(count);
}
__device__ __forceinline__ float squareRoot(float x) { return __fsqrt_rn(x); }
__device__ __forceinline__ double squareRoot(double x) { return __dsqrt_rn(x); }
template <class T, class At> __device__ __forceinline__ T stdOf(int count, At at) { return squareRoot(varOf<T>(count, at)); }
template <class T, class At> __device__ __forceinline__ T maxOf(int count, At at) {
  T best = at(0);
  for (int m = 1; m < count; ++m)
    best = maximum(best, T(at(m)));
  return best;
}
template <class T, class At> __device__ __forceinline__ T minOf(int count, At at) {
  T best = at(0);
  for (int m = 1; m < count; ++m)
    best = minimum(best, T(at(m)));
  return best;
}

/// The value of rank `rank` in ascending order, -0 before +0: the one with so many before it, ties in the order of the set.
template <class T, class At> __device__ __forceinline__ T ranked(int count, int rank, At at) {
  for (int m = 0; m < count; ++m) {
    T mine = T(at(m));
    int before = 0;
    for (int other = 0; other < count; ++other) {
      T theirs = T(at(other));
      bool negativeZero = theirs == mine && copysign(T(1), theirs) < copysign(T(1), mine);
      bool positiveZero = theirs == mine && copysign(T(1), theirs) > copysign(T(1), mine);
      before += theirs < mine || negativeZero || (theirs == mine && !positiveZero && other < m);
    }
    if (before == rank)
      return mine;
  }
  return T(at(0));
}
/// Linear between the two nearest ranks; NaN if a member is.
template <class T, class At> __device__ __forceinline__ T quantileOf(int count, double q, At at) {
  for (int m = 0; m < count; ++m)
    if (T(at(m)) != T(at(m)))
      return T(at(m));
  double place = double(count - 1) * q;
  int below = int(place);
  T low = ranked<T>(count, below, at);
  T high = ranked<T>(count, below + 1 < count ? below + 1 : count - 1, at);
  T part = T(place - double(below));
  return low == high ? low : low + (high - low) * part;
}

/// The most frequent value, of equally frequent ones the smallest.
template <class T, class At> __device__ __forceinline__ T mostFrequent(int count, At at) {
  T best = at(0);
  int most = 0;
  for (int m = 0; m < count; ++m) {
    T mine = at(m);
    int votes = 0;
    for (int other = 0; other < count; ++other)
      votes += at(other) == mine;
    if (votes > most || (votes == most && mine < best)) {
      best = mine;
      most = votes;
    }
  }
  return best;
}
/// The place of a row's largest element, the first of equal ones; the first NaN if there is one.
template <class At> __device__ __forceinline__ int placeOfLargest(int columns, At at) {
  auto best = at(0);
  int place = 0;
  for (int column = 1; column < columns; ++column) {
    auto value = at(column);
    if (value > best || (value != value && best == best)) {
      best = value;
      place = column;
    }
  }
  return place;
}

} // namespace tutti
