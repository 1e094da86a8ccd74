// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ports of a group, and its kernel.
#include "Group.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Products.h"
#include "passes/analysis/Views.h"

using namespace mlir;

namespace tutti {

GroupPorts GroupPorts::of(const Group &group) {
  GroupPorts ports;
  llvm::SmallPtrSet<Operation *, 16> inside(group.ops.begin(), group.ops.end());
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()))
        ports.inputs.insert(operand);
    Value result = op->getResult(0);
    bool isRead =
        llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user) || isa<HeadOp>(user); });
    if (isRead || group.stored.contains(op))
      ports.results.insert(result);
  }
  return ports;
}

static plan::Family familyOf(const Group &group) {
  bool reduces = false;
  for (Operation *op : group.ops) {
    if (isTiled(op))
      return plan::Family::chain;
    reduces |= isRowPhase(op);
  }
  return reduces ? plan::Family::row : plan::Family::element;
}

static SmallVector<int64_t> weightsAmong(ArrayRef<Value> inputs) {
  SmallVector<int64_t> weights;
  for (auto [index, input] : llvm::enumerate(inputs))
    if (throughViews(input).getDefiningOp<GetOp>())
      weights.push_back(index);
  return weights;
}

/// Whether a value becomes a part of one that holds several groups' members.
static bool isJoined(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<JoinOp>(user) || (viewed(user) && isJoined(user->getResult(0)));
  });
}
/// Whether it lies among those of other groups' members: it is a part of such a one, or becomes one.
static bool isAmongOthers(Value value) {
  value = throughViews(value);
  return value.getDefiningOp<PartOp>() || isJoined(value);
}
static SmallVector<int64_t> placedAmong(const GroupPorts &ports) {
  SmallVector<int64_t> placed;
  for (auto [index, value] : llvm::enumerate(llvm::concat<const Value>(ports.inputs, ports.results)))
    if (isAmongOthers(value))
      placed.push_back(index);
  return placed;
}

Outline Outline::of(const Group &group, StringRef name) {
  Outline outline{GroupPorts::of(group), {}, {}};
  const auto &[inputs, results] = outline.ports;
  OpBuilder builder(group.ops.front()->getContext());
  Location loc = group.ops.back()->getLoc();
  bool ofPart = group.form.lifted && group.form.members != activeSize();
  SmallVector<int64_t> placed = placedAmong(outline.ports);
  outline.kernel = plan::KernelOp::create(builder, loc, name, familyOf(group), group.form.lifted,
                                          ofPart ? builder.getStringAttr(group.form.members.str()) : StringAttr(),
                                          SizesAttr::get(builder.getContext(), Sizes(group.form.rows)),
                                          builder.getDenseI64ArrayAttr(weightsAmong(inputs.getArrayRef())),
                                          placed.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(placed),
                                          plan::ScheduleAttr());
  Block *block = builder.createBlock(&outline.kernel.getBody());
  for (Value input : inputs)
    outline.mapping.map(input, block->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : group.ops)
    builder.clone(*op, outline.mapping);
  YieldOp::create(builder, loc,
                  llvm::map_to_vector(results, [&](Value result) { return outline.mapping.lookup(result); }));
  return outline;
}

} // namespace tutti
