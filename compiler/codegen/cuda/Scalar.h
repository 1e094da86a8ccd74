// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one printer of scalar code: arith, math and tutti functions as CUDA C++.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_SCALAR_H
#define TUTTI_COMPILER_CODEGEN_CUDA_SCALAR_H

#include "dialects/tutti/Tutti.h"

#include "llvm/Support/Error.h"

namespace tutti {

/// How kernel text spells an element type, in registers and in memory: float, __half, bool, short, ...
std::string cudaType(mlir::Type element);

/// A constant of an element type.
std::string cudaConstant(mlir::TypedAttr value);

/// The function of device/special.cuh that an op becomes at a precision; empty if it becomes IEEE operations.
llvm::StringRef approximation(mlir::Operation *op, llvm::StringRef precision);

/// The body of a map as a device function: `__device__ __forceinline__ RESULT NAME(A a0, B a1, ...) { ... }`. Math
/// functions are written as IEEE operations first, so that the bits are the CPU's, unless the precision is of fewer bits
/// than float32's: then those that device/special.cuh has come from the special-function units.
llvm::Expected<std::string> cudaFunction(MapOp map, llvm::StringRef name, llvm::StringRef precision);

} // namespace tutti

#endif
