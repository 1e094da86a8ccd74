// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a contraction's left operand comes from: rows of K floats in memory, or the pieces of them in a ring's stage.
#pragma once

#include "tutti/async.cuh"
#include "tutti/bulk.cuh"
#include "tutti/half.cuh"
#include "tutti/memory.cuh"

namespace tutti {

/// Rows in shared or global memory, `stride` floats apart and 16 bytes aligned where that is a multiple of four.
template <int K, int stride, class View> struct Rows {
  View view;

  __device__ __forceinline__ float at(int row, int k) const { return view[row * stride + k]; }
  /// The elements k to k + 3, k a multiple of four; those past K are 0.
  __device__ __forceinline__ float4 four(int, int row, int k) const {
    if (stride % 4 == 0 && k + 4 <= K)
      return view.load4(row * stride + k);
    float4 v = make_float4(0, 0, 0, 0);
    if (k < K)
      v.x = view[row * stride + k];
    if (k + 1 < K)
      v.y = view[row * stride + k + 1];
    if (k + 2 < K)
      v.z = view[row * stride + k + 2];
    if (k + 3 < K)
      v.w = view[row * stride + k + 3];
    return v;
  }
  // Nothing of them comes through the ring.
  // Nothing of them comes through a ring.
  __device__ __forceinline__ void bring(int, int, int) const {}
  __device__ __forceinline__ int bytes(int, int) const { return 0; }
  template <class Barrier> __device__ __forceinline__ void bringInBulk(int, int, int, Barrier) const {}
};

/// The same rows as 16-bit floats, in shared memory. Four neighbours are two pairs.
template <int K, int stride, class View> struct NarrowRows {
  View view;

  __device__ __forceinline__ float at(int row, int k) const { return asFloat(view[row * stride + k]); }
  __device__ __forceinline__ uint2 four(int, int row, int k) const {
    if (k + 4 <= K)
      return view.template load<uint2>(row * stride + k);
    uint2 v = make_uint2(0, 0);
    if (k < K)
      v.x = bits(row, k);
    if (k + 1 < K)
      v.x |= bits(row, k + 1) << 16;
    if (k + 2 < K)
      v.y = bits(row, k + 2);
    return v;
  }
  __device__ __forceinline__ void bring(int, int, int) const {}
  __device__ __forceinline__ int bytes(int, int) const { return 0; }
  template <class Barrier> __device__ __forceinline__ void bringInBulk(int, int, int, Barrier) const {}

private:
  using Element = typename View::Element;
  __device__ __forceinline__ uint32_t bits(int row, int k) const {
    Element e = view[row * stride + k];
    return e.bits;
  }
  __device__ __forceinline__ static float asFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
  __device__ __forceinline__ static float asFloat(__half x) { return __half2float(x); }
};

/// Rows in global memory, of which each stage has `columns`, rows an odd number of 16 floats apart: lanes that read four neighbours
/// in each of two rows meet different banks.
template <int K, int mostRows, int columns, class View> struct StreamedRows {
  static constexpr int pitch = columns + 16;
  View view;

  __device__ __forceinline__ float at(int row, int k) const { return view[row * K + k]; }
  __device__ __forceinline__ float4 four(int stage, int row, int k) const {
    const Shared<float> s = shared<float>(stage, mostRows * pitch);
    int at = row * pitch + k % columns;
    if (k + 4 <= K)
      return s.load4(at);
    float4 v = make_float4(0, 0, 0, 0);
    if (k < K)
      v.x = s[at];
    if (k + 1 < K)
      v.y = s[at + 1];
    if (k + 2 < K)
      v.z = s[at + 2];
    return v;
  }
  /// This thread's part of the columns from `k` on of `rows` rows, to byte `stage` of shared memory.
  __device__ __forceinline__ void bring(int stage, int k, int rows) const {
    const Shared<float> s = shared<float>(stage, mostRows * pitch);
    constexpr int unit = K % 4 == 0 ? 4 : 1; // rows of another length are not aligned
    for (int i = threadIdx.x * unit; i < rows * columns; i += blockDim.x * unit) {
      int row = i / columns, column = i % columns;
      if (k + column < K)
        __pipeline_memcpy_async(&s[row * pitch + column], &view[row * K + k + column], unit * 4);
    }
  }

#if TUTTI_CAPABILITY >= 90
  /// In bulk, by the lanes of a warp; `bytes` of them, rows of a multiple of four elements only.
  __device__ __forceinline__ static int bytes(int k, int rows) { return rows * columnsFrom(k) * 4; }
  template <class Barrier> __device__ __forceinline__ void bringInBulk(int stage, int k, int rows, Barrier barrier) const {
    const Shared<float> s = shared<float>(stage, mostRows * pitch);
    for (int row = threadIdx.x % 32; row < rows; row += 32)
      bulkCopy(&s[row * pitch], &view[row * K + k], columnsFrom(k) * 4, barrier);
  }

private:
  __device__ __forceinline__ static int columnsFrom(int k) { return K - k < columns ? K - k : columns; }
#endif
};

} // namespace tutti
