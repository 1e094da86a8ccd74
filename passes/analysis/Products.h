// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values that a call computes, as tiles of rows times columns.
#ifndef TUTTI_PASSES_ANALYSIS_PRODUCTS_H
#define TUTTI_PASSES_ANALYSIS_PRODUCTS_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// How a contraction other than rows times a weight is tiled: rows of the result times columns of its right operand,
/// with sums in registers. It decides no bit.
struct ProductForm {
  char summed;     ///< the one label that the result lacks
  bool transposed; ///< terms of a sum, not columns, are contiguous in the right operand
  /// How many of the innermost row axes read the same columns of the right operand, and lie evenly apart in the left
  /// one.
  unsigned run;

  /// The form of a contraction with these labels and types. Nothing where elements are neither float32 nor float64,
  /// several labels are summed over, the columns are not those of the right operand, or neither columns nor terms are
  /// contiguous there.
  static std::optional<ProductForm> of(const ContractSpec &spec, mlir::Type left, mlir::Type right, mlir::Type result);
  /// The form of an op by the chain rule; nothing for any other op, nor for elements of which the target has no tiles.
  static std::optional<ProductForm> of(ContractOp op);
};

/// Whether terms or rows of a product are contiguous in its left operand. Otherwise each element is on a cache line of
/// its own, and a copy in another order pays.
bool readsNeighbours(const ContractSpec &spec);

/// Whether each row of the result reads only the same row of the left operand.
bool readsOwnRowOfLeft(ContractOp op, const ProductForm &form);

/// Whether an op is a contraction step of its kernel, with sums in registers: by the panels rule, or a product with a
/// form.
bool isTiled(mlir::Operation *op);

/// Bytes of working memory for a tile's columns of the right operand, copied so that they are contiguous; 0 if they are
/// so already.
int64_t productWorkBytes(ContractOp op, const ProductForm &form);

} // namespace tutti

#endif
