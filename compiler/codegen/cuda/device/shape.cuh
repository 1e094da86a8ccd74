// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How warps share a tile of rows, and how a weight lies in fragments: bands of up to eight panels of up to four tiles
// of eight columns, of which a group of 16 k has all panels side by side (runtime/schema/Layout.h).
#pragma once

#include "tutti/base.cuh"

namespace tutti {

// The columns of a weight in tiles of eight lie in panels of four tiles, then of two, then of one.
// (Of unsigned numbers, whose divisions are shifts.)
__device__ constexpr int panelsOf(unsigned tiles) { return int(tiles / 4 + tiles % 4 / 2 + tiles % 2); }
__device__ constexpr int tilesOf(unsigned tiles, unsigned panel) {
  return panel < tiles / 4 ? 4 : tiles % 4 >= 2 && panel == tiles / 4 ? 2 : 1;
}
/// The tile that a panel begins with.
__device__ constexpr int firstTileOf(unsigned tiles, unsigned panel) {
  return int(panel <= tiles / 4 ? panel * 4 : tiles / 4 * 4 + 2);
}

/// How many tiles lie in a band.
constexpr int bandTiles = 32;
/// How many groups of 16 k there are.
__device__ constexpr int groupsOf(int K) { return int(unsigned(K + 15) / 16); }

/// The warps of a block are a grid of warpRows x warpColumns x panelParts x slices. A warp has 16 rowTiles rows,
/// warpPanels panels of columns, or one of the panelParts of a panel, and of each stage's 32 slices pairs k 32 pairs,
/// pairs of groups: so a narrow product keeps all warps busy (slices.cuh). `wide`: four warps behind each other are a
/// warpgroup (warpgroup.cuh), with 16 rows each and the same panels. `blocks` form a cluster that shares the panels;
/// there a panel's parts are a block's each. A pass has at most passTiles tiles of eight columns.
template <int rowTiles_, int warpRows_, int warpColumns_, int slices_ = 1, int blocks_ = 1, int warpPanels_ = 1,
          int pairs_ = 1, int passTiles_ = warpColumns_ * warpPanels_ * 4, int panelParts_ = 1, bool wide_ = false>
struct Tile {
  static constexpr int rowTiles = rowTiles_, warpRows = warpRows_, warpColumns = warpColumns_, slices = slices_,
                       blocks = blocks_, warpPanels = warpPanels_, pairs = pairs_, panelParts = panelParts_;
  static constexpr bool wide = wide_;
  static constexpr bool wordsApart = false; ///< a lane reads a weight's floats one by one, which takes fewer registers
  static constexpr int rows = 16 * rowTiles * warpRows, stageK = 32 * slices * pairs,
                       warpParts = blocks > 1 ? 1 : panelParts, blockParts = blocks > 1 ? panelParts : 1,
                       threads = 32 * warpRows * warpColumns * warpParts * slices;
  static constexpr int panelTiles = 4 / panelParts; ///< of a panel, that a warp has at most
  /// Rows of an input come with a stage's weights. An element of a slice's rows is of use to one warp, which reads it
  /// itself.
  static constexpr bool streamsRows = slices == 1;
  static_assert(panelParts == 1 || warpPanels == 1, "who has a part of a panel has no other");
  static_assert(slices == 1 || (warpRows == 1 && warpPanels == 1 && pairs == 1),
                "slices share the rows of a tile, and 32 k are a slice's");
  static_assert(!wide || (rowTiles == 1 && warpRows % 4 == 0 && slices * panelParts * blocks == 1),
                "a warpgroup has 64 rows, and whole panels");
  /// The same rows and stages, of which a warp multiplies one panel by itself.
  using ByPanel = Tile<rowTiles, warpRows, warpColumns, slices, blocks, 1, pairs, passTiles_, panelParts>;
  static constexpr int passPanels = warpColumns * warpPanels; ///< of a block at a time
  static constexpr int passColumns = passPanels * 32;
  static constexpr int passPanelsOfAll = passPanels * (blocks / blockParts); ///< of all blocks
  static constexpr int panelStep = wide ? 1 : warpColumns; ///< from one of a warp's panels to the next
  static_assert(bandTiles / 4 % passPanels == 0, "a pass is of one band");
  static_assert(blocks % blockParts == 0, "blocks have all parts of a panel");
  /// Bytes that the panels may take of a stage of the ring; rows lie behind them.
  template <class Math> static constexpr int weightBytes = passTiles_ * stageK / 16 * Math::words * 32 * 4;

