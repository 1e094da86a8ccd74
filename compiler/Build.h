// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a planned module to machine code for the targets of its class.
#ifndef TUTTI_COMPILER_BUILD_H
#define TUTTI_COMPILER_BUILD_H

#include "compiler/artifact/Writer.h"
#include "compiler/codegen/cuda/Architectures.h"
#include "dialects/plan/Plan.h"

namespace tutti {

plan::ProgramOp programOf(mlir::ModuleOp planned);

/// Levels are independent: each is built in a context of its own, `jobs` at a time.
llvm::Expected<ProgramCode> buildCpu(mlir::ModuleOp planned, llvm::ArrayRef<std::string> levels, unsigned jobs);

/// `dump` gets the text of each kernel, and the name of a file for it.
llvm::Expected<ProgramCode> buildCuda(mlir::ModuleOp planned, llvm::ArrayRef<const Architecture *> architectures, unsigned jobs,
                                      llvm::function_ref<llvm::Error(const std::string &file, const std::string &text)> dump);

} // namespace tutti

#endif
