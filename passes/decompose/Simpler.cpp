// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fewer kinds of tensor ops: reshapes that come last, sums and choices of few types, operands that are read as they
// lie.
#include "Patterns.h"
#include "passes/analysis/Numerics.h"

#include <cmath>

using namespace mlir;

namespace tutti {

TypedAttr splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return nullptr;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense || !dense.isSplat())
    return nullptr;
  if (isa<IntegerType>(dense.getElementType()))
    return IntegerAttr::get(scalarType(dense.getElementType()), dense.getSplatValue<APInt>());
  return dense.getSplatValue<TypedAttr>();
}

namespace {

/// Whether a reshape only adds or drops axes of length 1 other than the member axis.
bool onlyUnitAxes(ReshapeOp op) {
  auto without = [](RankedTensorType type) {
    Sizes sizes = getSizes(type);
    llvm::erase_if(sizes, [](const Size &size) { return size == Size(1); });
    return sizes;
  };
  return without(typeOf(op.getX())) == without(op.getResult().getType());
}

/// A constant of equal elements as one without axes.
Value scalarConstant(OpBuilder &builder, Location loc, Value constant) {
  auto dense = cast<DenseElementsAttr>(constant.getDefiningOp<ConstantOp>().getValue());
  auto type = RankedTensorType::get({}, dense.getElementType());
  return ConstantOp::create(builder, loc, dense.resizeSplat(type));
}

/// f(reshape(x)) becomes reshape(f(x)) for a pointwise f of one tensor: the reshape ends up where a kernel ends anyway.
struct SinkReshape : OpInterfaceRewritePattern<ScalarOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ScalarOpInterface op, PatternRewriter &rewriter) const override {
    ReshapeOp reshape;
    for (Value operand : op->getOperands()) {
      if (splatOf(operand))
        continue;
      auto candidate = operand.getDefiningOp<ReshapeOp>();
      if (!candidate || !onlyUnitAxes(candidate) || candidate.getX().getDefiningOp<GetOp>())
        return failure();
      if (reshape &&
          (candidate.getX().getType() != reshape.getX().getType() || candidate.getType() != reshape.getType()))
        return failure();
      reshape = candidate;
    }
    auto result = typeOf(op->getResult(0));
    if (!reshape || result.getShape() != reshape.getType().getShape())
      return failure();
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (auto candidate = operand.getDefiningOp<ReshapeOp>())
        operands.map(operand, candidate.getX());
      else
        operands.map(operand, scalarConstant(rewriter, op.getLoc(), operand));
    Operation *now = rewriter.clone(*op, operands);
    rewriter.modifyOpInPlace(now, [&] {
      now->getResult(0).setType(getTensorType(getSizes(typeOf(reshape.getX())), result.getElementType()));
    });
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, result, now->getResult(0));
    return success();
  }
};

/// head(reshape(x)) becomes reshape(head(x)). A vote looks at the last axis, so it stays.
struct SinkReshapeBelowHead : OpRewritePattern<HeadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(HeadOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    if (!reshape || !onlyUnitAxes(reshape) || op.getKind() == HeadKind::vote)
      return failure();
    Sizes before = getSizes(typeOf(reshape.getX())); // the members stay in front
    if (before.empty() || before.front() != getSizes(reshape.getType()).front())
      return failure();
    auto head = HeadOp::create(rewriter, op.getLoc(), op.getKind(), reshape.getX(), op.getQAttr());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), head.getResult());
    return success();
  }
};

/// A reduction over the last axes, however many, is one along a row of all their elements. Axes of one element behind
/// or between them change nothing (docs/numerics.md, 3).
struct ReduceInRow : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Sizes sizes = getSizes(typeOf(op.getX()));
    std::optional<int64_t> first = firstOfRow(sizes, op.getAxes());
    std::optional<Size> row = first ? product(ArrayRef<Size>(sizes).drop_front(*first)) : std::nullopt;
    if (!row)
      return failure();
    sizes.truncate(*first);
    sizes.push_back(*row);
    auto type = getTensorType(sizes, typeOf(op.getX()).getElementType());
    Value x = ReshapeOp::create(rewriter, op.getLoc(), type, op.getX());
    auto sums = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), x, *first, op.getNumericsAttr());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), sums);
    return success();
  }
};

