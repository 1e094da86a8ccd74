// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of sums in registers, of any rank.
#pragma once

#include "tutti/base.cuh"

namespace tutti {

__device__ __forceinline__ void fill(float &sum, float value) { sum = value; }
template <class T, int n> __device__ __forceinline__ void fill(T (&sums)[n], float value) {
#pragma unroll
  for (int i = 0; i < n; ++i)
    fill(sums[i], value);
}

__device__ __forceinline__ void addTo(float &total, float sum) { total = total + sum; }
template <class T, int n> __device__ __forceinline__ void addTo(T (&total)[n], const T (&sums)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i)
    addTo(total[i], sums[i]);
}

__device__ __forceinline__ void addToAll(float &total, float value) { total = total + value; }
template <class T, int n> __device__ __forceinline__ void addToAll(T (&total)[n], float value) {
#pragma unroll
  for (int i = 0; i < n; ++i)
    addToAll(total[i], value);
}

} // namespace tutti
