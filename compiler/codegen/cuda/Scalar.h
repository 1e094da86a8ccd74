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
llvm::StringRef approximation(mlir::Operation *op, Precision precision);

/// Whether a logistic becomes fastGate, which uses the special-function units once instead of twice.
bool isFastGate(LogisticOp op, Precision precision);

/// The body of a map as a function "f" of scalars, in a module of its own. Math functions are written out as IEEE
/// operations, so that the bits are the CPU's. Exempt are those that the special-function units compute at this
/// precision.
mlir::OwningOpRef<mlir::ModuleOp> scalarFunction(MapOp map, Precision precision);

/// The scalarFunction of a map as text, which lacks a name: `__device__ __forceinline__ RESULT NAME(A a0, B a1, ...)
/// { ... }`.
struct CudaFunction {
  std::string result, parameters, body;
  std::string text(llvm::StringRef name) const;
  auto operator<=>(const CudaFunction &) const = default;
};
llvm::Expected<CudaFunction> cudaFunction(MapOp map, Precision precision);

} // namespace tutti

#endif
