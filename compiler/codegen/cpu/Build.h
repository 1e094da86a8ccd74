// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From planned modules to code for the levels of x86-64.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_BUILD_H
#define TUTTI_COMPILER_CODEGEN_CPU_BUILD_H

#include "compiler/codegen/ProgramCode.h"

#include "llvm/Support/Error.h"

namespace tutti {

/// Inserts the dialects of models and plans, and of the code that kernels become.
void insertCpuDialects(mlir::DialectRegistry &registry);

/// Builds a program for each module; kernels that several modules share are built once. Levels are independent: each is
/// built in a context of its own, `jobs` at a time.
llvm::Expected<std::vector<ProgramCode>> buildCpu(llvm::ArrayRef<PlannedModule> planned,
                                                  llvm::ArrayRef<std::string> levels, unsigned jobs);

} // namespace tutti

#endif
