// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting a kernel: what one block does in each step, and how many blocks there are.
#ifndef TUTTI_COMPILER_PERFORMANCE_WORK_H
#define TUTTI_COMPILER_PERFORMANCE_WORK_H

#include "Predict.h"
#include "compiler/codegen/cuda/Geometry.h"
#include "dialects/tutti/Sizes.h"
#include "dialects/tutti/Tutti.h"

#include <map>

namespace tutti {

/// The sizes of a call, by symbol; "active" is the number of members.
using CallSizes = std::map<std::string, int64_t>;

/// A size's value; 0 if a symbol has none.
int64_t valueOf(const Size &size, const CallSizes &sizes);

/// The instructions of one element of a map, for each lane that has one: its scalar code with the math functions
/// written out, which is what the emitter prints.
struct ScalarWork {
  double fp32 = 0, integer = 0, special = 0, fp64 = 0;
};
ScalarWork countScalar(MapOp map);

/// The launch of a kernel with this geometry. Registers are an estimate until the caller sets those of a cubin.
KernelWork countKernel(plan::KernelOp kernel, const CudaGeometry &geometry, const CallSizes &sizes);

} // namespace tutti

#endif
