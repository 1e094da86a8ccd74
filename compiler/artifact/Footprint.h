// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a session of a program takes of memory, to the byte.
#ifndef TUTTI_COMPILER_ARTIFACT_FOOTPRINT_H
#define TUTTI_COMPILER_ARTIFACT_FOOTPRINT_H

#include "WeightLayout.h"

namespace tutti {

/// At the largest sizes, as the runtime lays it out. Inputs are the caller's memory, on a device the session's.
struct Footprint {
  uint64_t weights = 0, arena = 0, state = 0, tables = 0, inputs = 0, outputs = 0;
  uint64_t scratch = 0; ///< of each thread; none on CUDA devices

  uint64_t peak(unsigned threads = 1) const {
    return weights + arena + state + tables + inputs + outputs + scratch * threads;
  }
};

/// The arena's bytes as a session has them: pages.
uint64_t arenaBytes(plan::ProgramOp program);

/// `members` as the program's largest active set: those of the ensemble or, to ask what would fit, fewer. Nothing where
/// 2^63 bytes do not do.
std::optional<Footprint> footprintOf(plan::ProgramOp program, const WeightLayout &weights, uint64_t members);

} // namespace tutti

#endif
