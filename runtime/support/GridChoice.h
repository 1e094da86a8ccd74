// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of its geometries a launch on a CUDA device takes, and with how many blocks: what the runtime does and the
// compiler predicts.
#pragma once

#include "../schema/Format.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tutti::rt {

/// How many members a launch whose blocks go on to further ones works on at a time, `tiles` blocks for each, where the
/// device has so many `slots` for blocks: as many as there are slots for, or all where some slot would then have over
/// an eighth more to do.
constexpr uint64_t membersAtOnce(uint64_t tiles, uint64_t members, uint64_t slots) {
  if (!tiles || !slots)
    return members;
  uint64_t each = tiles < slots ? divideCeil(members, slots / tiles) : members; // of a block, one after the other
  if (each < 2)
    return members;
  uint64_t atOnce = divideCeil(members, each), longest = divideCeil(tiles * atOnce, slots) * each,
           least = divideCeil(tiles * members, slots);
  return longest - least <= least / 8 ? atOnce : members; // it is never less
}

/// Clocks in which each of `count` goes its way once, side by side: alone it takes `alone` and keeps the one pipe that
/// they share busy for `busy` of them. Whoever comes to the pipe waits for those that are there already, as many as
/// there would be on average without him: mean value analysis (Reiser and Lavenberg, J. ACM 27, 1980). Never less than
/// either alone or what the pipe needs for all.
constexpr double sideBySide(int64_t count, double busy, double alone) {
  double there = 0, clocks = alone = std::max(alone, busy);
  for (int64_t i = 1; i <= count && busy > 0; ++i) {
    double own = busy * (1 + there);
    clocks = alone - busy + own;
    there = double(i) * own / clocks;
  }
  return clocks;
}

/// What a block takes, in clocks (artifact.fbs, Cost): one of `rows` rows, and of some of it one with a single row.
struct BlockCost {
  double rows, begin, alone, busy, l2, rowAlone, rowBusy;

  /// In a call of so many rows, which may be fewer than a tile has.
  constexpr BlockCost inCall(int64_t callRows) const {
    double share = rows > 1 ? std::clamp((double(callRows) - 1) / (rows - 1), 0., 1.) : 1;
    BlockCost own = *this;
    own.alone = rowAlone + share * (alone - rowAlone);
    own.busy = rowBusy + share * (busy - rowBusy);
    return own;
  }
};
/// Room for blocks: on a multiprocessor at a time, and on all of them; 0: unknown.
struct BlockRoom {
  uint64_t resident = 0, slots = 0;
  bool isTooSmall = false; ///< for a single cluster: the device, or the part of it that the process has
};

/// Clocks of a launch that has `blocks` blocks, of `members` members each: of the multiprocessor with most of them, or
/// of the L2 cache, if that takes longer.
constexpr double launchClocks(const BlockCost &cost, uint64_t blocks, uint64_t members, BlockRoom room) {
  uint64_t resident = std::clamp<uint64_t>(room.resident, 1, 32),
           processors = std::max<uint64_t>(1, room.slots / resident), own = divideCeil(blocks, processors);
  double each = double(members), busy = each * cost.busy, alone = cost.begin + each * cost.alone,
         clocks = double(own / resident) * sideBySide(int64_t(resident), busy, alone);
  if (own % resident)
    clocks += sideBySide(int64_t(own % resident), busy, alone);
  return std::max(clocks, double(blocks) * each * cost.l2 / double(processors));
}

/// Whether a geometry that takes so many clocks is taken instead of one before it. The model is not exact enough to
/// choose between near ties, and larger tiles leave more of the L2 cache to others.
constexpr bool isFaster(double later, double before) { return later < .9 * before; }

/// Where nothing is known of a block: whether a call takes a geometry that has so many blocks at its sizes rather than
/// look at the next one. At least every second multiprocessor has a block; and where the next one makes as few blocks,
/// this one's tiles are half empty. The last one is taken in any case.
constexpr bool takesTile(uint64_t blocks, uint64_t nextBlocks, uint64_t multiprocessors) {
  return 2 * blocks >= multiprocessors && nextBlocks > blocks;
}

/// What a call knows of one of a launch's geometries: clocks, where its blocks have a cost, and blocks of one member
/// each.
struct Candidate {
  std::optional<double> clocks;
  uint64_t blocks;
};
/// Which of `count` geometries, from the one with the fewest blocks to the one with the most, a call takes: of(g) is
/// what it knows of each. All have clocks, or none.
template <class Of> constexpr uint32_t chooseGeometry(uint32_t count, uint64_t multiprocessors, Of of) {
  uint32_t best = 0;
  Candidate taken = of(0);
  for (uint32_t g = 1; g < count; ++g) {
    Candidate next = of(g);
    if (taken.clocks && next.clocks ? isFaster(*next.clocks, *taken.clocks)
                                    : best + 1 == g && !takesTile(taken.blocks, next.blocks, multiprocessors))
      best = g, taken = next;
  }
  return best;
}

} // namespace tutti::rt
