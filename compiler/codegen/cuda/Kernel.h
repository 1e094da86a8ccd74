// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as CUDA C++: the skeletons of device/, configured, with the scalar code of its body.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_KERNEL_H
#define TUTTI_COMPILER_CODEGEN_CUDA_KERNEL_H

#include "Geometry.h"

#include "llvm/Support/Error.h"

namespace tutti {

/// The position in the active set is blockIdx.y + membersInPlane * blockIdx.z, where a grid's y ends at 65535.
constexpr int64_t mostPlaneMembers = 65535, membersInPlane = 32768;

/// The translation unit of a kernel whose entry is called `name`. The entry has one parameter, a struct: first the
/// launch's arguments as addresses, then the sizes of the call in the order of `sizes`, their symbols. blockIdx.x /
/// cluster is the tile of rows; rows are counted in 31 bits.
///
/// Several kernels become one entry. Their geometries agree in threads and cluster; the struct has their arguments one
/// after the other, and the grid has a block (or cluster) for each part's tile and member (device/tasks.cuh).
llvm::Expected<std::string> emitCudaKernel(llvm::ArrayRef<plan::KernelOp> parts, llvm::ArrayRef<std::string> sizes,
                                           llvm::StringRef name, llvm::ArrayRef<CudaGeometry> geometries);

} // namespace tutti

#endif
