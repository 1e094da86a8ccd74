// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The 16-bit float types: storage and conversions, by CUDA's names. (NVRTC's wheel does not bring cuda_fp16.h.)
#pragma once

#include "tutti/base.cuh"

struct __align__(2) __half {
  unsigned short bits;
};

struct __align__(2) __nv_bfloat16 {
  unsigned short bits;
};

/// Rounds to nearest, ties to even.
__device__ __forceinline__ __half __float2half_rn(float value) {
#if TUTTI_ON_DEVICE
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return {bits};
#else
  return {__builtin_bit_cast(unsigned short, _Float16(value))};
#endif
}

__device__ __forceinline__ float __half2float(__half value) {
#if TUTTI_ON_DEVICE
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
#else
  return float(__builtin_bit_cast(_Float16, value.bits));
#endif
}

/// Rounds to nearest, ties to even; every NaN becomes 0x7fff, as PTX' cvt does from sm_80 on.
__device__ __forceinline__ __nv_bfloat16 __float2bfloat16_rn(float value) {
  unsigned bits = __float_as_uint(value);
  if (value != value)
    return {0x7fff};
  return {static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

__device__ __forceinline__ float __bfloat162float(__nv_bfloat16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

namespace tutti {

/// Two rounded values in a register, `low` in the lower half: as tensor-core fragments hold them.
#if TUTTI_ON_DEVICE && TUTTI_CAPABILITY >= 80
__device__ __forceinline__ uint32_t packHalf(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ __forceinline__ uint32_t packBfloat16(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
#else
__device__ __forceinline__ uint32_t packHalf(float low, float high) {
  return __float2half_rn(low).bits | static_cast<uint32_t>(__float2half_rn(high).bits) << 16;
}
__device__ __forceinline__ uint32_t packBfloat16(float low, float high) {
  return __float2bfloat16_rn(low).bits | static_cast<uint32_t>(__float2bfloat16_rn(high).bits) << 16;
}

#endif

} // namespace tutti
