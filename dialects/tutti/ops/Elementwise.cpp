// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of pointwise ops. What each computes is its block in Unary.cpp, Binary.cpp or Cast.cpp.
#include "Family.h"

using namespace mlir;

namespace tutti {

using Location = std::optional<mlir::Location>;

/// The common rule: operands broadcast to `sizes`, elements as `accepts` has it.
static LogicalResult inferBroadcast(Location location, StringRef op, TypeRange operands, Sizes &sizes,
                                    llvm::function_ref<bool(Type)> accepts, StringRef expected) {
  for (Type operand : operands) {
    auto type = cast<RankedTensorType>(operand);
    if (!accepts(type.getElementType()))
      return misfit(location, op, "expected elements of ", expected, ", got ", type.getElementType());
    std::optional<Sizes> both = broadcast(sizes, getSizes(type));
    if (!both)
      return misfit(location, op, "expected shapes that broadcast, got ", str(sizes), " and ", str(getSizes(type)));
    sizes = *both;
  }
  return success();
}

static LogicalResult expectEqual(Location location, StringRef op, Type a, Type b) {
  if (getElementTypeOrSelf(a) == getElementTypeOrSelf(b))
    return success();
  return misfit(location, op, "expected equal element types, got ", getElementTypeOrSelf(a), " and ",
                getElementTypeOrSelf(b));
}

static bool isFloat(Type type) { return isa<FloatType>(type); }

static LogicalResult inferSame(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred,
                               llvm::function_ref<bool(Type)> accepts, StringRef expected) {
  Sizes sizes;
  if (failed(inferBroadcast(location, op, operands, sizes, accepts, expected)) ||
      failed(expectEqual(location, op, operands.front(), operands.back())))
    return failure();
  inferred.push_back(getTensorType(sizes, getElementTypeOrSelf(operands.front())));
  return success();
}

static LogicalResult inferNumbers(Location location, StringRef op, TypeRange operands,
                                  SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isNumber, "a float type or an integer wider than i1");
}
static LogicalResult inferFloats(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isFloat, "a float type");
}
static LogicalResult inferBits(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  return inferSame(location, op, operands, inferred, isInteger, "an integer type");
}
static LogicalResult inferCompared(Location location, StringRef op, TypeRange operands,
                                   SmallVectorImpl<Type> &inferred) {
  auto accepts = [](Type type) { return isNumber(type) || isTruth(type); };
  if (failed(inferSame(location, op, operands, inferred, accepts, "a float type or an integer")))
    return failure();
  auto type = cast<RankedTensorType>(inferred[0]);
  inferred[0] = getTensorType(getSizes(type), IntegerType::get(type.getContext(), 1));
  return success();
}
static LogicalResult inferChosen(Location location, StringRef op, TypeRange operands, SmallVectorImpl<Type> &inferred) {
  Sizes sizes;
  auto any = [](Type) { return true; };
  if (failed(inferBroadcast(location, op, operands.take_front(), sizes, isTruth, "i1 in the condition")) ||
      failed(inferBroadcast(location, op, operands.drop_front(), sizes, any, "")) ||
      failed(expectEqual(location, op, operands[1], operands[2])))
    return failure();
  inferred.push_back(getTensorType(sizes, getElementTypeOrSelf(operands[1])));
  return success();
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  return getA() == getB() && getA().getType() == getType() ? getA() : OpFoldResult();
}

OpFoldResult CastOp::fold(FoldAdaptor) { return getX().getType() == getType() ? getX() : OpFoldResult(); }

LogicalResult CastOp::lift(LiftContext &context) { return liftPointwise(*this, context); }

Sizes CastOp::mixedSizes() { return {}; }

LogicalResult CastOp::verify() {
  Sizes from = getSizes(typeOf(getX())), to = getSizes(typeOf(getResult()));
  if (from != to)
    return emitOpError("expected a result of the shape ") << str(from) << " of x, got " << str(to);
  return success();
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Elementwise.cpp.inc"
