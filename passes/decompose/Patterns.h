// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrites of tutti-decompose, a function a file.
#ifndef TUTTI_PASSES_DECOMPOSE_PATTERNS_H
#define TUTTI_PASSES_DECOMPOSE_PATTERNS_H

#include "dialects/tutti/Tutti.h"

#include "mlir/IR/PatternMatch.h"

namespace tutti {

/// Rewrites tensor ops to ones on fewer types, and puts reshapes last (Simpler.cpp).
void addSimplerPatterns(mlir::RewritePatternSet &patterns);
/// Turns ops that are then pointwise or a layout into maps (Maps.cpp).
void addMapPatterns(mlir::RewritePatternSet &patterns);
/// Gives images of windows their margin, before maps; turns windows of images into maps and gathers (Windows.cpp).
void addMarginPatterns(mlir::RewritePatternSet &patterns);
void addWindowPatterns(mlir::RewritePatternSet &patterns);

/// The value of a constant whose elements are all equal, as an attribute of scalar code; null for any other value.
mlir::TypedAttr splatOf(mlir::Value value);

} // namespace tutti

#endif
