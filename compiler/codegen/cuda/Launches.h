// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels a CUDA device launches at once, and how. Independent launches of a plan become parts of one launch.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_LAUNCHES_H
#define TUTTI_COMPILER_CODEGEN_CUDA_LAUNCHES_H

#include "Geometry.h"
#include "compiler/codegen/ProgramCode.h"

namespace tutti {

/// The program's launches on an architecture, in order. The launches of a plan.parallel become one if their kernels are
/// of one family, have blocks of equally many threads, and their arguments fit into one launch together.
std::vector<DeviceLaunch> deviceLaunches(plan::ProgramOp program, const Architecture &architecture);

/// The kernels that the parts launch.
llvm::SmallVector<plan::KernelOp> kernelsOf(llvm::ArrayRef<plan::LaunchOp> parts);

/// One way to launch these kernels at once: a geometry for each. The first kernel's tile has `rows` rows; the others'
/// has the same, or else the largest one below that, or else their smallest. Parts with the same warps have the same
/// ring.
struct LaunchWay {
  int64_t rows;
  llvm::SmallVector<CudaGeometry> geometries;
  bool operator==(const LaunchWay &) const = default;
};
/// All ways, in the order of `cudaGeometries`. Clusters of several kernels have one size. Empty if a single row of one
/// of the kernels does not fit into shared memory.
std::vector<LaunchWay> launchWays(llvm::ArrayRef<plan::KernelOp> parts, const Architecture &architecture);

} // namespace tutti

#endif
