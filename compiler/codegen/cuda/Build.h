// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From planned modules to code for CUDA devices.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_BUILD_H
#define TUTTI_COMPILER_CODEGEN_CUDA_BUILD_H

#include "compiler/codegen/ProgramCode.h"
#include "images/Architectures.h"

namespace tutti {

/// A program for each class of architectures that launch all kernels alike. `dump` gets each text, and the name of a
/// file for it.
llvm::Expected<std::vector<ProgramCode>>
buildCuda(llvm::ArrayRef<PlannedModule> planned, llvm::ArrayRef<const Architecture *> architectures, unsigned jobs,
          llvm::function_ref<llvm::Error(const std::string &file, const std::string &text)> dump);

} // namespace tutti

#endif
