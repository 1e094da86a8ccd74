// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the text of kernels to what a device loads.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGE_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tutti {

/// A kernel's translation unit.
struct CudaText {
  std::string name; ///< of the entry
  std::string text;
};

/// One file for each kernel, end to end: a cubin, or a shared object for the emulated device.
struct CudaImage {
  std::string bytes;
  std::vector<uint64_t> offsets, lengths; ///< of each kernel's, in the order given
};

/// Compiles all kernels for one target ("emulated"), `jobs` at a time. Equal text is compiled once.
llvm::Expected<CudaImage> buildCudaImage(llvm::ArrayRef<CudaText> kernels, llvm::StringRef target, unsigned jobs);

} // namespace tutti

#endif
