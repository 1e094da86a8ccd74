// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's groups, after rewrites that make them fewer: each is a launch.
#ifndef TUTTI_PASSES_FUSE_LAUNCHES_H
#define TUTTI_PASSES_FUSE_LAUNCHES_H

#include "Group.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace tutti {

/// A rewrite that computes the same values by other ops, which may be fewer groups, and changes no bit. It is tried on
/// a copy of the function, whose ops and values `copies` has; where it fails, the copy is thrown away.
using Rewrite = std::function<llvm::LogicalResult(const mlir::IRMapping &copies)>;

/// Returns the groups of a function (Grouping.h) after all rewrites that make them fewer. `function` becomes the copy
/// that stands in its place.
llvm::FailureOr<std::vector<Group>> groupsForLaunches(mlir::func::FuncOp &function);

} // namespace tutti

#endif