/// Reads transposed operands as they lie, where the contraction is rows times a weight then: those sums have an order
/// of their own, the same on every target.
struct FoldTranspose : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (isRowsTimesWeight(op))
      return failure();
    ContractSpec spec = op.labels();
    Value operands[] = {op.getLhs(), op.getRhs()};
    std::string *labels[] = {&spec.lhs, &spec.rhs};
    for (auto [operand, now] : llvm::zip_equal(operands, labels)) {
      auto transpose = operand.getDefiningOp<TransposeOp>();
      if (!transpose)
        continue;
      std::string before = *now;
      for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
        (*now)[from] = before[to];
      operand = transpose.getX();
    }
    if (!isRowsTimesWeight(spec, operands[1]))
      return failure();
    rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(), operands[0], operands[1], spec.str(), NumericsAttr());
    return success();
  }
};

/// A contraction of each row of one operand with the one row of the other that belongs to it, "bcp,bncp->bnc", becomes
/// a product of elements, summed along their rows: no tile would have more than one row or column. The member's own
/// labels decide it, so that sums keep their order whichever operands members share.
struct SumOfProducts : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    ContractSpec spec = op.labels();
    Type element = op.getType().getElementType();
    StringRef member = StringRef(spec.result).take_front(isLifted(op.getType())), own = spec.result;
    own = own.drop_front(member.size());
    std::string summed = spec.contracted(),
                operands[] = {withoutMember(spec.lhs, member), withoutMember(spec.rhs, member)};
    bool isFloat = element.isF32() || element.isF64(), hasColumns = own.empty() || isRowsTimesWeight(op);
    bool isAlongRows =
        summed.size() == 1 && StringRef(spec.lhs).ends_with(summed) && StringRef(spec.rhs).ends_with(summed);
    if (!isFloat || hasColumns || !isAlongRows ||
        !llvm::all_of(operands, [&](StringRef labels) { return labels.contains(own.back()); }))
      return failure();
    bool leftIsAll = isWithin(operands[1], operands[0]);
    if (!leftIsAll && !isWithin(operands[0], operands[1]))
      return failure();

    Location loc = op.getLoc();
    std::string all = member.str() + operands[!leftIsAll];
    auto aligned = [&](Value x, StringRef labels) -> Value {
      Sizes given = getSizes(typeOf(x)), sizes;
      for (char label : all) {
        size_t place = labels.find(label);
        sizes.push_back(place == StringRef::npos ? Size(1) : given[place]);
      }
      return ReshapeOp::create(rewriter, loc, getTensorType(sizes, element), x);
    };
    Value products = MulOp::create(rewriter, loc, aligned(op.getLhs(), spec.lhs), aligned(op.getRhs(), spec.rhs));
    Value sums = ReduceOp::create(rewriter, loc, ReduceKind::sum, products, int64_t(all.size()) - 1, NumericsAttr());
    Sizes sizes = getSizes(typeOf(products));
    sizes.pop_back();
    sums = ReshapeOp::create(rewriter, loc, getTensorType(sizes, element), sums);
    auto places = llvm::map_to_vector(spec.result, [&](char label) { return int64_t(all.find(label)); });
    rewriter.replaceOpWithNewOp<TransposeOp>(op, sums, places);
    return success();
  }

private:
  static std::string withoutMember(StringRef labels, StringRef member) {
    labels.consume_front(member);
    return labels.str();
  }
  /// Whether all labels are among others, in their order.
  static bool isWithin(StringRef labels, StringRef others) {
    for (char other : others)
      labels.consume_front({&other, 1});
    return labels.empty();
  }
};

/// An op that combines elements becomes ops on fewer types. 16-bit floats are summed in float32, which holds each of
/// them exactly, and rounded once at the end. Sums and products of unsigned integers have the bits of signed ones;
/// their order is that of signed ones whose top bit is flipped.
struct OnFewerTypes : OpInterfaceRewritePattern<CombineOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(CombineOpInterface op, PatternRewriter &rewriter) const override {
    RankedTensorType whole = typeOf(op->getResult(0));
    Type from = typeOf(op->getOperand(0)).getElementType(), to = whole.getElementType();
    bool isShort = isShortFloat(from);
    if (!isShort && !from.isUnsignedInteger())
      return failure();
    auto head = dyn_cast<HeadOp>(op.getOperation());
    bool chooses = from != to, votes = chooses && head && head.getKind() == HeadKind::vote;
    Type in = isShort || isa<FloatType>(to) ? rewriter.getF32Type() : votes ? to : scalarType(from);
    bool turns = isa<IntegerType>(in) && op.comparesElements() && (!votes || from.getIntOrFloatBitWidth() == 64);
    Location loc = op.getLoc();
    IRMapping operands;
    for (Value operand : op->getOperands()) {
      Value x = castTo(rewriter, loc, operand, in);
      operands.map(operand, turns ? turned(rewriter, loc, x) : x);
    }
    Operation *now = rewriter.clone(*op, operands);
    Value result = now->getResult(0);
    rewriter.modifyOpInPlace(now, [&] { result.setType(getTensorType(getSizes(whole), chooses ? to : in)); });
    if (turns && (!chooses || votes))
      result = turned(rewriter, loc, result);
    rewriter.replaceOp(op, castTo(rewriter, loc, result, to));
    return success();
  }

