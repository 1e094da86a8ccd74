// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The demo's page: fills page.html with what the run found.
#ifndef TUTTI_EXAMPLES_DIGITS_PAGE_H
#define TUTTI_EXAMPLES_DIGITS_PAGE_H

#include "Digits.h"

namespace digits {

/// Median microseconds over `calls` calls each, all images and all members.
struct Timing {
  double ensemble = 0, singles = 0;
  unsigned threads = 1;
  size_t calls = 0;
};

/// What the ensemble's artifact says about itself.
struct Facts {
  size_t kernels = 0, slots = 0, shared = 0;
  uint64_t weightsBytes = 0;
  uint32_t launches = 0;
  std::string targets, compiler;
};

/// Reads what `tutti-inspect --json` wrote. On failure nothing, and `error` says why.
std::optional<Facts> readFacts(const std::string &path, std::string &error);

/// Writes the page, with the dozen images that the members disagree on most. False on failure, with `error`.
bool writePage(const std::string &pattern, const std::string &path, const TestSet &set, const Verdict &verdict,
               const Timing &timing, const Facts &facts, std::string &error);

} // namespace digits

#endif
