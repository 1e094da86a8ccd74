// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps of a layer's sums are computed before the moves behind it.
//
// Exporters of convolutions turn the channels to the front behind each layer, and back before the next one. What is
// computed in between belongs into the layer's registers; the two moves then meet, and are one or none. So do those of
// several layers whose channels are joined in between.
#include "Patterns.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Upstream.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tutti {

namespace {

/// Whether the columns of a move's operand, all or the first of them, are an axis of the result other than its columns.
bool turnsColumns(AffineMap access, RankedTensorType to) {
  if (to.getRank() < 2 || access.getNumResults() < 2)
    return false;
  AffineExpr columns = access.getResults().back();
  return isa<AffineDimExpr>(columns) && !columns.isFunctionOfDim(to.getRank() - 1);
}

/// Whether maps make x of a layer, or of several that are put together.
bool isOfLayers(Value x) {
  auto look = [](Value value) -> std::optional<bool> {
    Operation *op = value.getDefiningOp();
    return isa_and_nonnull<MapOp, ConcatOp>(op) ? std::nullopt : std::optional(isa_and_nonnull<ContractOp>(op));
  };
  return isFoundUpstream(x, look, mostUpstream);
}

/// The maps that end in `last` and read, at their own places, what a move, or one like it, has moved: where x is moved,
/// x * logistic(x) is two such maps.
class MapsBehindMove {
public:
  MapOp move;
  llvm::SmallSetVector<MapOp, 4> maps; ///< in their order

  MapsBehindMove(MapOp move, MapOp last) : move(move) { collect(last); }
  /// How many columns before those that belong to a map's own an operand begins; nothing if it is not moved likewise.
  std::optional<int64_t> columnsBefore(MapOp map, unsigned operand) {
    auto other = map.getInputs()[operand].getDefiningOp<MapOp>();
    if (!other || !other.isMove() || other.getType().getShape() != move.getType().getShape() ||
        !isOwnPlace(map.getAccess(operand), other.getType(), map.getType()))
      return std::nullopt;
    Sizes mine = getSizes(typeOf(move.getMoved())), its = getSizes(typeOf(other.getMoved()));
    std::optional<AffineMap> my = withoutSymbols(move.getAccess(0)), their = withoutSymbols(other.getAccess(0));
    if (!my || !their || !ArrayRef(mine).drop_back().equals(ArrayRef(its).drop_back()) ||
        my->getResults().drop_back() != their->getResults().drop_back())
      return std::nullopt;
    auto before = dyn_cast<AffineConstantExpr>(their->getResults().back() - my->getResults().back());
    if (!before)
      return std::nullopt;
    // The operand has to have as many from there on.
    int64_t first = before.getValue();
    bool isInside = mine.back() == its.back() ? first == 0
                                              : mine.back().isFixed() && its.back().isFixed() && first >= 0 &&
                                                    first <= its.back().getFixed() - mine.back().getFixed();
    return isInside ? std::optional(first) : std::nullopt;
  }
  /// Whether nothing else reads the move, nor any of the maps but the last. Where channels fill vectors, reductions
  /// may, which have kernels of their own.
  bool standAlone() {
    Size channels = getSizes(typeOf(move.getMoved())).back();
    bool fill = channels.isFixed() && channels.getFixed() >= lanes;
    auto isOne = [&](Operation *user) {
      auto map = dyn_cast<MapOp>(user);
      return map && maps.contains(map);
    };
    auto isReduced = [&](Operation *user) {
      return fill &&
             (isa<ReduceOp>(user) || (isa<ReshapeOp>(user) && llvm::all_of(user->getUsers(), llvm::IsaPred<ReduceOp>)));
    };
    return llvm::all_of(move->getUsers(), [&](Operation *user) { return isOne(user) || isReduced(user); }) &&
           llvm::all_of(maps.getArrayRef().drop_back(),
                        [&](MapOp map) { return llvm::all_of(map->getUsers(), isOne); });
  }

  /// The moves that `last` and maps before it read.
  static llvm::SmallSetVector<MapOp, 2> movesBefore(MapOp last) {
    llvm::SmallSetVector<MapOp, 2> moves;
    llvm::SmallSetVector<MapOp, 4> open;
    open.insert(last);
    for (size_t next = 0; next < open.size() && next < mostMaps; ++next) {
      MapOp map = open[next];
      for (auto [i, input] : llvm::enumerate(map.getInputs())) {
        auto other = input.getDefiningOp<MapOp>();
        if (!other)
          continue;
        if (!other.isMove()) {
          if (isOwnPlace(map.getAccess(i), other.getType(), map.getType()))
            open.insert(other);
        } else if (!staysInKernel(other)) {
          moves.insert(other);
        }
      }
    }
    return moves;
  }

private:
  static constexpr size_t mostMaps = 16;
  llvm::SmallDenseSet<Operation *> seen;

