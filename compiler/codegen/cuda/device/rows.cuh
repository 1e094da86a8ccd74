// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction's left operand: rows of K floats in memory, element by element.
#pragma once

#include "tutti/half.cuh"
#include "tutti/memory.cuh"

namespace tutti {

/// Rows in shared or global memory, `stride` floats apart.
template <int K, int stride, class View> struct Rows {
  View view;
  __device__ __forceinline__ float at(int row, int k) const { return view[row * stride + k]; }
};

/// The same rows as 16-bit floats, in shared memory.
template <int K, int stride, class View> struct NarrowRows {
  View view;
  __device__ __forceinline__ float at(int row, int k) const { return asFloat(view[row * stride + k]); }

private:
  __device__ __forceinline__ static float asFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
  __device__ __forceinline__ static float asFloat(__half x) { return __half2float(x); }
};

} // namespace tutti
