// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of one op that has to agree bit for bit: scalar, AVX2 and AVX-512.
#pragma once

#include "Jit.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace tutti {

extern bool exhaustive; ///< every float, or more of them, not a sample

/// The code variants: the first is the one that is compared with the reference, the others with it.
std::vector<MathLoop> compile(const std::string &op, int operands, const std::string &element,
                              const std::string &constant = {});

template <typename Float> bool sameBits(Float a, Float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

struct Worst {
  double floor = 0; ///< smaller results count as this one
  int64_t count = 0;
  double error = 0;
  double x = 0, y = 0;
  int64_t different = 0; ///< results whose bits differ between variants
  double differentAt = 0;
};

/// Prints a row of the table, and fails where the error is above its bound or variants differ.
void report(const std::string &name, const Worst &worst, double bound);

} // namespace tutti
