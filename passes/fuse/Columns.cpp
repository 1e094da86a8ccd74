// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vector has sixteen columns: a row of eight leaves half of it empty, and a row of one nearly all.
#include "Columns.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Rows.h"

using namespace mlir;

namespace tutti {

namespace {

// Rows with so many columns, or whose columns fill vectors, are long enough; longer ones would be fewer tasks.
constexpr int64_t vectorColumns = 16, fewColumns = 64, mostColumns = 1024;

class Joiner {
public:
  explicit Joiner(plan::KernelOp kernel) : kernel(kernel), block(kernel.getBody().front()) {}

  /// Merges two axes, and returns whether it could.
  bool run() {
    if (!findAxes())
      return false;
    for (Operation &op : block.without_terminator()) {
      auto map = dyn_cast<MapOp>(op);
      if (!map || !hasBoth(map.getType()) || !takesAccesses(map))
        return false;
    }
    if (!llvm::all_of(kernel.getYielded(), [](Value value) { return value.getDefiningOp<MapOp>(); }) ||
        !llvm::all_of(block.getArguments(), [&](BlockArgument argument) { return decides(argument); }))
      return false;
    for (Operation &op : block.without_terminator())
      rewrite(cast<MapOp>(op));
    for (BlockArgument argument : block.getArguments())
      if (joins(argument))
        argument.setType(joined(typeOf(argument), *places.lookup(argument)));
    Sizes rows(kernel.getRows().getValue());
    rows.pop_back();
    kernel.setRowsAttr(SizesAttr::get(kernel.getContext(), rows));
    return true;
  }

private:
  plan::KernelOp kernel;
  Block &block;
  int64_t rows = 0, columns = 0; ///< the lengths of the two axes
  /// The first of the two axes in each argument that has both; nothing in one that is read at several pairs of axes.
  llvm::DenseMap<Value, std::optional<unsigned>> places;
  llvm::SmallPtrSet<Value, 8> linear, apart; ///< arguments that are read along one axis, and along two

  bool findAxes() {
    ArrayRef<Size> sizes = kernel.getRows().getValue();
    auto last = kernel.getYielded().empty() ? RankedTensorType() : typeOf(kernel.getYielded().front());
    if (kernel.getFamily() != plan::Family::element || kernel.getPlaced() || kernel.getOver() || sizes.size() < 2 ||
        !sizes.back().isFixed() || !last || last.isDynamicDim(last.getRank() - 1))
      return false;
    rows = sizes.back().getFixed();
    columns = last.getShape().back();
    bool fills = columns % vectorColumns == 0 || columns > fewColumns;
    return rows > 0 && columns > 0 && !fills && columns <= mostColumns / rows;
  }

  bool hasBoth(RankedTensorType type) {
    int64_t rank = type.getRank();
    return rank == int64_t(kernel.getRows().getValue().size()) + kernel.getLifted() + 1 &&
           type.getDimSize(rank - 2) == rows && type.getDimSize(rank - 1) == columns;
  }

  /// The access of an operand, with 0 for those of the two axes that are one element.
  std::optional<AffineMap> accessOf(MapOp map, unsigned operand) const {
    std::optional<AffineMap> access = withoutSymbols(map.getAccess(operand));
    if (!access)
      return access;
    unsigned dims = access->getNumDims();
    auto zero = getAffineConstantExpr(0, access->getContext());
    for (auto [size, dim] : {std::pair(rows, dims - 2), std::pair(columns, dims - 1)})
      if (size == 1)
        access = access->replace(getAffineDimExpr(dim, access->getContext()), zero, dims, 0);
    return access;
  }

  /// Whether an index is linear in the merged axis, on which the elements of both axes lie one after the other.
  bool isLinear(AffineExpr index, unsigned dims) const {
    std::optional<int64_t> byRow = slope(index, dims - 2), byColumn = slope(index, dims - 1);
    return byRow && byColumn && (rows == 1 || columns == 1 || *byRow == *byColumn * columns);
  }

