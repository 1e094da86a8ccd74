// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel text compiled by the host's compiler, for the emulated device of test/emulated.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_EMULATED_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_EMULATED_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tutti {

struct EmulatedUnit {
  std::string name; ///< what errors call the text: "k0.cu"
  llvm::StringRef text;
};
struct EmulatedOptions {
  std::vector<std::string> flags = {}; ///< more for the compiler
  int capability = 90;                 ///< that the text sees as TUTTI_CAPABILITY
};

/// The image of all kernels of these translation units: a shared object for cuModuleLoadData of the emulated driver.
/// Kernels are the `__global__` functions that a text itself defines, `extern "C"`, and no two have one name; all else
/// is the unit's own. The same texts give the same bytes.
llvm::Expected<std::string> compileEmulated(llvm::ArrayRef<EmulatedUnit> units, const EmulatedOptions &options = {});

} // namespace tutti

#endif
