// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of its geometries a launch on a CUDA device takes, and with how many blocks: what the runtime does and the
// compiler predicts.
#pragma once

#include <cstdint>

namespace tutti::rt {

/// Whether a call takes a geometry that has so many blocks at its sizes, of those that go from the largest tile to the
/// smallest, rather than look at the next one. At least every second multiprocessor has a block; and where a smaller
/// tile makes as few blocks, this one is half empty. The last one is taken in any case.
constexpr bool takesTile(uint64_t blocks, uint64_t nextBlocks, uint64_t multiprocessors) {
  return 2 * blocks >= multiprocessors && nextBlocks > blocks;
}

/// How many members a launch whose blocks go on to further ones works on at a time, `tiles` blocks for each, where the
/// device has so many `slots` for blocks: as many as there are slots for, or all where some slot would then have over
/// an eighth more to do.
constexpr uint64_t membersAtOnce(uint64_t tiles, uint64_t members, uint64_t slots) {
  auto divided = [](uint64_t a, uint64_t b) { return a / b + (a % b != 0); };
  if (!tiles || !slots)
    return members;
  uint64_t each = tiles < slots ? divided(members, slots / tiles) : members; // of a block, one after the other
  if (each < 2)
    return members;
  uint64_t atOnce = divided(members, each), longest = divided(tiles * atOnce, slots) * each,
           least = divided(tiles * members, slots);
  return longest - least <= least / 8 ? atOnce : members; // it is never less
}

} // namespace tutti::rt
