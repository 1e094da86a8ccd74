// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrites of tutti-decompose that have a file of their own.
#ifndef TUTTI_PASSES_DECOMPOSE_PATTERNS_H
#define TUTTI_PASSES_DECOMPOSE_PATTERNS_H

#include "dialects/tutti/Tutti.h"

#include "mlir/IR/PatternMatch.h"

namespace tutti {

/// Windows of images (Windows.cpp).
void addWindowPatterns(mlir::RewritePatternSet &patterns);

} // namespace tutti

#endif
