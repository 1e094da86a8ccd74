// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel as CUDA C++: the skeletons of device/, configured, with the scalar code of its body.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_KERNEL_H
#define TUTTI_COMPILER_CODEGEN_CUDA_KERNEL_H

#include "Geometry.h"

#include "llvm/Support/Error.h"

namespace tutti {

/// The position in the active set is blockIdx.y + membersInPlane * blockIdx.z, where a grid's y ends at 65535.
constexpr int64_t mostPlaneMembers = 65535, membersInPlane = 32768;

/// The translation unit of a kernel, its entry called `name`. Its one parameter is a struct of the launch's arguments
/// as addresses, then the sizes of the call; `sizes` are their symbols in that order. blockIdx.x / cluster is the tile
/// of rows. Rows are counted in 31 bits. Of several kernels, each with its geometry, all of so many threads and with
/// such clusters: one entry that has the parts' arguments one after the other, and a grid of their tiles times members,
/// summed up (device/tasks.cuh), blockIdx.x / cluster its task.
llvm::Expected<std::string> emitCudaKernel(llvm::ArrayRef<plan::KernelOp> parts, llvm::ArrayRef<std::string> sizes,
                                           llvm::StringRef name, llvm::ArrayRef<CudaGeometry> geometries);

} // namespace tutti

#endif
