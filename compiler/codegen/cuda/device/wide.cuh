// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pass of a layer by warpgroups (tensor.cuh), on Hopper.
#pragma once

#include "tutti/bulk.cuh"
#include "tutti/layer.cuh"
#include "tutti/product.cuh"
#include "tutti/sums.cuh"
#include "tutti/warpgroup.cuh"

#if TUTTI_CAPABILITY == 90

namespace tutti {

/// A pass of a warpgroup that has `tiles` tiles. Half a stage at a time is issued while tensor cores multiply the half
/// before, so that they wait neither for its rows nor for the ring.
template <class L, Lefts kind, int tiles> class WidePass {
public:
  __device__ __forceinline__ WidePass(const Layer &layer, const typename L::Share &share)
      : layer(layer), share(share) {}
  /// sums += the products of all k, as the ring brings them.
  template <class Ring> __device__ __forceinline__ void multiply(Ring &ring, typename L::Sums &sums) {
    int from = 0, whole = layer.K / stageK * stageK;
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
    if (from < layer.K) {
      int stage = ring.take();
#pragma unroll 1
      for (int in = 0; from + in < layer.K; in += 16)
        one(stage, from, in, sums);
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

  // These take `k` of a stage, from `in` on; `from` is the stage's first.
  template <int k> __device__ __forceinline__ void read(int stage, int from, int in, RowsOf<k> &rows) const {
#pragma unroll
    for (int i = 0; i < k / 16; ++i)
      rows.of[i] = L::template left<kind>(layer, stage + weightBytes, from, in + i * 16, share, 0);
  }
  template <int k>
  __device__ __forceinline__ void ask(int stage, int in, const RowsOf<k> &rows, typename L::Sums &sums) {
    const CoreMatrices weights = CoreMatrices(stage, weightBytes / 4, L::Math::words * 32)
                                     .behind((share.words[0] + in / 16 * share.groupWords) / 4);
#pragma unroll
    for (int i = 0; i < k / 16; ++i)
      L::Wide::multiply(Tiles<tiles>(), group, sums.of, rows.of[i].word, weights.behind(i * (share.groupWords / 4)));
    group.commit();
  }
  /// Reads and issues 16 k, and waits.
  __device__ __forceinline__ void one(int stage, int from, int in, typename L::Sums &sums) {
    RowsOf<16> rows;
    read(stage, from, in, rows);
    group.begin(sums.of);
    ask(stage, in, rows, sums);
    group.wait(sums.of);
  }

  const Layer &layer;
  const typename L::Share &share;
  Warpgroup group;
};

/// A pass with three products of floats, for a warpgroup that has all panels that it may have, complete ones. The ring
/// brings the weights' high parts (product.cuh). The warpgroup computes the low parts a stage ahead, while tensor cores
/// multiply, into one of two places from byte L::exchange on. Sums of 32 k are those of two chunks (docs/numerics.md).
template <class L, Lefts kind> class WideChunks {
public:
  __device__ __forceinline__ WideChunks(const Layer &layer, const typename L::Share &share)
      : layer(layer), share(share) {}
  /// sums += all k, as the ring brings them.
  template <class Ring> __device__ __forceinline__ void multiply(Ring &ring, typename L::Sums &sums) {
    static_assert(Tile::stageK == 32, "a stage is two chunks");
    int place = L::exchange + Tile::column() * 2 * chunkWords * 4;
    Stage stage = {ring.take(), place, 0}, next = {0, place + Tile::warpColumns * 2 * chunkWords * 4, Tile::stageK};
    meet(); // the other warps have done with the low parts of the pass before
    makeLow(stage);
#pragma unroll 1
    while (true) {
      typename L::Math::Left left[2] = {
          L::template left<kind>(layer, stage.at + weightBytes, stage.from, 0, share, 0),
          L::template left<kind, true>(layer, stage.at + weightBytes, stage.from, 16, share, 0)};
      meet(); // all low parts of this stage are there
      Sum sum;
      ask(stage, left, sum);
      if (next.from < layer.K) {
        next.at = ring.takeNext();
        makeLow(next);
      }
      group.wait(sum);
      add(sums, sum);
      ring.leave();
      if (next.from >= layer.K)
        break;
      int low = stage.low;
      stage = next;
      next.low = low, next.from += Tile::stageK;
    }
  }

private:
  using Tile = typename L::Tile;
  static constexpr int weightBytes = Tile::template weightBytes<typename L::Math>, tileWords = L::Math::words * 32,
                       tiles = Tile::warpPanels * 4, chunkWords = tiles * tileWords; ///< of 16 k
  static_assert(Tile::warpPanels <= 2, "registers hold the sums of two chunks of so many columns, beside all sums");
  using Sum = float[2][Tile::warpPanels][1][4][4]; ///< of two chunks
  struct Stage {
    int at, low, from; ///< byte offsets of the stage and its low parts; the stage's first k
  };

  /// Synchronizes the warpgroup's threads.
  __device__ __forceinline__ static void meet() {
    static_assert(Tile::threads == 128 * Tile::warpColumns && Tile::warpColumns <= NamedBarriers::mostColumns,
                  "each warpgroup has columns of its own, and a barrier");
    barrierSync(NamedBarriers::columns + Tile::column(), 128);
  }
  /// Where a stage has no second chunk, its rows are zeros, and the weights of the first stand in for it.
  __device__ __forceinline__ int hasSecond(const Stage &stage) const { return layer.K - stage.from > 16 ? 1 : 0; }

  /// Computes this thread's low parts of a stage's weights, some words of both chunks.
  __device__ __forceinline__ void makeLow(const Stage &stage) const {
    constexpr int each = chunkWords / 4 / 128;
    static_assert(chunkWords % (4 * 128) == 0);
    const Shared<uint32_t> weights = shared<uint32_t>(stage.at, weightBytes / 4),
                           lows = shared<uint32_t>(stage.low, 2 * chunkWords);
    int second = hasSecond(stage), mine = int(threadIdx.x) % 128 * 4;
    uint4 word[2][each];
#pragma unroll
    for (int chunk = 0; chunk < 2; ++chunk)
#pragma unroll
      for (int i = 0; i < each; ++i)
        word[chunk][i] = weights.load4(share.words[0] + chunk * second * share.groupWords + i * 512 + mine);
#pragma unroll
    for (int chunk = 0; chunk < 2; ++chunk)
#pragma unroll
      for (int i = 0; i < each; ++i) {
        const uint4 w = word[chunk][i];
        lows.store4(chunk * second * chunkWords + i * 512 + mine,
                    make_uint4(lowOfWeight(w.x), lowOfWeight(w.y), lowOfWeight(w.z), lowOfWeight(w.w)));
      }
    bulkFence(); // tensor cores read them through another proxy
  }
  __device__ __forceinline__ void ask(const Stage &stage, typename L::Math::Left (&left)[2], Sum &sum) {
    int second = hasSecond(stage), highs = second * share.groupWords / 4, lows = second * chunkWords / 4;
    const CoreMatrices high = CoreMatrices(stage.at, weightBytes / 4, tileWords).behind(share.words[0] / 4),
                       low = CoreMatrices(stage.low, 2 * chunkWords, tileWords);
    group.begin(sum, left[0].word, left[1].word);
#pragma unroll
    for (int chunk = 0; chunk < 2; ++chunk)
#pragma unroll
      for (int step = 0; step < L::Math::steps; ++step) {
        const auto word =
            L::Math::wordsOf(step); // of the rows and of the weights: high parts of both eights, then low ones
        L::Wide::multiply(
            Tiles<tiles>(), group, sum[chunk], left[chunk].word[word.left],
            (word.right < 2 ? high.behind(chunk * highs) : low.behind(chunk * lows)).behind(word.right % 2 * 16),
            step > 0);
      }
    group.commit();
  }
  __device__ __forceinline__ static void add(typename L::Sums &sums, const Sum &sum) {
    float pair[Tile::warpPanels][1][4][4];
    fill(pair, -0.0f);
    addTo(pair, sum[0]);
    addTo(pair, sum[1]);
    addTo(sums.of, pair);
  }

  const Layer &layer;
  const typename L::Share &share;
  Warpgroup group;
};

/// sums += a pass, with the one of `widths` that this warpgroup has.
template <class L, Lefts kind, class Ring, int... widths>
__device__ __forceinline__ void multiplyWide(Numbers<widths...>, const Layer &layer, Ring &ring,
                                             const typename L::Share &share, typename L::Sums &sums) {
  int tiles = share.tiles[0];
  if constexpr (L::Math::chunked)
    WideChunks<L, kind>(layer, share).multiply(ring, sums);
  else
    ((sizeof...(widths) == 1 || tiles == widths ? WidePass<L, kind, widths>(layer, share).multiply(ring, sums)
                                                : void()),
     ...);
}

} // namespace tutti

#endif
