// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values read their operands as these lie.
#include "passes/analysis/Products.h"
#include "Patterns.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Target.h"

using namespace mlir;

namespace tutti {

namespace {

/// A contraction with one of its parts changed, if it is still a product and no rows times a weight, whose sums have an
/// order of their own.
struct ChangedProduct {
  ContractSpec spec;
  Value operands[2];
  RankedTensorType types[2];

  explicit ChangedProduct(ContractOp op)
      : spec(op.labels()), operands{op.getLhs(), op.getRhs()}, types{op.getLhs().getType(), op.getRhs().getType()} {}
  /// The operand's axes come in another order.
  void turn(unsigned operand, ArrayRef<unsigned> order) {
    std::string &labels = operand == 0 ? spec.lhs : spec.rhs;
    std::string before = std::exchange(labels, "");
    Sizes own = getSizes(types[operand]), sizes;
    for (unsigned axis : order) {
      labels += before[axis];
      sizes.push_back(own[axis]);
    }
    types[operand] = getTensorType(sizes, types[operand].getElementType());
  }
  bool isProduct(RankedTensorType result) {
    return !isRowsTimesWeight(spec, operands[1]) && ProductForm::of(spec, types[0], types[1], result);
  }
};

/// A product of a transposed value reads that value as it lies.
struct ReadTransposed : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (isRowsTimesWeight(op))
      return failure();
    for (unsigned i = 0; i < 2; ++i) {
      ChangedProduct now(op);
      auto move = now.operands[i].getDefiningOp<MapOp>();
      if (!move || !move.isMove())
        continue;
      Value from = move.getMoved();
      auto order = axesAsTheyLie(move.getAccess(0), getSizes(typeOf(from)), getSizes(move.getType()));
      if (!order || (isLifted(move.getType()) && order->front() != 0))
        continue;
      now.turn(i, *order);
      now.operands[i] = from;
      if (!now.isProduct(op.getType()) || !readsNeighbours(now.spec))
        continue;
      if (from.getType() != now.types[i])
        now.operands[i] = ReshapeOp::create(rewriter, op.getLoc(), now.types[i], from);
      rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(), now.operands[0], now.operands[1], now.spec.str(),
                                              NumericsAttr());
      return success();
    }
    return failure();
  }
};

/// A value that is computed for a product alone is laid out as its source is, in rows as long as the source's: it joins
/// the source's kernel, neighbours are read and written as neighbours, and the product reads it transposed or as heads.
struct ComputeAsItLies : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (isRowsTimesWeight(op))
      return failure();
    for (unsigned i = 0; i < 2; ++i) {
      ChangedProduct now(op);
      auto map = now.operands[i].getDefiningOp<MapOp>();
      if (!map || !map->hasOneUse())
        continue;
      std::optional<Lie> lie = Lie::of(map);
      if (!lie)
        continue;
      now.turn(i, lie->order);
      if (!now.isProduct(op.getType()))
        continue;
      rewriter.setInsertionPoint(map);
      Value turned = lie->computed(map, now.types[i], rewriter);
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(i, turned);
        op.setSpec(now.spec.str());
      });
      rewriter.eraseOp(map);
      return success();
    }
    return failure();
  }

