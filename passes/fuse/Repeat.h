// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all members share, computed again by each of them.
#ifndef TUTTI_PASSES_FUSE_REPEAT_H
#define TUTTI_PASSES_FUSE_REPEAT_H

#include "Group.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tutti {

/// The groups of a function (Grouping.h). Where launches are dear, what is computed once for all members, and is little
/// beside what they compute of it, is lifted before if there are fewer groups then: `function` becomes the one that
/// stands in its place. No bit depends on it.
llvm::FailureOr<std::vector<Group>> groupsForLaunches(mlir::func::FuncOp &function);

} // namespace tutti

#endif
