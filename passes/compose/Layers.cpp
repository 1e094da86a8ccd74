// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps of a layer's sums are computed before the moves behind it.
//
// Exporters of convolutions turn the channels to the front behind each layer, and back before the next one. What is
// computed in between belongs into the layer's registers; the two moves then meet, and are one or none.
#include "Patterns.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Upstream.h"

using namespace mlir;

namespace tutti {

namespace {

/// Whether the columns of a move's operand are an axis of the result other than its columns.
bool turnsColumns(AffineMap access, RankedTensorType to) {
  if (to.getRank() < 2 || access.getNumResults() < 2)
    return false;
  AffineExpr columns = access.getResults().back();
  return isa<AffineDimExpr>(columns) && !columns.isFunctionOfDim(to.getRank() - 1);
}

/// f(move(x), p) becomes move(f(x, p')), where x is computed for this alone, and the move has as many
/// elements and turns columns to rows. p' is p, read by x's axes that are whole axes of the move's result, too.
struct MapBeforeColumnsMove : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    MapOp move = op.isMove() ? MapOp() : movedOperand(op);
    if (!move || !llvm::all_of(move->getUsers(), [&](Operation *user) { return user == op; }))
      return failure();
    Value x = move.getInputs()[0];
    auto from = typeOf(x), to = move.getType();
    std::optional<AffineMap> access = withoutSymbols(move.getAccess(0));
    std::optional<Size> before = product(getSizes(from)), behind = product(getSizes(to));
    if (!access || !before || before != behind || !x.hasOneUse() || !turnsColumns(*access, to) || !isComputed(x))
      return failure();
    SmallVector<Value> inputs(op.getInputs());
    SmallVector<AffineMap> maps;
    for (unsigned i = 0; i < inputs.size(); ++i) {
      std::optional<AffineMap> own = inputs[i] == move.getResult()
                                         ? rewriter.getMultiDimIdentityMap(from.getRank())
                                         : byAxesOf(*access, op.getAccess(i), getSizes(from), getSizes(to));
      if (!own)
        return failure();
      maps.push_back(*own);
      if (inputs[i] == move.getResult())
        inputs[i] = x;
    }
    MapOp now = remapped(rewriter, op, getTensorType(getSizes(from), op.getType().getElementType()), inputs, maps);
    rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), now, move.getAccess(0));
    return success();
  }

private:
  /// Of a layer, or of the elements of windows, which are more than there are windows.
  static bool isComputed(Value x) {
    auto own = x.getDefiningOp<MapOp>();
    if (!own || own.isMove() || isOfContraction(x))
      return isOfContraction(x);
    auto look = [](Value value) -> std::optional<bool> {
      Operation *op = value.getDefiningOp();
      if (!isa_and_nonnull<MapOp, ReshapeOp>(op))
        return false;
      std::optional<Size> made = product(getSizes(typeOf(value)));
      bool readsMore = llvm::any_of(op->getOperands(), [&](Value operand) {
        std::optional<Size> read = product(getSizes(typeOf(operand)));
        return made && read && read->getSymbols() == made->getSymbols() && read->getFactor() > made->getFactor();
      });
      return readsMore ? std::optional(true) : std::nullopt;
    };
    return isFoundUpstream(x, look, mostUpstream);
  }
  /// The one move whose elements a map reads at their own places.
  static MapOp movedOperand(MapOp op) {
    MapOp move;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      auto other = input.getDefiningOp<MapOp>();
      if (!other || !other.isMove() || staysInKernel(other))
        continue;
      if ((move && move != other) || !isOwnPlace(op.getAccess(i), other.getType(), op.getType()))
        return nullptr;
      move = other;
    }
    return move;
  }
  /// What is read at places of the move's result, at those of its operand; nothing where they do not say it.
  static std::optional<AffineMap> byAxesOf(AffineMap move, AffineMap access, ArrayRef<Size> from, ArrayRef<Size> to) {
    std::optional<AffineMap> plain = withoutSymbols(access);
    if (!plain)
      return std::nullopt;
    SmallVector<AffineExpr> places(move.getNumDims(), getAffineConstantExpr(0, access.getContext()));
    SmallVector<bool> known(move.getNumDims(), false);
    for (auto [axis, index] : llvm::enumerate(move.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(index); dim && from[axis] == to[dim.getPosition()]) {
        places[dim.getPosition()] = getAffineDimExpr(axis, access.getContext());
        known[dim.getPosition()] = true;
      }
    for (unsigned dim = 0; dim < known.size(); ++dim)
      if (!known[dim] && plain->isFunctionOfDim(dim))
        return std::nullopt;
    return plain->replaceDimsAndSymbols(places, {}, from.size(), 0);
  }
};

/// The largest or the smallest of what a transposition has turned is found along x's own axes: neighbours are read as
/// neighbours. The axes that stay must do so in their order. Sums are not, whose bits depend on theirs.
struct ReduceBeforeColumnsMove : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto move = op.getX().getDefiningOp<MapOp>();
    bool inAnyOrder = op.getKind() == ReduceKind::max || op.getKind() == ReduceKind::min;
    std::optional<AffineMap> access = inAnyOrder && move ? transpositionOf(move) : std::nullopt;
    if (!access || !move->hasOneUse() || !turnsColumns(*access, move.getType()))
      return failure();
    Value x = move.getInputs()[0];
    if (!isOfContraction(x))
      return failure();
    SmallVector<int64_t> axes;
    unsigned last = 0;
    for (auto [axis, index] : llvm::enumerate(access->getResults())) {
      unsigned there = cast<AffineDimExpr>(index).getPosition();
      if (llvm::is_contained(op.getAxes(), int64_t(there)))
        axes.push_back(axis);
      else if (std::exchange(last, there) > there)
        return failure();
    }
    Value reduced = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), x, axes, NumericsAttr());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), reduced);
    return success();
  }
};

} // namespace

void addLayerPatterns(RewritePatternSet &patterns) {
  patterns.add<MapBeforeColumnsMove, ReduceBeforeColumnsMove>(patterns.getContext());
}

} // namespace tutti
