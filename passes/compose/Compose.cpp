// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-compose: what only moves elements moves them once, and products read operands as they lie.
//
// Exporters spell attention's heads as reshapes, transpositions and slices in a row; each that changes rows would be a
// launch of its own that reads and writes all of the values.
#include "Patterns.h"
#include "dialects/tutti/Model.h"
#include "passes/Passes.h"
#include "passes/Rewrite.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_COMPOSEPASS
#include "passes/Passes.h.inc"

namespace {

struct ComposePass : impl::ComposePassBase<ComposePass> {
  LogicalResult initialize(MLIRContext *context) override {
    auto frozen = [&](ArrayRef<void (*)(RewritePatternSet &)> families) {
      RewritePatternSet patterns(context);
      for (auto add : families)
        add(patterns);
      return FrozenRewritePatternSet(std::move(patterns));
    };
    moves = frozen({addEinsumPatterns, addMovePatterns, addRowOrderPatterns, addLayerPatterns, addScalarPatterns});
    reads = frozen({addMovePatterns, addReadPatterns, addShapePatterns, addProductPatterns});
    inputs = frozen({addReadPatterns, addInputPatterns});
    joins = frozen({addAxisPatterns, addStillPatterns});
    return success();
  }

  void runOnOperation() override {
    // Moves are one, and where they are best, before others read them.
    if (failed(checkModel(getOperation())) || failed(rewriteToTheEnd(getOperation(), moves)) ||
        failed(rewriteToTheEnd(getOperation(), reads)) || failed(rewriteToTheEnd(getOperation(), inputs)) ||
        failed(rewriteToTheEnd(getOperation(), joins)))
      signalPassFailure();
  }

private:
  FrozenRewritePatternSet moves, reads, inputs, joins;
};

} // namespace

MapOp remapped(PatternRewriter &rewriter, MapOp map, RankedTensorType type, ValueRange inputs,
               ArrayRef<AffineMap> accesses) {
  auto now = MapOp::create(rewriter, map.getLoc(), type, inputs, rewriter.getAffineMapArrayAttr(accesses));
  rewriter.inlineRegionBefore(map.getBody(), now.getBody(), now.getBody().end());
  return now;
}

} // namespace tutti
