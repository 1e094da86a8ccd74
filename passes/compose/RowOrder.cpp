// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows come in the order of the moves before or behind them.
//
// Layers and maps work on each row by itself, so they may as well run before a move of rows as behind it. Exporters of
// attention turn [batch, sequence] to [sequence, batch] and back around layers; where such a move comes to stand beside
// another, the two are one, and the layers are of one kernel with what had the rows in the order of before.
#include "Patterns.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Rows.h"

using namespace mlir;

namespace tutti {

namespace {

/// A move that gives rows another order: axis i of its operand is axis order[i] of the result. Members and columns
/// stay.
struct RowMove {
  SmallVector<unsigned> order;

  static std::optional<RowMove> of(Value value) {
    auto map = value.getDefiningOp<MapOp>();
    std::optional<AffineMap> access = map ? transpositionOf(map) : std::nullopt;
    if (!access)
      return std::nullopt;
    RowMove move;
    for (AffineExpr index : access->getResults())
      move.order.push_back(cast<AffineDimExpr>(index).getPosition());
    unsigned rank = move.order.size();
    if (rank < 2 || move.order.back() + 1 != rank || !move.moves(move.order) ||
        (isLifted(map.getType()) && move.order.front() != 0))
      return std::nullopt;
    return move;
  }

  AffineMap access(MLIRContext *context) const { return AffineMap::getPermutationMap(order, context); }
  /// Reorders a list by the operand's axes to one by the result's.
  template <typename T> T moved(const T &atOperand) const {
    T atResult = atOperand;
    for (auto [from, to] : llvm::enumerate(order))
      atResult[to] = atOperand[from];
    return atResult;
  }
  /// Reorders a list by the result's axes to one by the operand's.
  template <typename T> T before(const T &atResult) const {
    T atOperand = atResult;
    for (auto [from, to] : llvm::enumerate(order))
      atOperand[from] = atResult[to];
    return atOperand;
  }
  bool operator==(const RowMove &other) const { return order == other.order; }

private:
  static bool moves(ArrayRef<unsigned> order) {
    return llvm::any_of(llvm::enumerate(order), [](auto at) { return at.index() != at.value(); });
  }
};

/// The operands of which an op reads, for each row of its result, the same row only, if whatever else it reads is the
/// same for all rows; nothing for other ops.
std::optional<SmallVector<unsigned>> rowwise(Operation *op) {
  if (auto contract = dyn_cast_or_null<ContractOp>(op))
    return isRowsTimesWeight(contract) ? std::optional(SmallVector<unsigned>{0}) : std::nullopt;
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map || map.isMove())
    return std::nullopt;
  SmallVector<unsigned> operands;
  for (unsigned i = 0; i < map.getInputs().size(); ++i) {
    std::optional<AffineMap> access = withoutSymbols(map.getAccess(i));
    if (!access)
      return std::nullopt;
    if (isOwnPlace(*access, typeOf(map.getInputs()[i]), map.getType())) {
      operands.push_back(i);
      continue;
    }
    for (unsigned row = isLifted(map.getType()); row + 1 < access->getNumDims(); ++row)
      if (access->isFunctionOfDim(row))
        return std::nullopt;
  }
  return operands.empty() ? std::nullopt : std::optional(operands);
}

/// The most ops, and the most values, between two moves: values may be read by several ops each.
constexpr unsigned mostDepth = 16, mostValues = 64;

/// Whether everything that is computed of a value row by row is moved in the end, by moves that are launches of their
/// own.
bool isMovedLater(Value value) {
  llvm::SmallSetVector<Value, 8> open;
  open.insert(value);
  for (unsigned next = 0; next < open.size(); ++next) {
    if (open[next].use_empty() || open.size() > mostValues)
      return false;
    for (OpOperand &use : open[next].getUses()) {
      Operation *user = use.getOwner();
      if (auto move = dyn_cast<MapOp>(user); move && move.isMove()) {
        if (staysInKernel(move))
          return false;
        continue;
      }
      if (auto reshape = dyn_cast<ReshapeOp>(user)) {
        // Behind rows that become one axis the two moves would stay two.
        FailureOr<AffineMap> access = reshape.operandMap();
        if (failed(access) || divisionsOf(*access) > 0)
          return false;
      } else if (auto operands = rowwise(user); !operands || !llvm::is_contained(*operands, use.getOperandNumber())) {
        return false;
      }
      open.insert(user->getResult(0));
    }
  }
  return true;
}

/// Whether a value is made for one use, row by row, of what a move without divisions has moved.
bool wasMoved(Value value, unsigned depth = 0) {
  if (!value.hasOneUse() || depth == mostDepth)
    return false;
  Operation *op = value.getDefiningOp();
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    return wasMoved(reshape.getX(), depth + 1);
  if (auto move = dyn_cast_or_null<MapOp>(op); move && move.isMove())
    return !staysInKernel(move) && divisionsOf(move.getAccess(0)) == 0;
  auto operands = rowwise(op);
  return operands && llvm::all_of(*operands, [&](unsigned i) { return wasMoved(op->getOperand(i), depth + 1); });
}

Value createMove(PatternRewriter &rewriter, Location loc, const RowMove &move, Value value) {
  auto type = typeOf(value);
  return MapOp::create(rewriter, loc, getTensorType(move.moved(getSizes(type)), type.getElementType()), value,
                       move.access(rewriter.getContext()));
}

/// A map of operands whose `rows` are in another order; the others are read as they were, and `rowwise` knows that no
/// size takes part in that.
MapOp createMap(PatternRewriter &rewriter, MapOp map, const Sizes &sizes, ValueRange inputs, ArrayRef<unsigned> rows) {
  SmallVector<AffineMap> maps;
  for (unsigned i = 0; i < inputs.size(); ++i)
    maps.push_back(llvm::is_contained(rows, i) ? rewriter.getMultiDimIdentityMap(sizes.size())
                                               : *withoutSymbols(map.getAccess(i)));
  return remapped(rewriter, map, getTensorType(sizes, map.getType().getElementType()), inputs, maps);
}

/// f(move(x), p) becomes move(f(x, p)), where that is moved later.
struct MapBeforeMove : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    auto operands = rowwise(op);
    std::optional<RowMove> move = operands ? RowMove::of(op.getInputs()[operands->front()]) : std::nullopt;
    if (!move || !isMovedLater(op))
      return failure();
    SmallVector<Value> inputs(op.getInputs());
    for (unsigned i : *operands) {
      if (RowMove::of(inputs[i]) != move)
        return failure();
      inputs[i] = inputs[i].getDefiningOp<MapOp>().getMoved();
    }
    MapOp now = createMap(rewriter, op, move->before(getSizes(op.getType())), inputs, *operands);
    rewriter.replaceOp(op, createMove(rewriter, op.getLoc(), *move, now));
    return success();
  }
};

