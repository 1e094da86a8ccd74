// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named barriers for parts of a block; from sm_90 on also mbarriers, which lie in shared memory and count the bytes of
// copies, too.
#pragma once

#include "tutti/memory.cuh"

namespace tutti {

/// Waits until `threads` threads, a multiple of 32, have come to barrier `id` (1 to 15; __syncthreads() is 0).
__device__ __forceinline__ void barrierSync(int id, int threads TUTTI_AND_WHERE) {
#if TUTTI_ON_DEVICE
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  emulator().barrier(id, threads, where);
#endif
}

/// Ids of the named barriers: the task's threads have one, each row of warps or each group of slices, and each
/// warpgroup.
struct NamedBarriers {
  static constexpr int task = 1, rows = 2, mostRows = 4, groups = 2, mostGroups = 4, columns = 6, mostColumns = 10;
};

// An even number of warps works on a block's task. One more warp brings what they multiply (bulk_ring.cuh): the block's
// last, or beside two or three warpgroups the first of a further warpgroup.

/// The number of threads that work on the task of a block of `threads`; they are the first (CudaGeometry::tasksOf).
__device__ constexpr int taskThreadsOf(unsigned threads) {
  return int(threads >= 384 ? threads - 128 : threads / 64 * 64);
}
__device__ __forceinline__ int taskThreads() { return taskThreadsOf(blockDim.x); }

/// Synchronizes the task's threads.
__device__ __forceinline__ void taskSync(TUTTI_WHERE) {
  barrierSync(NamedBarriers::task, taskThreads() TUTTI_AND_THERE);
}

} // namespace tutti

// An mbarrier is an element of a Shared<uint64_t> that nothing else touches, `&b[i]` below. Its phases are 0, 1, 2 ...;
// a phase ends when the arrivals that mbarrierInit() announced and all bytes that were expected in it have come. A
// thread waits for phase n by its parity, n % 2: the wait is over when that phase has ended, so it must be the current
// phase or the one before. What precedes an arrival is visible after the wait, including the bytes of copies. (PTX ISA,
// "mbarrier".)

#if TUTTI_CAPABILITY >= 90
#if TUTTI_ON_DEVICE

namespace tutti {

__device__ __forceinline__ unsigned sharedAddress(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
/// An mbarrier's address in shared memory, from a pointer or from the address itself.
struct MbarrierAddress {
  unsigned at;
  __device__ __forceinline__ MbarrierAddress(const uint64_t *barrier) : at(sharedAddress(barrier)) {}
  __device__ __forceinline__ MbarrierAddress(unsigned at) : at(at) {}
};

/// Called by one thread, once in the life of the block: each phase expects `count` arrivals.
__device__ __forceinline__ void mbarrierInit(MbarrierAddress barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier.at), "r"(count) : "memory");
}

/// Called by the thread that has initialised, before the __syncthreads() or clusterSync() that tells the others: from
/// then on bulk copies, too, may use the barriers.
__device__ __forceinline__ void mbarrierInitFence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void mbarrierArrive(MbarrierAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier.at) : "memory");
}

__device__ __forceinline__ void mbarrierArriveTimes(MbarrierAddress barrier, int count) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.at), "r"(count) : "memory");
}

/// Arrives once; the phase ends only when `bytes` more have come by bulk copies.
__device__ __forceinline__ void mbarrierExpect(MbarrierAddress barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.at), "r"(bytes) : "memory");
}

/// Waits for the end of the current or the previous phase, whichever has this parity. A single try gives up after a
/// time that the hardware decides.
#define TUTTI_MBARRIER_WAIT(NAME, ORDER)                                                                               \
  __device__ __forceinline__ void NAME(MbarrierAddress barrier, int parity) {                                          \
    int over;                                                                                                          \
    do                                                                                                                 \
      asm volatile("{\n"                                                                                               \
                   ".reg .pred over;\n"                                                                                \
                   "mbarrier.try_wait.parity" ORDER ".shared::cta.b64 over, [%1], %2;\n"                               \
                   "selp.b32 %0, 1, 0, over;\n"                                                                        \
                   "}"                                                                                                 \
                   : "=r"(over)                                                                                        \
                   : "r"(barrier.at), "r"(parity)                                                                      \
                   : "memory");                                                                                        \
    while (!over);                                                                                                     \
  }
TUTTI_MBARRIER_WAIT(mbarrierWait, "")
/// mbarrierWait() for stores of other blocks of the cluster to shared memory (cluster.cuh). A wait that acquires
/// everything they did would invalidate the L1 cache; PTX has a fence of shared memory alone since 8.6, which CUDA 13
/// has for certain.
#if __CUDACC_VER_MAJOR__ >= 13
TUTTI_MBARRIER_WAIT(mbarrierAwaitPeers, ".relaxed.cluster")
__device__ __forceinline__ void mbarrierWaitForPeers(MbarrierAddress barrier, int parity) {
  mbarrierAwaitPeers(barrier, parity);
  asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
}
#else
TUTTI_MBARRIER_WAIT(mbarrierWaitForPeers, ".acquire.cluster")
#endif
#undef TUTTI_MBARRIER_WAIT

/// Arrives once for this thread, when its copies by __pipeline_memcpy_async are complete. Only these are visible after
/// the wait, not the thread's other writes.
__device__ __forceinline__ void copyAsyncArrive(MbarrierAddress barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier.at) : "memory");
}
/// The same as an arrival beyond the count of the phase.
__device__ __forceinline__ void copyAsyncArriveToo(MbarrierAddress barrier) {
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(barrier.at) : "memory");
}

} // namespace tutti

#else

namespace tutti {

#define TUTTI_MBARRIER(name, operation)                                                                                \
  inline void name(Address<uint64_t, Space::shared> barrier, int value TUTTI_AND_WHERE) {                              \
    emulator().mbarrier(MbarrierOperation::operation, barrier.at, value, where);                                       \
  }
TUTTI_MBARRIER(mbarrierInit, init)
TUTTI_MBARRIER(mbarrierArriveTimes, arriveTimes)
TUTTI_MBARRIER(mbarrierExpect, expect)
TUTTI_MBARRIER(mbarrierWait, wait)
TUTTI_MBARRIER(mbarrierWaitForPeers, wait)
#undef TUTTI_MBARRIER
inline void mbarrierArrive(Address<uint64_t, Space::shared> barrier TUTTI_AND_WHERE) {
  emulator().mbarrier(MbarrierOperation::arrive, barrier.at, 0, where);
}
inline void copyAsyncArrive(Address<uint64_t, Space::shared> barrier TUTTI_AND_WHERE) {
  emulator().mbarrier(MbarrierOperation::copyArrive, barrier.at, 0, where);
}
inline void copyAsyncArriveToo(Address<uint64_t, Space::shared> barrier TUTTI_AND_WHERE) {
  emulator().mbarrier(MbarrierOperation::copyArriveToo, barrier.at, 0, where);
}
inline void mbarrierInitFence(TUTTI_WHERE) { emulator().proxyFence(true, where); }

} // namespace tutti

#endif
#endif
