// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways to launch a step on a CUDA device.
#pragma once

#include "Extent.h"
#include "Tile.h"

#include <optional>

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
      g.cost = {double(cost->rows()), double(cost->begin()),     double(cost->alone()),   double(cost->busy()),
                double(cost->l2()),   double(cost->row_alone()), double(cost->row_busy())};
    return g;
  };
  return i ? of(*launch.alternatives()->Get(i - 1)) : of(launch);
}

} // namespace tutti::rt
