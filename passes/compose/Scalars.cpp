// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A single number, each member's own or the same for all, is computed where it is read: by itself it is a launch.
#include "Patterns.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Views.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tutti {

namespace {

/// The most operations that are repeated for every element that reads a number, and the most of a map: numbers of
/// numbers can be many.
constexpr size_t mostOperations = 16, mostTogether = 64;
constexpr unsigned mostOperands = 4;
/// The most readers of a number: all of them are looked at for each.
constexpr unsigned mostReaders = 64;

size_t operationsOf(MapOp map) { return map.getBody().front().getOperations().size(); }

bool isNumber(Value value) {
  RowForm form = RowForm::of(typeOf(value));
  return form.columns == Size(1) && llvm::all_of(form.rows, [](const Size &size) { return size == Size(1); });
}

/// Adds the maps that read a value, through views too. False where others do, as then it is computed in any case, or
/// where they are more than `most`.
bool addReaders(Value value, size_t most, llvm::SmallPtrSetImpl<Operation *> &readers) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<MapOp>(user))
      readers.insert(user);
    return readers.size() <= most &&
           (isa<MapOp>(user) || (viewed(user) && addReaders(user->getResult(0), most, readers)));
  });
}

/// Whether a map makes a number of a few others.
bool makesNumber(MapOp maker) {
  return maker && !maker.isMove() && isNumber(maker) && llvm::all_of(maker.getInputs(), isNumber) &&
         maker.getInputs().size() <= mostOperands && operationsOf(maker) <= mostOperations;
}

/// Whether the op's result has a number of its own for each member that the maker has one for.
bool isOwn(MapOp op, unsigned operand, MapOp maker) {
  RankedTensorType read = typeOf(op.getInputs()[operand]), made = maker.getType();
  if (!isLifted(read) || !isLifted(made))
    return isLifted(read) == isLifted(made);
  return isLifted(op.getType()) && RowForm::of(made).members == RowForm::of(op.getType()).members &&
         op.getAccess(operand).getResult(0) == getAffineDimExpr(0, op.getContext());
}

/// Whether the number is a launch by itself, and would be none in those that read it.
bool savesLaunch(MapOp op, unsigned operand, MapOp maker) {
  Value input = op.getInputs()[operand];
  if (input == maker.getResult() && staysInKernel(op.getAccess(operand), typeOf(input), op.getType()))
    return false; // where it is no launch
  bool isAgain = !isNumber(op);
  llvm::SmallPtrSet<Operation *, 4> readers;
  return (!isAgain || TargetTraits::of(op).repeatsForLaunches) && addReaders(maker, isAgain ? mostReaders : 1, readers);
}

/// f(x, g(s)) becomes one map of x and s, for an x that is a number too if nothing else reads g(s), or where the
/// device's launches are dear.
struct ComputeWhereRead : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      if (MapOp maker = makerOf(op, i)) {
        replace(op, maker, rewriter);
        return success();
      }
    return failure();
  }

private:
  static MapOp makerOf(MapOp op, unsigned operand) {
    Value input = op.getInputs()[operand];
    auto maker = throughViews(input).getDefiningOp<MapOp>();
    bool fits = makesNumber(maker) && isNumber(input) && !op.isMove() && isOwn(op, operand, maker) &&
                operationsOf(maker) + operationsOf(op) <= mostTogether;
    return fits && savesLaunch(op, operand, maker) ? maker : MapOp();
  }

  static void replace(MapOp op, MapOp maker, PatternRewriter &rewriter) {
    unsigned rank = op.getType().getRank();
    SmallVector<AffineExpr> place(maker.getType().getRank(), rewriter.getAffineConstantExpr(0));
    if (isLifted(maker.getType()))
      place[0] = rewriter.getAffineDimExpr(0);
    AffineMap own = AffineMap::get(rank, 0, place, op.getContext());
    SmallVector<Value> inputs;
    SmallVector<AffineMap> accesses;
    llvm::SmallBitVector made(op.getInputs().size()); // wherever it is read
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      made[i] = makerOf(op, i) == maker;
      if (!made[i])
        inputs.push_back(input), accesses.push_back(op.getAccess(i));
    }
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
      if (!made[i])
        bring(op, i);
    for (unsigned i = 0; i < maker.getInputs().size(); ++i)
      bring(maker, i);
    for (Operation &each : maker.getBody().front().without_terminator())
      rewriter.clone(each, values);
    Value number = values.lookupOrDefault(maker.getBody().front().getTerminator()->getOperand(0));
    for (unsigned i : made.set_bits())
      values.map(op.getBody().getArgument(i), number);
    for (Operation &each : op.getBody().front())
      rewriter.clone(each, values);
    rewriter.replaceOp(op, now);
  }
};

} // namespace

void addScalarPatterns(RewritePatternSet &patterns) { patterns.add<ComputeWhereRead>(patterns.getContext()); }

} // namespace tutti
