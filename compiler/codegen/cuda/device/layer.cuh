// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions on tensor cores described by numbers, so that one piece of code multiplies for all layers of a kernel.
#pragma once

#include "tutti/half.cuh"
#include "tutti/memory.cuh"
#include "tutti/mma.cuh"
#include "tutti/shape.cuh"

namespace tutti {

/// Where a contraction's rows lie.
enum Lefts : int {
  ofInput = 1,  ///< in an input; pieces of them come with the weights, if Tile::streamsRows
  floats = 2,   ///< in shared memory
  halves = 4,   ///< in shared memory as 16-bit floats, which products take as they are, padded with zeros to 16 k
  inGlobal = 8, ///< in global memory, where this block has written them
};

/// A weight [K, N] in fragments, and the rows that it is multiplied with.
struct Layer {
  int K = 0, N = 0, tiles = 0; ///< elements of a row; columns; tiles of eight columns
  Global<const uint32_t> weights = {uint64_t(0), 0};
  Lefts left = ofInput;
  int at = 0, stride = 0; ///< byte offset of the rows in shared memory; elements from one to the next
  Global<const float> input = {uint64_t(0), 0}; ///< the tile's rows of an input
  Global<float> rows = {uint64_t(0), 0};        ///< the rows in global memory (inGlobal)
  bool whole = false;                           ///< shared memory has all rows of the tile, also those past the last
  bool brings = false;                          ///< `own` comes through the ring, too
  Global<const float> own = {uint64_t(0), 0};   ///< one float a column for all rows: [N], a bias

  /// The same layer, whose ring also brings `own`, a float of each column.
  __device__ __forceinline__ Layer with(Global<const float> own) const {
    Layer layer = *this;
    layer.brings = true, layer.own = own;
    return layer;
  }
  template <class Tile> __device__ __forceinline__ int passes() const {
    return int(unsigned(panelsOf(tiles) + Tile::passPanelsOfAll - 1) / unsigned(Tile::passPanelsOfAll));
  }
};
__device__ __forceinline__ Layer layerOfProduct(int K, int N, Global<const uint32_t> weights, Lefts left, int at,
                                                int stride, bool whole = false) {
  return {.K = K,
          .N = N,
          .tiles = int(unsigned(N + 7) / 8),
          .weights = weights,
          .left = left,
          .at = at,
          .stride = stride,
          .whole = whole};
}
__device__ __forceinline__ Layer layerOfProduct(int K, int N, Global<const uint32_t> weights,
                                                Global<const float> input) {
  return {.K = K, .N = N, .tiles = int(unsigned(N + 7) / 8), .weights = weights, .left = ofInput, .input = input};
}
__device__ __forceinline__ Layer layerOfProduct(int K, int N, Global<const uint32_t> weights, Global<float> rows) {
  return {.K = K,
          .N = N,
          .tiles = int(unsigned(N + 7) / 8),
          .weights = weights,
          .left = inGlobal,
          .stride = K,
          .rows = rows};
}

/// With `columns` of each row in a stage, the pitch is an odd multiple of 16 floats, so that lanes that read four
/// neighbours in each of two rows meet different banks.
__device__ constexpr int rowPitch(int columns) { return columns + 16; }

/// All layers of a kernel: what multiplies, how the warps share a tile, which of Lefts occur, which numbers of tiles a
/// panel may have (4 | 2 | 1), and what every K is a multiple of (32, 16, 4 or 1). From byte `exchange` of shared
/// memory on, the slices of a tile meet, with the sums of `gathered` stages, or lies what warpgroups compute from the
/// weights.
template <class Math_, class Tile_, int lefts_, int widths_, int unit_, int exchange_ = 0, int gathered_ = 0,
          class Wide_ = void>
struct Layers {
  using Math = Math_;
  using Tile = Tile_;
  using Wide = Wide_; ///< products of a warpgroup, if Tile::wide (warpgroup.cuh)
  static constexpr int lefts = lefts_, widths = widths_, unit = unit_, exchange = exchange_, gathered = gathered_;
  /// The numbers of tiles that a warp may have in a panel, as bits, and the largest of them.
  static constexpr int ownWidths = Tile::panelParts == 1   ? widths
                                   : Tile::panelParts == 2 ? (widths >= 2 ? 2 : 0) | (widths & 1)
                                                           : 1,
                       most = ownWidths >= 4   ? 4
                              : ownWidths >= 2 ? 2
                                               : 1;

