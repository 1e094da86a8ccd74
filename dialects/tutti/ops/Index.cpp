// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that choose elements by index.
#include "Family.h"

using namespace mlir;

namespace tutti {

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &inferred) {
  Adaptor op(operands, attributes, properties, regions);
  StringRef name = getOperationName();
  auto x = tensorOf(op.getX()), indices = tensorOf(op.getIndices());
  Sizes sizes = getSizes(x), chosen = getSizes(indices);
  int64_t axis = op.getAxis(), batch = op.getBatch().value_or(0);
  if (!indices.getElementType().isSignlessInteger() || isTruth(indices.getElementType()))
    return misfit(location, name, "expected indices of a signless integer type wider than i1, got ",
                  indices.getElementType());
  if (batch < 0 || batch > indices.getRank() || batch > axis || axis >= x.getRank())
    return misfit(location, name, "expected 0 <= batch <= axis < ", x.getRank(), " and batch <= ", indices.getRank(),
                  ", got batch ", batch, " and axis ", axis);
  auto common = ArrayRef(sizes).take_front(batch);
  if (common != ArrayRef(chosen).take_front(batch))
    return misfit(location, name, "expected the first ", batch, " sizes of x, ", str(sizes), ", and of indices, ",
                  str(chosen), ", to be equal");
  // Of no elements there is none to read, out of range or not.
  if (sizes[axis] == Size(0) && !llvm::is_contained(chosen, Size(0)))
    return misfit(location, name, "expected at least one element along axis ", axis, " of x, got ", str(sizes));
  Sizes result(ArrayRef(sizes).take_front(axis));
  result.append(chosen.begin() + batch, chosen.end());
  result.append(sizes.begin() + axis + 1, sizes.end());
  inferred.push_back(getTensorType(result, x.getElementType()));
  return success();
}

LogicalResult GatherOp::lift(LiftContext &context) {
  OpBuilder &builder = context.builder;
  int64_t axis = getAxis(), batch = getBatch().value_or(0);
  bool liftedX = context.isLifted(getX()), liftedIndices = context.isLifted(getIndices());
  Value result;
  if (batch > 0 || (liftedX && liftedIndices)) { // the member axis is one more that both have
    result = GatherOp::create(builder, getLoc(), context.getLifted(getX()), context.getLifted(getIndices()), axis + 1,
                              builder.getI64IntegerAttr(batch + 1));
  } else if (liftedX) {
    result = GatherOp::create(builder, getLoc(), context.get(getX()), context.get(getIndices()), axis + 1, nullptr);
  } else { // the axes of the indices, the member axis first among them, stand at `axis`
    result = GatherOp::create(builder, getLoc(), context.get(getX()), context.get(getIndices()), axis, nullptr);
    SmallVector<int64_t> permutation = axesFrom(0, tensorOf(result).getRank());
    permutation.erase(permutation.begin() + axis);
    permutation.insert(permutation.begin(), axis);
    if (axis != 0)
      result = TransposeOp::create(builder, getLoc(), result, permutation);
  }
  context.setLifted(getResult(), result);
  return success();
}

FailureOr<HostTensor> GatherOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0], &indices = operands[1];
  int64_t axis = getAxis(), batch = getBatch().value_or(0), chosen = indices.dims.size() - batch, length = x.dims[axis];
  SmallVector<int64_t> dims(ArrayRef(x.dims).take_front(axis));
  dims.append(indices.dims.begin() + batch, indices.dims.end());
  dims.append(x.dims.begin() + axis + 1, x.dims.end());
  SmallVector<int64_t> strides = x.strides(), indexStrides = indices.strides();
  return rearranged(x, dims, [&](ArrayRef<int64_t> index) {
    int64_t place = 0, source = 0;
    for (int64_t i = 0; i < batch; ++i)
      place += index[i] * indexStrides[i];
    for (int64_t i = 0; i < chosen; ++i)
      place += index[axis + i] * indexStrides[batch + i];
    int64_t wanted = indices.ints[place];
    wanted = std::clamp<int64_t>(wanted < 0 ? wanted + length : wanted, 0, length - 1);
    for (int64_t i = 0; i < static_cast<int64_t>(x.dims.size()); ++i)
      source += strides[i] * (i < axis ? index[i] : i == axis ? wanted : index[i - 1 + chosen]);
    return source;
  });
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Index.cpp.inc"