private:
  static Value castTo(OpBuilder &builder, Location loc, Value x, Type element) {
    RankedTensorType type = typeOf(x);
    return type.getElementType() == element ? x
                                            : CastOp::create(builder, loc, getTensorType(getSizes(type), element), x);
  }
  /// x with its top bits flipped.
  static Value turned(OpBuilder &builder, Location loc, Value x) {
    Type element = typeOf(x).getElementType();
    APInt top = APInt::getSignMask(element.getIntOrFloatBitWidth());
    return XorOp::create(builder, loc, x, ConstantOp::ofNumber(builder, loc, IntegerAttr::get(element, top)));
  }
};

/// A float that becomes a short integer and a float again, as between the layers of a quantized model, never leaves its
/// register: it is cut to the integer's range and to a whole number. A NaN is 0, and so is -0.
struct CastThereAndBack : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto there = op.getX().getDefiningOp<CastOp>();
    if (!there || !typeOf(there.getX()).getElementType().isF32() || !typeOf(op.getResult()).getElementType().isF32())
      return failure();
    auto integer = dyn_cast<IntegerType>(typeOf(op.getX()).getElementType());
    if (!integer || integer.getWidth() == 1 || integer.getWidth() > 16) // float32 has all others
      return failure();
    bool isUnsigned = integer.isUnsigned();
    double high = std::ldexp(1.0, integer.getWidth() - !isUnsigned) - 1, low = isUnsigned ? 0 : -high - 1;

    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getResult());
    auto map = MapOp::create(rewriter, loc, type, there.getX(),
                             rewriter.getAffineMapArrayAttr(rewriter.getMultiDimIdentityMap(type.getRank())));
    Block *block = rewriter.createBlock(&map.getBody());
    Value x = block->addArgument(rewriter.getF32Type(), loc);
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(float(value)));
    };
    auto choose = [&](arith::CmpFPredicate is, Value a, Value b, Value yes, Value no) -> Value {
      return arith::SelectOp::create(rewriter, loc, arith::CmpFOp::create(rewriter, loc, is, a, b), yes, no);
    };
    Value y = choose(arith::CmpFPredicate::ORD, x, x, x, number(0));
    if (!liesWithin(there.getX(), low, high)) {
      y = choose(arith::CmpFPredicate::OLT, y, number(low), number(low), y);
      y = choose(arith::CmpFPredicate::OGT, y, number(high), number(high), y);
    }
    y = math::TruncOp::create(rewriter, loc, y);
    YieldOp::create(rewriter, loc, Value(arith::AddFOp::create(rewriter, loc, y, number(0))));
    rewriter.replaceOp(op, map.getResult());
    return success();
  }

private:
  static std::optional<double> numberIn(Value value) {
    auto splat = dyn_cast_or_null<FloatAttr>(splatOf(value));
    return splat ? std::optional(splat.getValueAsDouble()) : std::nullopt;
  }
  /// Whether a value is the smaller of a number up to `high` and the larger of one from `low` on, as quantizing ends.
  static bool liesWithin(Value value, double low, double high) {
    auto smaller = value.getDefiningOp<MinOp>();
    auto larger = smaller ? smaller.getLhs().getDefiningOp<MaxOp>() : MaxOp();
    std::optional<double> most = smaller ? numberIn(smaller.getRhs()) : std::nullopt,
                          least = larger ? numberIn(larger.getRhs()) : std::nullopt;
    return most && least && *least >= low && *most <= high && *least <= *most;
  }
};

