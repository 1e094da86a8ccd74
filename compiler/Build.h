// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a planned module to machine code for the targets of its class.
#ifndef TUTTI_COMPILER_BUILD_H
#define TUTTI_COMPILER_BUILD_H

#include "compiler/artifact/Writer.h"
#include "compiler/codegen/cuda/Kernel.h"
#include "dialects/plan/Plan.h"

namespace tutti {

plan::ProgramOp programOf(mlir::ModuleOp planned);
/// What of a geometry whoever launches the kernel has to know.
CudaLaunch launchOf(const CudaGeometry &geometry);

/// Levels are independent: each is built in a context of its own, `jobs` at a time.
llvm::Expected<ProgramCode> buildCpu(mlir::ModuleOp planned, llvm::ArrayRef<std::string> levels, unsigned jobs);

/// A program for each class of architectures that launch all kernels alike. `dump` gets each text, and the name of a file for it.
llvm::Expected<std::vector<ProgramCode>> buildCuda(mlir::ModuleOp planned, llvm::ArrayRef<const Architecture *> architectures, unsigned jobs,
                                                   llvm::function_ref<llvm::Error(const std::string &file, const std::string &text)> dump);

} // namespace tutti

#endif
