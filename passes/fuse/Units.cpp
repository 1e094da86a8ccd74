// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes of length one, kept behind where a model drops them.
#include "Units.h"
#include "passes/analysis/Views.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tutti {

namespace {

/// The most elements of a reduction that a kernel does for each of its rows, beside what it makes of the result. A
/// block of a GPU, or a task, has few rows, where the reduction by itself would be spread over all of the device.
constexpr int64_t mostOfRow = 4096;

/// Axes that a value has and its view has not, by their numbers in the value, which has the columns last.
SmallVector<unsigned> droppedBy(ReshapeOp view) {
  Sizes from = getSizes(typeOf(view.getX())), to = getSizes(typeOf(view.getResult()));
  SmallVector<unsigned> dropped;
  unsigned next = 0;
  for (unsigned i = 0; i < from.size(); ++i)
    if (next < to.size() && from[i] == to[next])
      ++next;
    else if (from[i] == Size(1) && i + 1 < from.size())
      dropped.push_back(i);
    else
      return {};
  return next == to.size() ? dropped : SmallVector<unsigned>();
}

/// Whether a reduction is short enough for a kernel to do it beside its other work.
bool isLittle(ReduceOp reduce) {
  std::optional<Size> row = Size(1);
  Sizes sizes = getSizes(typeOf(reduce.getX()));
  for (int64_t axis : reduce.getAxes())
    row = row ? row->times(sizes[axis]) : row;
  row = row ? row->times(sizes.back()) : row;
  return row && row->isFixed() && row->getFixed() <= mostOfRow;
}

/// Computes what follows a view with the axes that it drops.
class Keeping {
public:
  explicit Keeping(ReshapeOp view)
      : view(view), dropped(droppedBy(view)), rank(typeOf(view.getResult()).getRank()),
        form(RowForm::of(typeOf(view.getResult()))) {
    for (unsigned axis = 0; axis < rank + dropped.size(); ++axis)
      if (!llvm::is_contained(dropped, axis))
        places.push_back(axis);
  }

  /// Rewrites all ops that it can; fails where there is none.
  LogicalResult run() {
    whole[view.getResult()] = view.getX();
    SmallVector<Operation *> replaced;
    for (Operation *op = view->getNextNode(); op; op = op->getNextNode()) {
      if (llvm::none_of(op->getOperands(), [&](Value x) { return whole.contains(x); }))
        continue;
      OpBuilder builder(op);
      if (Value now = computedWhole(op, builder)) {
        whole[op->getResult(0)] = now;
        replaced.push_back(op);
        continue;
      }
      // Heads are computed of the members' rows, and have others.
      if (auto head = dyn_cast<HeadOp>(op)) {
        auto now = HeadOp::create(builder, op->getLoc(), head.getKind(), whole.lookup(head.getX()), head.getQAttr());
        op->replaceAllUsesWith(ReshapeOp::create(builder, op->getLoc(), head.getType(), now));
        replaced.push_back(op);
        continue;
      }
      for (OpOperand &operand : op->getOpOperands())
        if (Value value = whole.lookup(operand.get()))
          operand.set(ReshapeOp::create(builder, op->getLoc(), operand.get().getType(), value));
    }
    if (replaced.empty())
      return failure();
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    for (auto [x, made] : llvm::reverse(beside))
      if (Operation *maker = x.getDefiningOp(); maker && isOpTriviallyDead(maker))
        maker->erase();
    view.erase();
    return success();
  }

private:
  ReshapeOp view;
  SmallVector<unsigned> dropped, places; ///< axes of the whole that the view lacks, and those that it has
  unsigned rank;                         ///< of the view, and of what has its rows
  RowForm form;
  llvm::MapVector<Value, Value> beside; ///< by values read beside the view: the same with the axes
  llvm::DenseMap<Value, Value> whole;   ///< by the view and values computed of it: the same with the axes

  RankedTensorType wholeOf(RankedTensorType type) const {
    Sizes sizes = getSizes(type);
    for (unsigned axis : dropped)
      sizes.insert(sizes.begin() + axis, Size(1));
    return getTensorType(sizes, type.getElementType());
  }

