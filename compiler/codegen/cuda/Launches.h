// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a CUDA device launches at once, and how: launches of a plan that need nothing of each other are the parts of
// one.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_LAUNCHES_H
#define TUTTI_COMPILER_CODEGEN_CUDA_LAUNCHES_H

#include "Geometry.h"
#include "compiler/codegen/ProgramCode.h"

namespace tutti {

/// The program's launches on an architecture, in its order. Those of a plan.parallel are one where their kernels are of
/// one family and have blocks of as many threads, and their arguments go into one launch.
std::vector<DeviceLaunch> deviceLaunches(plan::ProgramOp program, const Architecture &architecture);

/// The kernels of the parts.
llvm::SmallVector<plan::KernelOp> kernelsOf(llvm::ArrayRef<plan::LaunchOp> parts);

/// One way to launch these kernels at once: a geometry for each, of `rows` rows the first, of the others the same, or
/// the largest that has no more, or their smallest. Of parts whose warps share a tile alike, the rings are the same.
struct LaunchWay {
  int64_t rows;
  llvm::SmallVector<CudaGeometry> geometries;
  bool operator==(const LaunchWay &) const = default;
};
/// In the order of `cudaGeometries`; the clusters of several kernels are of one size. None
/// if a row of one of them does not fit.
std::vector<LaunchWay> launchWays(llvm::ArrayRef<plan::KernelOp> parts, const Architecture &architecture);

} // namespace tutti

#endif
