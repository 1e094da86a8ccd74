// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes of length one, kept behind where a model drops them.
#ifndef TUTTI_PASSES_FUSE_UNITS_H
#define TUTTI_PASSES_FUSE_UNITS_H

#include "Launches.h"

namespace tutti {

/// Rewrites that keep axes of length one which a model drops. A mean over places has such an axis; without it, what is
/// computed of the mean has other rows, and so is of another kernel. Each rewrite keeps the axis in all that is
/// computed of one such value, and drops it where other ops read that.
std::vector<Rewrite> unitsThatStay(mlir::func::FuncOp function);

} // namespace tutti

#endif
