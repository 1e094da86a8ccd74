// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products on tensor cores: what they round, how a lane's share of 16 rows, 16 k and 8 columns becomes fragments, and
// which instructions multiply them in which order (docs/numerics.md, "Tensor cores").
#pragma once

#include "tutti/mma.cuh"

namespace tutti {

/// Rounds to nearest, ties away from zero; tensor cores read the upper 19 bits only. (cvt.rna clears the others, too.)
__device__ __forceinline__ uint32_t roundTf32(float x) {
  return __float_as_uint(x) + (fabsf(x) < __uint_as_float(0x7f800000) ? 0x1000 : 0);
}

/// The weight in a word of the layout matrices.f32 (runtime/schema/Layout.h).
__device__ __forceinline__ float weightOf(uint32_t word) { return __uint_as_float(word - 0x1000); }

// A product sums in chunks of 16 k or in one chain, and takes `words` registers of weights a lane for 16 k of a tile.
// Devices whose tensor cores cannot do it use plain numbers: rounded(x) is a rounded element of the rows, weight(word,
// part) is element `part` (of `parts`) of a word.

struct Float32Words {
  static constexpr bool chunked = true;
  static constexpr int words = 4, parts = 1;
  __device__ __forceinline__ static float weight(uint32_t word, int) { return weightOf(word); }
  __device__ __forceinline__ static float rounded(float x) { return x; }
};
struct Tf32Words {
  static constexpr bool chunked = false;
  static constexpr int words = 4, parts = 1;
  __device__ __forceinline__ static float weight(uint32_t word, int) { return __uint_as_float(word); }
  __device__ __forceinline__ static float rounded(float x) { return __uint_as_float(roundTf32(x) & 0xffffe000); }
};
struct Bfloat16Words {
  static constexpr bool chunked = false;
  static constexpr int words = 2, parts = 2;
  __device__ __forceinline__ static float weight(uint32_t word, int part) {
    return __bfloat162float({static_cast<unsigned short>(word >> part * 16)});
  }
  __device__ __forceinline__ static float rounded(float x) { return __bfloat162float(__float2bfloat16_rn(x)); }
#if TUTTI_CAPABILITY >= 80
  __device__ __forceinline__ static uint32_t pair(float low, float high) { return packBfloat16(low, high); }
  __device__ __forceinline__ static void mma(float (&sum)[4], const uint32_t (&left)[4], const uint32_t (&right)[2]) {
    mmaBf16(sum, left, right);
  }
#endif
};
struct HalfWords {
  static constexpr bool chunked = false;
  static constexpr int words = 2, parts = 2;
  __device__ __forceinline__ static float weight(uint32_t word, int part) {
    return __half2float({static_cast<unsigned short>(word >> part * 16)});
  }
  __device__ __forceinline__ static float rounded(float x) { return __half2float(__float2half_rn(x)); }
#if TUTTI_CAPABILITY >= 80
  __device__ __forceinline__ static uint32_t pair(float low, float high) { return packHalf(low, high); }
  __device__ __forceinline__ static void mma(float (&sum)[4], const uint32_t (&left)[4], const uint32_t (&right)[2]) {
    mmaF16(sum, left, right);
  }
#endif
};

} // namespace tutti

#if TUTTI_CAPABILITY >= 80

// Fragments of a group of 16 k. An instruction's k may be any permutation that both operands share: with floats, lane 4
// g + t has the k 4 t to 4 t + 3, which it reads at once; with 16 bits it has those of PTX, 2 t, 2 t + 1, 2 t + 8 and 2
// t + 9, as ldmatrix gives them. firstK(t) is the first of them. left(g, g8) is made of the rows g and g + 8;
// multiply(step) adds one of `steps` instructions, which independent sums take in turn.

