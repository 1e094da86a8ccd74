// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrites of tutti-decompose, a function a file.
#ifndef TUTTI_PASSES_DECOMPOSE_PATTERNS_H
#define TUTTI_PASSES_DECOMPOSE_PATTERNS_H

#include "dialects/tutti/Tutti.h"

#include "mlir/IR/PatternMatch.h"

namespace tutti {

/// Tensor ops on fewer types, and reshapes that come last (Simpler.cpp).
void addSimplerPatterns(mlir::RewritePatternSet &patterns);
/// What is then pointwise or a layout, as maps (Maps.cpp).
void addMapPatterns(mlir::RewritePatternSet &patterns);
/// Windows of images that have a margin, before maps; windows of images, as maps and gathers (Windows.cpp).
void addMarginPatterns(mlir::RewritePatternSet &patterns);
void addWindowPatterns(mlir::RewritePatternSet &patterns);

/// The one value of a constant whose elements are all equal, as scalar code has it; null of any other value.
mlir::TypedAttr splatOf(mlir::Value value);

} // namespace tutti

#endif