  /// Of this block among those that share a tile of rows.
  __device__ __forceinline__ static int rank() { return blockIdx.x % blocks; }
  /// The first panel of this block in a pass.
  __device__ __forceinline__ static int firstPanel(int pass) {
    return pass * passPanelsOfAll + rank() / blockParts * passPanels;
  }

  // This warp's place. It has the panels column, column + warpColumns and so on of a pass, or of a warpgroup
  // neighbours. Rows of warps begin with another column each: the narrow last panels, which are less work, are not all
  // on one of the processor's four parts.
  __device__ __forceinline__ static int slice() { return threadIdx.x / 32 % slices; }
  __device__ __forceinline__ static int warpRow() {
    int warp = threadIdx.x / 32;
    return wide ? warp / 4 / warpColumns * 4 + warp % 4 : warp / slices / warpParts / warpColumns;
  }
  __device__ __forceinline__ static int column() {
    if (wide)
      return int(threadIdx.x) / 128 % warpColumns;
    return (threadIdx.x / 32 / slices / warpParts + warpRow() * (warpColumns / warpRows)) % warpColumns;
  }
  /// Its first panel in a pass.
  __device__ __forceinline__ static int ownPanel(int pass) {
    return firstPanel(pass) + column() * (wide ? warpPanels : 1);
  }
  /// Of the threads that have the same rows, this one.
  __device__ __forceinline__ static int threadOfRows() {
    return wide ? column() * 32 + int(threadIdx.x) % 32 : int(threadIdx.x) % (threads / warpRows);
  }
  /// Of its panels' tiles the first that is this warp's, and of `tiles` how many are.
  __device__ __forceinline__ static int firstTile() {
    return (blockParts > 1  ? rank() % blockParts
            : warpParts > 1 ? int(threadIdx.x) / 32 / slices % warpParts
                            : 0) *
           panelTiles;
  }
  __device__ __forceinline__ static int ownTiles(int tiles) {
    if (panelParts == 1)
      return tiles;
    int left = tiles - firstTile();
    return left < 0 ? 0 : left < panelTiles ? left : panelTiles;
  }
  __device__ __forceinline__ static int firstRow() { return warpRow() * rowTiles * 16; }
};

/// Tiles of a block's panels in a pass, of a weight of so many.
template <class Tile> __device__ __forceinline__ int passTiles(int tiles, int pass) {
  int first = Tile::firstPanel(pass), end = first + Tile::passPanels, all = panelsOf(tiles);
  return first >= all ? 0 : (end < all ? firstTileOf(tiles, end) : tiles) - firstTileOf(tiles, first);
}

/// Where words of a weight lie whose tiles of columns begin with `tile`: those of the first 16 k, and how many words
/// from there to the next.
template <class Math> struct PassWords {
  int first, stride;
  __device__ __forceinline__ PassWords(int tile, int tiles, int K) {
    constexpr int groupWords = Math::words * 32;
    int band = tile / bandTiles * bandTiles, ofBand = tiles - band < bandTiles ? tiles - band : bandTiles;
    first = (band * groupsOf(K) + tile - band) * groupWords, stride = ofBand * groupWords;
  }
};

/// What a warp has of its panel `i` of a pass, of a weight of `all` tiles: how many, and of 16 k of the block the words
/// before the first.
template <class Math, class Tile> struct PanelPart {
  int tiles, words;

  PanelPart() = default;
  __device__ __forceinline__ PanelPart(int all, int pass, int i) {
    int panel = Tile::ownPanel(pass) + i * Tile::panelStep;
    tiles = panel < panelsOf(all) ? Tile::ownTiles(tilesOf(all, panel)) : 0;
    words = (firstTileOf(all, panel) + Tile::firstTile() - firstTileOf(all, Tile::firstPanel(pass))) * Math::words * 32;
  }
};

/// Of a weight [K, N] in fragments.
template <class Math> __device__ constexpr int wordsOf(int K, int N) {
  return (K + 15) / 16 * Math::words * 32 * ((N + 7) / 8);
}

/// A weight [K, N] in fragments.
template <class Math_, int K_, int N_> struct Product {
  using Math = Math_;
  static constexpr int K = K_, N = N_;
  static constexpr int groups = (K + 15) / 16, tiles = (N + 7) / 8;
  static constexpr int groupWords = Math::words * 32; ///< of a tile
};

} // namespace tutti
