// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves that follow each other are one, and part of what reads them.
#include "Patterns.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Scratch.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Upstream.h"
#include "passes/analysis/Views.h"

using namespace mlir;

namespace tutti {

namespace {

/// Whether the term behind a row's first one is its neighbour in what is read.
bool termsAreNeighbours(AffineMap access) {
  std::optional<AffineMap> plain = withoutSymbols(access);
  if (!plain || plain->getNumDims() == 0 || plain->getNumResults() == 0)
    return false;
  SmallVector<int64_t> place(plain->getNumDims(), 0);
  SmallVector<int64_t> first = plain->compose(place);
  place.back() = 1;
  ++first.back();
  return plain->compose(place) == first;
}

/// Whether rows are read by a layer that takes sixteen terms of a row at a time for some of its columns.
bool isReadByLanes(MapOp rows) {
  return TargetTraits::of(rows).readsInPlace && llvm::any_of(rows->getUses(), [](OpOperand &use) {
           auto layer = dyn_cast<ContractOp>(use.getOwner());
           Size columns = layer ? getSizes(layer.getType()).back() : Size(0);
           std::optional<Size> terms = layer ? layer.terms() : std::nullopt;
           return layer && use.getOperandNumber() == 0 && isRowsTimesWeight(layer) && columns.isFixed() && terms &&
                  terms->isFixed() &&
                  endsInLanes(terms->getFixed(), columns.getFixed(), layer.getType().getElementType());
         });
}

/// Whether maps take more than twice as many elements of a value as it has, as sums over windows do. Products read one
/// by one what they read in place.
bool isReadOften(Value value) {
  auto elementsOf = [](RankedTensorType type) { // of one row, as they have the same ones
    double count = 1;
    for (const Size &size : getSizes(type))
      count *= size.isFixed() ? double(size.getFixed()) : 1;
    return count;
  };
  double taken = 0;
  for (OpOperand &use : value.getUses())
    if (auto map = dyn_cast<MapOp>(use.getOwner()); map && llvm::none_of(map->getUsers(), llvm::IsaPred<ContractOp>))
      taken += elementsOf(map.getType());
  return taken > 2 * elementsOf(typeOf(value));
}

/// The move that an operand of a map has been through, and where its elements come from before it. Nothing where that
/// takes more divisions, or what are neighbours now would be read apart by a layer's lanes or, on a CPU, often.
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
      from = move.getMoved();
      inner = move.getAccess(0);
    }
    if (failed(inner))
      return std::nullopt;
    std::optional<AffineMap> access = composed(*inner, map.getAccess(operand), getSizes(map.getType()));
    if (!access || divisionsOf(*access) > divisionsOf(map.getAccess(operand)))
      return std::nullopt;
    if (termsAreNeighbours(map.getAccess(operand)) && !termsAreNeighbours(*access) &&
        (isReadByLanes(map) || (TargetTraits::of(map).packsNarrowRows && isReadOften(input))))
      return std::nullopt;
    return Before{from, *access};
  }
};

/// A move of a reshape's or another move's result becomes one move.
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

/// A gather that repeats each element a number of times, as an image becomes larger by its nearest neighbours, becomes
/// a move.
struct EachManyTimes : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    auto constant = op.getIndices().getDefiningOp<ConstantOp>();
    auto places = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
    Size length = getSizes(typeOf(op.getX()))[op.getAxis()];
    if (!places || places.getType().getRank() != 1 || op.getBatch().value_or(0) != 0 || !length.isFixed())
      return failure();
    int64_t count = places.getNumElements(), times = count / length.getFixed();
    auto isOwn = [&](const auto &place) { return place.value().getSExtValue() == int64_t(place.index()) / times; };
    if (times < 2 || count % length.getFixed() != 0 || !llvm::all_of(llvm::enumerate(places), isOwn))
      return failure();
    auto exprs = llvm::to_vector(rewriter.getMultiDimIdentityMap(op.getType().getRank()).getResults());
    exprs[op.getAxis()] = exprs[op.getAxis()].floorDiv(times);
    auto access = AffineMap::get(op.getType().getRank(), 0, exprs, getContext());
    rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), op.getX(), access);
    return success();
  }
};

