// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How warps share a tile of rows, and how a weight lies in fragments: bands of up to eight panels of up to four tiles
// of eight columns; a group of 16 k has all panels of a band side by side (runtime/schema/Layout.h).
#pragma once

#include "tutti/base.cuh"

namespace tutti {

// The columns of a weight, in tiles of eight, form panels of four tiles, then of two, then of one. (The numbers are
// unsigned, so that divisions are shifts.)
__device__ constexpr int panelsOf(unsigned tiles) { return int(tiles / 4 + tiles % 4 / 2 + tiles % 2); }
__device__ constexpr int tilesOf(unsigned tiles, unsigned panel) {
  return panel < tiles / 4 ? 4 : tiles % 4 >= 2 && panel == tiles / 4 ? 2 : 1;
}
/// The first tile of a panel.
__device__ constexpr int firstTileOf(unsigned tiles, unsigned panel) {
  return int(panel <= tiles / 4 ? panel * 4 : tiles / 4 * 4 + 2);
}

/// The tiles of a whole band.
constexpr int bandTiles = 32;
/// The number of groups of 16 k.
__device__ constexpr int groupsOf(int K) { return int(unsigned(K + 15) / 16); }

/// The warps of a block form a grid of warpRows x warpColumns x panelParts x slices. A warp has 16 rowTiles rows. It
/// has warpPanels panels of columns, or one of the panelParts of a panel. Of the 32 slices pairs k of a stage it has 32
/// pairs, that is `pairs` pairs of groups: slices keep all warps busy in a narrow product (slices.cuh). `wide`: four
/// warps behind each other form a warpgroup (warpgroup.cuh), with 16 rows each and the same panels. `blocks` form a
/// cluster that shares the panels; each part of a panel is then a block's. A pass has at most passTiles tiles of eight
/// columns.
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
  static constexpr int panelTiles = 4 / panelParts; ///< of a panel, at most, for a warp
  /// Whether rows of an input come with a stage's weights. With slices only one warp uses an element of the rows, and
  /// reads it itself.
  static constexpr bool streamsRows = slices == 1;
  static_assert(panelParts == 1 || warpPanels == 1, "who has a part of a panel has no other");
  static_assert(slices == 1 || (warpRows == 1 && warpPanels == 1 && pairs == 1),
                "slices share the rows of a tile, and 32 k are a slice's");
  static_assert(!wide || (rowTiles == 1 && warpRows % 4 == 0 && slices * panelParts * blocks == 1),
                "a warpgroup has 64 rows, and whole panels");
  /// The same rows and stages, where a warp multiplies one panel by itself.
  using ByPanel = Tile<rowTiles, warpRows, warpColumns, slices, blocks, 1, pairs, passTiles_, panelParts>;
  static constexpr int passPanels = warpColumns * warpPanels; ///< of a block in a pass
  static constexpr int passColumns = passPanels * 32;
  static constexpr int passPanelsOfAll = passPanels * (blocks / blockParts); ///< of all blocks
  static constexpr int panelStep = wide ? 1 : warpColumns; ///< from one of a warp's panels to the next
  static_assert(bandTiles / 4 % passPanels == 0, "a pass is of one band");
  static_assert(blocks % blockParts == 0, "blocks have all parts of a panel");
  /// Bytes of a ring's stage that are for the panels; rows lie behind them.
  template <class Math> static constexpr int weightBytes = passTiles_ * stageK / 16 * Math::words * 32 * 4;

  /// This block's rank among those that share a tile of rows.
  __device__ __forceinline__ static int rank() { return blockIdx.x % blocks; }
  /// The first panel of this block in a pass.
  __device__ __forceinline__ static int firstPanel(int pass) {
    return pass * passPanelsOfAll + rank() / blockParts * passPanels;
  }

  // This warp's place. Its panels of a pass are column(), column() + warpColumns and so on, or neighbours in a
  // warpgroup. Each row of warps begins with another column, so that the narrow last panels, which are less work, are
  // not all on one of the multiprocessor's four parts.
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
  /// This thread's index among those that have the same rows.
  __device__ __forceinline__ static int threadOfRows() {
    return wide ? column() * 32 + int(threadIdx.x) % 32 : int(threadIdx.x) % (threads / warpRows);
  }
  /// The first of a panel's tiles that is this warp's, and the number of its tiles in a panel of `tiles`.
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

/// The number of tiles of a block's panels in a pass, for a weight of `tiles`.
template <class Tile> __device__ __forceinline__ int passTiles(int tiles, int pass) {
  int first = Tile::firstPanel(pass), end = first + Tile::passPanels, all = panelsOf(tiles);
  return first >= all ? 0 : (end < all ? firstTileOf(tiles, end) : tiles) - firstTileOf(tiles, first);
}

/// Where the words of a weight lie, for columns from tile `tile` on: the first word of the first 16 k, and the words
/// from there to the next 16 k.
template <class Math> struct PassWords {
  int first, stride;
  __device__ __forceinline__ PassWords(int tile, int tiles, int K) {
    constexpr int groupWords = Math::words * 32;
    int band = tile / bandTiles * bandTiles, ofBand = tiles - band < bandTiles ? tiles - band : bandTiles;
    first = (band * groupsOf(K) + tile - band) * groupWords, stride = ofBand * groupWords;
  }
};

/// A warp's part of its panel `i` of a pass, for a weight of `all` tiles: the number of tiles, and the words before the
/// first one among the block's words of 16 k.
template <class Math, class Tile> struct PanelPart {
  int tiles, words;

  PanelPart() = default;
  __device__ __forceinline__ PanelPart(int all, int pass, int i) {
    int panel = Tile::ownPanel(pass) + i * Tile::panelStep;
    tiles = panel < panelsOf(all) ? Tile::ownTiles(tilesOf(all, panel)) : 0;
    words = (firstTileOf(all, panel) + Tile::firstTile() - firstTileOf(all, Tile::firstPanel(pass))) * Math::words * 32;
  }
};

/// The words of a weight [K, N] in fragments.
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
