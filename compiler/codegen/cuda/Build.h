// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From planned modules to code for CUDA devices.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_BUILD_H
#define TUTTI_COMPILER_CODEGEN_CUDA_BUILD_H

#include "Launches.h"
#include "compiler/codegen/ProgramCode.h"

namespace tutti {

/// What of the parts' geometries whoever launches them has to know.
CudaLaunch launchOf(llvm::ArrayRef<CudaGeometry> parts);
/// Whether a kernel is launched so, also if it had to be compiled by another version.
bool isVersionOf(const CudaLaunch &launch, llvm::ArrayRef<CudaGeometry> parts);

/// What is launched at once as its cubin has it, if there is one for the architecture.
std::optional<BuiltCode> builtCodeOf(llvm::ArrayRef<ProgramCode> programs, llvm::StringRef architecture,
                                     llvm::ArrayRef<plan::KernelOp> parts, llvm::ArrayRef<CudaGeometry> geometries);

/// A program for each class of architectures that launch all kernels alike. `dump` gets each text, and the name of a
/// file for it.
llvm::Expected<std::vector<ProgramCode>>
buildCuda(llvm::ArrayRef<PlannedModule> planned, llvm::ArrayRef<const Architecture *> architectures, unsigned jobs,
          llvm::function_ref<llvm::Error(const std::string &file, const std::string &text)> dump);

} // namespace tutti

#endif
