// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed of inputs alone is computed in the shape in which it is read: inputs lie there in every shape.
#include "Patterns.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Scratch.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Through.h"
#include "passes/analysis/Views.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tutti {

namespace {

/// The maps of inputs and parameters that a value of one shape is made of, each of that shape, and nobody else reads.
class Makers {
public:
  /// The makers of a value; nothing where it is made of anything else, or is not made.
  static std::optional<Makers> of(Value value, Operation *reader) {
    Makers makers;
    makers.sizes = getSizes(typeOf(value));
    if (!makers.addAll(value))
      return std::nullopt;
    for (MapOp map : makers.maps)
      for (Operation *user : map->getUsers())
        if (auto other = dyn_cast<MapOp>(user); user != reader && !(other && makers.maps.contains(other)))
          return std::nullopt;
    return makers;
  }

  /// The maps, each behind what it reads.
  ArrayRef<MapOp> inOrder() const { return maps.getArrayRef(); }

  /// Whether an operand has the shape, too, and each element is read at its own place.
  bool readsOwnPlace(MapOp map, unsigned operand) const {
    RankedTensorType type = typeOf(map.getInputs()[operand]);
    return getSizes(type) == sizes && isOwnPlace(map.getAccess(operand), type, map.getType());
  }

private:
  static constexpr size_t most = 64; ///< of a chain, which each of its readers would go along
  Sizes sizes;
  llvm::SetVector<MapOp> maps;

  static bool isGiven(Value value) {
    Operation *maker = throughViews(value).getDefiningOp();
    return !maker || isa<GetOp, ConstantOp>(maker);
  }

  /// Without recursion: models may be deep.
  bool addAll(Value value) {
    SmallVector<Value> open = {value};
    while (!open.empty()) {
      auto map = open.pop_back_val().getDefiningOp<MapOp>();
      if (!map || getSizes(map.getType()) != sizes || (maps.insert(map) && maps.size() > most))
        return false;
      for (auto [i, input] : llvm::enumerate(map.getInputs())) {
        if (isGiven(input))
          continue;
        auto maker = input.getDefiningOp<MapOp>();
        if (!maker || !readsOwnPlace(map, i)) // one that another operand has brought, too
          return false;
        if (!maps.contains(maker))
          open.push_back(input);
      }
    }
    SmallVector<MapOp> inOrder = maps.takeVector();
    llvm::sort(inOrder, [](MapOp a, MapOp b) { return a->isBeforeInBlock(b); });
    maps.insert_range(inOrder);
    return true;
  }
};

/// Whether each reader takes its operand in whatever rows it is made. The operands of a product of two values do not
/// count: they lie as the product wants them (Products.cpp).
bool isReadByRows(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    auto contract = dyn_cast<ContractOp>(user);
    if (viewed(user))
      return isReadByRows(user);
    return contract ? isRowsTimesWeight(contract) : isa<MapOp, ConcatOp, GatherOp>(user) || isRowPhase(user);
  });
}

/// How an input or parameter is read in another shape: as it lies, or as a view, which has that shape, too.
enum class Given : bool { asItLies, asView };

/// The accesses with which the makers of a value read their operands, if they are computed in another shape, each
/// element at `place` of the one that they have; nothing where they cannot be.
using Accesses = llvm::DenseMap<MapOp, SmallVector<AffineMap>>;
std::optional<Accesses> accessesAt(const Makers &makers, AffineMap place, ArrayRef<Size> sizes, Given given) {
  Accesses accesses;
  for (MapOp map : makers.inOrder())
    for (auto [i, input] : llvm::enumerate(map.getInputs())) {
      bool isMade = llvm::is_contained(makers.inOrder(), input.getDefiningOp());
      if (makers.readsOwnPlace(map, i) && (isMade || given == Given::asView))
        accesses[map].push_back(AffineMap::getMultiDimIdentityMap(sizes.size(), map.getContext()));
      else if (std::optional<AffineMap> there = composed(map.getAccess(i), place, sizes))
        accesses[map].push_back(*there);
      else
        return std::nullopt;
    }
  return accesses;
}

/// Replaces an op that gives the makers' value another shape by them, computed in that shape.
void computeThere(Operation *op, Value value, const Makers &makers, Accesses &accesses, PatternRewriter &rewriter) {
  Sizes sizes = getSizes(typeOf(op->getResult(0)));
  auto inShape = [&](Value x) { return getTensorType(sizes, typeOf(x).getElementType()); };
  IRMapping now;
  for (MapOp map : makers.inOrder()) {
    rewriter.setInsertionPoint(map);
    SmallVector<Value> inputs;
    for (auto [i, input] : llvm::enumerate(map.getInputs()))
      if (now.contains(input))
        inputs.push_back(now.lookup(input));
      else if (isa<ReshapeOp>(op) && makers.readsOwnPlace(map, i))
        inputs.push_back(ReshapeOp::create(rewriter, op->getLoc(), inShape(input), input));
      else
        inputs.push_back(input);
    now.map(map.getResult(), remapped(rewriter, map, inShape(map.getResult()), inputs, accesses[map]).getResult());
  }
  rewriter.replaceOp(op, now.lookup(value));
  for (MapOp map : llvm::reverse(makers.inOrder()))
    rewriter.eraseOp(map);
}