  /// The operand's axis that is the row axis, if the columns follow it and both are read as they are.
  std::optional<unsigned> placeOf(AffineMap access, RankedTensorType from) const {
    unsigned dims = access.getNumDims();
    auto isDim = [&](AffineExpr index, unsigned dim, int64_t size) {
      auto constant = dyn_cast<AffineConstantExpr>(index);
      return size == 1 ? constant && constant.getValue() == 0 : index == getAffineDimExpr(dim, access.getContext());
    };
    for (unsigned i = 0; i + 1 < access.getNumResults(); ++i)
      if (isDim(access.getResult(i), dims - 2, rows) && isDim(access.getResult(i + 1), dims - 1, columns) &&
          from.getDimSize(i) == rows && from.getDimSize(i + 1) == columns)
        return i;
    return std::nullopt;
  }

  bool takesAccesses(MapOp map) {
    for (auto [i, operand] : llvm::enumerate(map.getInputs())) {
      std::optional<AffineMap> access = accessOf(map, i);
      if (!access)
        return false;
      unsigned dims = access->getNumDims();
      std::optional<unsigned> place = placeOf(*access, typeOf(operand));
      bool isAlong = llvm::all_of(access->getResults(), [&](AffineExpr e) { return isLinear(e, dims); });
      if (isa<BlockArgument>(operand)) {
        (isAlong ? linear : apart).insert(operand);
        auto [known, fresh] = places.try_emplace(operand, place);
        if (!fresh && known->second != place)
          known->second = std::nullopt;
      } else if (place != std::optional<unsigned>(typeOf(operand).getRank() - 2)) {
        return false;
      }
    }
    return true;
  }

  /// Whether an argument's shape can be what all maps read: the one it has, or one with both axes joined.
  bool decides(BlockArgument argument) { return !apart.contains(argument) || places.lookup(argument).has_value(); }
  bool joins(Value value) { return !isa<BlockArgument>(value) || apart.contains(value); }

  static RankedTensorType joined(RankedTensorType type, unsigned first) {
    Sizes sizes = getSizes(type);
    sizes[first] = *sizes[first].times(sizes[first + 1]);
    sizes.erase(sizes.begin() + first + 1);
    return getTensorType(sizes, type.getElementType());
  }

  void rewrite(MapOp map) {
    MLIRContext *context = kernel.getContext();
    SmallVector<Attribute> maps;
    for (auto [i, operand] : llvm::enumerate(map.getInputs())) {
      AffineMap access = *accessOf(map, i);
      unsigned dims = access.getNumDims();
      SmallVector<AffineExpr> results(access.getResults()), to;
      bool isJoined = joins(operand);
      unsigned place = isJoined ? isa<BlockArgument>(operand) ? *places.lookup(operand) : results.size() - 2 : 0;
      if (isJoined) {
        results[place] = getAffineDimExpr(dims - 1, context);
        results.erase(results.begin() + place + 1);
      }
      // The columns' dimension, or the rows' where there is but one column, is that of both.
      AffineExpr both = getAffineDimExpr(dims - 2, context), none = getAffineConstantExpr(0, context);
      for (unsigned dim = 0; dim + 2 < dims; ++dim)
        to.push_back(getAffineDimExpr(dim, context));
      to.push_back(columns == 1 ? both : none);
      to.push_back(both);
      auto now = AffineMap::get(dims, 0, results, context).replaceDimsAndSymbols(to, {}, dims - 1, 0);
      maps.push_back(AffineMapAttr::get(now));
    }
    map.setMapsAttr(ArrayAttr::get(context, maps));
    map.getResult().setType(joined(map.getType(), map.getType().getRank() - 2));
  }
};

} // namespace

void joinColumns(plan::KernelOp kernel) {
  while (Joiner(kernel).run()) {
  }
}

} // namespace tutti
