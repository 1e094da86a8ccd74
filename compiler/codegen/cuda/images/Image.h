// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the text of kernels to what a device loads.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_IMAGE_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_IMAGE_H

#include "Cubin.h"

namespace tutti {

/// A kernel's translation unit, and what it is launched with.
struct CudaText {
  std::string name; ///< of the entry
  std::string text;
  LaunchNeeds needs;
  std::string alternative = {}; ///< where that spills: of blocks without a producer, so of fewer threads; or empty
};

/// One file for each kernel, end to end: a cubin or PTX; for the emulated device one shared object for all.
struct CudaImage {
  const Architecture *architecture;
  int minDriver = 0; ///< as cuDriverGetVersion counts
  std::string bytes;
  struct Kernel {
    uint64_t offset, length;
    KernelResources resources; ///< known of a cubin
  };
  std::vector<Kernel> kernels; ///< in the order given
  std::string compiler = {};   ///< "NVRTC 13.0", of cubins and PTX
};

/// What one image is made of.
struct CudaSource {
  const Architecture *architecture;
  std::vector<const CudaText *> kernels;
};

/// Compiles the kernels of all images, `jobs` at a time. A kernel that spills is compiled by its alternative, and one
/// whose launch bounds ask for two blocks on a processor for one. What its cubin needs all the same, and how many
/// threads its blocks have then, is for the caller to judge.
llvm::Expected<std::vector<CudaImage>> buildCudaImages(llvm::ArrayRef<CudaSource> sources, unsigned jobs);

/// Of ways to launch kernels, `launched` by each of them, those that do not spill, and all of what has no such way.
std::vector<bool> waysThatStay(llvm::ArrayRef<std::vector<unsigned>> launched, const std::vector<bool> &spills);

} // namespace tutti

#endif
