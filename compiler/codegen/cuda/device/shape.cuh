// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How warps share a tile of rows, and how a weight lies in fragments: panels of up to four tiles of eight columns, groups of 16 k
// (runtime/schema/Layout.h).
#pragma once

#include "tutti/base.cuh"

namespace tutti {

/// The warps of a block are a grid of warpRows x warpColumns x slices. A warp has 16 rowTiles rows, a panel of columns, and of each
/// stage's 32 slices k 32: so a narrow product keeps all warps busy. `blocks` form a cluster that shares the panels.
template <int rowTiles_, int warpRows_, int warpColumns_, int slices_ = 1, int blocks_ = 1> struct Tile {
  static constexpr int rowTiles = rowTiles_, warpRows = warpRows_, warpColumns = warpColumns_, slices = slices_, blocks = blocks_;
  static constexpr int rows = 16 * rowTiles * warpRows, stageK = 32 * slices;

  /// Of this block among those that share a tile of rows, and that tile's number.
  __device__ __forceinline__ static int rank() { return blockIdx.x % blocks; }
  __device__ __forceinline__ static int tile() { return blockIdx.x / blocks; }
};

/// A weight [K, N] in fragments.
template <class Math_, int K_, int N_> struct Product {
  using Math = Math_;
  static constexpr int K = K_, N = N_;
  static constexpr int groups = (K + 15) / 16;
  /// Columns in tiles of eight; panels of four tiles, then of two, then of one.
  static constexpr int tiles = (N + 7) / 8, wide = tiles / 4, panels = wide + tiles % 4 / 2 + tiles % 2;
  static constexpr int groupWords = Math::words * 32; ///< of a tile
  static constexpr int words = groups * groupWords * tiles;

  __device__ __forceinline__ static int tilesOf(int panel) {
    return panel < wide ? 4 : tiles % 4 >= 2 && panel == wide ? 2 : 1;
  }
  /// The tile that a panel begins with.
  __device__ __forceinline__ static int firstTile(int panel) { return panel <= wide ? panel * 4 : wide * 4 + 2; }

  /// What it takes through the ring: stages, and their bytes.
  template <class Tile> static constexpr int rounds = (K + Tile::stageK - 1) / Tile::stageK;
  template <class Tile>
  static constexpr int passes = (panels + Tile::warpColumns * Tile::blocks - 1) / (Tile::warpColumns * Tile::blocks);
  template <class Tile> static constexpr int stages = passes<Tile> * rounds<Tile>;
  template <class Tile> static constexpr int panelWords = Tile::stageK / 16 * groupWords * 4;
  template <class Tile> static constexpr int weightBytes = Tile::warpColumns * panelWords<Tile> * 4;
  /// The first panel of this block in a pass.
  template <class Tile> __device__ __forceinline__ static int firstPanel(int pass) {
    return (pass * Tile::blocks + Tile::rank()) * Tile::warpColumns;
  }
};

} // namespace tutti
