// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of its geometries a launch on a CUDA device takes: what the runtime does and the compiler predicts.
#pragma once

#include <cstdint>

namespace tutti::rt {

/// Whether a call takes a geometry that has so many blocks at its sizes, of those that go from the largest tile to the
/// smallest, rather than look at the next one. At least every second multiprocessor has a block; and where a smaller
/// tile makes as few blocks, this one is half empty. The last one is taken in any case.
constexpr bool takesTile(uint64_t blocks, uint64_t nextBlocks, uint64_t multiprocessors) {
  return 2 * blocks >= multiprocessors && nextBlocks > blocks;
}

} // namespace tutti::rt
