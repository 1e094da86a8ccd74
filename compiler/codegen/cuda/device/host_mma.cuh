// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: tensor-core products, computed by the driver (test/emulated/TensorCores.cpp).
#pragma once

#include "tutti/half.cuh"
#include "tutti/memory.cuh"

namespace tutti {

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

inline void ldmatrixCombine(void *const *lanes, uint32_t mask, Where where) {
  if (mask != 0xffffffff)
    fault(Fault::failure, "ldmatrix by the lanes %#lx: expected all %ld of the warp", mask, 32, where);
  for (int lane = 0; lane < 32; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix) {
      const unsigned short *row = static_cast<LdmatrixOperand *>(lanes[matrix * 8 + lane / 4])->row;
      uint32_t low = row[lane % 4 * 2], high = row[lane % 4 * 2 + 1];
      static_cast<LdmatrixOperand *>(lanes[lane])->result[matrix] = low | high << 16;
    }
}

template <class T> void ldmatrix4(uint32_t (&r)[4], Address<T, Space::shared> row TUTTI_AND_WHERE) {
  row.where = where;
  row.check(Access::read, 16, 16);
  LdmatrixOperand operand = {reinterpret_cast<const unsigned short *>(row.at), r};
  emulator().warp(0xffffffff, &operand, ldmatrixCombine, false, "ldmatrix4", where);
}

} // namespace tutti
