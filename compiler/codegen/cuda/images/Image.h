// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the text of kernels to what a device loads.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_IMAGE_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_IMAGE_H

#include "Cubin.h"

namespace tutti {

/// A kernel's translation unit, and what it is launched with: the most wanted version first. One that spills, or whose
/// products wait for each other, gives way to the next.
struct CudaText {
  std::string name; ///< of the entry
  struct Version {
    std::string text;
    LaunchNeeds needs;
    bool persistent = false; ///< its blocks go on to further members
  };
  std::vector<Version> versions;
};

/// One file for each kernel, end to end: a cubin or PTX; for the emulated device one shared object for all.
struct CudaImage {
  const Architecture *architecture;
  int minDriver = 0; ///< as cuDriverGetVersion counts
  std::string bytes;
  struct Kernel {
    uint64_t offset, length;
    KernelResources resources; ///< known of a cubin
    unsigned version = 0;      ///< which of its text's it is
  };
  std::vector<Kernel> kernels; ///< in the order given
  std::string compiler = {};   ///< "NVRTC 13.0", of cubins and PTX
};

/// What one image is made of.
struct CudaSource {
  const Architecture *architecture;
  std::vector<const CudaText *> kernels;
};

/// Compiles the kernels of all images, `jobs` at a time: each by the first of its versions that neither spills nor
/// waits, or the first that does not spill, or the last one. What its cubin needs all the same is for the caller to
/// judge. PTX, whose registers nobody knows, and the emulated device have the version that the cubins came to, or the
/// first where there is none.
llvm::Expected<std::vector<CudaImage>> buildCudaImages(llvm::ArrayRef<CudaSource> sources, unsigned jobs);

/// Which ways to launch kernels stay, where each launches those of `launched`: the ways that do not spill, and all of a
/// launch that has no such way.
std::vector<bool> waysThatStay(llvm::ArrayRef<std::vector<unsigned>> launched, const std::vector<bool> &spills);

} // namespace tutti

#endif
