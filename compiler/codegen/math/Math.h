// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutti's own math functions: the same bits on every target, as sequences of IEEE operations.
#ifndef TUTTI_COMPILER_CODEGEN_MATH_MATH_H
#define TUTTI_COMPILER_CODEGEN_MATH_MATH_H

#include "mlir/IR/Operation.h"

namespace tutti {

/// Rewrites math ops and functions of the tutti dialect on f32 or f64 (scalars or vectors) inside `root` that are not a
/// single instruction into arith ops, math.fma, math.absf, math.copysign, math.trunc and math.roundeven; arith.maximumf
/// and the like with a number become a comparison. There are no calls, memory or approximate instructions, and branches
/// only skip work that no lane needs: a lane's bits depend on its input alone. Errors and special values:
/// docs/numerics.md. f16 and bf16 go through f32. Ops without an expansion, and those for which `keep` is true, stay as
/// they are.
void expandMath(mlir::Operation *root, llvm::function_ref<bool(mlir::Operation *)> keep = nullptr);

/// Whether expandMath writes `op` as several operations.
bool isExpanded(mlir::Operation *op);

} // namespace tutti

#endif
