// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named barriers, for parts of a block; and from sm_90 on mbarriers, which lie in shared memory and also count bytes
// that copies bring.
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

/// Who meets at which; each kernel's warps by rows or its groups of slices, and its warpgroups' columns.
struct NamedBarriers {
  static constexpr int task = 1, rows = 2, mostRows = 4, groups = 2, mostGroups = 4, columns = 6, mostColumns = 10;
};

// The warps that work on a block's task are even in number. One more brings them what they multiply (bulk_ring.cuh),
// the last, or of warpgroups, of which two work or three, the first of one more.

/// How many threads of a block of so many work on its task, the first ones (CudaGeometry::tasksOf).
__device__ constexpr int taskThreadsOf(unsigned threads) {
  return int(threads >= 384 ? threads - 128 : threads / 64 * 64);
}
__device__ __forceinline__ int taskThreads() { return taskThreadsOf(blockDim.x); }

/// Those threads meet.
__device__ __forceinline__ void taskSync(TUTTI_WHERE) {
  barrierSync(NamedBarriers::task, taskThreads() TUTTI_AND_THERE);
}

} // namespace tutti

// An mbarrier is an element of a Shared<uint64_t> that nothing else touches, `&b[i]` below. Its phases are 0, 1, 2 ...;
// a phase ends when as many arrivals have come as mbarrierInit() said and all bytes that were expected in it. Who waits
// for phase n says its parity, n % 2: the wait is over when that phase has ended, so it must be the present phase or
// the one before. What came before an arrival is visible after the wait, copies' bytes too. (PTX ISA, "mbarrier".)

#if TUTTI_CAPABILITY >= 90
#if TUTTI_ON_DEVICE

namespace tutti {

__device__ __forceinline__ unsigned sharedAddress(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
/// An mbarrier by its address in shared memory, however it is given.
struct MbarrierAddress {
  unsigned at;
  __device__ __forceinline__ MbarrierAddress(const uint64_t *barrier) : at(sharedAddress(barrier)) {}
  __device__ __forceinline__ MbarrierAddress(unsigned at) : at(at) {}
};

/// By one thread, once in the life of the block: each phase has `count` arrivals.
__device__ __forceinline__ void mbarrierInit(MbarrierAddress barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier.at), "r"(count) : "memory");
}

/// By the thread that has initialised, before the __syncthreads() or clusterSync() that tells the others: now copies in
/// bulk may count on the barriers too.
__device__ __forceinline__ void mbarrierInitFence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// One arrival.
__device__ __forceinline__ void mbarrierArrive(MbarrierAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier.at) : "memory");
}

/// `count` arrivals.
__device__ __forceinline__ void mbarrierArriveTimes(MbarrierAddress barrier, int count) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.at), "r"(count) : "memory");
}

/// One arrival, and the phase ends only when `bytes` more have come by copies in bulk.
__device__ __forceinline__ void mbarrierExpect(MbarrierAddress barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.at), "r"(bytes) : "memory");
}

/// Waits for the end of the present or last phase of this parity. A try gives up after a while that the hardware
/// decides.
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
/// The same, where stores of other blocks of the cluster to shared memory are what is waited for (cluster.cuh). A wait
/// that acquires all that they did empties the first cache; of a fence of shared memory alone PTX knows since 8.6,
/// which CUDA 13 has for certain.
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

/// One arrival of this thread, when the copies that it asked for by __pipeline_memcpy_async have come. Only they are
/// visible after the wait, not what else the thread did.
__device__ __forceinline__ void copyAsyncArrive(MbarrierAddress barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier.at) : "memory");
}
/// The same, of one arrival more than the phase would have.
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
