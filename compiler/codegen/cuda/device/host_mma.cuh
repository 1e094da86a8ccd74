// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: tensor-core products, computed by the driver (test/emulated/TensorCores.cpp).
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

#define TUTTI_MMA(name, type)                                                                                          \
  inline void name(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2] TUTTI_AND_WHERE) {                    \
    MmaOperand operand = {d, a, b, MmaType::type, TUTTI_CAPABILITY};                                                   \
    emulator().warp(0xffffffff, &operand, emulator().multiply, false, #name, where);                                   \
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
