// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles the text of kernels to the files that a device loads.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_IMAGE_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_IMAGE_H

#include "Cubin.h"

namespace tutti {

/// A kernel's translation unit in several versions, the preferred one first, each with its launch needs. A version that
/// spills, or whose products wait for each other, gives way to the next.
struct CudaText {
  std::string name; ///< of the entry
  struct Version {
    std::string text;
    LaunchNeeds needs;
    bool persistent = false; ///< its blocks go on to further members
  };
  std::vector<Version> versions;
};

/// The files of the kernels, end to end: a cubin or PTX each, or for the emulated device one shared object for all.
struct CudaImage {
  const Architecture *architecture;
  int minDriver = 0; ///< as cuDriverGetVersion counts
  std::string bytes;
  struct Kernel {
    uint64_t offset, length;
    KernelResources resources; ///< known for a cubin only
    unsigned version = 0;      ///< the version of its text
  };
  std::vector<Kernel> kernels; ///< in the order given
  std::string compiler = {};   ///< "NVRTC 13.0", of cubins and PTX
};

/// The input of one image.
struct CudaSource {
  const Architecture *architecture;
  std::vector<const CudaText *> kernels;
};

/// Compiles the kernels of all images, `jobs` at a time: each by the first of its versions that neither spills nor
/// waits, or the first that does not spill, or the last one. The caller judges what the cubin still needs. PTX, whose
/// registers are unknown, and the emulated device use the version that the cubins came to, or the first if there are no
/// cubins.
llvm::Expected<std::vector<CudaImage>> buildCudaImages(llvm::ArrayRef<CudaSource> sources, unsigned jobs);

/// Whether each way to launch kernels stays; way i launches the kernels `launched[i]`. Ways that do not spill stay, and
/// so do all ways of a launch that has no such way.
std::vector<bool> waysThatStay(llvm::ArrayRef<std::vector<unsigned>> launched, const std::vector<bool> &spills);

} // namespace tutti

#endif
