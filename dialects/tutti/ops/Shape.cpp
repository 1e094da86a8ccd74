// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that move elements and compute nothing.
#include "Family.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tutti {

//===------------------------------------------------------------------------------------------------------------===//
// reshape
//===------------------------------------------------------------------------------------------------------------===//

static LogicalResult verifyElement(Operation *op, Value x, Value result) {
  if (typeOf(x).getElementType() == typeOf(result).getElementType())
    return success();
  return op->emitOpError("expected a result of x's element type ")
         << typeOf(x).getElementType() << ", got " << typeOf(result).getElementType();
}

LogicalResult ReshapeOp::verify() {
  Sizes from = getSizes(typeOf(getX())), to = getSizes(typeOf(getResult()));
  std::optional<Size> given = product(from), wanted = product(to);
  if (!given || !wanted || *given != *wanted)
    return emitOpError("expected as many elements as x ") << str(from) << " has, got " << str(to);
  return verifyElement(*this, getX(), getResult());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto before = getX().getDefiningOp<ReshapeOp>();
  if (!before)
    return {};
  if (before.getX().getType() == getType())
    return before.getX();
  getXMutable().assign(before.getX());
  return getResult();
}

LogicalResult ReshapeOp::lift(LiftContext &context) {
  auto type = addMemberAxis(typeOf(getResult()), context.members);
  context.setLifted(getResult(), ReshapeOp::create(context.builder, getLoc(), type, context.get(getX())));
  return success();
}

Sizes ReshapeOp::mixedSizes() {
  Sizes from = getSizes(typeOf(getX()));
  std::optional<AxisRuns> run = mixedByReshape(from, getSizes(typeOf(getResult())));
  if (!run)
    return {};
  auto mixed = ArrayRef(from).slice(run->first[0], run->count[0]);
  std::optional<Size> all = product(mixed);
  return all ? Sizes{*all} : Sizes(mixed);
}

/// The sizes of a type as affine expressions: constants, and symbol i for the i-th `?`.
static SmallVector<AffineExpr> sizeExprs(RankedTensorType type) {
  SmallVector<AffineExpr> exprs;
  unsigned symbols = 0;
  for (int64_t length : type.getShape())
    exprs.push_back(ShapedType::isDynamic(length) ? getAffineSymbolExpr(symbols++, type.getContext())
                                                  : getAffineConstantExpr(length, type.getContext()));
  return exprs;
}

/// Operand axes [begin, end) from `linear`, their row-major index. Fails when an axis but the first is no fixed size,
/// as it would be a divisor.
static LogicalResult delinearize(AffineExpr linear, ArrayRef<Size> sizes, MutableArrayRef<AffineExpr> exprs) {
  int64_t inner = 1;
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
    AffineExpr quotient = linear.floorDiv(inner);
    // The first axis that is not of length 1 needs no remainder: nothing is outside of it.
    bool first = llvm::all_of(sizes.take_front(i), [](const Size &size) { return size == Size(1); });
    if (sizes[i] == Size(1))
      exprs[i] = getAffineConstantExpr(0, linear.getContext());
    else if (first)
      exprs[i] = quotient;
    else if (!sizes[i].isFixed() || llvm::MulOverflow(inner, sizes[i].getFixed(), inner))
      return failure();
    else
      exprs[i] = quotient % sizes[i].getFixed();
  }
  return success();
}

FailureOr<AffineMap> reshapeMap(RankedTensorType operand, RankedTensorType type) {
  MLIRContext *context = type.getContext();
  Sizes from = getSizes(operand), to = getSizes(type);
  SmallVector<AffineExpr> lengths = sizeExprs(type), exprs(from.size(), getAffineConstantExpr(0, context));
  if (llvm::is_contained(to, Size(0)))
    return operandMapOf(type, exprs);

  // A run of the result's axes, read row-major, is a run of the operand's.
  std::optional<SmallVector<AxisRuns>> runs = matchAxes(to, from);
  if (!runs)
    return failure();
  for (const AxisRuns &run : *runs) {
    AffineExpr linear = getAffineConstantExpr(0, context);
    for (unsigned axis = run.first[0]; axis < run.first[0] + run.count[0]; ++axis)
      if (to[axis] != Size(1))
        linear = linear * lengths[axis] + getAffineDimExpr(axis, context);
    if (failed(delinearize(linear, ArrayRef(from).slice(run.first[1], run.count[1]),
                           MutableArrayRef(exprs).slice(run.first[1], run.count[1]))))
      return failure();
  }
  return operandMapOf(type, exprs);
}

FailureOr<AffineMap> ReshapeOp::operandMap() { return reshapeMap(typeOf(getX()), typeOf(getResult())); }

FailureOr<HostTensor> ReshapeOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  HostTensor y = operands[0];
  y.dims = context.dimsOf(typeOf(getResult()));
  return y;
}

