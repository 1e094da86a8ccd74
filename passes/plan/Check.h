// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the passes before tutti-plan have to have written, and what an artifact takes at most.
#ifndef TUTTI_PASSES_PLAN_CHECK_H
#define TUTTI_PASSES_PLAN_CHECK_H

#include "passes/analysis/LargestSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tutti {

/// An error of the op that cannot be planned: an input, output or weight that is too large or has no name, an op that
/// is in no kernel, a kernel without a schedule.
llvm::LogicalResult checkPlannable(mlir::func::FuncOp function, const LargestSizes &largest);

} // namespace tutti

#endif