  /// The value with the axes: what it was computed as; or what goes beside that, a move or other map once more, what it
  /// is a view of, or a view.
  Value wholeOf(Value x, OpBuilder &builder) {
    if (Value known = whole.lookup(x))
      return known;
    RankedTensorType type = wholeOf(typeOf(x));
    Value full = throughViews(x), &made = beside[x];
    if (auto map = x.getDefiningOp<MapOp>(); map && !made)
      made = again(map, builder)->getResult(0);
    if (!made)
      made = full.getType() == type ? full : ReshapeOp::create(builder, x.getLoc(), type, x).getResult();
    return made;
  }

  /// Computes an op with the axes. Null where it makes something of other rows, or there is no way.
  Value computedWhole(Operation *op, OpBuilder &builder) {
    if (op->getNumResults() != 1 || typeOf(op->getResult(0)).getRank() != rank ||
        !RowForm::of(typeOf(op->getResult(0))).sameRows(form))
      return nullptr;
    Operation *now = nullptr;
    if (auto map = dyn_cast<MapOp>(op))
      now = again(map, builder);
    else if (auto contract = dyn_cast<ContractOp>(op))
      now = again(contract, builder);
    else if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getAxes() == ArrayRef<int64_t>(rank - 1))
      now = ReduceOp::create(builder, op->getLoc(), reduce.getKind(), wholeOf(reduce.getX(), builder),
                             ArrayRef<int64_t>(places.back()), reduce.getNumericsAttr());
    else if (auto concat = dyn_cast<ConcatOp>(op); concat && concat.getAxis() == rank - 1)
      now = ConcatOp::create(builder, op->getLoc(),
                             llvm::map_to_vector(concat.getInputs(), [&](Value x) { return wholeOf(x, builder); }),
                             int64_t(places.back()));
    return now ? now->getResult(0) : nullptr;
  }

  Operation *again(MapOp map, OpBuilder &builder) const {
    SmallVector<AffineExpr> dims =
        llvm::map_to_vector(places, [&](unsigned place) { return getAffineDimExpr(place, map.getContext()); });
    SmallVector<Value> inputs;
    SmallVector<AffineMap> accesses;
    for (auto [i, input] : llvm::enumerate(map.getInputs())) {
      AffineMap access = map.getAccess(i);
      access = access.replaceDimsAndSymbols(dims, {}, rank + dropped.size(), access.getNumSymbols());
      Value value = whole.lookup(input);
      for (unsigned axis : value ? ArrayRef<unsigned>(dropped) : ArrayRef<unsigned>())
        access = access.insertResult(getAffineConstantExpr(0, map.getContext()), axis);
      inputs.push_back(value ? value : input);
      accesses.push_back(access);
    }
    auto now =
        MapOp::create(builder, map.getLoc(), wholeOf(map.getType()), inputs, builder.getAffineMapArrayAttr(accesses));
    IRMapping inside;
    map.getBody().cloneInto(&now.getBody(), inside);
    return now;
  }

  /// Rows times a weight.
  Operation *again(ContractOp contract, OpBuilder &builder) const {
    Value rows = whole.lookup(contract.getLhs());
    ContractSpec spec = contract.labels();
    if (!rows || whole.contains(contract.getRhs()) ||
        StringRef(spec.lhs).drop_back() != StringRef(spec.result).drop_back())
      return nullptr;
    for (unsigned axis : dropped) {
      char label = spec.freeLabel();
      if (!label)
        return nullptr;
      spec.lhs.insert(axis, 1, label);
      spec.result.insert(axis, 1, label);
    }
    return ContractOp::create(builder, contract.getLoc(), rows, contract.getRhs(), spec.str(),
                              contract.getNumericsAttr(), contract.getBytes());
  }
};

} // namespace

std::vector<Rewrite> unitsThatStay(func::FuncOp function) {
  std::vector<Rewrite> rewrites;
  for (auto view : function.getOps<ReshapeOp>()) {
    auto reduce = view.getX().getDefiningOp<ReduceOp>();
    if (reduce && isLittle(reduce) && !droppedBy(view).empty())
      rewrites.push_back([op = view.getOperation()](const IRMapping &copies) {
        return Keeping(cast<ReshapeOp>(copies.lookup(op))).run();
      });
  }
  return rewrites;
}

} // namespace tutti
