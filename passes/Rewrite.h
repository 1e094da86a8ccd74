// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns, applied until none matches.
#ifndef TUTTI_PASSES_REWRITE_H
#define TUTTI_PASSES_REWRITE_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tutti {

/// Applies patterns to all ops below `root`, until none matches; an error of `root` where there seems to be no end.
inline llvm::LogicalResult rewriteToTheEnd(mlir::Operation *root, const mlir::FrozenRewritePatternSet &patterns) {
  // A round ends after so many, and rounds are few: what a rewrite makes is otherwise part of the round that made it.
  int64_t rewrites = 1000;
  root->walk([&](mlir::Operation *) { rewrites += 32; });
  if (succeeded(mlir::applyPatternsGreedily(root, patterns, mlir::GreedyRewriteConfig().setMaxNumRewrites(rewrites))))
    return mlir::success();
  return root->emitError("rewrites undo each other, or take more rounds than they should: a mistake of the compiler");
}

} // namespace tutti

#endif
