// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pass of a layer by warpgroups (tensor.cuh), on Hopper.
#pragma once

#include "tutti/layer.cuh"
#include "tutti/warpgroup.cuh"

#if TUTTI_CAPABILITY == 90

namespace tutti {

/// A pass of a warpgroup that has `tiles` tiles of at most `most` in this kernel. Half a stage at a time is asked for, while tensor cores
/// multiply the half before: so they wait neither for its rows nor for the ring. Narrower passes, of which there are few, wait.
template <class L, Lefts kind, int tiles, int most> class WidePass {
public:
  __device__ __forceinline__ WidePass(const Layer &layer, const typename L::Share &share) : layer(layer), share(share) {}
  /// sums += all k, as the ring brings them.
  template <class Ring> __device__ __forceinline__ void multiply(Ring &ring, typename L::Sums &sums) {
    int from = 0;
    if constexpr (tiles == most) {
      int whole = layer.K / stageK * stageK;
      if (whole > 0) {
        Half first, second; // what is being multiplied must not be overwritten
        int stage = ring.take();
        read(stage, 0, 0, first);
        group.begin(sums.of);
        ask(stage, 0, first, sums);
#pragma unroll 1
        while (true) {
          read(stage, from, stageK / 2, second);
          group.fence();
          ask(stage, stageK / 2, second, sums);
          group.waitButLast();
          from += stageK;
          if (from >= whole)
            break;
          stage = ring.takeNext();
          read(stage, from, 0, first);
          group.fence();
          ask(stage, 0, first, sums);
          group.waitButLast();
          ring.leave();
        }
        group.wait(sums.of);
        ring.leave();
      }
    }
#pragma unroll 1
    for (; from < layer.K; from += stageK) {
      int stage = ring.take(), in = 0;
      if constexpr (tiles != most)
#pragma unroll 1
        for (; in < stageK && from + in + stageK / 2 <= layer.K; in += stageK / 2)
          one<stageK / 2>(stage, from, in, sums);
#pragma unroll 1
      for (; in < stageK && from + in < layer.K; in += 16)
        one<16>(stage, from, in, sums);
      ring.leave();
    }
  }

private:
  using Tile = typename L::Tile;
  static constexpr int stageK = Tile::stageK, weightBytes = Tile::template weightBytes<typename L::Math>;
  template <int k> struct RowsOf {
    typename L::Math::Left of[k / 16];
  };
  using Half = RowsOf<stageK / 2>;

  // Of `k` of a stage, from `in` on; `from` is the stage's first.
  template <int k> __device__ __forceinline__ void read(int stage, int from, int in, RowsOf<k> &rows) const {
#pragma unroll
    for (int i = 0; i < k / 16; ++i)
      rows.of[i] = L::template left<kind>(layer, stage + weightBytes, from, in + i * 16, share, 0);
  }
  template <int k> __device__ __forceinline__ void ask(int stage, int in, const RowsOf<k> &rows, typename L::Sums &sums) {
    const CoreMatrices weights = CoreMatrices(stage, weightBytes / 4).behind(share.words[0] + in / 16 * share.groupWords);
#pragma unroll
    for (int i = 0; i < k / 16; ++i)
      L::Wide::multiply(Tiles<tiles>(), group, sums.of, rows.of[i].word, weights.behind(i * share.groupWords));
    group.commit();
  }
  /// Both, and waits.
  template <int k> __device__ __forceinline__ void one(int stage, int from, int in, typename L::Sums &sums) {
    RowsOf<k> rows;
    read(stage, from, in, rows);
    group.begin(sums.of);
    ask(stage, in, rows, sums);
    group.wait(sums.of);
  }

  const Layer &layer;
  const typename L::Share &share;
  Warpgroup group;
};

/// sums += a pass, by the one of the kernel's widths that this warpgroup has.
template <class L, Lefts kind, class Ring, int... widths>
__device__ __forceinline__ void multiplyWide(Numbers<widths...>, const Layer &layer, Ring &ring, const typename L::Share &share,
                                             typename L::Sums &sums) {
  constexpr int most = greatest(widths...);
  int tiles = share.tiles[0];
  ((sizeof...(widths) == 1 || tiles == widths ? WidePass<L, kind, widths, most>(layer, share).multiply(ring, sums) : void()), ...);
}

} // namespace tutti

#endif
