// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How warps share a tile of rows, and how a weight lies in fragments: panels of up to four tiles of eight columns, groups of 16 k
// (runtime/schema/Layout.h).
#pragma once

#include "tutti/base.cuh"

namespace tutti {

/// A grid of warpRows x warpColumns warps; a warp has 16 rowTiles rows and a panel, and a pass makes warpColumns panels.
template <int rowTiles_, int warpRows_, int warpColumns_> struct Tile {
  static constexpr int rowTiles = rowTiles_, warpRows = warpRows_, warpColumns = warpColumns_;
  static constexpr int rows = 16 * rowTiles * warpRows;
};

/// A weight [K, N] in fragments.
template <class Math_, int K_, int N_> struct Product {
  using Math = Math_;
  static constexpr int K = K_, N = N_;
  static constexpr int chunk = 32, chunks = (K + chunk - 1) / chunk, groups = (K + 15) / 16;
  /// Columns in tiles of eight; panels of four tiles, then of two, then of one.
  static constexpr int tiles = (N + 7) / 8, wide = tiles / 4, panels = wide + tiles % 4 / 2 + tiles % 2;
  static constexpr int groupWords = Math::words * 32;                        ///< of a tile
  static constexpr int panelWords = chunk / 16 * groupWords * 4;             ///< at most, of a panel in a stage
  static constexpr int words = groups * groupWords * tiles;

  __device__ __forceinline__ static int tilesOf(int panel) {
    return panel < wide ? 4 : tiles % 4 >= 2 && panel == wide ? 2 : 1;
  }
  /// The tile that a panel begins with.
  __device__ __forceinline__ static int firstTile(int panel) { return panel <= wide ? panel * 4 : wide * 4 + 2; }

  /// What it takes through the ring, with a tile of this shape and such rows.
  template <class Tile> static constexpr int passes = (panels + Tile::warpColumns - 1) / Tile::warpColumns;
  template <class Tile> static constexpr int stages = passes<Tile> * chunks;
  template <class Tile> static constexpr int weightBytes = Tile::warpColumns * panelWords * 4;
  template <class Tile, class Left> static constexpr int stageBytes = weightBytes<Tile> + Left::stageFloats * 4 * Tile::rows;
};

} // namespace tutti