/// A sum or product of a few elements that are chosen along the axis, as in polynomial features, is a map that reads
/// them where they are, in place of a row of its own. It has the reduction's bits (docs/numerics.md, section 3), which
/// another member, whose places are not known, keeps.
struct ReduceChosen : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  static constexpr int64_t most = 4;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    bool isSum = op.getKind() == ReduceKind::sum;
    Operation *producer = op.getX().getDefiningOp();
    Type element = typeOf(op.getX()).getElementType();
    bool isShort = isShortFloat(element); // rounded once, as OnFewerTypes has it
    if ((!isSum && op.getKind() != ReduceKind::prod) || op.getAxes().size() != 1 || isShort || !producer ||
        !producer->hasOneUse())
      return failure();
    int64_t axis = op.getAxes()[0];
    std::optional<SmallVector<int64_t>> places = chosenAlong(producer, axis);
    if (!places || places->empty() || int64_t(places->size()) > most)
      return failure();
    Location loc = op.getLoc();
    auto both = [&](Value a, Value b) {
      return isSum ? AddOp::create(rewriter, loc, a, b).getResult() : MulOp::create(rewriter, loc, a, b).getResult();
    };
    Value x = producer->getOperand(0);
    SmallVector<Value> parts;
    for (int64_t place : *places) {
      SmallVector<int64_t> starts(typeOf(x).getRank(), 0), steps(typeOf(x).getRank(), 1);
      SmallVector<int64_t> sizes(starts.size(), -1);
      starts[axis] = place;
      sizes[axis] = 1;
      parts.push_back(SliceOp::create(rewriter, loc, x, starts, sizes, steps));
    }
    // The tree over lanes: i with i + 2, then with i + 1. Along another axis one after the other.
    for (size_t apart = op.isRowPhase() ? 2 : 0; apart > 0; apart /= 2)
      for (; parts.size() > apart; parts.pop_back())
        parts[parts.size() - 1 - apart] = both(parts[parts.size() - 1 - apart], parts.back());
    Value all = parts.front();
    for (Value part : ArrayRef<Value>(parts).drop_front())
      all = both(all, part);
    if (isSum && isa<FloatType>(element)) // which begins with +0: a sum of -0 is one
      all = AddOp::create(rewriter, loc, all, ConstantOp::ofNumber(rewriter, loc, rewriter.getZeroAttr(element)));
    rewriter.replaceOp(op, all);
    return success();
  }

private:
  /// The places along an axis that a gather or slice takes, if it takes all places of the other axes.
  static std::optional<SmallVector<int64_t>> chosenAlong(Operation *producer, int64_t axis) {
    SmallVector<int64_t> places;
    if (auto gather = dyn_cast<GatherOp>(producer)) {
      auto constant = gather.getIndices().getDefiningOp<ConstantOp>();
      auto indices = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
      if (!indices || indices.getType().getRank() != 1 || int64_t(gather.getAxis()) != axis ||
          gather.getBatch().value_or(0) != 0 || indices.getNumElements() > most)
        return std::nullopt;
      for (const APInt &place : indices)
        places.push_back(place.getSExtValue());
      Size length = getSizes(typeOf(gather.getX()))[axis];
      bool known = length.isFixed() &&
                   llvm::all_of(places, [&](int64_t place) { return place >= 0 && place < length.getFixed(); });
      return known ? std::optional(places) : std::nullopt;
    }
    auto slice = dyn_cast<SliceOp>(producer);
    Sizes taken = slice ? getSizes(slice.getType()) : Sizes(), given = slice ? getSizes(typeOf(slice.getX())) : Sizes();
    for (auto [i, sizes] : llvm::enumerate(llvm::zip_equal(taken, given)))
      if (int64_t(i) != axis && (std::get<0>(sizes) != std::get<1>(sizes) || slice.getSteps()[i] != 1))
        return std::nullopt;
    if (!slice || !taken[axis].isFixed() || taken[axis].getFixed() > most)
      return std::nullopt;
    for (int64_t i = 0; i < taken[axis].getFixed(); ++i)
      places.push_back(slice.getStarts()[axis] + i * slice.getSteps()[axis]);
    return places;
  }
};

/// A concat of many operands becomes a concat of concats, which bounds what one of them takes to emit, and to find an
/// element's operand.
struct ConcatInParts : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  static constexpr size_t most = 64;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    ValueRange inputs = op.getInputs();
    if (inputs.size() <= most)
      return failure();
    for (; !inputs.empty(); inputs = inputs.drop_front(std::min(most, inputs.size())))
      parts.push_back(inputs.size() == 1
                          ? inputs.front()
                          : ConcatOp::create(rewriter, op.getLoc(), inputs.take_front(most), op.getAxis()));
    rewriter.replaceOpWithNewOp<ConcatOp>(op, parts, op.getAxis());
    return success();
  }
};

} // namespace

void addSimplerPatterns(RewritePatternSet &patterns) {
  patterns.add<SinkReshape, SinkReshapeBelowHead, ReduceInRow, FoldTranspose, SumOfProducts, CastThereAndBack,
               OnFewerTypes, ReduceChosen, ConcatInParts>(patterns.getContext());
}

} // namespace tutti
