// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutti's own math functions: the same bits on every target, as sequences of IEEE operations.
#ifndef TUTTI_COMPILER_CODEGEN_MATH_MATH_H
#define TUTTI_COMPILER_CODEGEN_MATH_MATH_H

#include "mlir/IR/Operation.h"

namespace tutti {

/// Rewrites each math op, and each function of the tutti dialect, on f32 or f64 (scalars or vectors) inside `root` that
/// is no single instruction into arith ops, math.fma, math.absf, math.copysign, math.trunc and math.roundeven, and the
/// likes of arith.maximumf with a number into a comparison. No calls, memory or approximate instructions, and a branch
/// only to leave out work that no lane needs: a lane's bits depend on its input alone. Errors and special values:
/// docs/numerics.md. f16 and bf16 go through f32. Ops without an expansion stay as they are. Of those ops, the ones
/// that `keep` is true of stay as they are, too.
void expandMath(mlir::Operation *root, llvm::function_ref<bool(mlir::Operation *)> keep = nullptr);

/// Whether expandMath writes `op` as several operations.
bool isExpanded(mlir::Operation *op);

} // namespace tutti

#endif
