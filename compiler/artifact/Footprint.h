// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory that a session of a program takes, to the byte.
#ifndef TUTTI_COMPILER_ARTIFACT_FOOTPRINT_H
#define TUTTI_COMPILER_ARTIFACT_FOOTPRINT_H

#include "WeightLayout.h"

namespace tutti {

/// The memory at the largest sizes, as the runtime lays it out. Inputs are the caller's memory; on a device they are
/// the session's.
struct Footprint {
  uint64_t weights = 0, arena = 0, state = 0, tables = 0, inputs = 0, outputs = 0;
  uint64_t scratch = 0; ///< of each thread; none on CUDA devices

  uint64_t peak(unsigned threads = 1) const {
    return weights + arena + state + tables + inputs + outputs + scratch * threads;
  }
};

/// The bytes of a session's arena, which consists of whole pages.
uint64_t arenaBytes(plan::ProgramOp program);

/// The footprint for a largest active set of `members`: all of the ensemble or, to find what would fit, fewer. Nothing
/// if it exceeds 2^63 bytes.
std::optional<Footprint> footprintOf(plan::ProgramOp program, const WeightLayout &weights, uint64_t members);

} // namespace tutti

#endif
