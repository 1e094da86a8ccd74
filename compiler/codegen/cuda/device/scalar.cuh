// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar operations with the meaning of docs/numerics.md, which CUDA's own lack.
#pragma once

#include "tutti/base.cuh"
#include "tutti/half.cuh"

namespace tutti {

/// The maximum of IEEE 754-2019: a NaN stays one, -0 < +0.
template <class T> __device__ __forceinline__ T maximum(T a, T b) {
  if (a == b)
    return copysign(T(1), a) < 0 ? b : a;
  return a > b || a != a ? a : b;
}
/// The minimum of IEEE 754-2019.
template <class T> __device__ __forceinline__ T minimum(T a, T b) {
  if (a == b)
    return copysign(T(1), a) < 0 ? a : b;
  return a < b || a != a ? a : b;
}
#if TUTTI_ON_DEVICE && TUTTI_CAPABILITY >= 80
template <> __device__ __forceinline__ float maximum(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
template <> __device__ __forceinline__ float minimum(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
#endif
// For integers, so that a caller need not know the element type.
template <> __device__ __forceinline__ int maximum(int a, int b) { return a > b ? a : b; }
template <> __device__ __forceinline__ int minimum(int a, int b) { return a < b ? a : b; }
template <> __device__ __forceinline__ short maximum(short a, short b) { return a > b ? a : b; }
template <> __device__ __forceinline__ short minimum(short a, short b) { return a < b ? a : b; }
template <> __device__ __forceinline__ signed char maximum(signed char a, signed char b) { return a > b ? a : b; }
template <> __device__ __forceinline__ signed char minimum(signed char a, signed char b) { return a < b ? a : b; }
template <> __device__ __forceinline__ long long maximum(long long a, long long b) { return a > b ? a : b; }
template <> __device__ __forceinline__ long long minimum(long long a, long long b) { return a < b ? a : b; }
template <> __device__ __forceinline__ bool maximum(bool a, bool b) { return a || b; }
template <> __device__ __forceinline__ bool minimum(bool a, bool b) { return a && b; }

/// Truncates a float that is known to fit.
template <class To> __device__ __forceinline__ To truncated(float x) { return static_cast<To>(__float2ll_rz(x)); }
template <class To> __device__ __forceinline__ To truncated(double x) { return static_cast<To>(__double2ll_rz(x)); }

/// Makes an index of a gather or a scatter a place below `length`: a negative one counts from the end, and the result
/// is clamped.
__device__ __forceinline__ int inRange(long long index, long long length) {
  const long long wrapped = index < 0 ? index + length : index;
  return int(wrapped < 0 ? 0 : wrapped < length ? wrapped : length - 1);
}

/// Remainder and quotient that round down, for a positive divisor.
template <class T> __device__ __forceinline__ T floorRemainder(T a, Same<T> b) {
  const T rest = a % b;
  return rest < 0 ? rest + b : rest;
}
template <class T> __device__ __forceinline__ T floorQuotient(T a, Same<T> b) { return (a - floorRemainder(a, b)) / b; }

/// Modulo 2^width, also for signed integers; the rounded result for floats.
template <class T> __device__ __forceinline__ T plus(T a, T b) { return a + b; }
template <> __device__ __forceinline__ int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
template <> __device__ __forceinline__ long long plus(long long a, long long b) {
  return static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}
template <class T> __device__ __forceinline__ T times(T a, T b) { return a * b; }
template <> __device__ __forceinline__ int times(int a, int b) { return int(unsigned(a) * unsigned(b)); }
template <> __device__ __forceinline__ long long times(long long a, long long b) {
  return static_cast<long long>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b));
}
/// sum + a b, rounded once for floats.
__device__ __forceinline__ float multiplyAdd(float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
__device__ __forceinline__ double multiplyAdd(double a, double b, double sum) { return __fma_rn(a, b, sum); }
template <class T> __device__ __forceinline__ T multiplyAdd(T a, T b, T sum) {
  return static_cast<T>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b) +
                        static_cast<unsigned long long>(sum));
}
/// sum + the products of a's four bytes, which are unsigned, with b's, which are signed.
__device__ __forceinline__ int multiplyAddBytes(int a, int b, int sum) {
#pragma unroll
  for (int shift = 0; shift < 32; shift += 8)
    sum = plus(sum, (a >> shift & 255) * static_cast<signed char>(b >> shift));
  return sum;
}

/// The sum of no elements, to which another sum is added: -0 + s is s, whatever s is.
template <class T> __device__ __forceinline__ T noSum() { return T(0); }
template <> __device__ __forceinline__ float noSum<float>() { return -0.0f; }
template <> __device__ __forceinline__ double noSum<double>() { return -0.0; }

/// The chain rule: `count` terms in chunks, each an ascending chain from +0, the chunks' sums added in ascending order.
/// term(k, sum) adds the k-th term. Of many terms only a few at a time are unrolled: the compiler would load a whole
/// chunk's elements together, which are more than a thread's registers.
template <int count, int chunk, class T, class Term> __device__ __forceinline__ T chainSum(Term term) {
  constexpr int together = count <= 64 ? count : 8;
  T total = noSum<T>();
#pragma unroll 1
  for (int from = 0; from < count; from += chunk) {
    T sum = T(0);
#pragma unroll together
    for (int k = from; k < from + chunk && k < count; ++k)
      sum = term(k, sum);
    total = plus(total, sum);
  }
  return total;
}

} // namespace tutti