/// The same rewrite for rows times a weight. Of a left operand that all members share the result has an axis more.
struct LayerBeforeMove : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    std::optional<RowMove> move = RowMove::of(op.getLhs());
    if (!move || !isRowsTimesWeight(op) || !isMovedLater(op))
      return failure();
    ContractSpec spec = op.labels();
    RowMove ofResult = *move;
    if (spec.result.size() != spec.lhs.size()) {
      for (unsigned &axis : ofResult.order)
        ++axis;
      ofResult.order.insert(ofResult.order.begin(), 0);
    }
    spec.lhs = move->before(spec.lhs);
    spec.result = ofResult.before(spec.result);
    auto type = getTensorType(ofResult.before(getSizes(op.getType())), op.getType().getElementType());
    Value now = ContractOp::create(rewriter, op.getLoc(), type, op.getLhs().getDefiningOp<MapOp>().getMoved(),
                                   op.getRhs(), spec.str(), NumericsAttr(), op.getBytes());
    rewriter.replaceOp(op, createMove(rewriter, op.getLoc(), ofResult, now));
    return success();
  }
};

/// move(f(x, p)) becomes f(move(x), p), where x was moved before; f is a map, rows times a weight, or a reshape that
/// leaves the axes of rows alone.
template <typename SourceOp> struct BehindMove : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    std::optional<RowMove> move = RowMove::of(op);
    auto source = move ? op.getMoved().getDefiningOp<SourceOp>() : SourceOp();
    if (!source || !wasMoved(source) || isMovedLater(op))
      return failure();
    Value now = moved(*move, source, op.getType(), rewriter);
    if (!now)
      return failure();
    rewriter.replaceOp(op, now);
    rewriter.eraseOp(source); // a map's body is gone
    return success();
  }

private:
  static Value moved(const RowMove &move, MapOp map, RankedTensorType type, PatternRewriter &rewriter) {
    auto operands = rowwise(map);
    if (!operands)
      return nullptr;
    SmallVector<Value> inputs(map.getInputs());
    for (unsigned i : *operands)
      inputs[i] = createMove(rewriter, map.getLoc(), move, inputs[i]);
    return createMap(rewriter, map, getSizes(type), inputs, *operands);
  }

  static Value moved(const RowMove &move, ContractOp layer, RankedTensorType type, PatternRewriter &rewriter) {
    ContractSpec spec = layer.labels();
    RowMove ofRows = move;
    if (spec.result.size() != spec.lhs.size()) {
      if (move.order.front() != 0)
        return nullptr;
      ofRows.order.erase(ofRows.order.begin());
      for (unsigned &axis : ofRows.order)
        --axis;
    }
    spec.lhs = ofRows.moved(spec.lhs);
    spec.result = move.moved(spec.result);
    Value rows = createMove(rewriter, layer.getLoc(), ofRows, layer.getLhs());
    return ContractOp::create(rewriter, layer.getLoc(), type, rows, layer.getRhs(), spec.str(), NumericsAttr(),
                              layer.getBytes());
  }

  static Value moved(const RowMove &move, ReshapeOp reshape, RankedTensorType type, PatternRewriter &rewriter) {
    Sizes from = getSizes(reshape.getX().getType()), to = getSizes(reshape.getType());
    unsigned same = 0;
    while (same < std::min(from.size(), to.size()) && from[same] == to[same])
      ++same;
    for (auto [axis, place] : llvm::enumerate(move.order))
      if (axis != place && std::max<size_t>(axis, place) >= same)
        return nullptr;
    RowMove ofRows = {SmallVector<unsigned>(ArrayRef(move.order).take_front(same))};
    for (unsigned axis = same; axis < from.size(); ++axis)
      ofRows.order.push_back(axis);
    Value rows = createMove(rewriter, reshape.getLoc(), ofRows, reshape.getX());
    return ReshapeOp::create(rewriter, reshape.getLoc(), type, rows);
  }
};

} // namespace

void addRowOrderPatterns(RewritePatternSet &patterns) {
  patterns.add<MapBeforeMove, LayerBeforeMove, BehindMove<MapOp>, BehindMove<ContractOp>, BehindMove<ReshapeOp>>(
      patterns.getContext());
}

} // namespace tutti
