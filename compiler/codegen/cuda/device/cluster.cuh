// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters, from sm_90 on: blocks that run at the same time, meet at a barrier and reach each other's shared memory.
// (Of cooperative_groups.h, whose headers take NVRTC half a second.)
#pragma once

#include "tutti/memory.cuh"

#if TUTTI_CAPABILITY >= 90
#if TUTTI_ON_DEVICE

namespace tutti {

/// Of this block in its cluster: 0 to clusterSize() - 1, x first. Without a cluster, 0 of 1.
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

/// What was done before is visible, after the wait, to every thread of the cluster. All threads of a block come to the
/// same arrival and to the same wait, in turns; who has returned counts as there.
__device__ __forceinline__ void clusterArrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ void clusterSync() {
  clusterArrive();
  clusterWait();
}

/// The same place in the shared memory of block `rank` of the cluster, for loads, stores and atomics. There must be a
/// clusterSync() before the first access, so that the block has begun, and one behind the last, so that it has not
/// ended.
template <class T> __device__ __forceinline__ Shared<T> peer(Shared<T> view, int rank) {
  uint64_t address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(&view[0]), "r"(rank));
  return View<T>(reinterpret_cast<T *>(address), 0);
}

} // namespace tutti

#else

namespace tutti {

inline int clusterRank() { return tuttiImage.clusterRank; }
inline int clusterSize() { return tuttiImage.clusterSize; }
inline void clusterArrive(TUTTI_WHERE) { emulator().clusterBarrier(false, where); }
inline void clusterWait(TUTTI_WHERE) { emulator().clusterBarrier(true, where); }
inline void clusterSync(TUTTI_WHERE) {
  clusterArrive(where);
  clusterWait(where);
}

template <class T> Shared<T> peer(Shared<T> view, int rank TUTTI_AND_WHERE) {
  return view.moved([&](T *base) { return static_cast<T *>(emulator().peer(base, rank, where)); });
}

} // namespace tutti

#endif
#endif
