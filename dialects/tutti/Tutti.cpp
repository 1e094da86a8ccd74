// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the tutti dialect, and what its vmap rules share.
#include "Tutti.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/tutti/TuttiDialect.cpp.inc"
#include "dialects/tutti/TuttiEnums.cpp.inc"
#include "dialects/tutti/TuttiInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/tutti/TuttiAttrs.cpp.inc"

namespace tutti {

void TuttiDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tutti/TuttiAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tutti/TuttiOps.cpp.inc"
      >();
}

/// Constants that folds make.
Operation *TuttiDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (auto elements = dyn_cast<ElementsAttr>(value))
    return ConstantOp::create(builder, loc, type, elements);
  return nullptr;
}

bool isActiveSize(const Size &size) {
  if (size.getFactor() != 1 || size.getSymbols().size() != 1)
    return false;
  StringRef name = size.getSymbols().front();
  return name.consume_front("active") &&
         (name.empty() || (name.consume_front(".") && !name.empty() && llvm::all_of(name, llvm::isDigit)));
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
