// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of a compilation for `--explain`: the programs of a model and their kernels.
#ifndef TUTTI_COMPILER_REPORT_H
#define TUTTI_COMPILER_REPORT_H

#include "compiler/codegen/ProgramCode.h"
#include "dialects/tutti/Tutti.h"

#include <string>
#include <vector>

namespace tutti {

struct KernelReport {
  std::string name, family;
  bool lifted = false;
  std::vector<std::string> rows;
  int64_t tile = 0, scratch = 0; ///< rows of a task at most, and bytes; 0 where a call decides them
  unsigned launches = 0, heads = 0;
  std::string numerics; ///< "contract:panels, reduce:lanes": by op, what decides its bits
  std::string flops;    ///< of a launch, two a multiply-add, as a sum of sizes
  std::string with;     ///< on the first CUDA target, the kernels in whose launch it is: "k1, k2"
};

/// The program for a class of targets.
struct ProgramReport {
  Target target;
  std::string sizes;     ///< "h=12, w=16", where it is one of several with other sizes
  unsigned launches = 0; ///< of a call, in pieces of one whose set is a single one
  int64_t arenaBytes = 0;
  int64_t chunk = 0; ///< members that run at once; 0: all
  std::vector<KernelReport> kernels;
};

/// The report of a program whose sizes are bound as `sizes` says.
ProgramReport reportOf(const ProgramCode &code, const std::string &sizes);

} // namespace tutti

#endif
