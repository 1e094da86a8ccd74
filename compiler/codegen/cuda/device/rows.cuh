// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction's left operand: rows of K floats in memory, element by element.
#pragma once

#include "tutti/half.cuh"
#include "tutti/memory.cuh"

namespace tutti {

/// Rows in shared or global memory, `stride` floats apart.
template <class View> struct Rows {
  View view;
  int stride;
  __device__ __forceinline__ float at(int row, int k) const { return view[row * stride + k]; }
  /// The elements k to k + 3, k a multiple of four: at once, if rows lie so that this is possible.
  __device__ __forceinline__ float4 four(int row, int k) const {
    if (stride % 4 == 0)
      return view.load4(row * stride + k);
    return make_float4(at(row, k), at(row, k + 1), at(row, k + 2), at(row, k + 3));
  }
};

/// Rows of K floats in shared memory from byte `to` on, where four neighbours are one load: copied from where they
/// lie side by side. All threads of the block come here.
template <int K, int to, class View>
__device__ __forceinline__ Rows<Shared<float>> copiedRows(int rows, const View &from) {
  constexpr int stride = (K + 3) / 4 * 4;
  const Rows<Shared<float>> copy{shared<float>(to, rows * stride), stride};
  for (int i = threadIdx.x; i < rows * K; i += blockDim.x)
    copy.view[i / K * stride + i % K] = from[i];
  __syncthreads(); // all rows are there
  return copy;
}

/// The same rows as 16-bit floats, in shared memory.
template <class View> struct NarrowRows {
  View view;
  int stride;
  __device__ __forceinline__ float at(int row, int k) const { return asFloat(view[row * stride + k]); }

private:
  __device__ __forceinline__ static float asFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
  __device__ __forceinline__ static float asFloat(__half x) { return __half2float(x); }
};

} // namespace tutti
