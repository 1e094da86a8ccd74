// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops share a kernel.
#ifndef TUTTI_PASSES_FUSE_GROUPING_H
#define TUTTI_PASSES_FUSE_GROUPING_H

#include "Group.h"

namespace tutti {

/// Divides all computing ops of a function that has its numerics into groups, each behind those that it reads. The
/// function stays as it is.
llvm::FailureOr<std::vector<Group>> groupsOf(mlir::func::FuncOp function);

} // namespace tutti

#endif
