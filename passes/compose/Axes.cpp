// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes that stay neighbours while others change places are moved as one.
//
// A row is a tensor's last axis: [b, 4, 4, 16] to [b, 16, 4, 4] would be rows of four columns each, where [b, 16, 16]
// to [b, 16, 16], the same move, has rows of sixteen. Values keep their shapes by views before and behind it.
#include "Patterns.h"
#include "passes/analysis/Access.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tutti {

namespace {

// Rows of more columns are no faster, and fewer of them are fewer tasks.
constexpr int64_t mostColumns = 1024;

/// Two axes of a move's operand, of which the first is given, that are the same two of its result.
struct Neighbours {
  unsigned before, axis;
  Size both;

  /// The first two of fixed sizes that the move reads as they are, and nothing else along them.
  static std::optional<Neighbours> of(AffineMap access, const Sizes &from, const Sizes &to) {
    auto dimAt = [&](unsigned i) -> std::optional<unsigned> {
      auto dim = dyn_cast<AffineDimExpr>(access.getResult(i));
      bool alone = dim && llvm::count_if(access.getResults(), [&](AffineExpr index) {
                            return index.isFunctionOfDim(dim.getPosition());
                          }) == 1;
      bool whole = alone && to[dim.getPosition()].isFixed() && from[i] == to[dim.getPosition()];
      return whole ? std::optional(dim.getPosition()) : std::nullopt;
    };
    for (unsigned i = 0; i + 1 < from.size(); ++i)
      if (std::optional<unsigned> axis = dimAt(i); axis && dimAt(i + 1) == *axis + 1) {
        std::optional<Size> both = to[*axis].times(to[*axis + 1]);
        bool isColumns = *axis + 2 == to.size();
        if (both && (!isColumns || both->getFixed() <= mostColumns))
          return Neighbours{i, *axis, *both};
      }
    return std::nullopt;
  }

  /// The shapes and the access where the two are one.
  Sizes joinedAt(Sizes sizes, unsigned first) const {
    sizes[first] = both;
    sizes.erase(sizes.begin() + first + 1);
    return sizes;
  }
  AffineMap joined(AffineMap access) const {
    SmallVector<AffineExpr> results(access.getResults()), dims;
    results.erase(results.begin() + before + 1);
    for (unsigned dim = 0; dim < access.getNumDims(); ++dim)
      dims.push_back(getAffineDimExpr(dim - (dim > axis), access.getContext()));
    return AffineMap::get(access.getNumDims(), 0, results, access.getContext())
        .replaceDimsAndSymbols(dims, {}, access.getNumDims() - 1, 0);
  }
};

/// A move that others read as it is, or in another shape: none of them could have it in a kernel of theirs.
bool isReadWhole(MapOp move) {
  return !staysInKernel(move) && llvm::all_of(move->getUsers(), llvm::IsaPred<ReshapeOp, func::ReturnOp>);
}

/// Two axes of a move's result, of which the first is given, that are one of its operand's.
struct Split {
  unsigned axis;
  Size both;

  static std::optional<Split> of(AffineMap access, const Sizes &from, const Sizes &to) {
    for (auto [i, index] : llvm::enumerate(access.getResults()))
      for (unsigned axis = 0; axis + 1 < to.size(); ++axis) {
        if (!to[axis].isFixed() || !to[axis + 1].isFixed() || from[i] != *to[axis].times(to[axis + 1]))
          continue;
        AffineExpr first = getAffineDimExpr(axis, access.getContext()),
                   second = getAffineDimExpr(axis + 1, access.getContext());
        bool alone = llvm::count_if(access.getResults(), [&](AffineExpr other) {
                       return other.isFunctionOfDim(axis) || other.isFunctionOfDim(axis + 1);
                     }) == 1;
        bool isColumns = axis + 2 == to.size();
        if (alone && index == first * to[axis + 1].getFixed() + second &&
            (!isColumns || from[i].getFixed() <= mostColumns))
          return Split{axis, from[i]};
      }
    return std::nullopt;
  }

  /// The result's shape and the access where the two are one.
  Sizes joined(Sizes sizes) const {
    sizes[axis] = both;
    sizes.erase(sizes.begin() + axis + 1);
    return sizes;
  }
  AffineMap joined(AffineMap access, int64_t second) const {
    MLIRContext *context = access.getContext();
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < access.getNumDims(); ++dim)
      dims.push_back(getAffineDimExpr(dim - (dim > axis), context));
    SmallVector<AffineExpr> results;
    AffineExpr whole = getAffineDimExpr(axis, context) * second + getAffineDimExpr(axis + 1, context);
    for (AffineExpr index : access.getResults())
      results.push_back(index == whole ? dims[axis] : index.replaceDims(dims));
    return AffineMap::get(access.getNumDims() - 1, 0, results, context);
  }
};

struct JoinNeighbours : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    std::optional<AffineMap> access = op.isMove() && isReadWhole(op) ? withoutSymbols(op.getAccess(0)) : std::nullopt;
    if (!access)
      return failure();
    Value input = op.getInputs()[0];
    Sizes from = getSizes(typeOf(input)), to = getSizes(op.getType());
    std::optional<Neighbours> two = Neighbours::of(*access, from, to);
    if (!two)
      return failure();
    auto typeFor = [&](const Sizes &sizes) { return getTensorType(sizes, op.getType().getElementType()); };
    Value rows = ReshapeOp::create(rewriter, op.getLoc(), typeFor(two->joinedAt(from, two->before)), input);
    Value now = MapOp::create(rewriter, op.getLoc(), typeFor(two->joinedAt(to, two->axis)), rows, two->joined(*access));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), now);
    return success();
  }
};

struct JoinSplit : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    std::optional<AffineMap> access = op.isMove() && isReadWhole(op) ? withoutSymbols(op.getAccess(0)) : std::nullopt;
    if (!access)
      return failure();
    Sizes to = getSizes(op.getType());
    std::optional<Split> two = Split::of(*access, getSizes(typeOf(op.getInputs()[0])), to);
    if (!two)
      return failure();
    auto type = getTensorType(two->joined(to), op.getType().getElementType());
    Value now = MapOp::create(rewriter, op.getLoc(), type, op.getInputs()[0],
                              two->joined(*access, to[two->axis + 1].getFixed()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), now);
    return success();
  }
};

} // namespace

void addAxisPatterns(RewritePatternSet &patterns) { patterns.add<JoinNeighbours, JoinSplit>(patterns.getContext()); }

} // namespace tutti