//===------------------------------------------------------------------------------------------------------------===//
// broadcast
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  Sizes from = getSizes(typeOf(getX())), to = getSizes(typeOf(getResult()));
  std::optional<Sizes> both = broadcast(from, to);
  if (!both || *both != to)
    return emitOpError("expected a shape that x ") << str(from) << " broadcasts to, got " << str(to);
  return verifyElement(*this, getX(), getResult());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) { return getX().getType() == getType() ? getX() : OpFoldResult(); }

LogicalResult BroadcastOp::lift(LiftContext &context) {
  auto type = typeOf(getResult());
  Value x = context.getAligned(getX(), type.getRank());
  context.setLifted(getResult(),
                    BroadcastOp::create(context.builder, getLoc(), addMemberAxis(type, context.members), x));
  return success();
}

Sizes BroadcastOp::mixedSizes() { return {}; }

AffineMap broadcastMap(RankedTensorType from, RankedTensorType to) {
  Sizes sizes = getSizes(from);
  unsigned missing = to.getRank() - sizes.size();
  SmallVector<AffineExpr> exprs;
  for (auto [axis, size] : llvm::enumerate(sizes))
    exprs.push_back(size == Size(1) ? getAffineConstantExpr(0, to.getContext())
                                    : getAffineDimExpr(missing + axis, to.getContext()));
  return AffineMap::get(to.getRank(), 0, exprs, to.getContext());
}

FailureOr<AffineMap> BroadcastOp::operandMap() {
  auto type = typeOf(getResult());
  return operandMapOf(type, broadcastMap(typeOf(getX()), type).getResults());
}

FailureOr<HostTensor> BroadcastOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  SmallVector<int64_t> strides = x.strides();
  SmallVector<int64_t> dims = context.dimsOf(typeOf(getResult()));
  return rearranged(x, dims, [&](ArrayRef<int64_t> index) {
    int64_t source = 0;
    for (auto [i, length, stride] : llvm::zip_equal(index.take_back(x.dims.size()), x.dims, strides))
      source += length == 1 ? 0 : i * stride;
    return source;
  });
}

//===------------------------------------------------------------------------------------------------------------===//
// transpose
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                            SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(op.getX());
  ArrayRef<int64_t> permutation = op.getPermutation();
  if (int64_t(permutation.size()) != type.getRank() || !isPermutationVector(permutation))
    return misfit(location, getOperationName(), "expected a permutation of the ", type.getRank(), " axes of x, got [",
                  permutation, "]");
  Sizes sizes = getSizes(type);
  applyPermutationToVector(sizes, permutation);
  inferred.push_back(getTensorType(sizes, type.getElementType()));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (getPermutation() == ArrayRef<int64_t>(axesOf(getPermutation().size())))
    return getX();
  auto before = getX().getDefiningOp<TransposeOp>();
  if (!before)
    return {};
  SmallVector<int64_t> both = applyPermutation(before.getPermutation(), getPermutation());
  getXMutable().assign(before.getX());
  setPermutation(both);
  return getResult();
}

LogicalResult TransposeOp::lift(LiftContext &context) {
  SmallVector<int64_t> permutation = shifted(getPermutation());
  permutation.insert(permutation.begin(), 0);
  context.setLifted(getResult(), TransposeOp::create(context.builder, getLoc(), context.get(getX()), permutation));
  return success();
}

Sizes TransposeOp::mixedSizes() { return {}; }

FailureOr<AffineMap> TransposeOp::operandMap() {
  SmallVector<AffineExpr> exprs(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    exprs[from] = getAffineDimExpr(to, getContext());
  return operandMapOf(typeOf(getResult()), exprs);
}

FailureOr<HostTensor> TransposeOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  SmallVector<int64_t> strides = applyPermutation(x.strides(), getPermutation());
  return rearranged(x, applyPermutation(x.dims, getPermutation()),
                    [&](ArrayRef<int64_t> index) { return linearize(index, strides); });
}

//===------------------------------------------------------------------------------------------------------------===//
// slice
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                        SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName();
  auto type = typeOf(op.getX());
  size_t rank = type.getRank();
  if (op.getStarts().size() != rank || op.getSizes().size() != rank || op.getSteps().size() != rank)
    return misfit(location, name, "expected a start, a size and a step for each of ", rank, " axes, got ",
                  op.getStarts().size(), ", ", op.getSizes().size(), " and ", op.getSteps().size());
  Sizes sizes = tutti::getSizes(type);
  for (auto [axis, start, size, step] : llvm::enumerate(op.getStarts(), op.getSizes(), op.getSteps())) {
    if (size == -1 && start == 0 && step == 1)
      continue;
    if (!sizes[axis].isFixed())
      return misfit(location, name, "expected axis ", axis, " of size ", sizes[axis].str(),
                    " to be taken whole (start 0, size -1, step 1), got start ", start, ", size ", size, ", step ",
                    step);
    // The last element's place, without overflow for any numbers that a file may contain.
    __int128 last = __int128(start) + (__int128(size) - 1) * step;
    int64_t length = sizes[axis].getFixed();
    if (size < 0 || step == 0 || step > INT32_MAX || step < -INT32_MAX ||
        (size > 0 && (start < 0 || start >= length || last < 0 || last >= length)))
      return misfit(location, name, "expected elements within axis ", axis, " of size ", length, ", got start ", start,
                    ", size ", size, ", step ", step);
    sizes[axis] = Size(size);
  }
  inferred.push_back(getTensorType(sizes, type.getElementType()));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // A slice of x's own type with unit steps takes everything.
  bool whole = getX().getType() == getType() && llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  return whole ? getX() : OpFoldResult();
}

