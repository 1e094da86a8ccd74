// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-compose: what only moves elements moves them once, and products read operands as they lie.
//
// Exporters spell attention's heads as reshapes, transpositions and slices in a row; each that changes rows would be a
// launch of its own that reads and writes all of the values.
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Products.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Views.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_COMPOSEPASS
#include "passes/Passes.h.inc"

namespace {

//===------------------------------------------------------------------------------------------------------------===//
// What moves
//===------------------------------------------------------------------------------------------------------------===//

/// Whether a map could be computed in the kernel of its first operand.
bool staysInKernel(MapOp map) {
  RowForm form = RowForm::of(map.getType()),
          operand = RowForm::of(cast<RankedTensorType>(map.getInputs()[0].getType()));
  return operand.sameRows(form) && staysInRow(operandAccess(map, 0, ownRow(form, map.getContext())), operand);
}

/// Where an element of `result` comes from, by `outer` and then by `inner`. Nothing if sizes that only the inner op
/// knows take part.
std::optional<AffineMap> composed(AffineMap inner, AffineMap outer, RankedTensorType result) {
  for (unsigned symbol = 0; symbol < inner.getNumSymbols(); ++symbol)
    if (inner.isFunctionOfSymbol(symbol))
      return std::nullopt;
  AffineMap plain = AffineMap::get(inner.getNumDims(), 0, inner.getResults(), inner.getContext());
  return simplifyAccess(plain.compose(outer), getSizes(result));
}

/// The move that an operand of a map has been through, and where its elements come from before it. Nothing where that
/// takes more divisions.
struct Before {
  Value from;
  AffineMap access;

  static std::optional<Before> of(MapOp map, unsigned operand) {
    Value from, input = map.getInputs()[operand];
    FailureOr<AffineMap> inner = failure();
    if (auto reshape = input.getDefiningOp<ReshapeOp>(); reshape && map.isMove()) {
      from = reshape.getX();
      inner = reshape.operandMap();
    } else if (auto move = input.getDefiningOp<MapOp>(); move && move.isMove() && !staysInKernel(move)) {
      from = move.getInputs()[0];
      inner = move.getAccess(0);
    }
    if (failed(inner))
      return std::nullopt;
    std::optional<AffineMap> access = composed(*inner, map.getAccess(operand), map.getType());
    if (!access || divisionsOf(*access) > divisionsOf(map.getAccess(operand)))
      return std::nullopt;
    return Before{from, *access};
  }
};

/// A move of what a reshape or another move has moved.
struct MoveOnce : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    std::optional<Before> before = op.isMove() ? Before::of(op, 0) : std::nullopt;
    if (!before)
      return failure();
    rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), before->from, before->access);
    return success();
  }
};

/// A map of what has been moved reads it where it was.
struct ReadMoved : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs(op.getInputs());
    auto maps = llvm::to_vector(op.getMaps().getAsValueRange<AffineMapAttr>());
    bool changes = false;
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (std::optional<Before> before = Before::of(op, i)) {
        inputs[i] = before->from;
        maps[i] = before->access;
        changes = true;
      }
    if (changes)
      rewriter.modifyOpInPlace(op, [&] {
        op.getInputsMutable().assign(inputs);
        op.setMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
    return success(changes);
  }
};

/// A reshape of what has been moved, where the move ends a kernel anyway.
struct MoveToShape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto move = op.getX().getDefiningOp<MapOp>();
    if (!move || !move->hasOneUse() || !move.isMove() || staysInKernel(move))
      return failure();
    FailureOr<AffineMap> outer = op.operandMap();
    if (failed(outer))
      return failure();
    std::optional<AffineMap> access = composed(move.getAccess(0), *outer, op.getType());
    if (!access || divisionsOf(*access) > divisionsOf(move.getAccess(0)))
      return failure();
    rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), move.getInputs()[0], *access);
    return success();
  }
};

