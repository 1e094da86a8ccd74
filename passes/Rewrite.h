// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns, applied until none matches.
#ifndef TUTTI_PASSES_REWRITE_H
#define TUTTI_PASSES_REWRITE_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tutti {

/// Applies patterns to all ops below `root`, until none matches; an error of `root` where there seems to be no end.
inline llvm::LogicalResult rewriteToTheEnd(mlir::Operation *root, const mlir::FrozenRewritePatternSet &patterns) {
  struct Counter : mlir::RewriterBase::Listener {
    int64_t rewrites = 0;
    void notifyPatternEnd(const mlir::Pattern &, llvm::LogicalResult status) override { rewrites += succeeded(status); }
  } counter;
  // What a rewrite makes is part of the round that made it, so rounds are few; but a chain of which each op waits for
  // the one before has one for each. What never ends has many rewrites.
  int64_t ops = 0;
  root->walk([&](mlir::Operation *) { ++ops; });
  int64_t most = 1000 + 32 * ops;
  auto config = mlir::GreedyRewriteConfig().setMaxNumRewrites(most).setListener(&counter);
  for (int64_t before = -1; counter.rewrites > before && counter.rewrites < 10 * most;) {
    before = counter.rewrites;
    if (succeeded(mlir::applyPatternsGreedily(root, patterns, config)))
      return mlir::success();
  }
  return root->emitError("rewrites undo each other, or take more rounds than they should: a mistake of the compiler");
}

} // namespace tutti

#endif
