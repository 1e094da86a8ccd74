// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bounds that the ops' td entries state, in units of the last place: what docs/reference shows and the tests hold.
#ifndef TUTTI_TEST_NUMERICS_BOUNDS_H
#define TUTTI_TEST_NUMERICS_BOUNDS_H

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tutti {

struct OpBound {
  std::string_view op;
  double ulps, ulps64; ///< of float32 and of float64 results; 0: exact
};

inline constexpr OpBound opBounds[] = {
#include "test/OpBounds.inc"
};

/// The bound of an op that has one: "tutti.exp".
inline const OpBound &boundOf(std::string_view op) {
  for (const OpBound &bound : opBounds)
    if (bound.op == op)
      return bound;
  std::fprintf(stderr, "no td entry has a bound for %.*s\n", int(op.size()), op.data());
  std::abort();
}

} // namespace tutti

#endif
