// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources that the kernels of a cubin use, read from its bytes; and the gate that refuses spills and excess.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_CUBIN_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_CUBIN_H

#include "Architectures.h"

namespace tutti {

struct KernelResources {
  std::string name;
  unsigned registers = 0;    ///< per thread
  unsigned stack = 0;        ///< bytes of local memory per thread: spilled registers, and arrays that are no registers
  unsigned staticShared = 0; ///< bytes of shared memory that the text declares
  unsigned barriers = 0;     ///< hardware barriers in use, __syncthreads among them
  unsigned maxThreads = 0;   ///< of a block, by __launch_bounds__; 0: the text does not say
};

/// The kernels of a cubin, by name. Bytes that are no cubin, or a damaged one, are an error (malformed).
llvm::Expected<std::vector<KernelResources>> readCubin(llvm::StringRef bytes);

/// The resources that a launch needs beyond the cubin's.
struct LaunchNeeds {
  unsigned threads = 0;       ///< of a block; 0: as many as the bounds allow
  unsigned dynamicShared = 0; ///< bytes at most
};

/// The gate: a stack frame (so a spill), or more than a block of the architecture can have, is an error (internal) that
/// names the kernel, the architecture and the numbers.
llvm::Error checkResources(const KernelResources &kernel, const Architecture &architecture,
                           const LaunchNeeds &needs = {});

} // namespace tutti

#endif