/// f(reshape(x), p) becomes reshape(f(x, p')), for parameters p, if any, and an x that is computed and that nothing
/// else reads: so the scale and bias of a norm over groups of channels join the norm. p' is p, read by x's axes; on a
/// CPU only where what x's last axis is divided by leaves runs of columns to go through, and not in the registers of a
/// contraction.
struct SinkBelowParameters : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    ReshapeOp reshape;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      if (isParameter(input))
        continue;
      reshape = reshape ? ReshapeOp() : input.getDefiningOp<ReshapeOp>();
      if (!reshape || !isOwnPlace(op.getAccess(i), op.getType()))
        return failure();
    }
    auto producer = reshape && reshape->hasOneUse() ? reshape.getX().getDefiningOp<MapOp>() : MapOp();
    if (!producer || op.isMove() || producer.isMove() || !producer->hasOneUse())
      return failure();
    RankedTensorType from = producer.getType(), to = op.getType();
    // Rows that would fill less of a vector than they do now stay apart.
    auto columnsOf = [](RankedTensorType type) { return type.getRank() > 0 ? type.getShape().back() : 1; };
    if (int64_t columns = columnsOf(from); columns != columnsOf(to) && columns >= 0 && columns < 8)
      return failure();
    FailureOr<AffineMap> place = reshapeMap(to, from);
    if (failed(place))
      return failure();
    SmallVector<Value> inputs(op.getInputs());
    SmallVector<AffineMap> maps;
    llvm::SmallSetVector<int64_t, 2> runs;
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (isParameter(inputs[i])) {
        std::optional<AffineMap> access = composed(op.getAccess(i), *place, from);
        if (!access)
          return failure();
        maps.push_back(*access);
        addRuns(*access, from.getRank() - 1, runs);
      } else {
        inputs[i] = producer;
        maps.push_back(rewriter.getMultiDimIdentityMap(from.getRank()));
      }
    if (!runs.empty() && targetOf(op->getParentOfType<ModuleOp>()) == "cpu" &&
        (runs.size() > 1 || runs.front() < shortestRun || isOfContraction(producer)))
      return failure();
    auto now = MapOp::create(rewriter, op.getLoc(), getTensorType(getSizes(from), to.getElementType()), inputs,
                             rewriter.getAffineMapArrayAttr(maps));
    rewriter.inlineRegionBefore(op.getBody(), now.getBody(), now.getBody().end());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, now);
    return success();
  }

private:
  static bool isParameter(Value value) {
    while (Value whole = viewed(value.getDefiningOp()))
      value = whole;
    return value.getDefiningOp<GetOp>() != nullptr;
  }
  /// The only place along an axis of length 1 is 0.
  static bool isOwnPlace(AffineMap access, RankedTensorType type) {
    for (auto [axis, expr] : llvm::enumerate(access.getResults())) {
      bool only = type.getShape()[axis] == 1 && expr == getAffineConstantExpr(0, type.getContext());
      if (!only && expr != getAffineDimExpr(axis, type.getContext()))
        return false;
    }
    return access.getNumResults() == type.getRank();
  }
  /// Whether maps make x of a contraction.
  static bool isOfContraction(Value x) {
    llvm::DenseSet<Value> seen;
    SmallVector<Value> open = {x};
    while (!open.empty()) {
      Operation *op = open.pop_back_val().getDefiningOp();
      if (isa_and_nonnull<ContractOp>(op))
        return true;
      if (isa_and_nonnull<MapOp>(op))
        for (Value operand : op->getOperands())
          if (seen.insert(operand).second)
            open.push_back(operand);
    }
    return false;
  }
};

//===------------------------------------------------------------------------------------------------------------===//
// Products of two values
//===------------------------------------------------------------------------------------------------------------===//

/// A contraction with one of its parts changed, if it is still a product and no rows times a weight, whose sums have an
/// order of their own.
struct ChangedProduct {
  ContractSpec spec;
  Value operands[2];
  RankedTensorType types[2];

  explicit ChangedProduct(ContractOp op)
      : spec(*ContractSpec::parse(op.getSpec())), operands{op.getLhs(), op.getRhs()},
        types{op.getLhs().getType(), op.getRhs().getType()} {}
  std::string &labels(unsigned operand) { return operand == 0 ? spec.lhs : spec.rhs; }
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
      Value from = move.getInputs()[0];
      Sizes own = getSizes(move.getType()), sizes;
      auto order = axesAsTheyLie(move.getAccess(0), getSizes(cast<RankedTensorType>(from.getType())), own);
      if (!order || (isLifted(move.getType()) && order->front() != 0))
        continue;
      std::string before = std::exchange(now.labels(i), "");
      for (unsigned axis : *order) {
        now.labels(i) += before[axis];
        sizes.push_back(own[axis]);
      }
      now.types[i] = getTensorType(sizes, move.getType().getElementType());
      now.operands[i] = from;
      if (!now.isProduct(op.getType()))
        continue;
      if (from.getType() != now.types[i])
        now.operands[i] = ReshapeOp::create(rewriter, op.getLoc(), now.types[i], from);
      rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(), now.operands[0], now.operands[1], now.spec.str());
      return success();
    }
    return failure();
  }
};

