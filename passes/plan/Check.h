// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of what the passes before tutti-plan have to have written, and of the most that an artifact takes.
#ifndef TUTTI_PASSES_PLAN_CHECK_H
#define TUTTI_PASSES_PLAN_CHECK_H

#include "passes/analysis/LargestSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tutti {

/// Checks that a function can be planned. It is an error at an input, output or weight that is too large or has no
/// name, an op that is in no kernel, a kernel without a schedule.
llvm::LogicalResult checkPlannable(mlir::func::FuncOp function, const LargestSizes &largest);

} // namespace tutti

#endif
