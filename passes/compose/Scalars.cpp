// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A single number, each member's own or the same for all, is computed where it is read: by itself it is a launch.
#include "Patterns.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Views.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tutti {

namespace {

/// What is done once more for every element that reads it.
constexpr size_t mostOperations = 16;
constexpr unsigned mostOperands = 4;

bool isNumber(Value value) {
  RowForm form = RowForm::of(typeOf(value));
  return form.columns == Size(1) && llvm::all_of(form.rows, [](const Size &size) { return size == Size(1); });
}

/// Whether maps alone read it, through views too: then its own kernel is none any more.
bool isReadByMaps(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<MapOp>(user) || (viewed(user) && isReadByMaps(user->getResult(0)));
  });
}

/// f(x, g(s)) becomes one map of x and s, for an x that is a number too, or where the device's launches are dear.
struct ComputeWhereRead : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      if (MapOp maker = makerOf(op, i)) {
        replace(op, i, maker, rewriter);
        return success();
      }
    return failure();
  }

private:
  static MapOp makerOf(MapOp op, unsigned operand) {
    Value input = op.getInputs()[operand];
    auto maker = throughViews(input).getDefiningOp<MapOp>();
    if (!maker || maker.isMove() || op.isMove() || !llvm::all_of(maker.getInputs(), isNumber) || !isNumber(input) ||
        !isNumber(maker) || maker.getInputs().size() > mostOperands ||
        maker.getBody().front().getOperations().size() > mostOperations || !isReadByMaps(maker))
      return nullptr;
    RankedTensorType read = typeOf(input), made = maker.getType();
    if (isLifted(read) != isLifted(made) || (!isNumber(op) && !TargetTraits::of(op).repeatsNumbers))
      return nullptr;
    // Each member has its own number.
    bool isOwn =
        !isLifted(made) || (isLifted(op.getType()) && RowForm::of(made).members == RowForm::of(op.getType()).members &&
                            op.getAccess(operand).getResult(0) == getAffineDimExpr(0, op.getContext()));
    return isOwn ? maker : nullptr;
  }

  static void replace(MapOp op, unsigned operand, MapOp maker, PatternRewriter &rewriter) {
    unsigned rank = op.getType().getRank();
    SmallVector<AffineExpr> place(maker.getType().getRank(), rewriter.getAffineConstantExpr(0));
    if (isLifted(maker.getType()))
      place[0] = rewriter.getAffineDimExpr(0);
    AffineMap own = AffineMap::get(rank, 0, place, op.getContext());
    SmallVector<Value> inputs;
    SmallVector<AffineMap> accesses;
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      if (i != operand)
        inputs.push_back(input), accesses.push_back(op.getAccess(i));
    for (auto [i, input] : llvm::enumerate(maker.getInputs()))
      inputs.push_back(input), accesses.push_back(operandAccess(maker, i, own));

    auto now = MapOp::create(rewriter, op.getLoc(), op.getType(), inputs, rewriter.getAffineMapArrayAttr(accesses));
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&now.getBody());
    IRMapping values;
    auto bring = [&](MapOp from, unsigned i) {
      BlockArgument argument = from.getBody().getArgument(i);
      values.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
    };
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      if (i != operand)
        bring(op, i);
    for (unsigned i = 0; i < maker.getInputs().size(); ++i)
      bring(maker, i);
    for (Operation &each : maker.getBody().front().without_terminator())
      rewriter.clone(each, values);
    Operation *made = maker.getBody().front().getTerminator();
    values.map(op.getBody().getArgument(operand), values.lookupOrDefault(made->getOperand(0)));
    for (Operation &each : op.getBody().front())
      rewriter.clone(each, values);
    rewriter.replaceOp(op, now);
  }
};

} // namespace

void addScalarPatterns(RewritePatternSet &patterns) { patterns.add<ComputeWhereRead>(patterns.getContext()); }

} // namespace tutti