  bool collect(MapOp map) {
    if (seen.size() == mostMaps || !seen.insert(map).second)
      return maps.contains(map);
    bool isBehind = false;
    for (auto [i, input] : llvm::enumerate(map.getInputs())) {
      auto other = input.getDefiningOp<MapOp>();
      isBehind |=
          columnsBefore(map, i) ||
          (other && !other.isMove() && isOwnPlace(map.getAccess(i), other.getType(), map.getType()) && collect(other));
    }
    if (isBehind)
      maps.insert(map);
    return isBehind;
  }
};

/// f(move(x), p) becomes move(f(x, p')), where x is computed for this alone, and the move has as many
/// elements and turns columns to rows; f may be several maps, and p what was moved likewise. p' is p, read by x's axes
/// that are whole axes of the move's result, too.
struct MapBeforeColumnsMove : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    if (op.isMove())
      return failure();
    for (MapOp move : MapsBehindMove::movesBefore(op))
      if (isBetterBehind(move))
        if (MapsBehindMove behind(move, op); behind.standAlone() && succeeded(turn(behind, rewriter)))
          return success();
    return failure();
  }

private:
  static bool isBetterBehind(MapOp move) {
    Value x = move.getMoved();
    std::optional<AffineMap> access = withoutSymbols(move.getAccess(0));
    Sizes from = getSizes(typeOf(x)), to = getSizes(move.getType());
    std::optional<Size> before = product(from), behind = product(to);
    if (!access || !before || before != behind || !isTurnedAlone(x) || !turnsColumns(*access, move.getType()))
      return false;
    // A part of them that is repeated would be as many elements, too.
    unsigned columns = cast<AffineDimExpr>(access->getResults().back()).getPosition();
    return to[columns] == from.back() && isComputed(x);
  }
  /// Whether x is read for one move; others may put it together with more, row by row.
  static bool isTurnedAlone(Value x) {
    return llvm::count_if(x.getUses(), [](OpOperand &use) { return !isa<ConcatOp>(use.getOwner()); }) == 1;
  }
  static LogicalResult turn(MapsBehindMove &behind, PatternRewriter &rewriter) {
    auto from = typeOf(behind.move.getMoved()), to = behind.move.getType();
    AffineMap access = *withoutSymbols(behind.move.getAccess(0)), own = rewriter.getMultiDimIdentityMap(from.getRank());
    // First all accesses: nothing has changed where one is unknown.
    SmallVector<SmallVector<AffineMap>> accesses;
    IRMapping now;
    for (MapOp map : behind.maps) {
      accesses.emplace_back();
      for (auto [i, input] : llvm::enumerate(map.getInputs())) {
        auto other = input.getDefiningOp<MapOp>();
        std::optional<int64_t> before = behind.columnsBefore(map, i);
        bool isOfThem = other && behind.maps.contains(other);
        // With another move there would be two of them; and a reader of one of the maps elsewhere reads other columns.
        if (isOfThem ? !isOwnPlace(map.getAccess(i), other.getType(), map.getType())
                     : !before && other && other.isMove() && !staysInKernel(other))
          return failure();
        if (before)
          now.map(input, other.getMoved());
        std::optional<AffineMap> at = before     ? withColumnsBefore(own, *before)
                                      : isOfThem ? own
                                                 : byAxesOf(access, map.getAccess(i), getSizes(from), getSizes(to));
        if (!at)
          return failure();
        accesses.back().push_back(*at);
      }
    }
    for (auto [map, places] : llvm::zip_equal(llvm::to_vector(behind.maps), accesses)) {
      auto inputs = llvm::map_to_vector(map.getInputs(), [&](Value input) { return now.lookupOrDefault(input); });
      rewriter.setInsertionPoint(map);
      auto type = getTensorType(getSizes(from), map.getType().getElementType());
      now.map(map.getResult(), remapped(rewriter, map, type, inputs, places).getResult());
    }
    MapOp last = behind.maps.back();
    rewriter.replaceOpWithNewOp<MapOp>(last, last.getType(), now.lookup(last.getResult()), access);
    for (MapOp map : llvm::reverse(behind.maps.getArrayRef().drop_back()))
      rewriter.eraseOp(map);
    return success();
  }
  /// Whether x is computed of a layer, or of the elements of windows, which are more than there are windows.
  static bool isComputed(Value x) {
    auto own = x.getDefiningOp<MapOp>();
    if (!own || own.isMove() || isOfLayers(x))
      return isOfLayers(x);
    auto look = [](Value value) -> std::optional<bool> {
      Operation *op = value.getDefiningOp();
      if (!isa_and_nonnull<MapOp, ReshapeOp>(op))
        return false;
      std::optional<Size> made = product(getSizes(typeOf(value)));
      bool readsMore = llvm::any_of(op->getOperands(), [&](Value operand) {
        std::optional<Size> read = product(getSizes(typeOf(operand)));
        return made && read && read->isKnownLarger(*made);
      });
      return readsMore ? std::optional(true) : std::nullopt;
    };
    return isFoundUpstream(x, look, mostUpstream);
  }
  static AffineMap withColumnsBefore(AffineMap own, int64_t before) {
    SmallVector<AffineExpr> results(own.getResults());
    results.back() = results.back() + before;
    return AffineMap::get(own.getNumDims(), 0, results, own.getContext());
  }
  /// The access of what is read by the axes of the move's result, by those of its operand; nothing where these do not
  /// determine it.
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