/// reshape(f(x)) becomes f(reshape(x)).
struct RaiseReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (!isReadByRows(op) || wouldNarrow(op))
      return failure();
    std::optional<Makers> makers = Makers::of(op.getX(), op);
    FailureOr<AffineMap> place = op.operandMap();
    if (!makers || failed(place))
      return failure();
    std::optional<Accesses> accesses = accessesAt(*makers, *place, getSizes(op.getType()), Given::asView);
    if (!accesses)
      return failure();
    for (const auto &[map, each] : *accesses)
      for (auto [i, access] : llvm::enumerate(each))
        if (!canRead(access, op) || losesTurn(map, i, access))
          return failure();
    computeThere(op, op.getX(), *makers, *accesses, rewriter);
    return success();
  }

private:
  /// Whether rows would fill less of a vector than they do now.
  static bool wouldNarrow(ReshapeOp op) {
    RowForm from = RowForm::of(typeOf(op.getX())), to = RowForm::of(op.getType());
    return TargetTraits::of(op).packsNarrowRows && from.columns.isFixed() && to.columns.isFixed() &&
           to.columns.getFixed() < std::min(from.columns.getFixed(), mostPacked);
  }

  /// Whether an operand whose rows registers transpose in squares (Transposed.h) would be gathered element by element.
  static bool losesTurn(MapOp map, unsigned operand, AffineMap now) {
    RankedTensorType from = typeOf(map.getInputs()[operand]);
    return TargetTraits::of(map).hasWorkMemory && isTurn(map.getAccess(operand), from) && !isTurn(now, from);
  }

  /// Whether an access reads rows by no runs of columns, or by long ones: short ones would leave a division in each
  /// lane.
  static bool canRead(AffineMap access, ReshapeOp op) {
    llvm::SmallSetVector<int64_t, 2> runs;
    if (access.getNumDims() > 0)
      addRuns(access, access.getNumDims() - 1, runs);
    return runs.empty() || !TargetTraits::of(op).readsByRuns || (runs.size() == 1 && runs.front() >= shortestRun);
  }
};

/// A move of f(x) that keeps the elements becomes f of the moved x, one read: pixels are scaled when their channels
/// come to lie side by side. A CPU would compute f in rows of few channels.
struct ComputeMoved : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    if (TargetTraits::of(op).packsNarrowRows || !op.isMove() || staysInKernel(op) || !isReadByRows(op))
      return failure();
    Value value = op.getMoved();
    Sizes sizes = getSizes(op.getType());
    std::optional<Makers> makers = Makers::of(value, op);
    std::optional<AffineMap> place = withoutSymbols(op.getAccess(0));
    if (!makers || !place || product(sizes) != product(getSizes(typeOf(value))))
      return failure();
    unsigned reads = 0;
    for (MapOp map : makers->inOrder())
      for (auto [i, input] : llvm::enumerate(map.getInputs()))
        reads += makers->readsOwnPlace(map, i) && !llvm::is_contained(makers->inOrder(), input.getDefiningOp());
    std::optional<Accesses> accesses = accessesAt(*makers, *place, sizes, Given::asItLies);
    if (reads != 1 || !accesses)
      return failure();
    for (const auto &[map, each] : *accesses)
      if (!llvm::all_of(each, [&](AffineMap access) { return divisionsOf(access) <= divisionsOf(*place); }))
        return failure();
    computeThere(op, value, *makers, *accesses, rewriter);
    return success();
  }
};

/// reshape(x[i]) becomes a move, which reads the rows that are taken of a table where it wants them, for the row that
/// it puts them into: a division for each element, where no vector is to be filled.
struct RowsOfTable : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto gather = op.getX().getDefiningOp<GatherOp>();
    FailureOr<AffineMap> place = op.operandMap();
    if (!gather || !gather->hasOneUse() || failed(place) || TargetTraits::of(op).readsByRuns || !isReadByRows(op))
      return failure();
    rewriter.replaceOpWithNewOp<MapOp>(op, op.getType(), gather, *place);
    return success();
  }
};

/// Each gather gets its own copy of the map that makes its indices, where that is cheap: then the map is part of it.
struct OwnIndices : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    MapOp map = littleMapOfIndices(op);
    if (!map || map->hasOneUse() || !llvm::all_of(map->getUsers(), llvm::IsaPred<GatherOp>))
      return failure();
    Operation *own = rewriter.clone(*map);
    rewriter.modifyOpInPlace(op, [&] { op.getIndicesMutable().assign(own->getResult(0)); });
    return success();
  }
};

/// The map that makes a gather's indices reads the operand of a move instead, also of one within a row: the map is in
/// no row's kernel.
struct IndicesWhereTheyWere : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    MapOp map = littleMapOfIndices(op);
    for (unsigned i = 0; map && map->hasOneUse() && i < map.getInputs().size(); ++i) {
      auto move = map.getInputs()[i].getDefiningOp<MapOp>();
      std::optional<AffineMap> there =
          move && move.isMove() ? composed(move.getAccess(0), map.getAccess(i), getSizes(map.getType())) : std::nullopt;
      if (!there)
        continue;
      SmallVector<Value> inputs(map.getInputs());
      auto accesses = llvm::to_vector(map.getMaps().getAsValueRange<AffineMapAttr>());
      inputs[i] = move.getMoved();
      accesses[i] = *there;
      rewriter.setInsertionPoint(map);
      rewriter.replaceOp(map, remapped(rewriter, map, map.getType(), inputs, accesses));
      return success();
    }
    return failure();
  }
};

} // namespace

void addInputPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseReshape, ComputeMoved, RowsOfTable, OwnIndices, IndicesWhereTheyWere>(patterns.getContext());
}

} // namespace tutti
