// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What blocks of a cluster that share a tile of rows give each other, from sm_90 on.
#pragma once

#include "tutti/cluster.cuh"
#include "tutti/store.cuh"

#if TUTTI_CAPABILITY >= 90

namespace tutti {

/// storeNeighbours, to this view of the first `blocks` blocks of the cluster. They may read it after the next
/// clusterSync().
template <int blocks, class View, int n, class Make>
__device__ __forceinline__ void giveAll(const View &view, int at, const Neighbours<n> &sums, Make make) {
  decltype(make(0)) made[n] = {};
#pragma unroll
  for (int i = 0; i < n; ++i)
    made[i] = make(i);
#pragma unroll
  for (int rank = 0; rank < blocks; ++rank)
    storeNeighbours<true>(peer(view, rank), at, sums, [&](int i) { return made[i]; });
}

} // namespace tutti

#endif
