// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An input that is scaled, or put together of several, is the same for all members: computed once, it is a launch of
// its own, which takes longer than computing it again in each member's kernel.
#include "Repeat.h"
#include "dialects/tutti/Lift.h"
#include "dialects/tutti/Module.h"
#include "passes/analysis/LargestSizes.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Views.h"

using namespace mlir;

namespace tutti {

namespace {

/// The limits of what is repeated: this part of what the members compute in any case, or what takes no longer than a
/// launch in the largest call. In the 3 us of a launch (docs/performance-model.md) an H200 does about so many
/// multiply-adds of layers.
constexpr double smallPart = 1. / 24, launchWorth = 1 << 25;
/// Multiply-adds that take as long as shared memory takes to hand an element from one step to the next.
constexpr double handedOn = 24;
/// The longest row that is repeated: longer ones leave a block too little shared memory, and are long to go through.
constexpr int64_t widest = 256;
/// The most terms of a layer that is repeated. A longer one stays shared, which is what it is for; short ones make
/// features of coordinates, as Fourier features are.
constexpr int64_t fewTerms = 16;

/// Counts operations on scalars, in the largest call.
class Work {
public:
  explicit Work(ModuleOp module) : largest(module) {}

  /// Whether shared ops of `function` may be computed once for each member. `read` are the values that others read of
  /// them.
  bool isLittle(ArrayRef<Operation *> shared, const llvm::SetVector<Value> &read, func::FuncOp function) const {
    double again = 0, own = 0;
    for (Operation *op : shared) {
      Size columns = RowForm::of(typeOf(op->getResult(0))).columns;
      if (!columns.isFixed() || columns.getFixed() > widest)
        return false;
      again += of(op);
    }
    for (Value value : read)
      again += handedOn * elementsOf(getSizes(typeOf(value)));
    for (Operation &op : function.getBody().front())
      if (isa<MapOp, KernelOpInterface>(op) && isLifted(typeOf(op.getResult(0))))
        own += of(&op);
    return double(largest.of(activeName).value_or(1)) * again <= std::max(own * smallPart, launchWorth);
  }

private:
  LargestSizes largest;

  double of(Operation *op) const {
    double made = elementsOf(getSizes(typeOf(op->getResult(0))));
    if (auto contract = dyn_cast<ContractOp>(op))
      return made * elementsOf(contract.mixedSizes());
    if (auto map = dyn_cast<MapOp>(op))
      return made * std::max<int64_t>(bodyLength(map), 1);
    for (Value operand : op->getOperands())
      made = std::max(made, elementsOf(getSizes(typeOf(operand))));
    return made;
  }

  double elementsOf(ArrayRef<Size> sizes) const {
    double count = 1;
    for (const Size &size : sizes) {
      count *= size.getFactor();
      for (StringRef symbol : size.getSymbols())
        count *= double(largest.of(symbol).value_or(1));
    }
    return count;
  }
};

/// The size of the member axis of a lifted op's result: of all members, or of a group.
Size membersOf(Operation *op) { return getSizes(typeOf(op->getResult(0))).front(); }

/// Whether an operand is a gather's table or a layer's weight: it stays one, however often the op is repeated.
bool isOne(OpOperand &operand) {
  bool isTable = isa<GatherOp>(operand.getOwner()) && operand.getOperandNumber() == 0;
  return (isTable || isa<ContractOp>(operand.getOwner())) && throughViews(operand.get()).getDefiningOp<GetOp>();
}

bool canRepeat(Operation *op) {
  auto contract = dyn_cast<ContractOp>(op);
  if (!contract)
    return isa<LiftOpInterface>(op);
  std::optional<Size> terms = contract.terms();
  return terms && terms->isFixed() && terms->getFixed() <= fewTerms && llvm::count_if(op->getOpOperands(), isOne) == 1;
}

/// The ops of a group that is not lifted, with the views of what they make, and their readers, which are all lifted.
struct Front {
  SmallVector<Operation *> ops; ///< in their order
  SmallVector<OpOperand *> readers;

