// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes that stay neighbours while others change places are moved as one.
//
// A row is a tensor's last axis: [b, 4, 4, 16] to [b, 16, 4, 4] would be rows of four columns each, where [b, 16, 16]
// to [b, 16, 16], the same move, has rows of sixteen. Values keep their shapes by views before and behind it.
#include "Patterns.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tutti {

namespace {

// Rows of more columns are no faster, and fewer of them are fewer tasks.
constexpr int64_t mostColumns = 1024;

/// Two axes of a move's result, of which the first is given, that are neighbours in its operand, too: the same two
/// there, or one.
struct Neighbours {
  unsigned axis;
  Size both;
  unsigned before; ///< the operand's axis, or its first one
  bool isOne;

  /// The first two of fixed sizes that the move reads as they are, and nothing else along them.
  static std::optional<Neighbours> of(AffineMap access, const Sizes &from, const Sizes &to) {
    for (unsigned axis = 0; axis + 1 < to.size(); ++axis) {
      std::optional<Size> both =
          to[axis].isFixed() && to[axis + 1].isFixed() ? to[axis].times(to[axis + 1]) : std::nullopt;
      bool isColumns = axis + 2 == to.size();
      if (!both || (isColumns && both->getFixed() > mostColumns))
        continue;
      AffineExpr first = getAffineDimExpr(axis, access.getContext()),
                 second = getAffineDimExpr(axis + 1, access.getContext());
      auto isRead = [&](AffineExpr index) { return index.isFunctionOfDim(axis) || index.isFunctionOfDim(axis + 1); };
      auto reads = llvm::count_if(access.getResults(), isRead);
      for (unsigned i = 0; i < from.size(); ++i) {
        AffineExpr index = access.getResult(i);
        if (reads == 1 && from[i] == *both && index == first * to[axis + 1].getFixed() + second)
          return Neighbours{axis, *both, i, true};
        if (reads == 2 && i + 1 < from.size() && index == first && access.getResult(i + 1) == second &&
            from[i] == to[axis] && from[i + 1] == to[axis + 1])
          return Neighbours{axis, *both, i, false};
      }
    }
    return std::nullopt;
  }

  /// The operand's and the result's shape, and the access, where the two are one.
  Sizes joinedBefore(const Sizes &from) const { return joinedAt(from, before); }
  Sizes joinedBehind(const Sizes &to) const { return joinedAt(to, axis); }
  AffineMap joined(AffineMap access) const {
    SmallVector<AffineExpr> results(access.getResults()), dims;
    results[before] = getAffineDimExpr(axis, access.getContext());
    if (!isOne)
      results.erase(results.begin() + before + 1);
    for (unsigned dim = 0; dim < access.getNumDims(); ++dim)
      dims.push_back(getAffineDimExpr(dim - (dim > axis), access.getContext()));
    return AffineMap::get(access.getNumDims(), 0, results, access.getContext())
        .replaceDimsAndSymbols(dims, {}, access.getNumDims() - 1, 0);
  }

private:
  Sizes joinedAt(Sizes sizes, unsigned first) const {
    sizes[first] = both;
    sizes.erase(sizes.begin() + first + 1);
    return sizes;
  }
};

/// Whether a move is read as it is, or in another shape, by all its readers: none of them could have it in a kernel of
/// theirs.
bool isNeverFused(MapOp move) {
  return !staysInKernel(move) && llvm::all_of(move->getUsers(), llvm::IsaPred<ReshapeOp, func::ReturnOp>);
}

struct JoinNeighbours : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    std::optional<AffineMap> access = op.isMove() && isNeverFused(op) ? withoutSymbols(op.getAccess(0)) : std::nullopt;
    if (!access)
      return failure();
    Value input = op.getMoved();
    Sizes from = getSizes(typeOf(input)), to = getSizes(op.getType());
    std::optional<Neighbours> two = Neighbours::of(*access, from, to);
    if (!two)
      return failure();
    auto typeFor = [&](const Sizes &sizes) { return getTensorType(sizes, op.getType().getElementType()); };
    if (!two->isOne)
      input = ReshapeOp::create(rewriter, op.getLoc(), typeFor(two->joinedBefore(from)), input);
    Value now = MapOp::create(rewriter, op.getLoc(), typeFor(two->joinedBehind(to)), input, two->joined(*access));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), now);
    return success();
  }
};

/// Two axes that a move reads at the quotient and the rest of one place are one axis, which it reads at that place: so
/// the pixels of an image are neighbours in rows, too, whose channels become columns. CUDA threads divide.
struct JoinDivided : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Value moved = op.getMoved();
    if (!moved || staysInKernel(op) || !TargetTraits::of(op).packsNarrowRows)
      return failure();
    std::optional<AffineMap> access = withoutSymbols(op.getAccess(0));
    Sizes from = getSizes(typeOf(moved));
    for (unsigned i = 0; access && i + 1 < from.size(); ++i) {
      auto quotient = dyn_cast<AffineBinaryOpExpr>(access->getResult(i));
      std::optional<Size> both = from[i].times(from[i + 1]);
      if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv || !from[i + 1].isFixed() || !both ||
          quotient.getRHS() != rewriter.getAffineConstantExpr(from[i + 1].getFixed()) ||
          access->getResult(i + 1) != quotient.getLHS() % quotient.getRHS())
        continue;
      from[i] = *both;
      from.erase(from.begin() + i + 1);
      SmallVector<AffineExpr> results(access->getResults());
      results[i] = quotient.getLHS();
      results.erase(results.begin() + i + 1);
      auto joined = AffineMap::get(access->getNumDims(), 0, results, getContext());
      Value input = ReshapeOp::create(rewriter, op.getLoc(), getTensorType(from, op.getType().getElementType()), moved);
      rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), input, joined);
      return success();
    }
    return failure();
  }
};

} // namespace

void addAxisPatterns(RewritePatternSet &patterns) { patterns.add<JoinNeighbours, JoinDivided>(patterns.getContext()); }

} // namespace tutti
