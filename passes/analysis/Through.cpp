// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops read an operand through a map, and where products do.
#include "Through.h"
#include "Access.h"
#include "Numerics.h"
#include "Rows.h"
#include "Target.h"

using namespace mlir;

namespace tutti {

/// The most rows of a block, and the most terms: a table of each stays in the first cache, or not far from it.
static constexpr int64_t mostPlaces = 1 << 14;
/// The farthest place of an element of eight bytes that a table of 32 bits holds; and the most rows that are made at
/// once, which may be of blocks behind the first one's.
static constexpr double farthest = INT32_MAX / 8;
static constexpr int64_t mostAtOnce = 64;

bool ReadThrough::fits(RankedTensorType rows) {
  RowForm form = RowForm::of(rows);
  if (form.rows.empty() || !form.columns.isFixed() || form.columns.getFixed() > mostPlaces)
    return false;
  int64_t count = 1;
  for (const Size &size : ArrayRef(form.rows).drop_front())
    if (!size.isFixed() || size.getFixed() < 1 || size.getFixed() > mostPlaces ||
        (count *= size.getFixed()) > mostPlaces)
      return false;
  return true;
}

std::optional<ReadThrough> ReadThrough::of(ContractOp op) {
  auto move = op.getLhs().getDefiningOp<MapOp>();
  if (!move || !move.isMove() || !move->hasOneUse() || !TargetTraits::of(op).readsInPlace || !isPanels(op) ||
      !fits(move.getType()))
    return std::nullopt;
  std::optional<AffineMap> access = withoutSymbols(move.getAccess(0));
  RankedTensorType type = move.getType(), given = typeOf(move.getMoved());
  RowForm form = RowForm::of(type), from = RowForm::of(given);
  if (!access || (from.sameRows(form) && staysInRow(operandAccess(*access, ownRow(form, op.getContext())), from)))
    return std::nullopt;
  ReadThrough through{move, move.getMoved()};
  for (const Size &size : ArrayRef(form.rows).drop_front())
    through.rowsOfBlock *= size.getFixed();

  unsigned member = form.lifted, block = member,
           last = type.getRank() - 1; // dimensions below `member` are the member's
  AffineExpr zero = getAffineConstantExpr(0, op.getContext());
  SmallVector<AffineExpr> first;
  double reach = 0; // of a block's rows and terms
  Sizes sizes = getSizes(given);
  for (unsigned axis = sizes.size(); axis-- > 0;) {
    std::optional<Size> stride = product(ArrayRef(sizes).drop_front(axis + 1));
    SmallVector<AffineExpr> summands = summandsOf(access->getResult(axis));
    AffineExpr start = zero;
    for (AffineExpr summand : summands) {
      bool ofMember = member && summand.isFunctionOfDim(0), ofTerm = summand.isFunctionOfDim(last);
      bool ofRow = llvm::any_of(llvm::seq(block + 1, last), [&](unsigned dim) { return summand.isFunctionOfDim(dim); });
      std::optional<int64_t> along = slope(summand, block);
      if (!along || ofMember + ofTerm + ofRow + (*along != 0) > 1)
        return std::nullopt;
      if (ofMember || !(ofTerm || ofRow || *along != 0)) {
        start = start + summand;
        continue;
      }
      if (!stride || !stride->isFixed())
        return std::nullopt;
      if (*along != 0) {
        // The value of the summand at 0 is part of the first place.
        AffineExpr rest = summand.replace(getAffineDimExpr(block, op.getContext()), zero);
        start = start + rest;
        through.block += *along * stride->getFixed();
      } else {
        (ofTerm ? through.ofTerms : through.ofRows).push_back(summand);
        (ofTerm ? through.termStrides : through.rowStrides).push_back(stride->getFixed());
        reach += double(sizes[axis].isFixed() ? sizes[axis].getFixed() : mostPlaces) * double(stride->getFixed());
      }
    }
    first.insert(first.begin(), start);
  }
  through.first = AffineMap::get(type.getRank(), 0, first, op.getContext());
  reach += double(mostAtOnce / through.rowsOfBlock + 1) * std::abs(double(through.block));
  return reach < farthest && (through.readsOften() || through.readsNeighbours()) ? std::optional(through)
                                                                                 : std::nullopt;
}

bool ReadThrough::readsOften() { return rowsOfBlock * move.getType().getShape().back() > std::abs(block); }

/// Returns the sums of the summands at each of `count` indices of a row-major space of the dimensions from `first` on.
static SmallVector<int64_t> placesOf(ArrayRef<AffineExpr> summands, ArrayRef<int64_t> strides, unsigned dims,
                                     unsigned first, ArrayRef<int64_t> shape, int64_t count, MLIRContext *context) {
  AffineMap map = AffineMap::get(dims, 0, summands, context);
  SmallVector<int64_t> at(dims, 0), places;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, place = 0;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      at[first + axis] = rest % shape[axis];
    for (auto [index, stride] : llvm::zip_equal(map.compose(at), strides))
      place += index * stride;
    places.push_back(place);
  }
  return places;
}