/// What is computed for a product alone lies as its source does: neighbours are read and written as neighbours, and the
/// product reads it transposed.
struct ComputeAsItLies : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (isRowsTimesWeight(op))
      return failure();
    for (unsigned i = 0; i < 2; ++i) {
      ChangedProduct now(op);
      auto map = now.operands[i].getDefiningOp<MapOp>();
      std::optional<unsigned> axis = map && map->hasOneUse() ? neighbours(map) : std::nullopt;
      if (!axis)
        continue;
      std::string &labels = now.labels(i);
      std::rotate(labels.begin() + *axis, labels.begin() + *axis + 1, labels.end());
      Sizes sizes = getSizes(map.getType());
      std::rotate(sizes.begin() + *axis, sizes.begin() + *axis + 1, sizes.end());
      now.types[i] = getTensorType(sizes, map.getType().getElementType());
      if (!now.isProduct(op.getType()))
        continue;
      rewriter.setInsertionPoint(map);
      MapOp turned = rotated(map, *axis, now.types[i], rewriter);
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
  /// The axis, neither the last nor the members', along which a map reads neighbours, where along the last it does not.
  static std::optional<unsigned> neighbours(MapOp map) {
    unsigned rank = map.getType().getRank();
    std::optional<unsigned> found;
    for (unsigned i = 0; i < map.getInputs().size(); ++i)
      for (unsigned axis = isLifted(map.getType()); axis < rank; ++axis)
        if (goesAlong(map.getAccess(i), axis)) {
          if (axis + 1 == rank)
            return std::nullopt;
          found = axis;
        }
    return found;
  }

  /// The same map with an axis as its last.
  static MapOp rotated(MapOp map, unsigned axis, RankedTensorType type, OpBuilder &builder) {
    unsigned rank = type.getRank();
    SmallVector<AffineExpr> dims;
    for (unsigned i = 0; i < rank; ++i)
      dims.push_back(builder.getAffineDimExpr(i < axis ? i : i == axis ? rank - 1 : i - 1));
    SmallVector<AffineMap> maps;
    for (AffineMap access : map.getMaps().getAsValueRange<AffineMapAttr>())
      maps.push_back(access.replaceDimsAndSymbols(dims, symbolsOf(map, axis, builder), rank, access.getNumSymbols()));
    auto now = MapOp::create(builder, map.getLoc(), type, map.getInputs(), builder.getAffineMapArrayAttr(maps));
    now.getBody().takeBody(map.getBody());
    return now;
  }

  /// Symbols count the axes of unknown size, whose order changes with the others'.
  static SmallVector<AffineExpr> symbolsOf(MapOp map, unsigned axis, OpBuilder &builder) {
    SmallVector<int64_t> shape(map.getType().getShape());
    SmallVector<unsigned> order;
    for (unsigned i = 0; i < shape.size(); ++i)
      if (ShapedType::isDynamic(shape[i]))
        order.push_back(i);
    SmallVector<unsigned> now(order);
    if (auto it = llvm::find(now, axis); it != now.end())
      std::rotate(it, it + 1, now.end());
    SmallVector<AffineExpr> symbols;
    for (unsigned i : order)
      symbols.push_back(builder.getAffineSymbolExpr(llvm::find(now, i) - now.begin()));
    return symbols;
  }
};

/// Rows that each read other columns of the right operand than their neighbours, but the same as rows further away, are
/// brought together: a tile multiplies them at once, and its result is transposed. On a CUDA device that is a launch
/// more, and columns that stay in the first cache are not worth it.
struct BringRowsTogether : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (isRowsTimesWeight(op))
      return failure();
    ContractSpec spec = *ContractSpec::parse(op.getSpec());
    auto form = ProductForm::of(spec, op.getLhs().getType(), op.getRhs().getType(), op.getType());
    if (!form || form->run > 0)
      return failure();
    Sizes sizes = getSizes(op.getType());
    constexpr int64_t fewElements = 4096; // of the right operand, that a row reads
    Size terms = getSizes(op.getLhs().getType())[spec.lhs.find(form->summed)];
    std::optional<Size> elements = terms.times(sizes.back());
    if (targetOf(op->getParentOfType<ModuleOp>()) == "cuda" && elements && elements->isFixed() &&
        elements->getFixed() < fewElements)
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
      Value product = ContractOp::create(rewriter, op.getLoc(), type, op.getLhs(), op.getRhs(), spec.str());
      rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), product,
                                         AffineMap::getPermutationMap(back, rewriter.getContext()));
      return success();
    }
    return failure();
  }
};

struct ComposePass : impl::ComposePassBase<ComposePass> {
  void runOnOperation() override {
    auto rewrite = [&](auto add) {
      RewritePatternSet patterns(&getContext());
      patterns.add<MoveOnce, MoveToShape>(&getContext());
      add(patterns);
      return applyPatternsGreedily(getOperation(), std::move(patterns));
    };
    // Moves are one before others read them.
    if (failed(rewrite([](RewritePatternSet &) {})) || failed(rewrite([](RewritePatternSet &patterns) {
          patterns.add<ReadMoved, SinkBelowParameters, ReadTransposed, ComputeAsItLies, BringRowsTogether>(
              patterns.getContext());
        })))
      signalPassFailure();
  }
};

} // namespace
} // namespace tutti
