// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Math functions by the special-function units, for precisions of fewer bits: about two units of float32's last place
// where no other bound is given. On the emulated device they are exact functions, rounded; bits differ from one device
// to another.
#pragma once

#include "tutti/base.cuh"

#if !TUTTI_ON_DEVICE
extern "C" {
float exp2f(float) noexcept;
float log2f(float) noexcept;
float tanhf(float) noexcept;
}
#endif

namespace tutti {

#if TUTTI_ON_DEVICE
#define TUTTI_SPECIAL(name, instruction, twin)                                                                         \
  __device__ __forceinline__ float name(float x) {                                                                     \
    float y;                                                                                                           \
    asm(instruction " %0, %1;" : "=f"(y) : "f"(x));                                                                    \
    return y;                                                                                                          \
  }
#else
#define TUTTI_SPECIAL(name, instruction, twin)                                                                         \
  inline float name(float x) { return twin; }
#endif
TUTTI_SPECIAL(fastExp2, "ex2.approx.ftz.f32", exp2f(x))
TUTTI_SPECIAL(fastLog2, "lg2.approx.ftz.f32", log2f(x))
TUTTI_SPECIAL(fastReciprocal, "rcp.approx.ftz.f32", 1.0f / x)
/// Accurate to 11 bits.
TUTTI_SPECIAL(fastTanh, "tanh.approx.f32", tanhf(x))
#undef TUTTI_SPECIAL

__device__ __forceinline__ float fastExp(float x) { return fastExp2(x * 0x1.715476p+0f); }
__device__ __forceinline__ float fastLog(float x) { return fastLog2(x) * 0x1.62e43p-1f; }
/// 1 / (1 + e^-x)
__device__ __forceinline__ float fastLogistic(float x) { return fastReciprocal(1.0f + fastExp2(x * -0x1.715476p+0f)); }
/// The logistic function to 2^-12, for a gate, which multiplies x: one special function instead of two.
__device__ __forceinline__ float fastGate(float x) { return __fmaf_rn(fastTanh(x * 0.5f), 0.5f, 0.5f); }
/// ln(1 + e^x)
__device__ __forceinline__ float fastLog1pExp(float x) {
  float e = fastExp2(fabsf(x) * -0x1.715476p+0f);
  float rest = e < 0x1p-12f ? e : fastLog2(1.0f + e) * 0x1.62e43p-1f; // where 1 + e has lost the bits of e
  return (x < 0.0f ? 0.0f : x) + rest;
}
/// tanh(ln(1 + e^x))
__device__ __forceinline__ float fastMishGate(float x) {
  float e = fastExp2((x > 30.0f ? 30.0f : x) * 0x1.715476p+0f), n = e * (e + 2.0f);
  return n * fastReciprocal(n + 2.0f);
}

} // namespace tutti
