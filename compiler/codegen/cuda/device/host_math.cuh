// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: the scalar functions of CUDA that kernel text may call, bit for bit where CUDA defines the bits.
#pragma once

#include "tutti/integers.cuh"

// No transcendental function is here: kernel text brings its own (docs/numerics.md).
extern "C" {
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
float sqrtf(float) noexcept;
double sqrt(double) noexcept;
float fabsf(float) noexcept;
double fabs(double) noexcept;
float floorf(float) noexcept;
double floor(double) noexcept;
float ceilf(float) noexcept;
double ceil(double) noexcept;
float truncf(float) noexcept;
double trunc(double) noexcept;
float rintf(float) noexcept;
double rint(double) noexcept;
float copysignf(float, float) noexcept;
double copysign(double, double) noexcept;
}

inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }

inline int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
inline float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
inline long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
inline double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }

namespace tutti {
/// PTX' cvt to 64 bits: what does not fit becomes the nearest integer that does; NaN becomes the top bit.
template <class From> long long saturate(From value) {
  constexpr long long least = 1ll << 63, most = ~least;
  return value >= From(most) ? most : value > From(least) ? (long long)(value) : least;
}
} // namespace tutti

inline long long __float2ll_rz(float a) { return tutti::saturate(a); }
inline long long __double2ll_rz(double a) { return tutti::saturate(a); }
inline float __double2float_rn(double a) { return float(a); }

inline int abs(int a) { return a < 0 ? -a : a; }

#define TUTTI_MIN_MAX(T)                                                                                               \
  inline T min(T a, T b) { return b < a ? b : a; }                                                                     \
  inline T max(T a, T b) { return a < b ? b : a; }
TUTTI_MIN_MAX(int)
TUTTI_MIN_MAX(unsigned)
TUTTI_MIN_MAX(long)
TUTTI_MIN_MAX(unsigned long)
TUTTI_MIN_MAX(long long)
TUTTI_MIN_MAX(unsigned long long)
#undef TUTTI_MIN_MAX
