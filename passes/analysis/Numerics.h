// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules that decide bits, as tutti-numerics writes them and every emitter reads them.
#ifndef TUTTI_PASSES_ANALYSIS_NUMERICS_H
#define TUTTI_PASSES_ANALYSIS_NUMERICS_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// How many products one fma chain of a sum over `k` has; the chains' sums are added in ascending order.
int64_t chunkOf(int64_t k);

/// The rule of a contraction or reduction that has been through tutti-numerics:
///   panels  rows times a weight: chunked chains, and 16 lanes for the last one to eight columns (runtime/schema/Layout.h)
///   lanes   a reduction along a row: 16 lanes and a fixed tree
///   chain   anything else: chunked ascending chains
inline llvm::StringRef numericsRule(mlir::Operation *op) {
  return llvm::cast<mlir::StringAttr>(op->getAttrOfType<mlir::DictionaryAttr>("numerics").get("rule")).getValue();
}
/// What multiplies in a contraction by the panels rule: "fma", or on tensor cores "tf32x3", "tf32", "bf16", "f16".
inline llvm::StringRef numericsProduct(mlir::Operation *op) {
  auto product = llvm::dyn_cast_or_null<mlir::StringAttr>(op->getAttrOfType<mlir::DictionaryAttr>("numerics").get("product"));
  return product ? product.getValue() : "fma";
}
inline int64_t numericsChunk(mlir::Operation *op) {
  return llvm::cast<mlir::IntegerAttr>(op->getAttrOfType<mlir::DictionaryAttr>("numerics").get("chunk")).getInt();
}

} // namespace tutti

#endif
