// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes of length one, kept behind where a model drops them.
#ifndef TUTTI_PASSES_FUSE_UNITS_H
#define TUTTI_PASSES_FUSE_UNITS_H

#include "Launches.h"

namespace tutti {

/// A mean over places has the place's axis with length one; a model drops it, and what it computes of the mean has
/// other rows then, of another kernel. Each rewrite keeps the axis in all that is computed of one such value, and drops
/// it where anybody else reads that.
std::vector<Rewrite> unitsThatStay(mlir::func::FuncOp function);

} // namespace tutti

#endif
