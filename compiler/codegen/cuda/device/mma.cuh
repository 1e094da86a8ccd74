// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor-core products of a warp: mma.sync and ldmatrix, from sm_80 on. Fragments are laid out as PTX ISA 9.7.14 shows.
#pragma once

#include "tutti/half.cuh"
#include "tutti/memory.cuh"

// The elements of a fragment, with g = lane / 4 and t = lane % 4:
//   d[16x8]   d[0], d[1]: row g, columns 2t, 2t + 1; d[2], d[3]: row g + 8
//   tf32      a[0..3]: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4); b[0..1]: (t, g), (t + 4, g)
//   16 bits   pairs, the lower index in the lower half: a[0..3]: (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8);
//             b[0..1]: (2t, g), (2t + 8, g)

#if TUTTI_CAPABILITY >= 80
#if TUTTI_ON_DEVICE

namespace tutti {

#define TUTTI_MMA(name, shape, type)                                                                                   \
  __device__ __forceinline__ void name(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {                \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 "                                       \
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                               \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                  \
  }
/// d += a b of 16x8 and 8x8 elements.
TUTTI_MMA(mmaTf32, "m16n8k8", "tf32")
/// d += a b of 16x16 and 16x8 elements.
TUTTI_MMA(mmaBf16, "m16n8k16", "bf16")
/// d += a b of 16x16 and 16x8 elements.
TUTTI_MMA(mmaF16, "m16n8k16", "f16")
#undef TUTTI_MMA

/// Loads four 8x8 matrices of 16-bit elements: lane 8i + j passes the address of row j of matrix i, 16 bytes each; r[i]
/// becomes the elements (g, 2t) and (g, 2t + 1) of matrix i. `volatile` keeps it behind the barriers before it, which
/// clobber memory; ordinary loads may move past it.
template <class T> __device__ __forceinline__ void ldmatrix4(uint32_t (&r)[4], T *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))));
}

} // namespace tutti

#else
#include "tutti/host_mma.cuh"
#endif
#endif
