// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory limit: whether a program keeps it, how large its pieces may be, and what would fit.
#ifndef TUTTI_COMPILER_MEMORY_H
#define TUTTI_COMPILER_MEMORY_H

#include "compiler/artifact/Footprint.h"

namespace tutti {

/// The conditions under which a copy of the module, taken before it has kernels, is planned again: the active set in
/// pieces of `chunk` members (0: at once), only the first `members` members, or other upper ends of ranges.
struct PlanRequest {
  int64_t chunk = 0, members = 0;
  std::map<std::string, int64_t> largest; ///< by symbol
};
using Replan = llvm::function_ref<llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>(const PlanRequest &)>;

/// The module planned so that its program takes at most `limit` bytes with one thread: as it is, or in the largest
/// pieces that fit. Else exit code `resource`, naming the most members, and the largest of a range, that would fit.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> planWithin(uint64_t limit, const Ensemble &ensemble,
                                                             mlir::OwningOpRef<mlir::ModuleOp> planned, Replan replan);

} // namespace tutti

#endif
