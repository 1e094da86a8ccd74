// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: CUDA's built-in variables, barriers, shuffles, votes and fences, by their own names and with their
// meaning.
#pragma once

#include "tutti/host_image.cuh"
#include "tutti/host_sanitizer.cuh"

inline const uint3 &threadIdx = tuttiImage.threadIdx;
inline const uint3 &blockIdx = tuttiImage.blockIdx;
inline const dim3 &blockDim = tuttiImage.blockDim;
inline const dim3 &gridDim = tuttiImage.gridDim;
inline constexpr int warpSize = 32;

inline void __syncthreads(TUTTI_WHERE) { tutti::emulator().barrier(0, 0, where); }

// Fences order memory between blocks. Blocks of the emulated device run one after another, so there is nothing to do;
// a missing fence is not found here.
inline void __threadfence() {}

namespace tutti {

struct VoteOperand {
  int predicate;
  uint32_t ballot;
};

inline uint32_t vote(uint32_t mask, int predicate, const char *name, Where where) {
  VoteOperand operand = {predicate, 0};
  emulator().warp(
      mask, &operand,
      [](void *const *operands, uint32_t lanes, Where) {
        uint32_t ballot = 0;
        for (int lane = 0; lane < 32; ++lane)
          if (lanes >> lane & 1)
            ballot |= uint32_t(static_cast<VoteOperand *>(operands[lane])->predicate != 0) << lane;
        for (int lane = 0; lane < 32; ++lane)
          if (lanes >> lane & 1)
            static_cast<VoteOperand *>(operands[lane])->ballot = ballot;
      },
      false, name, where);
  return operand.ballot;
}

struct ShuffleOperand {
  uint64_t value;
  int source; ///< lane
  uint64_t result;
};

/// The value that lane `source` passes.
template <class T> T shuffle(uint32_t mask, T value, int source, const char *name, Where where) {
  ShuffleOperand operand = {0, source, 0};
  __builtin_memcpy(&operand.value, &value, sizeof(T));
  emulator().warp(
      mask, &operand,
      [](void *const *operands, uint32_t lanes, Where where) {
        for (int lane = 0; lane < 32; ++lane) {
          if (!(lanes >> lane & 1))
            continue;
          auto *mine = static_cast<ShuffleOperand *>(operands[lane]);
          if (!(lanes >> mine->source & 1))
            fault(Fault::failure, "a shuffle by lane %ld reads lane %ld, which takes no part in it", lane, mine->source,
                  where);
          mine->result = static_cast<ShuffleOperand *>(operands[mine->source])->value;
        }
      },
      false, name, where);
  __builtin_memcpy(&value, &operand.result, sizeof(T));
  return value;
}

} // namespace tutti

inline void __syncwarp(unsigned mask = 0xffffffff TUTTI_AND_WHERE) {
  tutti::emulator().warp(mask, nullptr, [](void *const *, uint32_t, tutti::Where) {}, true, "__syncwarp", where);
}

inline int __any_sync(unsigned mask, int predicate TUTTI_AND_WHERE) {
  return tutti::vote(mask, predicate, "__any_sync", where) != 0;
}

// The segments of `width` lanes are as in PTX' shfl: a source past the end of its segment is the lane itself.
#define TUTTI_SHUFFLES(T)                                                                                              \
  inline T __shfl_sync(unsigned mask, T value, int source, int width = 32 TUTTI_AND_WHERE) {                           \
    int lane = tuttiImage.lane;                                                                                        \
    return tutti::shuffle(mask, value, (lane & ~(width - 1)) | (source & (width - 1)), "__shfl_sync", where);          \
  }                                                                                                                    \
  inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32 TUTTI_AND_WHERE) {                    \
    int lane = tuttiImage.lane, source = lane - int(delta);                                                            \
    return tutti::shuffle(mask, value, source < (lane & ~(width - 1)) ? lane : source, "__shfl_up_sync", where);       \
  }                                                                                                                    \
  inline T __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = 32 TUTTI_AND_WHERE) {                     \
    int lane = tuttiImage.lane, source = lane ^ laneMask;                                                              \
    return tutti::shuffle(mask, value, source > (lane | (width - 1)) ? lane : source, "__shfl_xor_sync", where);       \
  }
TUTTI_SHUFFLES(int)
TUTTI_SHUFFLES(unsigned)
TUTTI_SHUFFLES(long)
TUTTI_SHUFFLES(unsigned long)
TUTTI_SHUFFLES(long long)
TUTTI_SHUFFLES(unsigned long long)
TUTTI_SHUFFLES(float)
TUTTI_SHUFFLES(double)
#undef TUTTI_SHUFFLES
