// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters, from sm_90 on: blocks that run at the same time, meet at a barrier and reach each other's shared memory.
// (This replaces cooperative_groups.h, whose headers take NVRTC half a second.)
#pragma once

#include "tutti/barrier.cuh"

#if TUTTI_CAPABILITY >= 90
#if TUTTI_ON_DEVICE

namespace tutti {

/// This block's rank in its cluster: 0 to clusterSize() - 1, x first. Without a cluster, 0 of 1.
__device__ __forceinline__ int clusterRank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ int clusterSize() {
  int size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

/// What precedes the arrival is visible, after the wait, to every thread of the cluster. All threads of a block come to
/// the same arrivals and waits, in turns; a thread that has returned counts as arrived.
__device__ __forceinline__ void clusterArrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
/// An arrival that publishes nothing but mbarriers that were initialised before an mbarrierInitFence(): it saves a
/// fence, which would wait for all writes of a thread. All arrivals of a phase are of one kind.
__device__ __forceinline__ void clusterArriveRelaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ void clusterSync() {
  clusterArrive();
  clusterWait();
}

/// The same place in the shared memory of block `rank` of the cluster, for loads, stores and atomics. A clusterSync()
/// must precede the first access, so that the block has begun, and another follow the last, so that it has not ended.
template <class T> __device__ __forceinline__ Shared<T> peer(Shared<T> view, int rank) {
  uint64_t address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(&view[0]), "r"(rank));
  return View<T>(reinterpret_cast<T *>(address), 0);
}

/// The address in block `rank` that corresponds to an address in this block's shared memory.
__device__ __forceinline__ unsigned peerAddress(unsigned place, int rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(place), "r"(rank));
  return address;
}
/// storeAsync(&s[i], value, &b[k], rank) stores one float, two or four to that place in the shared memory of block
/// `rank`, whose mbarrier at the place of b[k] counts the bytes. Threads that have waited there for the phase that
/// expects them (mbarrierExpect, mbarrierWaitForPeers) see them, and also what the storing block did to shared memory
/// before its last barrier of all threads ahead of the store. Until then nobody touches the place, and that block does
/// not end; this one may.
__device__ __forceinline__ void storeAsync(float *to, float value, MbarrierAddress barrier, int rank) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(
                   peerAddress(sharedAddress(to), rank)),
               "f"(value), "r"(peerAddress(barrier.at, rank))
               : "memory");
}
__device__ __forceinline__ void storeAsync(float *to, float2 value, MbarrierAddress barrier, int rank) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(
                   peerAddress(sharedAddress(to), rank)),
               "f"(value.x), "f"(value.y), "r"(peerAddress(barrier.at, rank))
               : "memory");
}
__device__ __forceinline__ void storeAsync(float *to, float4 value, MbarrierAddress barrier, int rank) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                   peerAddress(sharedAddress(to), rank)),
               "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "r"(peerAddress(barrier.at, rank))
               : "memory");
}

} // namespace tutti

#else

namespace tutti {

inline int clusterRank() { return tuttiImage.clusterRank; }
inline int clusterSize() { return tuttiImage.clusterSize; }
inline void clusterArrive(TUTTI_WHERE) { emulator().clusterBarrier(ClusterOperation::arrive, where); }
inline void clusterArriveRelaxed(TUTTI_WHERE) { emulator().clusterBarrier(ClusterOperation::arriveRelaxed, where); }
inline void clusterWait(TUTTI_WHERE) { emulator().clusterBarrier(ClusterOperation::wait, where); }
inline void clusterSync(TUTTI_WHERE) {
  clusterArrive(where);
  clusterWait(where);
}

template <class T> Shared<T> peer(Shared<T> view, int rank TUTTI_AND_WHERE) {
  return view.moved([&](T *base) { return static_cast<T *>(emulator().peer(base, rank, where)); });
}

#define TUTTI_STORE_ASYNC(V)                                                                                           \
  inline void storeAsync(Address<float, Space::shared> to, V value, Address<uint64_t, Space::shared> barrier,          \
                         int rank TUTTI_AND_WHERE) {                                                                   \
    to.where = where;                                                                                                  \
    to.checkExtent(sizeof(V), sizeof(V));                                                                              \
    emulator().storeAsync(emulator().peer(to.at, rank, where), &value, sizeof(V),                                      \
                          emulator().peer(barrier.at, rank, where), where);                                            \
  }
TUTTI_STORE_ASYNC(float)
TUTTI_STORE_ASYNC(float2)
TUTTI_STORE_ASYNC(float4)
#undef TUTTI_STORE_ASYNC

} // namespace tutti

#endif
#endif