  static std::optional<Front> of(const Group &group) {
    if (group.form.lifted || !llvm::all_of(group.ops, canRepeat))
      return std::nullopt;
    Front front;
    front.ops.assign(group.ops.begin(), group.ops.end());
    llvm::SmallPtrSet<Operation *, 8> inside(group.ops.begin(), group.ops.end());
    for (size_t i = 0; i < front.ops.size(); ++i)
      for (OpOperand &use : front.ops[i]->getUses()) {
        Operation *user = use.getOwner();
        if (inside.contains(user))
          continue;
        bool isOwn = user->getNumResults() == 1 && isLifted(typeOf(user->getResult(0)));
        if (isOwn && isa<MapOp, ContractOp>(user))
          front.readers.push_back(&use);
        else if (!isOwn && viewed(user) && inside.insert(user).second)
          front.ops.push_back(user);
        else
          return std::nullopt;
      }
    llvm::sort(front.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return front;
  }

  llvm::SetVector<Value> read() const {
    llvm::SetVector<Value> values;
    for (OpOperand *reader : readers)
      values.insert(reader->get());
    return values;
  }

  /// The front in a copy of the function.
  Front in(const IRMapping &copies) const {
    Front copy;
    for (Operation *op : ops)
      copy.ops.push_back(copies.lookup(op));
    for (OpOperand *reader : readers)
      copy.readers.push_back(&copies.lookup(reader->getOwner())->getOpOperand(reader->getOperandNumber()));
    return copy;
  }
};

/// Makes a lifted op read a value that has become lifted.
void readLifted(OpOperand &operand, Value value) {
  operand.set(value);
  unsigned index = operand.getOperandNumber();
  if (auto map = dyn_cast<MapOp>(operand.getOwner())) {
    SmallVector<Attribute> maps(map.getMaps().begin(), map.getMaps().end());
    maps[index] = AffineMapAttr::get(map.getAccess(index).insertResult(getAffineDimExpr(0, map.getContext()), 0));
    map.setMapsAttr(ArrayAttr::get(map.getContext(), maps));
    return;
  }
  auto contract = cast<ContractOp>(operand.getOwner());
  ContractSpec spec = contract.labels();
  (index == 0 ? spec.lhs : spec.rhs).insert(0, 1, spec.result.front());
  contract.setSpec(spec.str());
}

/// Adds moves that bring the member axis to operands from outside the front: ops other than maps need it on all of
/// theirs.
void addMoves(Front &front) {
  for (Operation *op : llvm::to_vector(front.ops))
    for (OpOperand &operand : op->getOpOperands()) {
      Value x = operand.get();
      if (isa<MapOp>(op) || isOne(operand) || llvm::is_contained(front.ops, x.getDefiningOp()))
        continue;
      OpBuilder builder(op);
      auto move = MapOp::create(builder, op->getLoc(), x);
      operand.set(move);
      front.ops.insert(llvm::find(front.ops, op), move);
    }
}

/// Builds ops over the context's members, each beside its own: readers may come before the last of them.
LogicalResult lift(ArrayRef<Operation *> ops, LiftContext &context) {
  for (Operation *op : ops) {
    context.builder.setInsertionPoint(op);
    for (Value operand : op->getOperands())
      if (!context.mapping.contains(operand))
        context.setShared(operand, operand);
    if (failed(cast<LiftOpInterface>(op).lift(context)) || !isLifted(typeOf(context.get(op->getResult(0)))))
      return failure();
    // A table that would be repeated, as no kernel does.
    if (llvm::any_of(context.get(op->getResult(0)).getDefiningOp()->getOperands(),
                     [](Value operand) { return operand.getDefiningOp<ReplicateOp>(); }))
      return failure();
    // The member axis decides no bit (tutti-numerics).
    if (auto before = dyn_cast<NumericsOpInterface>(op))
      cast<NumericsOpInterface>(context.get(op->getResult(0)).getDefiningOp())
          .setNumericsAttr(before.getNumericsAttr());
  }
  return success();
}

/// Replaces a front by what each of its readers' members computes.
LogicalResult repeat(Front front) {
  addMoves(front);
  OpBuilder builder(front.ops.front());
  while (!front.readers.empty()) {
    LiftContext context(builder, membersOf(front.readers.front()->getOwner()));
    if (failed(lift(front.ops, context)))
      return failure();
    llvm::erase_if(front.readers, [&](OpOperand *reader) {
      if (membersOf(reader->getOwner()) != context.members)
        return false;
      readLifted(*reader, context.get(reader->get()));
      return true;
    });
  }
  for (Operation *op : llvm::reverse(front.ops))
    op->erase();
  return success();
}

} // namespace

Repeats::Repeats(ModuleOp module) : module(module), isWorthIt(TargetTraits::of(module).repeatsForLaunches) {}

std::vector<Rewrite> Repeats::of(func::FuncOp function, ArrayRef<Group> groups) const {
  std::vector<Rewrite> rewrites;
  if (!isWorthIt)
    return rewrites;
  Work work(module);
  // The last first: what it reads of others may be repeated next.
  for (const Group &group : llvm::reverse(groups))
    if (std::optional<Front> front = Front::of(group); front && work.isLittle(group.ops, front->read(), function))
      rewrites.push_back([front = *front](const IRMapping &copies) { return repeat(front.in(copies)); });
  return rewrites;
}

} // namespace tutti
