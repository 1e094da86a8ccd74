// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors as registers, in the code of kernels before it is lowered.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_LOWERING_VECTORS_H
#define TUTTI_COMPILER_CODEGEN_CPU_LOWERING_VECTORS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tutti {

/// The `at`th of a vector's parts of so many lanes; and vectors end to end, as many as a power of two.
mlir::Value partOf(mlir::ImplicitLocOpBuilder &b, mlir::Value vector, int64_t at, int64_t lanes);
mlir::Value endToEnd(mlir::ImplicitLocOpBuilder &b, llvm::SmallVector<mlir::Value> parts);

/// AVX-512's registers.
constexpr int64_t registerBits = 512;

/// Whether a type is a vector with one axis, of a length that is known.
bool hasLanes(mlir::Type type);

/// Whether a type is such a vector, of floats of 32 or 64 bits that fill one or several of the registers.
bool fillsRegisters(mlir::Type type);

/// What `of` makes of one register's part of each of these vectors, which have the same shape, end to end.
mlir::Value byRegister(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange vectors,
                       llvm::function_ref<mlir::Value(mlir::ValueRange)> of);

/// Puts what `make` makes of each op of a kind whose result fills registers in the op's place.
template <typename Op>
void replaceInRegisters(mlir::ModuleOp module, llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, Op)> make) {
  llvm::SmallVector<Op> found;
  module.walk([&](Op op) {
    if (fillsRegisters(op.getType()))
      found.push_back(op);
  });
  for (Op op : found) {
    mlir::ImplicitLocOpBuilder b(op.getLoc(), op);
    op.replaceAllUsesWith(make(b, op));
    op.erase();
  }
}

} // namespace tutti

#endif
