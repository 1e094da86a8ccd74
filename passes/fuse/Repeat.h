// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all members share, computed again by each of them.
#ifndef TUTTI_PASSES_FUSE_REPEAT_H
#define TUTTI_PASSES_FUSE_REPEAT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tutti {

/// Lifts what is computed once for all members, and is little beside what they compute of it, where the function has
/// fewer groups then (Grouping.h). Returns the function that stands in the place of the given one, which has its
/// numerics; no bit depends on it. Fails, with an error, where ops cannot be grouped.
llvm::FailureOr<mlir::func::FuncOp> repeatedForLaunches(mlir::func::FuncOp function);

} // namespace tutti

#endif
