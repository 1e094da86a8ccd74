// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: CUDA's function specifiers and vector types, as the host's compiler understands them.
#pragma once

#include "tutti/integers.cuh"

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __forceinline__ inline // unoptimised, a call costs less than a copy takes to compile
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

#define TUTTI_VECTOR2(T, name, alignment)                                                                              \
  struct __align__(alignment) name {                                                                                   \
    T x, y;                                                                                                            \
  };                                                                                                                   \
  inline name make_##name(T x, T y) { return {x, y}; }
#define TUTTI_VECTOR4(T, name, alignment)                                                                              \
  struct __align__(alignment) name {                                                                                   \
    T x, y, z, w;                                                                                                      \
  };                                                                                                                   \
  inline name make_##name(T x, T y, T z, T w) { return {x, y, z, w}; }

TUTTI_VECTOR2(signed char, char2, 2)
TUTTI_VECTOR4(signed char, char4, 4)
TUTTI_VECTOR2(unsigned char, uchar2, 2)
TUTTI_VECTOR4(unsigned char, uchar4, 4)
TUTTI_VECTOR2(short, short2, 4)
TUTTI_VECTOR4(short, short4, 8)
TUTTI_VECTOR2(unsigned short, ushort2, 4)
TUTTI_VECTOR4(unsigned short, ushort4, 8)
TUTTI_VECTOR2(int, int2, 8)
TUTTI_VECTOR4(int, int4, 16)
TUTTI_VECTOR2(unsigned, uint2, 8)
TUTTI_VECTOR4(unsigned, uint4, 16)
TUTTI_VECTOR2(float, float2, 8)
TUTTI_VECTOR4(float, float4, 16)
TUTTI_VECTOR2(long long, longlong2, 16)
TUTTI_VECTOR2(unsigned long long, ulonglong2, 16)
TUTTI_VECTOR2(double, double2, 16)

#undef TUTTI_VECTOR2
#undef TUTTI_VECTOR4

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
