// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways to launch a step on a CUDA device.
#pragma once

#include "Extent.h"
#include "runtime/support/GridChoice.h"

namespace tutti::rt {

/// What a Launch and each of its alternatives say alike.
struct Geometry {
  uint32_t kernel;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Extent>> *grid;
  const flatbuffers::Vector<uint32_t> *block, *cluster;
  const fb::Extent *dynamicShared;
  bool persistent;
  std::optional<BlockCost> cost;
};

inline uint32_t numGeometries(const fb::Launch &launch) { return 1 + count(launch.alternatives()); }

/// Geometry 0 is the launch's own.
inline Geometry geometryOf(const fb::Launch &launch, uint32_t i) {
  auto of = [](const auto &l) {
    Geometry g{l.kernel(), l.grid(), l.block(), l.cluster(), l.dynamic_shared(), l.persistent(), std::nullopt};
    if (const fb::Cost *cost = l.cost())
      g.cost = BlockCost{.rows = double(cost->rows()),
                         .begin = double(cost->begin()),
                         .alone = double(cost->alone()),
                         .busy = double(cost->busy()),
                         .l2 = double(cost->l2()),
                         .rowAlone = double(cost->row_alone()),
                         .rowBusy = double(cost->row_busy())};
    return g;
  };
  return i ? of(*launch.alternatives()->Get(i - 1)) : of(launch);
}

/// The blocks of a launch along x, y and z, and how many members each of them has.
struct Grid {
  uint64_t x, y, z, members = 1;
  uint64_t blocks() const { return x * y * z; }
};
/// At such sizes, where each block has one member. An extent rounds each of its factors up by itself, so of rows that
/// are a product of sizes it has more tiles than there are; where a tile's rows are known, these are counted.
inline Grid gridOf(const fb::Launch &launch, const Geometry &geometry, const int64_t *sizes) {
  auto extent = [&](uint32_t d) { return uint64_t(valueOf(geometry.grid->Get(d), sizes)); };
  Grid grid = {extent(0), extent(1), extent(2)};                                 // each is below 2^31, 2^16, 2^16
  if (grid.z == 1 && launch.lifted() && !launch.set() && !count(launch.parts())) // of many members y may be a plane's
    grid.y = std::min(grid.y, uint64_t(sizes[0]));
  if (geometry.cost && geometry.cost->rows >= 1 && !count(launch.parts())) {
    uint64_t tiles = divideCeil(uint64_t(valueOf(launch.rows(), sizes)), uint64_t(geometry.cost->rows));
    grid.x = std::min(grid.x, tiles * (count(geometry.cluster) ? geometry.cluster->Get(0) : 1));
  }
  return grid;
}
/// What is launched on a device with so much room for blocks of it.
inline Grid launchedGrid(const fb::Launch &launch, const Geometry &geometry, const int64_t *sizes,
                         const BlockRoom &room) {
  Grid grid = gridOf(launch, geometry, sizes);
  if (!geometry.persistent)
    return grid;
  uint64_t all = grid.y * grid.z, atOnce = membersAtOnce(grid.x, all, room.slots);
  return atOnce < all ? Grid{grid.x, atOnce, 1, divideCeil(all, atOnce)} : grid;
}

/// Which of a launch's first `geometries` a call of such sizes takes; rooms[g] is the device's for blocks of g.
inline uint32_t chooseGeometry(const fb::Launch &launch, const int64_t *sizes, uint32_t geometries,
                               const BlockRoom *rooms, uint64_t multiprocessors) {
  int64_t rows = valueOf(launch.rows(), sizes);
  return chooseGeometry(geometries, multiprocessors, [&](uint32_t g) {
    Geometry geometry = geometryOf(launch, g);
    Candidate candidate = {std::nullopt, gridOf(launch, geometry, sizes).blocks()};
    if (geometry.cost) {
      Grid grid = launchedGrid(launch, geometry, sizes, rooms[g]);
      candidate.clocks = launchClocks(geometry.cost->inCall(rows), grid.blocks(), grid.members, rooms[g]);
    }
    return candidate;
  });
}

} // namespace tutti::rt
