// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the code that emitters write to the LLVM dialect.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_LOWERING_LOWERING_H
#define TUTTI_COMPILER_CODEGEN_CPU_LOWERING_LOWERING_H

#include "compiler/codegen/cpu/Code.h"

#include "mlir/Pass/PassManager.h"

namespace tutti {

/// Adds the passes that lower a module of emitted kernels to the LLVM dialect alone.
void addLowering(mlir::OpPassManager &passes, const CpuLevel &level);

/// Adds the last of them, MLIR's own conversions.
void addConversions(mlir::OpPassManager &passes);

} // namespace tutti

#endif
