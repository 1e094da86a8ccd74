// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns, applied until none matches.
#ifndef TUTTI_PASSES_REWRITE_H
#define TUTTI_PASSES_REWRITE_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tutti {

/// How often each pattern has matched.
class RewriteCounter : public mlir::RewriterBase::Listener {
public:
  void notifyPatternEnd(const mlir::Pattern &pattern, llvm::LogicalResult status) override {
    if (failed(status))
      return;
    ++total;
    ++byName[pattern.getDebugName()];
  }
  int64_t rewrites() const { return total; }
  /// The three patterns that matched most: where rewrites undo each other, these do.
  std::string busiest() const {
    std::vector<std::pair<int64_t, llvm::StringRef>> counts;
    for (const auto &[name, count] : byName)
      counts.emplace_back(-count, name);
    llvm::sort(counts);
    std::string text;
    for (const auto &[count, name] : llvm::ArrayRef(counts).take_front(3))
      text += (text.empty() ? "" : ", ") + name.str() + " " + std::to_string(-count) + " times";
    return text;
  }

private:
  int64_t total = 0;
  llvm::DenseMap<llvm::StringRef, int64_t> byName;
};

/// Applies patterns to all ops below `root`, until none matches. Where there seems to be no end it is an error of
/// `root`, which names the patterns that matched most: of a large model the busiest, else two that undo each other.
inline llvm::LogicalResult rewriteToTheEnd(mlir::Operation *root, const mlir::FrozenRewritePatternSet &patterns) {
  RewriteCounter counter;
  // Ops that a rewrite makes are visited in the same round, so rounds are few; but a chain of which each op waits for
  // the one before has a round for each. Rewrites that never end are many.
  int64_t ops = 0;
  root->walk([&](mlir::Operation *) { ++ops; });
  int64_t most = 1000 + 32 * ops;
  auto config = mlir::GreedyRewriteConfig().setMaxNumRewrites(most).setListener(&counter);
  for (int64_t before = -1; counter.rewrites() > before && counter.rewrites() < 10 * most;) {
    before = counter.rewrites();
    if (succeeded(mlir::applyPatternsGreedily(root, patterns, config)))
      return mlir::success();
  }
  return root->emitError("takes more rewrites than " + llvm::Twine(most) + " a round (" + counter.busiest() +
                         "): compile it in parts; if it is small, rewrites undo each other, a mistake of the compiler");
}

} // namespace tutti

#endif
