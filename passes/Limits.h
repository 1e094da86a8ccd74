// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an artifact has at most, as passes see it.
#ifndef TUTTI_PASSES_LIMITS_H
#define TUTTI_PASSES_LIMITS_H

#include <cstdint>

namespace tutti {

/// Dimensions of inputs, outputs and weights, the member axis among them: TUTTI_MAX_RANK of the runtime, whose headers
/// passes do not see (test/laws/Compiled.cpp compares the two).
constexpr int64_t mostPortRank = 16;

} // namespace tutti

#endif
