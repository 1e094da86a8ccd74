// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as CUDA C++: the skeletons of device/, configured, with the scalar code of its body.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_KERNEL_H
#define TUTTI_COMPILER_CODEGEN_CUDA_KERNEL_H

#include "dialects/plan/Plan.h"

#include "llvm/Support/Error.h"

namespace tutti {

/// How a kernel is launched: blocks of `threads`, one a member (if lifted) and tile of `rows` rows, with `sharedBytes`
/// of dynamic shared memory.
struct CudaGeometry {
  int64_t rows, threads, sharedBytes;
};
/// Nothing if a single row does not fit into shared memory.
std::optional<CudaGeometry> cudaGeometry(plan::KernelOp kernel);

/// The kernel's translation unit, its entry called `name`. Its one parameter is a struct of the launch's arguments as
/// addresses, then the sizes of the call; `sizes` are their symbols in that order. blockIdx.x is the tile of rows,
/// blockIdx.y the position in the active set.
llvm::Expected<std::string> emitCudaKernel(plan::KernelOp kernel, llvm::ArrayRef<std::string> sizes,
                                           llvm::StringRef name);

} // namespace tutti

#endif
