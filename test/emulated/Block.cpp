// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block's beginning.
#include "Block.h"

#include <cstring>

namespace tutti::emulated {

void Block::begin(uint3 at, uint32_t ownRank, uint32_t bytes, uint32_t numThreads, uint32_t firstEpoch) {
  index = at;
  rank = ownRank;
  sharedBytes = bytes;
  storage.resize(sharedBytes + 1024);
  auto base = reinterpret_cast<uintptr_t>(storage.data());
  shared = storage.data() + (1024 - base % 1024) % 1024;
  memset(shared, 0xff, sharedBytes);
  clocks.beginBlock(numThreads, firstEpoch);
  shadow.beginBlock(sharedBytes, rank, firstEpoch);
  barriers.assign(16, {});
  mbarriers.clear();
  sources.clear();
  cluster = {};
  peers.clear();
  numReturned = 0;
}

} // namespace tutti::emulated
