// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of CUDA devices count in ints: what of a kernel they count.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_COUNTS_H
#define TUTTI_COMPILER_CODEGEN_CUDA_COUNTS_H

#include "dialects/plan/Plan.h"
#include "passes/analysis/Rows.h"

#include <optional>

namespace tutti {

/// The largest value of a size in a call of the kernel's program; the largest number where that is not known.
int64_t mostOf(plan::KernelOp kernel, std::optional<Size> size);

/// Whether ints count each axis of what ops read, the terms of their sums, and what indices are computed of.
bool countsOperands(plan::KernelOp kernel);

/// Whether they count the elements of a tile of so many rows, of each value of the kernel's rows.
bool countsTile(plan::KernelOp kernel, const RowForm &form, int64_t rows);

} // namespace tutti

#endif