private:
  /// The axes of a map's result as what it reads lies, with as many of the last in one as lie in one axis there.
  struct Lie {
    SmallVector<unsigned> order;
    unsigned inOne = 1;
    SmallVector<AffineMap> maps; ///< of the axes in that order, the last of them in one

    /// The layout for a map; nothing where its axes lie so already, no operand has them all, or two operands lie
    /// differently.
    static std::optional<Lie> of(MapOp map) {
      Sizes sizes = getSizes(map.getType());
      Lie lie;
      unsigned last = 1;
      for (unsigned i = 0; i < map.getInputs().size(); ++i) {
        AffineMap access = map.getAccess(i);
        if (!withoutSymbols(access))
          return std::nullopt;
        Sizes from = getSizes(typeOf(map.getInputs()[i]));
        if (map.isMove() && axesAsTheyLie(access, from, sizes))
          return std::nullopt; // it is read, not computed
        auto order = axesAsPartsLie(access, from, sizes);
        if (!order)
          continue;
        if (!lie.order.empty() && *order != lie.order)
          return std::nullopt;
        lie.order = *order;
        for (unsigned n = 1; n < order->size() && isOfLast(access, (*order)[order->size() - 1 - n], sizes); ++n)
          last = std::max(last, n + 1);
      }
      if (lie.order.empty() || (isLifted(map.getType()) && lie.order.front() != 0))
        return std::nullopt;
      for (lie.inOne = last; !lie.bringTogether(map, sizes) || !lie.goesTogether(map, sizes);)
        if (lie.inOne-- == 1)
          return std::nullopt;
      SmallVector<unsigned> longer; // axes of one place lie wherever they are
      llvm::copy_if(lie.order, std::back_inserter(longer), [&](unsigned axis) { return sizes[axis] != Size(1); });
      if (lie.inOne == 1 && llvm::is_sorted(longer))
        return std::nullopt;
      return lie;
    }

    /// The map's value, as a tensor of a type whose axes lie so.
    Value computed(MapOp map, RankedTensorType type, PatternRewriter &rewriter) const {
      MapOp now = remapped(rewriter, map, withInOne(type), map.getInputs(), maps);
      return inOne > 1 ? ReshapeOp::create(rewriter, map.getLoc(), type, now).getResult() : now.getResult();
    }

  private:
    /// The type with the last axes in one.
    RankedTensorType withInOne(RankedTensorType type) const {
      Sizes sizes = getSizes(type);
      Size columns = *product(ArrayRef(sizes).take_back(inOne));
      sizes.truncate(sizes.size() - inOne);
      sizes.push_back(columns);
      return getTensorType(sizes, type.getElementType());
    }

    /// Whether merged axes stay so: a move that is no part of its source's kernel would be one with the reshape behind
    /// it again.
    bool goesTogether(MapOp map, ArrayRef<Size> sizes) const {
      if (inOne == 1 || !map.isMove())
        return true;
      Sizes turned;
      for (unsigned axis : order)
        turned.push_back(sizes[axis]);
      RankedTensorType type = withInOne(getTensorType(turned, map.getType().getElementType()));
      return staysInKernel(maps.front(), typeOf(map.getMoved()), type);
    }

    /// Whether the last index of an access depends on an axis, or the axis has one place.
    static bool isOfLast(AffineMap access, unsigned axis, ArrayRef<Size> sizes) {
      return sizes[axis] == Size(1) || access.getResults().back().isFunctionOfDim(axis);
    }

    /// Sets `maps`; false where an operand tells apart what would lie in one axis.
    bool bringTogether(MapOp map, ArrayRef<Size> sizes) {
      unsigned rank = order.size(), rows = rank - inOne;
      MLIRContext *context = map.getContext();
      // `inAxis` has the element's place in the merged axis, `own` its own places.
      SmallVector<AffineExpr> inAxis(rank, getAffineConstantExpr(0, context)), own(rank);
      AffineExpr place = getAffineConstantExpr(0, context);
      int64_t step = 1;
      for (unsigned at = rank; at-- > 0;) {
        AffineExpr dim = getAffineDimExpr(at, context);
        own[order[at]] = dim;
        if (at < rows) {
          inAxis[order[at]] = dim;
          continue;
        }
        if (at > rows && !sizes[order[at]].isFixed())
          return false;
        place = place + dim * step;
        step *= at > rows ? sizes[order[at]].getFixed() : 1;
      }
      inAxis[order.back()] = getAffineDimExpr(rows, context);
      SmallVector<AffineExpr> apart;
      for (unsigned at = 0; at <= rows; ++at)
        apart.push_back(at < rows ? getAffineDimExpr(at, context) : place);
      maps.clear();
      for (AffineMap access : map.getMaps().getAsValueRange<AffineMapAttr>()) {
        SmallVector<AffineExpr> exprs;
        for (AffineExpr expr : access.getResults()) {
          AffineExpr now = expr.replaceDims(inAxis);
          if (simplifyAffineExpr(expr.replaceDims(own) - now.replaceDims(apart), rank, 0) !=
              getAffineConstantExpr(0, context))
            return false;
          exprs.push_back(now);
        }
        maps.push_back(simplifyAffineMap(AffineMap::get(rows + 1, 0, exprs, context)));
      }
      return true;
    }
  };
};

/// Rows of a product that each read other columns of the right operand than their neighbours, but the same as rows
/// further away, are brought together: a tile multiplies them at once, and its result is transposed.
struct BringRowsTogether : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (isRowsTimesWeight(op))
      return failure();
    ContractSpec spec = op.labels();
    auto form = ProductForm::of(spec, op.getLhs().getType(), op.getRhs().getType(), op.getType());
    if (!form || form->run > 0)
      return failure();
    Sizes sizes = getSizes(op.getType());
    std::optional<Size> elements = op.terms()->times(sizes.back()); // of the right operand, that a row reads
    if (elements && elements->isFixed() && elements->getFixed() < TargetTraits::of(op).leastBroughtTogether)
      return failure();
    size_t last = spec.result.size() - 1;
    for (size_t i = last; i-- > size_t(isLifted(op.getType()));) {
      char label = spec.result[i];
      if (spec.rhs.find(label) != std::string::npos || spec.lhs.find(label) == std::string::npos ||
          (sizes[i].isFixed() && sizes[i].getFixed() < 4))
        continue;
      // Axis i comes to be the last of the rows.
      auto back = llvm::to_vector(llvm::seq<unsigned>(0, sizes.size()));
      std::rotate(spec.result.begin() + i, spec.result.begin() + i + 1, spec.result.begin() + last);
      std::rotate(sizes.begin() + i, sizes.begin() + i + 1, sizes.begin() + last);
      std::rotate(back.begin() + i, back.begin() + i + 1, back.begin() + last);
      auto type = getTensorType(sizes, op.getType().getElementType());
      Value product =
          ContractOp::create(rewriter, op.getLoc(), type, op.getLhs(), op.getRhs(), spec.str(), NumericsAttr());
      rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), product,
                                         AffineMap::getPermutationMap(back, rewriter.getContext()));
      return success();
    }
    return failure();
  }
};

} // namespace

void addProductPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadTransposed, ComputeAsItLies, BringRowsTogether>(patterns.getContext());
}

} // namespace tutti
