// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel text compiled by the host's compiler, for the emulated device of test/emulated.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_EMULATED_H
#define TUTTI_COMPILER_CODEGEN_CUDA_EMULATED_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tutti {

struct EmulatedOptions {
  std::string name = "kernel.cu"; ///< what errors call the text
  std::vector<std::string> flags; ///< more for the compiler
};

/// The image of all kernels of a translation unit: a shared object for cuModuleLoadData of the emulated driver. Kernels
/// are the `__global__` functions that the text itself defines, `extern "C"`; the same text gives the same bytes.
llvm::Expected<std::string> compileEmulated(llvm::StringRef text, const EmulatedOptions &options = {});

} // namespace tutti

#endif