  /// A warp's share of a pass, and where its lanes read: the same for all of the pass' stages.
  struct Share {
    int tiles[Tile::wide ? 1 : Tile::warpPanels];     ///< of each panel, or if wide of all; 0: nothing to do
    int words[Tile::wide ? 1 : Tile::warpPanels];     ///< words of a group before the warp's first of the panel
    int groupWords;                                   ///< from one group to the next
    int upper[Tile::rowTiles], lower[Tile::rowTiles]; ///< elements before this lane's first one of the rows g and g + 8
    int matrix[Tile::rowTiles]; ///< of 16-bit rows: elements before this lane's address for ldmatrix
  };
  /// A warp's sums: its panels, in each its tiles of 16 rows, then of columns; with slices a thread's (OwnSums).
  static constexpr int own = Tile::slices == 1 ? Tile::panelTiles : 1, pieces = Tile::slices == 1 ? Tile::rowTiles : 1;
  static_assert(Tile::slices == 1 || Math::chunked, "one chain cannot be cut");
  static_assert(Tile::slices == 1 || Tile::slices == Tile::rowTiles * 4,
                "of slices a thread has the sums of a run in one row");
  static_assert(Tile::warpPanels == 1 || !Math::chunked || Tile::wide,
                "chunks of several panels would need too many registers");
  struct Sums {
    float of[Tile::warpPanels][pieces][own][4];
  };

  /// The same layers with other instructions, or panel by panel with mma.sync.
  template <class Other> using By = Layers<Other, Tile, lefts, widths, unit, exchange, gathered, Wide>;
  using ByPanel = Layers<Math, typename Tile::ByPanel, lefts, widths, unit>;

