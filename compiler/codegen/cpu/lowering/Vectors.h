// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors as registers, in the code of kernels before it is lowered.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_LOWERING_VECTORS_H
#define TUTTI_COMPILER_CODEGEN_CPU_LOWERING_VECTORS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tutti {

/// Part number `at` of a vector cut into parts of `lanes` lanes; and the concatenation of vectors, whose number is a
/// power of two.
mlir::Value partOf(mlir::ImplicitLocOpBuilder &b, mlir::Value vector, int64_t at, int64_t lanes);
mlir::Value endToEnd(mlir::ImplicitLocOpBuilder &b, llvm::SmallVector<mlir::Value> parts);

/// The width of AVX-512's registers.
constexpr int64_t registerBits = 512;

/// Whether a type is a vector with one axis, of a length that is known.
bool hasLanes(mlir::Type type);

/// Whether a type is such a vector, of floats of 32 or 64 bits that fill one or several of the registers.
bool fillsRegisters(mlir::Type type);

/// Applies `of` register by register to vectors of the same shape, and concatenates the results.
mlir::Value byRegister(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange vectors,
                       llvm::function_ref<mlir::Value(mlir::ValueRange)> of);

/// Replaces each op of a kind whose result fills registers by the value that `make` makes of it.
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