namespace tutti {

/// Splits an element of the rows into x = high + low, both as TF32. High is x rounded to 11 bits, computed as 8193 x
/// less 8192 x in the pipe that has least else to do (Dekker, A floating-point technique for extending the available
/// precision, Numerische Mathematik 18, 1971). The instruction reads the upper 19 bits of low. Where 8193 x is not
/// finite, neither is a sum that x goes into: such sums are recomputed (again.cuh) with `all`, which then rounds high
/// as an integer. A value that is infinite or NaN, or would become infinite, goes into the low part alone, which meets
/// the other operand's high part only: an infinity times a low part, which may be 0 or of the other sign, would be a
/// NaN.
template <bool all> __device__ __forceinline__ void split(float x, uint32_t &high, uint32_t &low) {
  float h = __fmaf_rn(x, -8192.0f, x * 8193.0f);
  if constexpr (all)
    if (!(fabsf(h) < __uint_as_float(0x7f800000)))
      h = fabsf(x) < __uint_as_float(0x7f7ff000) ? __uint_as_float((__float_as_uint(x) + 0x1000) & 0xffffe000) : 0;
  high = __float_as_uint(h);
  low = __float_as_uint(x - h);
}

/// The same for an element of a weight, a word of the layout matrices.f32. High is the word as tensor cores read it:
/// the float rounded to nearest, ties away from zero. So warpgroups use the words in shared memory as they came.
__device__ __forceinline__ uint32_t lowOfWeight(uint32_t word) {
  return __float_as_uint(weightOf(word) - __uint_as_float(word & 0xffffe000));
}
template <bool all> __device__ __forceinline__ void splitWeight(uint32_t word, uint32_t &high, uint32_t &low) {
  bool quick = !all || fabsf(weightOf(word)) < __uint_as_float(0x7f7ff000);
  high = quick ? word : 0;
  low = quick ? lowOfWeight(word) : __float_as_uint(weightOf(word));
}

/// float32 in about 22 bits: three TF32 products. Within a chunk the small products come first, while the sum to which
/// the hardware truncates them is small.
template <bool all> struct SplitTf32 : Float32Words {
  using All = SplitTf32<true>; ///< also handles what is not finite
  static constexpr int steps = 6;
  __device__ __forceinline__ static int firstK(int t) { return t * 4; }
  // The high parts of each eight k, then the low parts of each.
  struct Left {
    uint32_t word[4][4];
  };
  struct Right {
    uint32_t word[4][2];
  };
  __device__ __forceinline__ static Left left(float4 g, float4 g8) {
    const float x[2][4] = {{g.x, g8.x, g.y, g8.y}, {g.z, g8.z, g.w, g8.w}};
    Left l;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      split<all>(x[i / 4][i % 4], l.word[i / 4][i % 4], l.word[2 + i / 4][i % 4]);
    return l;
  }
  __device__ __forceinline__ static Right right(const uint32_t (&word)[4]) {
    Right r;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      splitWeight<all>(word[i], r.word[i / 2][i % 2], r.word[2 + i / 2][i % 2]);
    return r;
  }
  /// The words that a step multiplies: low * high, high * low, high * high, each for both eights of k.
  struct Words {
    int left, right;
  };
  __device__ __forceinline__ static Words wordsOf(int step) {
    int eight = step % 2, kind = step / 2;
    return {kind == 0 ? 2 + eight : eight, kind == 1 ? 2 + eight : eight};
  }
  __device__ __forceinline__ static void multiply(int step, float (&sum)[4], const Left &l, const Right &r) {
    mmaTf32(sum, l.word[wordsOf(step).left], r.word[wordsOf(step).right]);
  }
};
using Tf32x3 = SplitTf32<false>;

struct Tf32 : Tf32Words {
  static constexpr int steps = 2;
  __device__ __forceinline__ static int firstK(int t) { return t * 4; }
  struct Left {
    uint32_t word[2][4];
  };
  struct Right {
    uint32_t word[2][2];
  };
  __device__ __forceinline__ static Left left(float4 g, float4 g8) {
    return {{{roundTf32(g.x), roundTf32(g8.x), roundTf32(g.y), roundTf32(g8.y)},
             {roundTf32(g.z), roundTf32(g8.z), roundTf32(g.w), roundTf32(g8.w)}}};
  }
  __device__ __forceinline__ static Right right(const uint32_t (&word)[4]) {
    return {{{word[0], word[1]}, {word[2], word[3]}}};
  }
  __device__ __forceinline__ static void multiply(int step, float (&sum)[4], const Left &l, const Right &r) {
    mmaTf32(sum, l.word[step], r.word[step]);
  }
};

/// 16-bit floats: both operands are pairs already, or become pairs as they are read.
template <class Words> struct Pairs : Words {
  static constexpr int steps = 1;
  __device__ __forceinline__ static int firstK(int t) { return t * 2; }
  struct Left {
    uint32_t word[4];
  };
  struct Right {
    uint32_t word[2];
  };
  __device__ __forceinline__ static Left left(float4 g, float4 g8) {
    return {{Words::pair(g.x, g.y), Words::pair(g8.x, g8.y), Words::pair(g.z, g.w), Words::pair(g8.z, g8.w)}};
  }
  __device__ __forceinline__ static Right right(const uint32_t (&word)[2]) { return {{word[0], word[1]}}; }
  __device__ __forceinline__ static void multiply(int, float (&sum)[4], const Left &l, const Right &r) {
    Words::mma(sum, l.word, r.word);
  }
};
using Bf16 = Pairs<Bfloat16Words>;
using F16 = Pairs<HalfWords>;

/// sums[m][j] += the products of row tile m and column tile j over 16 k. Independent sums take each instruction in
/// turn.
template <class Math, int rowTiles, int tiles, int most>
__device__ __forceinline__ void multiplyFragments(float (&sums)[rowTiles][tiles][4],
                                                  const typename Math::Left (&left)[rowTiles],
                                                  const typename Math::Right (&right)[most]) {
#pragma unroll
  for (int step = 0; step < Math::steps; ++step)
#pragma unroll
    for (int j = 0; j < most; ++j)
#pragma unroll
      for (int m = 0; m < rowTiles; ++m)
        Math::multiply(step, sums[m][j], left[m], right[j]);
}

} // namespace tutti

#else

namespace tutti {
using Tf32x3 = Float32Words;
using Tf32 = Tf32Words;
using Bf16 = Bfloat16Words;
using F16 = HalfWords;
} // namespace tutti

#endif
