// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: tensor-core products. Products and sums are exact to double and rounded once; the hardware's last bits
// differ.
#pragma once

#include "tutti/half.cuh"
#include "tutti/memory.cuh"

namespace tutti {

inline uint32_t toTf32(float value) {
  uint32_t bits = __float_as_uint(value);
  if (value != value)
    return 0x7fffffff;
  return (bits & 0x7f800000) == 0x7f800000 ? bits : (bits + 0x1000) & 0xffffe000;
}

struct MmaOperand {
  float *d;
  const uint32_t *a, *b;
};

/// What an element of a 16-bit or TF32 fragment is worth.
enum class MmaType { tf32, bf16, f16 };
template <MmaType type> double mmaElement(const uint32_t *registers, int i) {
  if (type == MmaType::tf32)
    return __uint_as_float(registers[i] & 0xffffe000);
  auto bits = static_cast<unsigned short>(registers[i / 2] >> i % 2 * 16);
  return type == MmaType::bf16 ? __bfloat162float({bits}) : __half2float({bits});
}

template <MmaType type> void mmaCombine(void *const *lanes, uint32_t mask, Where where) {
  if (mask != 0xffffffff)
    fault(Fault::failure, "mma.sync by the lanes %#lx: expected all %ld of the warp", mask, 32, where);
  // A register holds `pair` neighbours along k; the registers of a fragment cover k in two halves of `half`.
  constexpr int pair = type == MmaType::tf32 ? 1 : 2, half = 4 * pair, k = 2 * half;
  double a[16][k], b[k][8];
  for (int lane = 0; lane < 32; ++lane) {
    const auto *operand = static_cast<MmaOperand *>(lanes[lane]);
    int g = lane / 4, t = lane % 4;
    for (int r = 0; r < 4; ++r)
      for (int e = 0; e < pair; ++e)
        a[g + r % 2 * 8][t * pair + r / 2 * half + e] = mmaElement<type>(operand->a, r * pair + e);
    for (int r = 0; r < 2; ++r)
      for (int e = 0; e < pair; ++e)
        b[t * pair + r * half + e][g] = mmaElement<type>(operand->b, r * pair + e);
  }
  for (int lane = 0; lane < 32; ++lane) {
    float *d = static_cast<MmaOperand *>(lanes[lane])->d;
    for (int r = 0; r < 4; ++r) {
      int row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2;
      double sum = d[r];
      for (int i = 0; i < k; ++i)
        sum += a[row][i] * b[i][column];
      d[r] = float(sum);
    }
  }
}

#define TUTTI_MMA(name, type)                                                                                          \
  inline void name(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2] TUTTI_AND_WHERE) {                    \
    MmaOperand operand = {d, a, b};                                                                                    \
    emulator().warp(0xffffffff, &operand, mmaCombine<MmaType::type>, false, #name, where);                             \
  }
TUTTI_MMA(mmaTf32, tf32)
TUTTI_MMA(mmaBf16, bf16)
TUTTI_MMA(mmaF16, f16)
#undef TUTTI_MMA

struct LdmatrixOperand {
  const unsigned short *row;
  uint32_t *result;
};

template <bool transposed> void ldmatrixCombine(void *const *lanes, uint32_t mask, Where where) {
  if (mask != 0xffffffff)
    fault(Fault::failure, "ldmatrix by the lanes %#lx: expected all %ld of the warp", mask, 32, where);
  for (int lane = 0; lane < 32; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix) {
      uint32_t pair[2];
      for (int e = 0; e < 2; ++e) {
        int row = transposed ? lane % 4 * 2 + e : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + e;
        pair[e] = static_cast<LdmatrixOperand *>(lanes[matrix * 8 + row])->row[column];
      }
      static_cast<LdmatrixOperand *>(lanes[lane])->result[matrix] = pair[0] | pair[1] << 16;
    }
}

template <bool transposed, class T>
void ldmatrix(uint32_t (&r)[4], Address<T, Space::shared> row, const char *name, Where where) {
  row.where = where;
  row.check(Access::read, 16, 16);
  LdmatrixOperand operand = {reinterpret_cast<const unsigned short *>(row.at), r};
  emulator().warp(0xffffffff, &operand, ldmatrixCombine<transposed>, false, name, where);
}
template <class T> void ldmatrix4(uint32_t (&r)[4], Address<T, Space::shared> row TUTTI_AND_WHERE) {
  ldmatrix<false>(r, row, "ldmatrix4", where);
}
template <class T> void ldmatrix4Transposed(uint32_t (&r)[4], Address<T, Space::shared> row TUTTI_AND_WHERE) {
  ldmatrix<true>(r, row, "ldmatrix4Transposed", where);
}

} // namespace tutti
