// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named barriers: for parts of a block, and for threads that arrive without waiting.
#pragma once

#include "tutti/base.cuh"

namespace tutti {

/// Waits until `threads` threads, a multiple of 32, have come to barrier `id` (1 to 15; __syncthreads() is 0).
__device__ __forceinline__ void barrierSync(int id, int threads TUTTI_AND_WHERE) {
#if TUTTI_ON_DEVICE
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  emulator().barrier(id, threads, false, where);
#endif
}

/// Counts as one of them and goes on.
__device__ __forceinline__ void barrierArrive(int id, int threads TUTTI_AND_WHERE) {
#if TUTTI_ON_DEVICE
  asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  emulator().barrier(id, threads, true, where);
#endif
}

} // namespace tutti
