// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise and layout ops as maps.
#include "Patterns.h"
#include "passes/analysis/Views.h"

using namespace mlir;

namespace tutti {

namespace {

/// A pointwise op as a map. Splat constants become constants of the body.
struct PointwiseToMap : OpInterfaceRewritePattern<ScalarOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ScalarOpInterface op, PatternRewriter &rewriter) const override {
    auto result = typeOf(op->getResult(0));
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (Value operand : op->getOperands())
      if (!splatOf(operand)) {
        inputs.push_back(operand);
        maps.push_back(broadcastMap(typeOf(operand), result));
      }
    auto map = MapOp::create(rewriter, op.getLoc(), result, inputs, rewriter.getAffineMapArrayAttr(maps));
    Block *block = rewriter.createBlock(&map.getBody());
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands()) {
      if (TypedAttr splat = splatOf(operand))
        scalars.push_back(arith::ConstantOp::create(rewriter, op.getLoc(), splat));
      else
        scalars.push_back(block->addArgument(scalarType(typeOf(operand).getElementType()), op.getLoc()));
    }
    Value scalar = buildElement(op, rewriter, op.getLoc(), scalars);
    YieldOp::create(rewriter, op.getLoc(), scalar);
    rewriter.replaceOp(op, map.getResult());
    return success();
  }
};

/// A layout op as a map that hands its element on.
struct LayoutToMap : OpInterfaceRewritePattern<LayoutOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(LayoutOpInterface op, PatternRewriter &rewriter) const override {
    if (viewed(op))
      return failure();
    FailureOr<AffineMap> access = op.operandMap();
    if (failed(access))
      return failure();
    auto result = typeOf(op->getResult(0));
    rewriter.replaceOpWithNewOp<MapOp>(op, result, op->getOperand(0), *access);
    return success();
  }
};

} // namespace

void addMapPatterns(RewritePatternSet &patterns) { patterns.add<PointwiseToMap, LayoutToMap>(patterns.getContext()); }

} // namespace tutti