  /// Whether a layer's rows lie as `left` says.
  __device__ __forceinline__ static bool has(const Layer &layer, Lefts left) {
    return lefts == left || (lefts & left && layer.left == left);
  }
  /// Whether its rows come through the ring.
  __device__ __forceinline__ static bool streams(const Layer &layer) {
    return Tile::streamsRows && has(layer, ofInput);
  }
  /// Elements from one row to the next.
  __device__ __forceinline__ static int strideOf(const Layer &layer) {
    return streams(layer) ? rowPitch(Tile::stageK) : has(layer, ofInput) ? layer.K : layer.stride;
  }
  /// The fragments of 16 rows and the 16 k of a stage from `in` on; `from` is the stage's first k. What came with the
  /// stage lies from byte `stage` on. Elements from K on are 0; 16-bit rows have these zeros in memory. `second`: the
  /// second group of a pair, which may lie past K as a whole.
  template <Lefts kind, bool second = false>
  __device__ __forceinline__ static typename Math::Left left(const Layer &layer, int stage, int from, int in,
                                                             const Share &share, int m) {
    if constexpr (kind == halves) {
      const Shared<unsigned short> rows = shared<unsigned short>(layer.at, Tile::rows * layer.stride);
      typename Math::Left left;
      ldmatrix4(left.word, &rows[share.matrix[m] + from + in]);
      return left;
    } else {
      return ofStage<kind, second>(layer, stage, from, in, share, m).left();
    }
  }
  /// A lane's elements of the rows g and g + 8, for 16 rows and 16 k.
  struct Elements {
    float4 upper, lower;
    __device__ __forceinline__ typename Math::Left left() const { return Math::left(upper, lower); }
  };
  /// The elements that left() makes fragments of, for rows of floats.
  template <Lefts kind, bool second = false>
  __device__ __forceinline__ static Elements ofStage(const Layer &layer, int stage, int from, int in,
                                                     const Share &share, int m) {
    int group = from + in + Tile::slice() * 32, k = group + Math::firstK(int(threadIdx.x) % 4);
    bool whole = unit % (second ? 32 : 16) == 0 || group + 16 <= layer.K;
    if constexpr (kind == inGlobal)
      return fromView(layer.rows, layer, share, m, from + in, k, whole, layer.stride % 4 == 0);
    const Shared<float> rows = shared<float>(streams(layer) ? stage : layer.at, Tile::rows * strideOf(layer));
    return fromView(rows, layer, share, m, streams(layer) ? in : from + in, k, whole, true);
  }
  /// The elements of the 16 k that lie 32 slice() behind `from`, some of them below K, for rows that do not come
  /// through stages. `share` counts as inMemory() does.
  template <Lefts kind>
  __device__ __forceinline__ static Elements elements(const Layer &layer, int from, const Share &share, int m) {
    int k = from + Tile::slice() * 32 + Math::firstK(int(threadIdx.x) % 4);
    constexpr bool whole = unit % 16 == 0; // else each lane tests its own k, without a branch
    if constexpr (kind == ofInput) {
      return fromView(known(layer.input), layer, share, m, from, k, whole, layer.K % 4 == 0);
    } else if constexpr (kind == inGlobal) {
      return fromView(known(layer.rows), layer, share, m, from, k, whole, layer.stride % 4 == 0);
    } else {
      const Shared<float> rows = shared<float>(layer.at, Tile::rows * layer.stride);
      return fromView(rows, layer, share, m, from, k, whole, true);
    }
  }
  __device__ __forceinline__ static Elements elements(const Layer &layer, int from, const Share &share, int m) {
    return has(layer, ofInput)    ? elements<ofInput>(layer, from, share, m)
           : has(layer, inGlobal) ? elements<inGlobal>(layer, from, share, m)
                                  : elements<floats>(layer, from, share, m);
  }
  /// Converts the elements before a lane's first one (Share) to the pitch of rows that do not come through stages.
  __device__ __forceinline__ static int inMemory(const Layer &layer, int before) {
    constexpr int pitch = rowPitch(Tile::stageK);
    return streams(layer) ? before / pitch * layer.K + before % pitch : before;
  }

private:
  /// The elements from `at` on of the rows g and g + 8 of tile m in `view`.
  template <class View>
  __device__ __forceinline__ static Elements fromView(const View &view, const Layer &layer, const Share &share, int m,
                                                      int at, int k, bool whole, bool aligned) {
    return {four(view, layer, share.upper[m] + at, k, whole, aligned),
            four(view, layer, share.lower[m] + at, k, whole, aligned)};
  }
  // A lane's four elements of a group, from `at` on: neighbours, or two pairs that are eight apart. `whole`: no lane's
  // group of 16 reaches past K.
  template <class View>
  __device__ __forceinline__ static float4 four(const View &rows, const Layer &layer, int at, int k, bool whole,
                                                bool aligned) {
    constexpr int apart = Math::parts == 1 ? 2 : 8; // from the first two to the others
    if ((unit >= 4 || aligned) && (whole || k + apart + 2 <= layer.K)) {
      if constexpr (apart == 2) {
        return rows.load4(at);
      } else {
        float2 low = rows.load2(at), high = rows.load2(at + apart);
        return make_float4(low.x, low.y, high.x, high.y);
      }
    }
    float4 v = make_float4(0, 0, 0, 0);
    if constexpr (unit >= 4 && apart == 2)
      return v;
    if (k < layer.K)
      v.x = rows[at];
    if (k + 1 < layer.K)
      v.y = rows[at + 1];
    if (k + apart < layer.K)
      v.z = rows[at + apart];
    if (k + apart + 1 < layer.K)
      v.w = rows[at + apart + 1];
    return v;
  }
};

/// A lane has two runs of neighbouring columns of a row in a panel, one for each of its two columns of a tile.
template <class L> struct Runs {
  static constexpr int most = L::most; ///< neighbours
  static constexpr bool oneWidth = L::widths == 4 || L::widths == 2 || L::widths == 1;
  int column, count; ///< the first column, and how many lie in the matrix

  __device__ __forceinline__ Runs(const Layer &layer, int panel, int run)
      : Runs(layer, panel, threadIdx.x % 4 * 2 + run, OfPanel()) {}
  /// Selects the run at one of a panel's eight places.
  struct OfPanel {};
  __device__ __forceinline__ Runs(const Layer &layer, int panel, int place, OfPanel) {
    int tiles = oneWidth ? L::widths : tilesOf(layer.tiles, panel);
    column = firstTileOf(layer.tiles, panel) * 8 + place * tiles + L::Tile::firstTile();
    int own = L::Tile::ownTiles(tiles);
    count = own < layer.N - column ? own : layer.N - column;
  }
};

/// The sums of a tile that a thread has in the end where slices share it: in its row, the run of neighbours at one of a
/// panel's places.
template <class L> struct OwnSums {
  int row, place;
  __device__ __forceinline__ OwnSums() : row(int(threadIdx.x) % (L::Tile::slices * 32) / 8), place(threadIdx.x % 8) {}
  __device__ __forceinline__ Runs<L> run(const Layer &layer, int panel) const {
    return Runs<L>(layer, panel, place, typename Runs<L>::OfPanel());
  }
};

} // namespace tutti