SmallVector<int64_t> ReadThrough::rowPlaces(int64_t count) {
  RankedTensorType type = move.getType();
  unsigned first = unsigned(isLifted(type)) + 1, rank = type.getRank();
  SmallVector<int64_t> places =
      placesOf(ofRows, rowStrides, rank, first, type.getShape().slice(first, rank - 1 - first),
               std::min(count, rowsOfBlock), move.getContext());
  while (int64_t(places.size()) < count)
    places.push_back(places[places.size() - rowsOfBlock] + block);
  return places;
}

SmallVector<int64_t> ReadThrough::termPlaces() {
  RankedTensorType type = move.getType();
  int64_t terms = type.getShape().back();
  return placesOf(ofTerms, termStrides, type.getRank(), type.getRank() - 1, terms, terms, move.getContext());
}

SmallVector<ReadThrough::Run> ReadThrough::runs() {
  SmallVector<Run> all;
  for (auto [term, place] : llvm::enumerate(termPlaces())) {
    if (all.empty() || place != all.back().place + all.back().length)
      all.push_back({int64_t(term), place, 0});
    ++all.back().length;
  }
  return all;
}

bool ReadThrough::readsNeighbours() {
  int64_t terms = move.getType().getShape().back();
  return int64_t(runs().size() - 1) * 2 <= terms;
}

int64_t ReadThrough::workBytes() {
  constexpr int64_t mostTerms = 2048, fewest = 4; // terms that a copy moves, on average
  int64_t terms = move.getType().getShape().back(), copies = 0;
  for (const Run &run : runs())
    copies += llvm::divideCeil(run.length, lanes);
  if (terms > mostTerms || copies * fewest > terms)
    return 0;
  return rowsTogether * llvm::alignTo(terms, lanes) * storageBytes(move.getType().getElementType());
}

MapOp littleMapOfIndices(GatherOp op) {
  constexpr int64_t mostOperations = 16; // a cast of floats that saturates has ten
  auto map = op.getIndices().getDefiningOp<MapOp>();
  return map && !op.readsOwnRow(1) && bodyLength(map) <= mostOperations ? map : MapOp();
}

/// The gather whose rows a reduction of other axes than the last adds up, one element after the other, as they are or
/// in a map of few operations that nobody else reads, as a mask is applied.
static GatherOp gatherOfTerms(ReduceOp reduce) {
  constexpr int64_t mostOperations = 16;
  if (reduce.isRowPhase())
    return {};
  auto map = reduce.getX().getDefiningOp<MapOp>();
  if (!map)
    return reduce.getX().getDefiningOp<GatherOp>();
  if (map.isMove() || !map->hasOneUse() || bodyLength(map) > mostOperations)
    return {};
  auto gathered = llvm::make_filter_range(map.getInputs(), [](Value x) { return x.getDefiningOp<GatherOp>(); });
  return llvm::hasSingleElement(gathered) ? (*gathered.begin()).getDefiningOp<GatherOp>() : GatherOp();
}

/// The operand that an op may read through.
static Value operandThrough(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return gatherOfTerms(reduce) ? reduce.getX() : Value();
  if (auto contract = dyn_cast<ContractOp>(op))
    return ReadThrough::of(contract) ? contract.getLhs() : Value();
  if (auto gather = dyn_cast<GatherOp>(op))
    return littleMapOfIndices(gather) ? gather.getIndices() : Value();
  // A CPU copies a row run by run, so the gathered rows have to lie in memory, unless a reduction adds them up.
  auto move = dyn_cast<MapOp>(op);
  auto sum = move && move->hasOneUse() ? dyn_cast<ReduceOp>(*move->user_begin()) : ReduceOp();
  if (GatherOp gather = sum ? gatherOfTerms(sum) : GatherOp())
    return gather.getResult();
  if (TargetTraits::of(op).readsByRuns)
    return nullptr;
  auto gather = move && move.isMove() ? move.getMoved().getDefiningOp<GatherOp>() : GatherOp();
  return gather && !staysInKernel(move) ? gather.getResult() : Value();
}

Operation *readThrough(Operation *op) {
  Value operand = operandThrough(op);
  return operand && operand.hasOneUse() ? operand.getDefiningOp() : nullptr;
}

bool isReadThrough(Operation *op) {
  return op->getNumResults() == 1 && op->hasOneUse() && readThrough(*op->user_begin()) == op;
}

} // namespace tutti
