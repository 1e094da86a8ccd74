// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a lift reads values, and the rule of pointwise ops.
#include "Tutti.h"

using namespace mlir;

namespace tutti {

std::optional<unsigned> groupOfActive(StringRef name) {
  unsigned group;
  if (!name.consume_front(activeName) || !name.consume_front(".") || name.getAsInteger(10, group))
    return std::nullopt;
  return group;
}

bool isActiveName(StringRef name) { return name == activeName || groupOfActive(name); }

bool isActiveSize(const Size &size) {
  return size.getFactor() == 1 && size.getSymbols().size() == 1 && isActiveName(size.getSymbols().front());
}

bool isLifted(RankedTensorType type) { return type.getRank() > 0 && isActiveSize(getSizes(type).front()); }

RankedTensorType addMemberAxis(RankedTensorType type, const Size &members) {
  Sizes sizes = getSizes(type);
  sizes.insert(sizes.begin(), members);
  return getTensorType(sizes, type.getElementType());
}

RankedTensorType dropMemberAxis(RankedTensorType type) {
  Sizes sizes = getSizes(type);
  sizes.erase(sizes.begin());
  return getTensorType(sizes, type.getElementType());
}

Value LiftContext::getAligned(Value old, int64_t rank) {
  Value now = get(old);
  auto type = typeOf(now);
  if (!isLifted(old) || type.getRank() - 1 >= rank)
    return now;
  Sizes sizes = getSizes(type);
  sizes.insert(sizes.begin() + 1, rank - (type.getRank() - 1), Size(1));
  return ReshapeOp::create(builder, old.getLoc(), getTensorType(sizes, type.getElementType()), now);
}

Value repeat(OpBuilder &builder, Location loc, Value value, const Size &members) {
  RankedTensorType type = addMemberAxis(typeOf(value), members);
  // Only the model's own axis is the member axis; that of a user's vmap is an axis like any other.
  if (isActiveSize(members))
    return ReplicateOp::create(builder, loc, type, value);
  return BroadcastOp::create(builder, loc, type, value);
}

Value LiftContext::getLifted(Value old) {
  return isLifted(old) ? get(old) : repeat(builder, old.getLoc(), get(old), members);
}

void LiftContext::cloneShared(Operation *op) {
  Operation *now = builder.clone(*op, mapping);
  for (auto [before, after] : llvm::zip_equal(op->getResults(), now->getResults()))
    setShared(before, after);
}

LogicalResult liftPointwise(Operation *op, LiftContext &context) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, context.getAligned(operand, rank));
  Operation *now = op->clone(operands);
  now->getResult(0).setType(addMemberAxis(typeOf(op->getResult(0)), context.members));
  context.builder.insert(now);
  context.setLifted(op->getResult(0), now->getResult(0));
  return success();
}

} // namespace tutti
