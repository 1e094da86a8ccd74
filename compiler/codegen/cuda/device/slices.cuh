// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices: each warp multiplies some chunks of 32 k of a tile with few rows and columns. A chunk's words and rows are
// used by that warp alone, which reads them from where they lie while it multiplies those before, and needs no ring for
// them. The chunks' sums meet in shared memory and are added in their order.
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/layer.cuh"
#include "tutti/product.cuh"
#include "tutti/ring.cuh"
#include "tutti/sums.cuh"

#if TUTTI_CAPABILITY >= 80

namespace tutti {

/// Takes the place of a ring: a warp's words of the weights' next 16 k, on their way to registers, through all layers
/// and passes. Words are loaded one by one, as fragments have them, 128 bytes of a tile across the warp: with 16 bytes
/// a lane would get words of other lanes.
template <class L, class LayerOf> class SliceWords {
  using Math = typename L::Math;
  using Tile = typename L::Tile;

public:
  using Group = uint32_t[L::most][Math::words]; ///< 16 k of a panel's tiles

  __device__ __forceinline__ SliceWords(const OneMember &, int layers, int rows, const LayerOf &layerOf)
      : layerOf(layerOf), layers(layers), rows(rows) {}
  /// Whether tile m of 16 rows has any rows.
  __device__ __forceinline__ bool hasRows(int m) const { return m == 0 || m * 16 < rows; }
  __device__ __forceinline__ void fill() { bring<0>(); }
  /// Takes the first or the second group of the next stage, if this warp has any of it, and loads what follows.
  template <int group> __device__ __forceinline__ void take(Group &words) {
#pragma unroll
    for (int j = 0; j < L::most; ++j)
#pragma unroll
      for (int i = 0; i < Math::words; ++i)
        words[j][i] = next[j][i];
    bring<1 - group>();
  }

private:
  // Without words for this warp the layer's first are loaded, since NVRTC copies registers that may keep their value.
  template <int group> __device__ __forceinline__ void bring() {
    if (group == 0 && left <= 0)
      beginPass();
    const int word = (own > group * 16 ? at + group * step : 0) + int(threadIdx.x) % 32;
#pragma unroll
    for (int j = 0; j < L::most; ++j) {
      const int tile = L::ownWidths == L::most || j < tiles ? j : 0;
#pragma unroll
      for (int i = 0; i < Math::words; ++i)
        next[j][i] = known(weights)[word + (tile * Math::words + i) * 32];
    }
    if constexpr (group == 1)
      left -= Tile::stageK, own -= Tile::stageK, at += step * (Tile::stageK / 16);
  }
  __device__ __forceinline__ void beginPass() {
    if (layer < 0 || ++pass >= layerOf(0, layer).template passes<Tile>())
      pass = 0, ++layer;
    left = 0x7fffffff, own = 0;
    if (layer == layers) // there is none
      return;
    const Layer of = layerOf(0, layer);
    const PassWords<Math> words(firstTileOf(of.tiles, Tile::firstPanel(pass)), of.tiles, of.K);
    const PanelPart<Math, Tile> part(of.tiles, pass, 0);
    left = of.K, tiles = part.tiles;
    if (tiles > 0)
      own = of.K - Tile::slice() * 32;
    weights = of.weights, step = words.stride;
    at = words.first + part.words + Tile::slice() * 2 * step;
  }

  const LayerOf &layerOf;
  int layers, rows, layer = -1, pass = 0;
  int left = 0, own = 0;           ///< k left in the pass from the stage on, and in this warp's chunks from this one on
  int tiles = 0, at = 0, step = 0; ///< tiles of the panel; the first word of the chunk, and words to the next group
  Global<const uint32_t> weights = {uint64_t(0), 0};
  Group next;
};

/// Where the sums of chunks meet. A stage has the sums of all slices, and a slice has four pieces for 16 rows. A piece
/// has, for each lane, one of its two rows and one of its two columns of every tile: neighbours, which one store
/// writes. The thread that owns the row and columns (OwnSums of layer.cuh) adds them: eight adjacent threads have a
/// row, so that what they compute from it is contiguous, too.
template <class L> class ChunkSums {
  using Tile = typename L::Tile;
  static constexpr int most = L::most, slices = Tile::slices,
                       pieceWords = 32 * most + 16, // threads of a row read two pieces, from different banks
      sliceWords = Tile::rowTiles * 4 * pieceWords, stageWords = slices * sliceWords;

public:
  __device__ __forceinline__ ChunkSums()
      : group(threadIdx.x / 32 / slices),
        sums(shared<float>(L::exchange + group * L::gathered * stageWords * 4, L::gathered * stageWords)) {}

  /// Stores a chunk's sums, or -0, which changes no sum.
  template <class Words>
  __device__ __forceinline__ void give(int stage, const float (&sum)[Tile::rowTiles][most][4],
                                       const Words &words) const {
    const int at = stage * stageWords + Tile::slice() * sliceWords + int(threadIdx.x) % 32 * most;
#pragma unroll
    for (int piece = 0; piece < Tile::rowTiles * 4; ++piece) {
      if (piece % 4 == 0 && !words.hasRows(piece / 4))
        break;
      const float (&s)[most][4] = sum[piece / 4];
      const int e = piece % 4, to = at + piece * pieceWords;
      if constexpr (most == 4)
        sums.store4(to, make_float4(s[0][e], s[1][e], s[2][e], s[3][e]));
      else if constexpr (most == 2)
        sums.store2(to, make_float2(s[0][e], s[1][e]));
      else
        sums[to] = s[0][e];
    }
  }
  /// Synchronizes the threads that share these columns.
  __device__ __forceinline__ void sync(TUTTI_WHERE) const {
    static_assert(Tile::threads / 32 / slices <= NamedBarriers::mostGroups, "each group has a barrier");
    barrierSync(NamedBarriers::groups + group, slices * 32 TUTTI_AND_THERE);
  }
  /// total += this thread's sums of `stages` stages, in their order.
  template <class Words> __device__ __forceinline__ void add(int stages, const Words &words, float (&total)[4]) const {
    const OwnSums<L> own;
    if (!words.hasRows(own.row / 16))
      return;
    const int first = (own.row / 8 * 2 + own.place % 2) * pieceWords + (own.row % 8 * 4 + own.place / 2) * most;
#pragma unroll 1
    for (int stage = 0; stage < stages; ++stage) {
      float all[slices][most];
#pragma unroll
      for (int i = 0; i < slices; ++i) // all are on their way at once
        load(all[i], first + stage * stageWords + i * sliceWords);
#pragma unroll
      for (int i = 0; i < slices; ++i)
#pragma unroll
        for (int j = 0; j < most; ++j)
          total[j] += all[i][j];
    }
  }

private:
  __device__ __forceinline__ void load(float (&x)[most], int at) const {
    if constexpr (most == 4) {
      const float4 four = sums.load4(at);
      x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    } else if constexpr (most == 2) {
      const float2 two = sums.load2(at);
      x[0] = two.x, x[1] = two.y;
    } else {
      x[0] = sums[at];
    }
  }

  int group;
  Shared<float> sums;
};

/// The elements, as floats, of the 16 rows of tile m and the 16 k of a group in this slice's chunk of the stage whose
/// first k is `from`; the rows' first 16 k where the chunk has none.
template <class L>
__device__ __forceinline__ typename L::Elements rowsOf(const Layer &layer, int from, int group, int m,
                                                       const typename L::Share &share) {
  const int own = L::Tile::slice() * 32, at = from + own + group * 16 < layer.K ? from + group * 16 : -own;
  if (L::has(layer, ofInput))
    return L::template elements<ofInput>(layer, at, share, m);
  if (L::has(layer, inGlobal))
    return L::template elements<inGlobal>(layer, at, share, m);
  return L::template elements<floats>(layer, at, share, m);
}

/// sum = the products of a chunk's first group, or sum += those of its second one, tile of rows by tile of rows, so
/// that a thread has few elements of both operands at a time while the next ones are loaded. Tiles without rows are
/// left out.
template <class L, int group, class Words>
__device__ __forceinline__ void
multiplyRows(const Layer &layer, int from, const typename Words::Group &word, const Words &words,
             typename L::Elements &next, const typename L::Share &share, float (&sum)[L::Tile::rowTiles][L::most][4]) {
  using Math = typename L::Math;
  constexpr int rowTiles = L::Tile::rowTiles;
  typename Math::Right right[L::most];
#pragma unroll
  for (int j = 0; j < L::most; ++j)
    right[j] = Math::right(word[j]);
#pragma unroll
  for (int m = 0; m < rowTiles; ++m) {
    const typename L::Elements rows = next;
    next = m + 1 < rowTiles ? rowsOf<L>(layer, from, group, m + 1, share)
           : group == 0     ? rowsOf<L>(layer, from, 1, 0, share)
                            : rowsOf<L>(layer, from + L::Tile::stageK, 0, 0, share);
    if (!words.hasRows(m)) {
      fill(sum[m], -0.0f);
      continue;
    }
    const typename Math::Left left[1] = {rows.left()};
    float own[1][L::most][4] = {};
    multiplyFragments<Math>(own, left, right);
    if constexpr (group == 0)
      fill(sum[m], -0.0f); // -0 + s is s
    addTo(sum[m], own[0]);
  }
}

/// Multiplies the stages from k `from` on whose sums meet next; returns their number.
template <class L, class Words>
__device__ __forceinline__ int giveStages(const Layer &layer, int from, Words &words, const typename L::Share &share,
                                          const ChunkSums<L> &chunks) {
  typename L::Elements next;
  if (share.tiles[0] > 0)
    next = rowsOf<L>(layer, from, 0, 0, share);
  int stage = 0;
#pragma unroll 1
  for (; stage < L::gathered && from < layer.K; ++stage, from += L::Tile::stageK) {
    const int left = share.tiles[0] > 0 ? layer.K - from - L::Tile::slice() * 32 : 0; // k of the chunk, or none
    typename Words::Group word;
    float sum[L::Tile::rowTiles][L::most][4];
    words.template take<0>(word);
    if (left > 0)
      multiplyRows<L, 0>(layer, from, word, words, next, share, sum);
    else
      fill(sum, -0.0f); // changes no sum
    words.template take<1>(word);
    if (left > 16)
      multiplyRows<L, 1>(layer, from, word, words, next, share, sum);
    else if (left > 0)
      addToAll(sum, 0.0f); // as rows of zeros would
    if (share.tiles[0] > 0)
      chunks.give(stage, sum, words);
  }
  return stage;
}

/// multiply() for slices.
template <class L, class Words>
__device__ __forceinline__ void multiplySlices(const Layer &layer, int pass, Words &words,
                                               const typename L::Share &share, typename L::Sums &sums) {
  using Tile = typename L::Tile;
  const ChunkSums<L> chunks;
#pragma unroll 1
  for (int from = 0; from < layer.K; from += L::gathered * Tile::stageK) {
    const int stages = giveStages<L>(layer, from, words, share, chunks);
    if (share.tiles[0] == 0)
      continue;
    chunks.sync(); // all sums are there
    chunks.add(stages, words, sums.of[0][0][0]);
    if (from + L::gathered * Tile::stageK < layer.K || pass + 1 < layer.template passes<Tile>()) {
      chunks.sync(); // and read, before they are overwritten
    }
  }
}

} // namespace tutti

#endif
