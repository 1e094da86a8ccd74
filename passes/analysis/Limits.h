// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an artifact has at most, as passes see it.
#ifndef TUTTI_PASSES_ANALYSIS_LIMITS_H
#define TUTTI_PASSES_ANALYSIS_LIMITS_H

#include <cstdint>

namespace tutti {

/// Dimensions of inputs, outputs and weights, the member axis among them: TUTTI_MAX_RANK of the runtime, whose headers
/// passes do not see (test/laws/Compiled.cpp compares the two).
constexpr int64_t mostPortRank = 16;
/// Working memory of a thread of the CPU in a launch, in bytes, and arguments of a launch: what the runtime takes
/// (compared there, too).
constexpr int64_t mostScratchBytes = int64_t(1) << 28, mostArguments = 4096;
/// Inputs and outputs of a program together, each head an output.
constexpr int64_t mostProgramPorts = 4096;

} // namespace tutti

#endif
