// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores a thread's results for neighbouring columns to memory, in as few and wide stores as they allow.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/half.cuh"
#include "tutti/memory.cuh"

namespace tutti {

/// n sums of neighbouring columns of a row; the first `count`, which may be none, lie in the matrix. The others are
/// processed, too, beside these and without a branch, but not stored.
template <int n> struct Neighbours {
  float sum[n];
  int count;
  /// The column of neighbour i, if the first one's is `first`; past the matrix' last column, the last.
  __device__ __forceinline__ int column(int first, int i) const { return first + (i < count ? i : count - 1); }
};
__device__ __forceinline__ Neighbours<1> alone(float sum) { return {{sum}, 1}; }

/// Reads columns(column), which all rows share, for n neighbouring columns: once, if registers have room for it, else
/// where it is needed.
template <int n, class Columns> __device__ __forceinline__ auto readColumns(Columns columns, int column, int count) {
  using One = decltype(columns(0));
  const Neighbours<n> place{{}, count};
  if constexpr (sizeof(One) <= 8) {
    struct {
      One of[n];
      __device__ __forceinline__ const One &operator[](int i) const { return of[i]; }
    } all;
#pragma unroll
    for (int i = 0; i < n; ++i)
      all.of[i] = columns(place.column(column, i));
    return all;
  } else {
    struct {
      Columns columns;
      int column;
      Neighbours<n> place;
      __device__ __forceinline__ One operator[](int i) const { return columns(place.column(column, i)); }
    } all{columns, column, place};
    return all;
  }
}

/// Calls f(first), f(first + 1) and so on for `count` parts of the sums, of `part` rows each. A part is shifted to the
/// front before its call, so that f is one piece of code and the sums stay in registers.
template <int count, int part, int all, int width, class F>
__device__ __forceinline__ void forParts(float (&sums)[all][width], int first, F f) {
  if constexpr (count == 1) {
    f(first);
  } else {
#pragma unroll 1
    for (int i = 0; i < count; i += count / 2) {
      forParts<count / 2, part>(sums, first + i, f);
#pragma unroll
      for (int j = 0; j < count / 2 * part; ++j)
#pragma unroll
        for (int e = 0; e < width; ++e)
          sums[j][e] = sums[count / 2 * part + j][e];
    }
  }
}

/// A value as memory holds it.
template <class To, class T> __device__ __forceinline__ To stored(T value) { return value; }
template <> __device__ __forceinline__ __nv_bfloat16 stored(float value) { return __float2bfloat16_rn(value); }
template <> __device__ __forceinline__ __half stored(float value) { return __float2half_rn(value); }

__device__ __forceinline__ uint32_t pairOf(__nv_bfloat16, float low, float high) { return packBfloat16(low, high); }
__device__ __forceinline__ uint32_t pairOf(__half, float low, float high) { return packHalf(low, high); }

/// Stores make(i) for each neighbour in the matrix to the elements from `at` on. `aligned`: n of them would start at a
/// multiple of n.
template <bool aligned, int n, class View, class Index, class Make>
__device__ __forceinline__ void storeNeighbours(const View &view, Index at, const Neighbours<n> &sums, Make make) {
  using T = typename View::Element;
  using Made = decltype(make(0));
  Made made[n] = {};
#pragma unroll
  for (int i = 0; i < n; ++i)
    made[i] = make(i);
  if (aligned && n > 1 && sums.count == n) {
    if constexpr (IsSame<T, float>::value && n % 4 == 0) {
#pragma unroll
      for (int i = 0; i < n; i += 4)
        view.store4(at + i, make_float4(made[i], made[i + 1], made[i + 2], made[i + 3]));
      return;
    } else if constexpr (IsSame<T, float>::value && n == 2) {
      view.store2(at, make_float2(made[0], made[1]));
      return;
    } else if constexpr (sizeof(T) == 2 && IsSame<Made, float>::value && n == 8) {
      const T type = {};
      view.template store<uint4>(at, make_uint4(pairOf(type, made[0], made[1]), pairOf(type, made[2], made[3]),
                                                pairOf(type, made[4], made[5]), pairOf(type, made[6], made[7])));
      return;
    } else if constexpr (sizeof(T) == 2 && IsSame<Made, float>::value && n == 4) {
      const T type = {};
      view.template store<uint2>(at, make_uint2(pairOf(type, made[0], made[1]), pairOf(type, made[2], made[3])));
      return;
    } else if constexpr (sizeof(T) == 2 && IsSame<Made, float>::value && n == 2) {
      view.template store<uint32_t>(at, pairOf(T(), made[0], made[1]));
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < n; ++i)
    if (i < sums.count)
      view[at + i] = stored<T>(made[i]);
}

/// Writes zeros to rows of 16-bit floats from column N to the next multiple of 16, since products take whole groups.
/// All threads of the task come here.
template <class T> __device__ __forceinline__ void zeroBeyond(const Shared<T> &rows, int count, int N, int stride) {
  int end = (N + 15) & ~15;
  for (int row = threadIdx.x; row < count && N < end; row += taskThreads())
    for (int column = N; column < end; ++column)
      rows[row * stride + column] = T{};
}

} // namespace tutti