LogicalResult SliceOp::lift(LiftContext &context) {
  auto behind = [](int64_t first, ArrayRef<int64_t> rest) {
    SmallVector<int64_t> all = {first};
    all.append(rest.begin(), rest.end());
    return all;
  };
  auto now = SliceOp::create(context.builder, getLoc(), context.get(getX()), behind(0, getStarts()),
                             behind(-1, getSizes()), behind(1, getSteps()));
  context.setLifted(getResult(), now);
  return success();
}

Sizes SliceOp::mixedSizes() { return {}; }

FailureOr<AffineMap> SliceOp::operandMap() {
  SmallVector<AffineExpr> exprs;
  for (auto [axis, start, step] : llvm::enumerate(getStarts(), getSteps()))
    exprs.push_back(getAffineDimExpr(axis, getContext()) * step + start);
  return operandMapOf(typeOf(getResult()), exprs);
}

FailureOr<HostTensor> SliceOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  SmallVector<int64_t> strides = x.strides(), dims = x.dims;
  for (auto [length, size] : llvm::zip_equal(dims, getSizes()))
    length = size == -1 ? length : size;
  return rearranged(x, dims, [&](ArrayRef<int64_t> index) {
    int64_t source = 0;
    for (auto [i, start, step, stride] : llvm::zip_equal(index, getStarts(), getSteps(), strides))
      source += (start + step * i) * stride;
    return source;
  });
}

//===------------------------------------------------------------------------------------------------------------===//
// concat
//===------------------------------------------------------------------------------------------------------------===//

/// The sum of two sizes over the same symbols.
static std::optional<Size> sum(const Size &a, const Size &b) {
  if (a.getSymbols() != b.getSymbols())
    return std::nullopt;
  int64_t factor;
  if (llvm::AddOverflow(a.getFactor(), b.getFactor(), factor))
    return std::nullopt;
  if (a.getFactor() == 0)
    return b;
  return a.isFixed() ? Size(factor) : a.dividedBy(Size(a.getFactor()))->times(Size(factor));
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                         SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName();
  ValueRange operands = op.getOperands();
  if (operands.empty())
    return misfit(location, name, "expected at least one operand");
  for (Type given : operands.getTypes()) // types are inferred before operands' are checked
    if (!isa<RankedTensorType>(given))
      return misfit(location, name, "expected ranked tensors, got ", given);
  auto type = typeOf(operands.front());
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return misfit(location, name, "expected an axis of the operands ", str(getSizes(type)), ", got ", axis);
  Sizes sizes = getSizes(type);
  for (Value operand : operands.drop_front()) {
    auto next = typeOf(operand);
    Sizes more = getSizes(next), expected = getSizes(type);
    if (next.getElementType() != type.getElementType())
      return misfit(location, name, "expected equal element types, got ", type.getElementType(), " and ",
                    next.getElementType());
    std::optional<Size> length;
    if (more.size() == sizes.size()) {
      length = sum(sizes[axis], more[axis]);
      expected[axis] = more[axis];
    }
    if (!length || more != expected)
      return misfit(location, name, "expected shapes that are equal but for axis ", axis, ", got ", str(getSizes(type)),
                    " and ", str(more));
    sizes[axis] = *length;
  }
  inferred.push_back(getTensorType(sizes, type.getElementType()));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) { return getInputs().size() == 1 ? getInputs().front() : OpFoldResult(); }

LogicalResult ConcatOp::lift(LiftContext &context) {
  auto inputs = llvm::map_to_vector(getInputs(), [&](Value input) { return context.getLifted(input); });
  context.setLifted(getResult(), ConcatOp::create(context.builder, getLoc(), inputs, getAxis() + 1));
  return success();
}

Sizes ConcatOp::mixedSizes() {
  return llvm::map_to_vector(getInputs(), [&](Value input) { return getSizes(typeOf(input))[getAxis()]; });
}

bool ConcatOp::readsOwnRow(unsigned) { return int64_t(getAxis()) == typeOf(getResult()).getRank() - 1; }

FailureOr<HostTensor> ConcatOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  int64_t axis = getAxis();
  SmallVector<int64_t> dims = operands[0].dims;
  dims[axis] = 0;
  for (const HostTensor &operand : operands)
    dims[axis] += operand.dims[axis];
  HostTensor y = HostTensor::zeros(operands[0].element, dims);
  SmallVector<int64_t> strides = y.strides();
  int64_t offset = 0;
  for (const HostTensor &x : operands) {
    int64_t from = 0;
    forEachIndex(x.dims, [&](ArrayRef<int64_t> index) {
      y.take(offset * strides[axis] + linearize(index, strides), x, from++);
    });
    offset += x.dims[axis];
  }
  return y;
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Shape.cpp.inc"
