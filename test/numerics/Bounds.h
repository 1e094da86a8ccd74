// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bounds that the ops' td entries state: what docs/reference shows and the tests hold.
#ifndef TUTTI_TEST_NUMERICS_BOUNDS_H
#define TUTTI_TEST_NUMERICS_BOUNDS_H

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tutti {

struct OpBound {
  std::string_view op;
  double ulps, ulps64;       ///< of float32 and of float64 results; 0: exact
  bool isFormula;            ///< the bound is stated as a formula, not in units of the last place
  double (*terms)(double n); ///< of a sum of n: so many roundings of the sum of absolute values; null when it is none
};

namespace bounds {
using std::ceil, std::max, std::min;
inline constexpr OpBound all[] = {
#include "test/OpBounds.inc"
};
} // namespace bounds

/// The bound of an op that has one: "tutti.exp".
inline const OpBound &boundOf(std::string_view op) {
  for (const OpBound &bound : bounds::all)
    if (bound.op == op)
      return bound;
  std::fprintf(stderr, "no td entry has a bound for %.*s\n", int(op.size()), op.data());
  std::abort();
}

} // namespace tutti

#endif