/// concat(move(a), move(b)) along the axis that a's and b's columns come to becomes move(concat(a, b)) along the
/// columns: of channels that lie side by side, each row is put together where its layers are.
struct ConcatBeforeColumnsMove : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    unsigned axis = op.getAxis();
    if (axis + 1 == unsigned(op.getType().getRank()))
      return failure();
    SmallVector<Part> parts;
    for (Value input : op.getInputs()) {
      std::optional<Part> part = Part::of(input, axis);
      if (!part || (!parts.empty() && part->order != parts.front().order))
        return failure();
      parts.push_back(*part);
    }
    if (llvm::none_of(parts, [](const Part &part) { return isOfLayers(part.x); }))
      return failure();
    // The result is put together in the rows of the first part.
    Type element = op.getType().getElementType();
    Sizes rows = getSizes(typeOf(parts.front().x)), turned;
    rows.pop_back();
    auto typeOfRows = [&](Size columns) {
      Sizes sizes = rows;
      sizes.push_back(columns);
      return getTensorType(sizes, element);
    };
    SmallVector<Value> inputs;
    for (const Part &part : parts)
      inputs.push_back(part.inRows(typeOfRows(part.columns), rewriter, op.getLoc()));
    for (unsigned dim : parts.front().order)
      turned.push_back(getSizes(op.getType())[dim]);
    Value all = ConcatOp::create(rewriter, op.getLoc(), typeOfRows(turned.back()), inputs, rows.size());
    all = ReshapeOp::create(rewriter, op.getLoc(), getTensorType(turned, element), all);
    rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), all,
                                       AffineMap::getPermutationMap(parts.front().order, getContext()));
    return success();
  }

private:
  /// The part of x that a move has turned: all rows, and `columns` of the columns from `first` on. `order` is that of
  /// the result's axes as they lie in x.
  struct Part {
    Value x;
    SmallVector<unsigned> order;
    int64_t first;
    Size columns;

    static std::optional<Part> of(Value input, unsigned axis) {
      auto move = input.getDefiningOp<MapOp>();
      std::optional<AffineMap> access =
          move && move.isMove() && !staysInKernel(move) ? withoutSymbols(move.getAccess(0)) : std::nullopt;
      if (!access || access->getNumResults() < 2)
        return std::nullopt;
      Part part{move.getMoved(), {}, 0, Size(1)};
      Sizes from = getSizes(typeOf(part.x)), to = getSizes(move.getType());
      std::optional<SmallVector<unsigned>> order = axesAsPartsLie(*access, from, to);
      AffineExpr first = access->getResults().back() - getAffineDimExpr(axis, input.getContext());
      auto constant = dyn_cast<AffineConstantExpr>(first);
      if (!order || order->back() != axis || !constant)
        return std::nullopt;
      part.order = std::move(*order);
      part.first = constant.getValue();
      part.columns = to[axis];
      from.pop_back();
      to.erase(to.begin() + axis);
      return product(from) == product(to) ? std::optional(part) : std::nullopt;
    }
    Value inRows(RankedTensorType type, PatternRewriter &rewriter, Location loc) const {
      Sizes sizes = getSizes(typeOf(x));
      Value own = x;
      if (sizes.back() != columns) {
        AffineMap places = rewriter.getMultiDimIdentityMap(sizes.size());
        SmallVector<AffineExpr> results(places.getResults());
        results.back() = results.back() + first;
        sizes.back() = columns;
        own = MapOp::create(rewriter, loc, getTensorType(sizes, type.getElementType()), own,
                            AffineMap::get(sizes.size(), 0, results, rewriter.getContext()));
      }
      return own.getType() == type ? own : ReshapeOp::create(rewriter, loc, type, own).getResult();
    }
  };
};

/// A maximum or minimum of a transposed x is taken along x's own axes, so that neighbours are read as neighbours. The
/// axes that stay must do so in their order. Sums stay as they are: their bits depend on their order.
struct ReduceBeforeColumnsMove : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto move = op.getX().getDefiningOp<MapOp>();
    bool inAnyOrder = op.getKind() == ReduceKind::max || op.getKind() == ReduceKind::min;
    std::optional<AffineMap> access = inAnyOrder && move ? transpositionOf(move) : std::nullopt;
    if (!access || !move->hasOneUse() || !turnsColumns(*access, move.getType()))
      return failure();
    Value x = move.getMoved();
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
  patterns.add<MapBeforeColumnsMove, ConcatBeforeColumnsMove, ReduceBeforeColumnsMove>(patterns.getContext());
}

} // namespace tutti
