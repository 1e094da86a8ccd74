// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The networks of law invariance.
#ifndef TUTTI_TEST_LAWS_NETWORKS_H
#define TUTTI_TEST_LAWS_NETWORKS_H

#include "llvm/ADT/SmallVector.h"

#include <ostream>
#include <utility>
#include <vector>

namespace tutti::laws {

/// A model of one input `x` with rows, and weights.
struct Network {
  using Weights = std::vector<std::pair<const char *, llvm::SmallVector<int64_t>>>;
  const char *name;
  const char *text;
  Weights weights;
  Weights indices = {}; ///< of int64
};
inline void PrintTo(const Network &network, std::ostream *os) { *os << network.name; }

/// Each for something that could make a member's bits depend on who is beside it.
const std::vector<Network> &networks();

} // namespace tutti::laws

#endif
