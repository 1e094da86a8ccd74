// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The form that pointwise and layout ops take inside a kernel, and the functions that their scalar bodies need.
#include "Family.h"
#include "dialects/tutti/Model.h"

using namespace mlir;

namespace tutti {

void MapOp::build(OpBuilder &builder, OperationState &state, RankedTensorType result, Value x, AffineMap access) {
  build(builder, state, result, x, builder.getAffineMapArrayAttr(access));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.regions.front().get());
  YieldOp::create(builder, state.location, block->addArgument(scalarType(result.getElementType()), state.location));
}

void MapOp::build(OpBuilder &builder, OperationState &state, Value x) {
  build(builder, state, typeOf(x), x, builder.getMultiDimIdentityMap(typeOf(x).getRank()));
}

Value MapOp::getMoved() {
  Block &block = getBody().front();
  bool moves =
      getInputs().size() == 1 && block.without_terminator().empty() &&
      block.getTerminator()->getOperand(0) == block.getArgument(0) &&
      typeOf(getInputs()[0]).getElementType() == getType().getElementType(); // not where a sign is gained or lost
  return moves ? getInputs()[0] : Value();
}

LogicalResult MapOp::lift(LiftContext &context) {
  // The symbols are the sizes that a call decides; the first of them is now the members'.
  SmallVector<AffineMap> accesses;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    AffineMap access = getAccess(i).shiftDims(1);
    if (access.getNumSymbols() > 0 && !context.members.isFixed())
      access = access.shiftSymbols(1);
    if (context.isLifted(input))
      access = access.insertResult(getAffineDimExpr(0, getContext()), 0);
    accesses.push_back(access);
  }
  auto inputs = llvm::map_to_vector(getInputs(), [&](Value input) { return context.get(input); });
  auto now = MapOp::create(context.builder, getLoc(), addMemberAxis(typeOf(getResult()), context.members), inputs,
                           context.builder.getAffineMapArrayAttr(accesses));
  IRMapping inside;
  getBody().cloneInto(&now.getBody(), inside);
  context.setLifted(getResult(), now);
  return success();
}

/// Whether kernels can compute it: sums, products, and quotients and remainders by what is not known to be below 1.
static bool isIndex(AffineExpr expr) {
  bool fits = true;
  expr.walk([&](AffineExpr part) {
    auto divides = part.getKind() == AffineExprKind::FloorDiv || part.getKind() == AffineExprKind::Mod;
    auto by = divides ? dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS()) : AffineConstantExpr();
    fits &= part.getKind() != AffineExprKind::CeilDiv && !(by && by.getValue() < 1);
  });
  return fits;
}

LogicalResult MapOp::verify() {
  auto type = typeOf(getResult());
  Sizes sizes = getSizes(type);
  bool isEmpty = llvm::is_contained(sizes, Size(0)); // and reads nothing
  Block &body = getBody().front();
  if (getMaps().size() != getInputs().size() || body.getNumArguments() != getInputs().size())
    return emitOpError("expected one map and one argument of the body for each of ")
           << getInputs().size() << " operands, got " << getMaps().size() << " and " << body.getNumArguments();
  for (auto [i, input, attr, argument] :
       llvm::enumerate(getInputs(), getMaps().getAsRange<AffineMapAttr>(), body.getArguments())) {
    AffineMap map = attr.getValue();
    auto from = typeOf(input);
    if (map.getNumDims() != type.getRank() || map.getNumResults() != from.getRank() ||
        map.getNumSymbols() > type.getNumDynamicDims())
      return emitOpError("expected map ")
             << i << " to take " << type.getRank() << " indices and up to " << type.getNumDynamicDims() << " sizes to "
             << from.getRank() << " indices, got " << attr;
    if (!llvm::all_of(map.getResults(), isIndex))
      return emitOpError("expected map ")
             << i << " to be of sums, products, floordiv and mod by what is positive, got " << attr;
    for (auto [axis, index, size] : llvm::enumerate(map.getResults(), getSizes(from)))
      if (!isEmpty && (IndexRange::of(index, sizes).leaves(size) || leavesOpenAxis(index, sizes, size)))
        return emitOpError("expected map ")
               << i << " to stay inside axis " << axis << " of " << from << ", got " << attr;
    if (argument.getType() != scalarType(from.getElementType()))
      return emitOpError("expected argument ")
             << i << " of the body to be " << scalarType(from.getElementType()) << ", got " << argument.getType();
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getValues().getTypes() != ArrayRef<Type>(scalarType(type.getElementType())))
    return emitOpError("expected the body to yield one ") << scalarType(type.getElementType());
  auto isScalar = [](Type type) { return isElement(type) && scalarType(type) == type; };
  // Kernels on CPUs clone these on vectors.
  for (Operation &op : body.without_terminator())
    if (!(isa<arith::ConstantOp>(op) || op.hasTrait<OpTrait::Vectorizable>()) ||
        !llvm::all_of(op.getOperandTypes(), isScalar) || !llvm::all_of(op.getResultTypes(), isScalar))
      return op.emitOpError("is no op that the body of a map is made of, expected constants and functions of scalars");
  return success();
}

LogicalResult verifyEndsInYield(Operation *op) {
  Block &body = op->getRegion(0).front();
  return !body.empty() && isa<YieldOp>(body.back()) ? success()
                                                    : op->emitOpError("expected a body that ends in a tutti.yield");
}

LogicalResult YieldOp::verify() {
  Operation *parent = (*this)->getParentOp();
  if (parent && parent->hasTrait<EndsInYield>())
    return success();
  return emitOpError("expected to end the body of a tutti.map or a plan.kernel");
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Kernel.cpp.inc"
