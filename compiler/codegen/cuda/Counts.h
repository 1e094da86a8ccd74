// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of CUDA devices count in ints: checks that a kernel's counts fit.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_COUNTS_H
#define TUTTI_COMPILER_CODEGEN_CUDA_COUNTS_H

#include "dialects/plan/Plan.h"
#include "passes/analysis/Rows.h"

#include <optional>

namespace tutti {

/// The largest value of a size in a call of the kernel's program; the largest number if that is unknown.
int64_t mostOf(plan::KernelOp kernel, std::optional<Size> size);

/// Whether ints hold each axis of the ops' operands, the number of terms of their sums, and all intermediate values of
/// indices.
bool countsOperands(plan::KernelOp kernel);

/// Whether ints hold the number of elements in a tile of `rows` rows, for each value of the kernel's rows.
bool countsTile(plan::KernelOp kernel, const RowForm &form, int64_t rows);

} // namespace tutti

#endif
