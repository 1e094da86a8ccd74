// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the blocks of a cluster that share a tile of rows exchange values, from sm_90 on.
#pragma once

#include "tutti/bulk.cuh"
#include "tutti/cluster.cuh"
#include "tutti/store.cuh"

#if TUTTI_CAPABILITY >= 90

namespace tutti {

/// storeNeighbours() to this view in each of the first `blocks` blocks of the cluster. They may read it after the next
/// clusterSync(), which waits until all stores have come: this is expensive, so it is for values beyond a layer's
/// activations.
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

/// Hands over a layer's activations between its blocks, for `count` layers one after the other, by stores that do not
/// wait. An mbarrier for each layer in each block, from byte `offset` on, counts their bytes. Each is used once, so
/// bytes for one layer cannot be taken for another's, however late a block is.
///
/// Nobody says that a place may be overwritten: a block that hands over has read what it needs for it, and a block that
/// makes the next layer's activations has received those of all blocks that made some. So no barrier of the cluster
/// lies between layers, nor behind the last: a block has waited for all that comes to it.
template <int count, int offset> class Handovers {
public:
  /// bytesOf(n) bytes come to this block with handover n. All threads of the block come here; other blocks see the
  /// mbarriers behind a clusterArriveRelaxed() and a wait.
  template <class BytesOf> __device__ __forceinline__ explicit Handovers(BytesOf bytesOf) : barriers(offset, count) {
    int n = threadIdx.x;
    if (n < count) {
      mbarrierInit(barriers[n], 1);
      mbarrierExpect(barriers[n], bytesOf(n));
      mbarrierInitFence(); // for others' stores; their bytes may come before the arrival that expects them
    }
  }
  /// giveAll() as handover n.
  template <int blocks, class View, int width, class Make>
  __device__ __forceinline__ void give(int n, const View &view, int at, const Neighbours<width> &sums,
                                       Make make) const {
    float made[width];
#pragma unroll
    for (int i = 0; i < width; ++i)
      made[i] = make(i);
    const auto barrier = barriers[n];
    if constexpr (width > 1)
      if (sums.count == width) {
#pragma unroll
        for (int rank = 0; rank < blocks; ++rank)
          storeAsync(&view[at], together(made), barrier, rank);
        return;
      }
#pragma unroll 1
    for (int rank = 0; rank < blocks; ++rank)
#pragma unroll
      for (int i = 0; i < width; ++i)
        if (i < sums.count)
          storeAsync(&view[at + i], made[i], barrier, rank);
  }
  /// Waits until handover n is complete.
  __device__ __forceinline__ void wait(int n TUTTI_AND_WHERE) const {
    mbarrierWaitForPeers(barriers[n], 0 TUTTI_AND_THERE); // so this block does not end before, either
  }

private:
  __device__ __forceinline__ static float2 together(const float (&x)[2]) { return make_float2(x[0], x[1]); }
  __device__ __forceinline__ static float4 together(const float (&x)[4]) { return make_float4(x[0], x[1], x[2], x[3]); }
  Mbarriers barriers;
};

} // namespace tutti

#endif
