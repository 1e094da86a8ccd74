// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values that a call computes, as tiles of rows times columns.
#ifndef TUTTI_PASSES_ANALYSIS_PRODUCTS_H
#define TUTTI_PASSES_ANALYSIS_PRODUCTS_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// How a contraction that is not rows times a weight is rows of the result times columns of its right operand: what is
/// made in tiles, with sums in registers. It decides no bit.
struct ProductForm {
  char summed;     ///< the one label that the result lacks
  bool transposed; ///< the right operand's neighbours are terms of a sum, not columns
  /// How many of the innermost row axes all read the same columns of the right operand, and lie evenly apart in the
  /// left one.
  unsigned run;

  /// Nothing where operands are neither float32 nor float64, several labels are summed over, the columns are not the
  /// right operand's or neither they nor the terms are neighbours there.
  static std::optional<ProductForm> of(const ContractSpec &spec, mlir::Type left, mlir::Type right, mlir::Type result);
  /// The same of an op by the chain rule; nothing for any other, nor for elements of which the target has no tiles.
  static std::optional<ProductForm> of(ContractOp op);
};

/// Whether terms or rows of a product are neighbours in its left operand: else each element has a line of its own, and
/// a copy in another order pays.
bool readsNeighbours(const ContractSpec &spec);

/// Whether a row of the result reads of the left operand that row alone.
bool readsOwnRowOfLeft(ContractOp op, const ProductForm &form);

/// Whether a contraction is a step of its kernel, with sums in registers: by the panels rule, or such a product.
bool isTiled(mlir::Operation *op);

/// Working memory for the columns of the right operand that are multiplied at a time, neighbours once more.
int64_t productWorkBytes(ContractOp op, const ProductForm &form);

} // namespace tutti

#endif