/// A move that moves nothing is replaced by its operand. It stays for a result that is a copy of what no kernel
/// computes, or of another result (tutti-decompose).
struct MoveNowhere : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Value x = op.getMoved();
    if (!x || x.getType() != op.getType() || !isOwnPlace(op.getAccess(0), op.getType(), op.getType()))
      return failure();
    Value whole = throughViews(x);
    bool isNeeded = !isa_and_nonnull<MapOp, KernelOpInterface>(whole.getDefiningOp()) || isResult(whole);
    bool changes = false;
    rewriter.replaceUsesWithIf(op.getResult(), x, [&](OpOperand &use) {
      bool reads = !isNeeded || !isResult(use);
      changes |= reads;
      return reads;
    });
    return success(changes);
  }

private:
  /// Whether a use is a result of the model or of a group, or for a head.
  static bool isResult(OpOperand &use) {
    Operation *user = use.getOwner();
    return isa<func::ReturnOp, JoinOp, HeadOp>(user) || (viewed(user) && isResult(user->getResult(0)));
  }
  static bool isResult(Value value) {
    return llvm::any_of(value.getUses(), [](OpOperand &use) { return isResult(use); });
  }
};

/// A map of a move's result reads the move's operand instead.
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
    if (!changes)
      return failure();
    llvm::SmallSetVector<Operation *, 4> moves;
    for (Value input : op.getInputs())
      if (Operation *move = input.getDefiningOp())
        moves.insert(move);
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().assign(inputs);
      op.setMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    for (Operation *move : moves) // what it moved may have no other user now, which lets that go on in this round
      if (isOpTriviallyDead(move))
        rewriter.eraseOp(move);
    return success();
  }
};

/// A reshape of a move's result becomes a move, where the move ends a kernel anyway.
struct MoveToShape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto move = op.getX().getDefiningOp<MapOp>();
    if (!move || !move->hasOneUse() || !move.isMove() || staysInKernel(move))
      return failure();
    FailureOr<AffineMap> outer = op.operandMap();
    if (failed(outer))
      return failure();
    std::optional<AffineMap> access = composed(move.getAccess(0), *outer, getSizes(op.getType()));
    if (!access || divisionsOf(*access) > divisionsOf(move.getAccess(0)))
      return failure();
    rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), move.getMoved(), *access);
    return success();
  }
};

/// A map f of elements that lie further apart than those of its result, as a pool takes of channels that lie side by
/// side, is computed along the axis that is contiguous there, and the smaller result is transposed. So is f of what
/// another map makes for it alone, as the two then are one.
struct ComputeAsRead : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  static constexpr int64_t leastNeighbours = 8;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    std::optional<unsigned> along = op.isMove() ? std::nullopt : neighboursOf(op);
    Sizes sizes = getSizes(op.getType());
    if (!along || !sizes[*along].isFixed() || sizes[*along].getFixed() < leastNeighbours)
      return failure();
    // Axis `along` comes last.
    unsigned rank = sizes.size();
    SmallVector<AffineExpr> now(rank);
    for (unsigned axis = 0; axis < rank; ++axis)
      now[axis] = getAffineDimExpr(axis < *along ? axis : axis == *along ? rank - 1 : axis - 1, getContext());
    SmallVector<AffineMap> maps;
    for (AffineMap access : op.getMaps().getAsValueRange<AffineMapAttr>())
      maps.push_back(access.replaceDimsAndSymbols(now, {}, rank, 0));
    std::rotate(sizes.begin() + *along, sizes.begin() + *along + 1, sizes.end());
    MapOp map = remapped(rewriter, op, getTensorType(sizes, op.getType().getElementType()), op.getInputs(), maps);
    rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), map,
                                       inversePermutation(AffineMap::get(rank, 0, now, getContext())));
    return success();
  }

