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
  /// Nothing where the value is made of anything else, or nothing is made.
  static std::optional<Makers> of(ReshapeOp reader) {
    Makers makers;
    makers.sizes = getSizes(typeOf(reader.getX()));
    if (!makers.add(reader.getX()) || makers.maps.empty())
      return std::nullopt;
    for (MapOp map : makers.maps)
      for (Operation *user : map->getUsers())
        if (auto other = dyn_cast<MapOp>(user); user != reader && !(other && makers.maps.contains(other)))
          return std::nullopt;
    return makers;
  }

  /// Each behind what it reads.
  ArrayRef<MapOp> inOrder() const { return maps.getArrayRef(); }

private:
  static constexpr size_t most = 64; ///< of a chain, which each of its reshapes would go along
  Sizes sizes;
  llvm::SetVector<MapOp> maps;

  static bool isGiven(Value value) {
    Operation *maker = throughViews(value).getDefiningOp();
    return !maker || isa<GetOp, ConstantOp>(maker);
  }

  bool add(Value value) {
    auto map = value.getDefiningOp<MapOp>();
    if (!map || getSizes(map.getType()) != sizes || maps.size() == most)
      return false;
    for (auto [i, input] : llvm::enumerate(map.getInputs())) {
      auto maker = input.getDefiningOp<MapOp>();
      bool isOwn = isOwnPlace(map.getAccess(i), typeOf(input), map.getType());
      if (!isGiven(input) && !(maker && isOwn && (maps.contains(maker) || add(input))))
        return false;
    }
    maps.insert(map);
    return true;
  }
};

/// Whether each reader of a shape may have the rows of what makes it: the operands of a product of two values lie as it
/// wants them (Products.cpp).
bool isReadByRows(ReshapeOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    auto contract = dyn_cast<ContractOp>(user);
    return contract ? isRowsTimesWeight(contract) : isa<MapOp, ConcatOp, GatherOp>(user) || isRowPhase(user);
  });
}

/// reshape(f(x)) becomes f(reshape(x)).
struct RaiseReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (!isReadByRows(op) || wouldNarrow(op))
      return failure();
    std::optional<Makers> makers = Makers::of(op);
    FailureOr<AffineMap> place = op.operandMap();
    if (!makers || failed(place))
      return failure();
    Sizes sizes = getSizes(op.getType());
    auto inShape = [&](RankedTensorType type) { return getTensorType(sizes, type.getElementType()); };

    // Where each reads what, before anything is built.
    llvm::DenseMap<MapOp, SmallVector<AffineMap>> accesses;
    for (MapOp map : makers->inOrder())
      for (auto [i, input] : llvm::enumerate(map.getInputs())) {
        if (isInShape(map, i)) {
          accesses[map].push_back(rewriter.getMultiDimIdentityMap(sizes.size()));
          continue;
        }
        std::optional<AffineMap> plain = withoutSymbols(map.getAccess(i));
        if (!plain)
          return failure();
        AffineMap access = simplifyAccess(plain->compose(*place), sizes);
        if (!canRead(access, op))
          return failure();
        accesses[map].push_back(access);
      }

    IRMapping now;
    for (MapOp map : makers->inOrder()) {
      rewriter.setInsertionPoint(map);
      SmallVector<Value> inputs;
      for (auto [i, input] : llvm::enumerate(map.getInputs()))
        if (!isInShape(map, i))
          inputs.push_back(input);
        else if (now.contains(input))
          inputs.push_back(now.lookup(input));
        else
          inputs.push_back(ReshapeOp::create(rewriter, op.getLoc(), inShape(typeOf(input)), input));
      now.map(map.getResult(), remapped(rewriter, map, inShape(map.getType()), inputs, accesses[map]).getResult());
    }
    rewriter.replaceOp(op, now.lookup(op.getX()));
    for (MapOp map : llvm::reverse(makers->inOrder()))
      rewriter.eraseOp(map);
    return success();
  }

private:
  /// Whether rows would fill less of a vector than they do now.
  static bool wouldNarrow(ReshapeOp op) {
    RowForm from = RowForm::of(typeOf(op.getX())), to = RowForm::of(op.getType());
    return TargetTraits::of(op).packsNarrowRows && from.columns.isFixed() && to.columns.isFixed() &&
           to.columns.getFixed() < std::min(from.columns.getFixed(), mostPacked);
  }

  /// Whether an operand has the shape, too, and is read so.
  static bool isInShape(MapOp map, unsigned operand) {
    RankedTensorType type = typeOf(map.getInputs()[operand]);
    return getSizes(type) == getSizes(map.getType()) && isOwnPlace(map.getAccess(operand), type, map.getType());
  }

  /// Rows by runs of columns, if there are any, are long ones, where a division a lane would be left of others.
  static bool canRead(AffineMap access, ReshapeOp op) {
    llvm::SmallSetVector<int64_t, 2> runs;
    if (access.getNumDims() > 0)
      addRuns(access, access.getNumDims() - 1, runs);
    return runs.empty() || !TargetTraits::of(op).readsByRuns || (runs.size() == 1 && runs.front() >= shortestRun);
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

/// Each gather has what makes its indices for itself, where that is little: then it is part of it.
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

} // namespace

void addInputPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseReshape, RowsOfTable, OwnIndices>(patterns.getContext());
}

} // namespace tutti
