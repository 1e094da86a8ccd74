// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lives of buffers, and places for them where those that live at once do not meet.
#include "Arena.h"
#include "passes/analysis/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tutti {

Timeline Timeline::of(func::FuncOp function) {
  Timeline all;
  for (Operation &op : function.getBody().front()) {
    unsigned step = 0;
    for (Value operand : op.getOperands())
      if (Operation *producer = wholeOf(operand).getDefiningOp())
        step = std::max(step, all.stepOf.lookup(producer) + isa<plan::DispatchOp>(producer));
    all.stepOf[&op] = step;
    auto dispatch = dyn_cast<plan::DispatchOp>(op);
    if ((dispatch && dispatch.lookupKernel().hasHeads()) ||
        llvm::any_of(op.getOperands(), [&](Value x) { return all.fromHeadsOn.contains(x.getDefiningOp()); }))
      all.fromHeadsOn.insert(&op);
    if (dispatch) {
      all.steps.resize(std::max<size_t>(all.steps.size(), step + 1));
      all.steps[step].push_back(dispatch);
    }
  }
  all.stepOf[function.getBody().front().getTerminator()] = all.steps.size();
  return all;
}

bool outlivesPieces(Value value, const Timeline &timeline, const LargestSizes &largest) {
  if (!largest.chunk)
    return false;
  return timeline.fromHeadsOn.contains(value.getDefiningOp()) || llvm::any_of(value.getUsers(), [&](Operation *user) {
           return viewed(user) ? outlivesPieces(user->getResult(0), timeline, largest)
                               : isa<plan::DispatchOp>(user) && timeline.fromHeadsOn.contains(user);
         });
}

FailureOr<Arena> Arena::layOut(func::FuncOp function, const Timeline &timeline, const LargestSizes &largest) {
  Arena arena;
  llvm::SmallDenseSet<Value> returned;
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    returned.insert(wholeOf(value));
  // The parts of a value that groups make are written where the whole of it lies.
  for (auto join : function.getOps<JoinOp>()) {
    unsigned first = timeline.stepOf.lookup(join);
    for (Value part : join.getParts()) {
      arena.wholes[wholeOf(part)] = join.getResult();
      first = std::min(first, timeline.stepOf.lookup(wholeOf(part).getDefiningOp()));
    }
    if (!returned.contains(join.getResult()) && failed(arena.keep(join.getResult(), first, timeline, largest)))
      return failure();
  }
  for (auto dispatch : function.getOps<plan::DispatchOp>())
    for (Value value : dispatch.getResults())
      if (!returned.contains(value) && !arena.wholes.contains(value) &&
          failed(arena.keep(value, timeline.stepOf.lookup(dispatch), timeline, largest)))
        return failure();
  return arena;
}

static unsigned lastUse(Value value, const Timeline &timeline) {
  unsigned last = 0;
  for (Operation *user : value.getUsers())
    last = std::max(last, viewed(user) ? lastUse(user->getResult(0), timeline) : timeline.stepOf.lookup(user));
  // The parts of a join lie in it, and groups go on to read their own.
  if (auto join = value.getDefiningOp<JoinOp>())
    for (Value part : join.getParts())
      last = std::max(last, lastUse(wholeOf(part), timeline));
  return last;
}

/// Allocates the place of a value that is made in step `first`.
LogicalResult Arena::keep(Value value, unsigned first, const Timeline &timeline, const LargestSizes &largest) {
  std::optional<Size> size = bytesOf(typeOf(value));
  bool perPiece = largest.chunk && isLifted(typeOf(value)) && !outlivesPieces(value, timeline, largest);
  std::optional<int64_t> most = !size ? std::nullopt : perPiece ? largest.ofPiece(*size) : largest.of(*size);
  if (!most)
    return emitError(value.getLoc(), "an intermediate tensor of more than 2^63 bytes: ") << value.getType();
  // A value that only the dispatch's own heads read lives as long as the dispatch.
  unsigned last = std::max(first, lastUse(value, timeline));
  if (largest.chunk && !perPiece) { // every piece reads it, or adds to it
    first = 0;
    last = timeline.steps.size();
  }
  int64_t end;
  if (llvm::AddOverflow(*most, plan::lineBytes - 1, end) ||
      !place({value, first, last, end / plan::lineBytes * plan::lineBytes}))
    return emitError(value.getLoc(), "intermediate tensors of more than 2^63 bytes in all, one of them: ")
           << value.getType();
  return success();
}

/// Places an interval at the lowest offset that is free of every interval alive at the same time. False if it ends past
/// 63 bits.
bool Arena::place(Interval interval) {
  std::vector<const Interval *> alive;
  for (const Interval &other : intervals)
    if (other.first <= interval.last && interval.first <= other.last)
      alive.push_back(&other);
  llvm::sort(alive, [](auto *a, auto *b) { return a->offset < b->offset; });
  int64_t end = interval.bytes;
  for (const Interval *other : alive)
    if (end > other->offset) {
      interval.offset = std::max(interval.offset, other->offset + other->bytes);
      if (llvm::AddOverflow(interval.offset, interval.bytes, end))
        return false;
    }
  bytes = std::max(bytes, end);
  intervals.push_back(interval);
  return true;
}

} // namespace tutti