private:
  /// The axis of the result along which all operands are contiguous, if it is the same one for all, not the last, and
  /// one operand is larger than the result, or made for it.
  static std::optional<unsigned> neighboursOf(MapOp op) {
    std::optional<unsigned> along;
    bool isLarger = false, isMadeForIt = false;
    std::optional<Size> all = product(getSizes(op.getType()));
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      std::optional<AffineMap> access = withoutSymbols(op.getAccess(i));
      if (!access)
        return std::nullopt;
      if (access->getNumResults() == 0)
        continue;
      auto last = dyn_cast<AffineDimExpr>(access->getResults().back());
      if (!last || (along && *along != last.getPosition()))
        return std::nullopt;
      along = last.getPosition();
      std::optional<Size> elements = product(getSizes(typeOf(input)));
      isLarger |= all && elements && elements->isKnownLarger(*all);
      auto maker = input.getDefiningOp<MapOp>();
      isMadeForIt |= maker && !maker.isMove() && maker->hasOneUse();
    }
    return (isLarger || isMadeForIt) && along != op.getType().getRank() - 1 ? along : std::nullopt;
  }
};

/// f(reshape(x), p) becomes reshape(f(x, p')), for parameters p, if any, and an x that is computed and that nothing
/// else reads: so the scale and bias of a norm over groups of channels join the norm. p' is p, read by x's axes; where
/// rows go by runs of columns only if what x's last axis is divided by leaves such runs, and not in the registers of a
/// contraction.
struct SinkBelowParameters : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    ReshapeOp reshape;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      if (isParameter(input))
        continue;
      reshape = reshape ? ReshapeOp() : input.getDefiningOp<ReshapeOp>();
      if (!reshape || !isOwnPlace(op.getAccess(i), typeOf(input), op.getType()))
        return failure();
    }
    auto producer = reshape && reshape->hasOneUse() ? reshape.getX().getDefiningOp<MapOp>() : MapOp();
    if (!producer || op.isMove() || producer.isMove() || !producer->hasOneUse())
      return failure();
    RankedTensorType from = producer.getType(), to = op.getType();
    // Rows that would fill less of a vector than they do now stay apart.
    auto columnsOf = [](RankedTensorType type) { return type.getRank() > 0 ? type.getShape().back() : 1; };
    if (int64_t columns = columnsOf(from); columns != columnsOf(to) && columns >= 0 && columns < mostPacked)
      return failure();
    FailureOr<AffineMap> place = reshapeMap(to, from);
    if (failed(place))
      return failure();
    SmallVector<Value> inputs(op.getInputs());
    SmallVector<AffineMap> maps;
    llvm::SmallSetVector<int64_t, 2> runs;
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (isParameter(inputs[i])) {
        std::optional<AffineMap> access = composed(op.getAccess(i), *place, getSizes(from));
        if (!access)
          return failure();
        maps.push_back(*access);
        addRuns(*access, from.getRank() - 1, runs);
      } else {
        inputs[i] = producer;
        maps.push_back(rewriter.getMultiDimIdentityMap(from.getRank()));
      }
    if (!runs.empty() && TargetTraits::of(op).readsByRuns &&
        (runs.size() > 1 || runs.front() < shortestRun || isOfContraction(producer)))
      return failure();
    MapOp now = remapped(rewriter, op, getTensorType(getSizes(from), to.getElementType()), inputs, maps);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, now);
    return success();
  }

private:
  static bool isParameter(Value value) { return throughViews(value).getDefiningOp<GetOp>() != nullptr; }
};

} // namespace

void addMovePatterns(RewritePatternSet &patterns) {
  patterns.add<MoveOnce, MoveToShape, EachManyTimes>(patterns.getContext());
  addStillPatterns(patterns);
}

void addStillPatterns(RewritePatternSet &patterns) { patterns.add<MoveNowhere>(patterns.getContext()); }

void addReadPatterns(RewritePatternSet &patterns) { patterns.add<ReadMoved>(patterns.getContext()); }

void addShapePatterns(RewritePatternSet &patterns) {
  patterns.add<ComputeAsRead, SinkBelowParameters>(patterns.getContext());
}

} // namespace tutti
