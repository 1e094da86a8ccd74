// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction's left operand: rows of K floats in memory, element by element.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/half.cuh"
#include "tutti/memory.cuh"
#include "tutti/store.cuh"

namespace tutti {

/// Rows in shared or global memory, `stride` floats apart.
template <class View> struct Rows {
  View view;
  int stride;
  __device__ __forceinline__ float at(int row, int k) const { return view[row * stride + k]; }
  /// The elements k to k + 3, k a multiple of four, by one load if the stride allows it.
  __device__ __forceinline__ float4 four(int row, int k) const {
    if (stride % 4 == 0)
      return view.load4(row * stride + k);
    return make_float4(at(row, k), at(row, k + 1), at(row, k + 2), at(row, k + 3));
  }
};

/// Copies rows of K floats, which lie side by side, to shared memory from byte `to` on, at a pitch where four
/// neighbours are one load. All threads of the block come here.
template <int K, int to, class View>
__device__ __forceinline__ Rows<Shared<float>> copiedRows(int rows, const View &from) {
  constexpr int stride = (K + 3) / 4 * 4;
  const Rows<Shared<float>> copy{shared<float>(to, rows * stride), stride};
  for (int i = threadIdx.x; i < rows * K; i += taskThreads())
    copy.view[i / K * stride + i % K] = from[i];
  taskSync(); // all rows are there
  return copy;
}

/// readUnit reads one float or four neighbours from `at` on; storeNarrow stores them as 16-bit floats.
template <int unit, class View> __device__ __forceinline__ void readUnit(float (&x)[unit], const View &from, int at) {
  if constexpr (unit == 4) {
    float4 four = from.load4(at);
    x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
  } else {
    x[0] = from[at];
  }
}
template <int unit, class T>
__device__ __forceinline__ void storeNarrow(const Shared<T> &to, int at, const float (&x)[unit]) {
  if constexpr (unit == 4)
    to.template store<uint2>(at, make_uint2(pairOf(T(), x[0], x[1]), pairOf(T(), x[2], x[3])));
  else
    to[at] = stored<T>(x[0]);
}

/// Converts rows of K floats to 16-bit floats in shared memory, `stride` apart, with zeros to the next multiple of 16.
/// All threads of the task come here; each loads `atOnce` elements, or fours where K is a multiple of four, before it
/// stores the first.
template <int K, int stride, int atOnce, class T, class View>
__device__ __forceinline__ void narrowRows(const Shared<T> &to, int rows, const View &from) {
  constexpr int unit = K % 4 == 0 ? 4 : 1, units = K / unit;
  int all = rows * units, threads = taskThreads();
#pragma unroll 1
  for (int first = threadIdx.x; first < all; first += atOnce * threads) {
    float x[atOnce][unit];
    int at[atOnce]; // past the end, the first once more: a branch would separate the loads
#pragma unroll
    for (int i = 0; i < atOnce; ++i) {
      at[i] = first + i * threads < all ? first + i * threads : first;
      readUnit(x[i], from, at[i] * unit);
    }
    keepLoadsBefore();
#pragma unroll
    for (int i = 0; i < atOnce; ++i)
      storeNarrow(to, at[i] / units * stride + at[i] % units * unit, x[i]);
  }
  zeroBeyond(to, rows, K, stride);
}

/// The same for rows so long that a warp has one at a time: each lane loads its elements of `rowsAtOnce` rows before it
/// stores the first.
template <int K, int stride, int rowsAtOnce, class T, class View>
__device__ __forceinline__ void narrowLongRows(const Shared<T> &to, int rows, const View &from) {
  constexpr int unit = K % 4 == 0 ? 4 : 1, units = K / unit, turns = (units + 31) / 32;
  static_assert(units >= 32, "each lane has something");
  int lane = threadIdx.x % 32, warps = taskThreads() / 32;
  int last =
      (turns - 1) * 32 + lane < units ? (turns - 1) * 32 + lane : lane; // a lane past the end has its first once more
#pragma unroll 1
  for (int first = threadIdx.x / 32; first < rows; first += rowsAtOnce * warps) {
    float x[rowsAtOnce][turns][unit];
#pragma unroll
    for (int i = 0; i < rowsAtOnce; ++i) {
      int row = first + i * warps < rows ? first + i * warps : first;
#pragma unroll
      for (int j = 0; j < turns; ++j)
        readUnit(x[i][j], from, row * K + (j + 1 < turns ? j * 32 + lane : last) * unit);
    }
    keepLoadsBefore();
#pragma unroll
    for (int i = 0; i < rowsAtOnce; ++i) {
      int row = first + i * warps < rows ? first + i * warps : first;
#pragma unroll
      for (int j = 0; j < turns; ++j)
        storeNarrow(to, row * stride + (j + 1 < turns ? j * 32 + lane : last) * unit, x[i][j]);
    }
  }
  zeroBeyond(to, rows, K, stride);
}

/// Rows of 16-bit floats in shared memory, read as floats.
template <class View> struct NarrowRows {
  View view;
  int stride;
  __device__ __forceinline__ float at(int row, int k) const { return asFloat(view[row * stride + k]); }

private:
  __device__ __forceinline__ static float asFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
  __device__ __forceinline__ static float asFloat(__half x) { return __half2float(x); }
};

} // namespace tutti
