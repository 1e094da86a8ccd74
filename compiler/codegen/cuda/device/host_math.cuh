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
float roundf(float) noexcept;
double round(double) noexcept;
float copysignf(float, float) noexcept;
double copysign(double, double) noexcept;
float fmodf(float, float) noexcept;
double fmod(double, double) noexcept;
float fminf(float, float) noexcept;
double fmin(double, double) noexcept;
float fmaxf(float, float) noexcept;
double fmax(double, double) noexcept;
}

inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }

inline int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
inline float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
inline long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
inline double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }

namespace tutti {
/// PTX' cvt: what does not fit becomes the nearest integer that does; NaN becomes 0 between 32-bit types, else the top
/// bit.
template <class To, class From> To saturate(From value, To nan) {
  constexpr bool isSigned = To(-1) < To(0);
  constexpr To most = isSigned ? To(~(1ull << (sizeof(To) * 8 - 1))) : To(~0ull);
  constexpr To least = isSigned ? To(1ull << (sizeof(To) * 8 - 1)) : To(0);
  if (value != value)
    return nan;
  if (value >= From(most))
    return most;
  return value <= From(least) ? least : To(value);
}
} // namespace tutti

inline int __float2int_rz(float a) { return tutti::saturate<int>(a, 0); }
inline int __float2int_rn(float a) { return tutti::saturate<int>(__builtin_rintf(a), 0); }
inline unsigned __float2uint_rz(float a) { return tutti::saturate<unsigned>(a, 0); }
inline long long __float2ll_rz(float a) { return tutti::saturate<long long>(a, 1ll << 63); }
inline unsigned long long __float2ull_rz(float a) { return tutti::saturate<unsigned long long>(a, 1ull << 63); }
inline int __double2int_rz(double a) { return tutti::saturate<int>(a, 1 << 31); }
inline int __double2int_rn(double a) { return tutti::saturate<int>(__builtin_rint(a), 1 << 31); }
inline unsigned __double2uint_rz(double a) { return tutti::saturate<unsigned>(a, 1u << 31); }
inline long long __double2ll_rz(double a) { return tutti::saturate<long long>(a, 1ll << 63); }
inline unsigned long long __double2ull_rz(double a) { return tutti::saturate<unsigned long long>(a, 1ull << 63); }
inline float __int2float_rn(int a) { return float(a); }
inline float __uint2float_rn(unsigned a) { return float(a); }
inline float __ll2float_rn(long long a) { return float(a); }
inline float __ull2float_rn(unsigned long long a) { return float(a); }
inline double __int2double_rn(int a) { return a; }
inline double __ll2double_rn(long long a) { return double(a); }
inline float __double2float_rn(double a) { return float(a); }

inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __clz(int a) { return a ? __builtin_clz(unsigned(a)) : 32; }
inline int __clzll(long long a) { return a ? __builtin_clzll((unsigned long long)(a)) : 64; }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)(a)*b >> 32); }
inline int __mulhi(int a, int b) { return int((long long)(a)*b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)(a)*b >> 64);
}
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)(a)*b >> 64); }

inline int abs(int a) { return a < 0 ? -a : a; }
inline long long llabs(long long a) { return a < 0 ? -a : a; }

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
