// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that choose elements by index.
#include "Family.h"

#include <algorithm>

using namespace mlir;

namespace tutti {

//===------------------------------------------------------------------------------------------------------------===//
// gather
//===------------------------------------------------------------------------------------------------------------===//

/// A place among `length`, from the end when negative, brought into the range.
static int64_t placeOf(int64_t index, int64_t length) {
  return std::clamp<int64_t>(index < 0 ? index + length : index, 0, length - 1);
}
static bool isIndex(Type element) { return element.isSignlessInteger() && !isTruth(element); }

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                         SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName();
  auto x = typeOf(op.getX()), indices = typeOf(op.getIndices());
  Sizes sizes = getSizes(x), chosen = getSizes(indices);
  int64_t axis = op.getAxis(), batch = op.getBatch().value_or(0);
  if (!isIndex(indices.getElementType()))
    return misfit(location, name, "expected indices of a signless integer type wider than i1, got ",
                  indices.getElementType());
  if (batch < 0 || batch > indices.getRank() || batch > axis || axis >= x.getRank())
    return misfit(location, name, "expected 0 <= batch <= axis < ", x.getRank(), " and batch <= ", indices.getRank(),
                  ", got batch ", batch, " and axis ", axis);
  auto common = ArrayRef(sizes).take_front(batch);
  if (common != ArrayRef(chosen).take_front(batch))
    return misfit(location, name, "expected the first ", batch, " sizes of x, ", str(sizes), ", and of indices, ",
                  str(chosen), ", to be equal");
  // An axis without elements has none to read, out of range or not.
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
  if (batch > 0 || (liftedIndices && (liftedX || axis > 0))) { // the member axis is one more that both have
    result = GatherOp::create(builder, getLoc(), context.getLifted(getX()), context.getLifted(getIndices()), axis + 1,
                              builder.getI64IntegerAttr(batch + 1));
  } else { // the axes of members' own indices, the member axis first among them, stand at axis 0
    result =
        GatherOp::create(builder, getLoc(), context.get(getX()), context.get(getIndices()), axis + liftedX, nullptr);
  }
  context.setLifted(getResult(), result);
  return success();
}

Sizes GatherOp::mixedSizes() { return {getSizes(typeOf(getX()))[getAxis()]}; }

/// Elements chosen along the row, by indices of everybody or of the row's own.
bool GatherOp::readsOwnRow(unsigned operand) {
  int64_t last = typeOf(getX()).getRank() - 1, batch = getBatch().value_or(0);
  return int64_t(getAxis()) == last && typeOf(getIndices()).getRank() - batch == 1 && (operand == 0 || batch == last);
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
    int64_t wanted = placeOf(indices.ints[place], length);
    for (int64_t i = 0; i < static_cast<int64_t>(x.dims.size()); ++i)
      source += strides[i] * (i < axis ? index[i] : i == axis ? wanted : index[i - 1 + chosen]);
    return source;
  });
}

//===------------------------------------------------------------------------------------------------------------===//
// windows
//===------------------------------------------------------------------------------------------------------------===//

static SmallVector<WindowAxis> windowAxes(ArrayRef<int64_t> image, ArrayRef<int64_t> length, ArrayRef<int64_t> step,
                                          ArrayRef<int64_t> count, ArrayRef<int64_t> gap, ArrayRef<int64_t> before) {
  SmallVector<WindowAxis> all;
  for (size_t i = 0; i < image.size(); ++i)
    all.push_back({image[i], length[i], step[i], count[i], gap[i], before[i]});
  return all;
}

SmallVector<WindowAxis> WindowsOp::axes() {
  return windowAxes(getImage(), getLength(), getStep(), getCount(), getGap(), getBefore());
}

LogicalResult WindowsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                          SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName();
  auto x = typeOf(op.getX());
  size_t axes = op.getImage().size();
  for (ArrayRef<int64_t> others : {op.getLength(), op.getStep(), op.getCount(), op.getGap(), op.getBefore()})
    if (others.size() != axes)
      return misfit(location, name, "expected a number for each of the image's ", axes, " axes, got ", others.size());
  constexpr int64_t most = mostAlongWindowAxis;
  int64_t image = 1, windows = 1, elements = 1;
  for (const WindowAxis &along :
       windowAxes(op.getImage(), op.getLength(), op.getStep(), op.getCount(), op.getGap(), op.getBefore())) {
    for (int64_t number : {along.size, along.length, along.stride, along.count, along.gap})
      if (number < 1 || number > most || along.before < 0 || along.before >= most)
        return misfit(location, name, "expected numbers from 1 to ", most, " (before: from 0), got ", number,
                      " and before ", along.before);
    if (llvm::MulOverflow(image, along.size, image) || llvm::MulOverflow(windows, along.count, windows) ||
        llvm::MulOverflow(elements, along.length, elements) || windows > mostWindowPlaces ||
        elements > mostWindowPlaces / windows)
      return misfit(location, name, "expected at most ", mostWindowPlaces, " elements in all windows");
  }
  Sizes sizes = getSizes(x);
  if (sizes.size() < 2 || sizes[sizes.size() - 2] != Size(image))
    return misfit(location, name, "expected rows, an image of ", image, " elements, and channels, got ", str(sizes));
  std::optional<Size> columns = sizes.back().times(Size(elements));
  if (!columns)
    return misfit(location, name, "expected fewer elements than 2^63");
  sizes[sizes.size() - 2] = Size(windows);
  sizes.back() = *columns;
  inferred.push_back(getTensorType(sizes, x.getElementType()));
  return success();
}

LogicalResult WindowsOp::lift(LiftContext &context) {
  context.setLifted(getResult(),
                    WindowsOp::create(context.builder, getLoc(), context.get(getX()), getLength(), getImage(),
                                      getCount(), getStep(), getGap(), getBefore(), getOutside()));
  return success();
}

Sizes WindowsOp::mixedSizes() {
  Sizes sizes = getSizes(typeOf(getX()));
  return {sizes[sizes.size() - 2], sizes.back()};
}

FailureOr<HostTensor> WindowsOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  SmallVector<int64_t> places = windowPlaces(axes(), getOutside()), dims(x.dims);
  int64_t channels = dims.back(), image = dims[dims.size() - 2], windows = llvm::product_of(getCount());
  dims[dims.size() - 2] = windows;
  dims.back() = channels * (int64_t(places.size()) / windows);
  HostTensor y = HostTensor::zeros(x.element, dims);
  for (int64_t i = 0, all = places.size() * channels; all > 0 && i < y.count(); ++i) {
    int64_t row = i / all, place = places[i % all / channels], from = (row * image + place) * channels + i % channels;
    if (place >= 0)
      y.take(i, x, from);
  }
  return y;
}

//===------------------------------------------------------------------------------------------------------------===//
// scatter
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                          SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName();
  auto x = typeOf(op.getX()), indices = typeOf(op.getIndices()), updates = typeOf(op.getUpdates());
  Sizes sizes = getSizes(x), places = getSizes(indices);
  Type element = x.getElementType();
  if (!isIndex(indices.getElementType()))
    return misfit(location, name, "expected indices of a signless integer type wider than i1, got ",
                  indices.getElementType());
  if (updates.getElementType() != element)
    return misfit(location, name, "expected updates of x's element type ", element, ", got ", updates.getElementType());
  if (op.getKind() != ScatterKind::set && !isa<FloatType>(element) && !isIndex(element) && !element.isUnsignedInteger())
    return misfit(location, name, "expected numbers to combine, got elements of type ", element);
  Sizes given = getSizes(updates), each = given;
  int64_t width = op.getWidth().value_or(1);
  std::optional<Size> blocks, kept;
  if (width > 0 && !given.empty() && !sizes.empty()) {
    blocks = given.back().dividedBy(Size(width));
    kept = sizes.back().dividedBy(Size(width));
  }
  if (!blocks || !kept)
    return misfit(location, name, "expected rows of blocks of ", width, " elements, got x ", str(sizes),
                  " and updates ", str(given));
  each.back() = *blocks;
  if (given != places && each != places)
    return misfit(location, name, "expected an index for each update ", str(given), ", got ", str(places));
  if (sizes.size() != places.size() || ArrayRef(sizes).drop_back() != ArrayRef(places).drop_back())
    return misfit(location, name, "expected the rows of x ", str(sizes), " and of indices ", str(places),
                  " to be equal");
  // A row without elements has none to write.
  if (sizes.back() == Size(0) && !llvm::is_contained(places, Size(0)))
    return misfit(location, name, "expected at least one element along the last axis of x, got ", str(sizes));
  inferred.push_back(x);
  return success();
}

LogicalResult ScatterOp::lift(LiftContext &context) {
  context.setLifted(getResult(), ScatterOp::create(context.builder, getLoc(), getKind(), context.getLifted(getX()),
                                                   context.getLifted(getIndices()), context.getLifted(getUpdates()),
                                                   getWidthAttr()));
  return success();
}

Sizes ScatterOp::mixedSizes() { return {getSizes(typeOf(getX())).back(), getSizes(typeOf(getIndices())).back()}; }

bool ScatterOp::isRowPhase() { return true; }

Value ScatterOp::buildCombine(OpBuilder &builder, Value element, Value update) {
  Type type = getElementTypeOrSelf(update);
  bool isFloat = isa<FloatType>(type);
  if (isFloat && type.getIntOrFloatBitWidth() == 16 && getKind() != ScatterKind::set) { // in float32, rounded once
    Location loc = getLoc();
    Value all = buildCombine(builder, widened(builder, loc, element), widened(builder, loc, update));
    return narrowed(builder, loc, all, type);
  }
  auto make = [&](auto op) -> Value { return decltype(op)::create(builder, getLoc(), element, update); };
  bool isUnsigned = typeOf(getX()).getElementType().isUnsignedInteger();
  switch (getKind()) {
  case ScatterKind::set:
    return update;
  case ScatterKind::add:
    return isFloat ? make(arith::AddFOp()) : make(arith::AddIOp());
  case ScatterKind::mul:
    return isFloat ? make(arith::MulFOp()) : make(arith::MulIOp());
  case ScatterKind::min:
    return isFloat ? make(arith::MinimumFOp()) : isUnsigned ? make(arith::MinUIOp()) : make(arith::MinSIOp());
  case ScatterKind::max:
    return isFloat ? make(arith::MaximumFOp()) : isUnsigned ? make(arith::MaxUIOp()) : make(arith::MaxSIOp());
  }
  llvm_unreachable("every kind is listed");
}

/// The element after an update, as `buildCombine` computes it.
static double combined(ScatterKind kind, double element, double update) {
  switch (kind) {
  case ScatterKind::set:
    return update;
  case ScatterKind::add:
    return element + update;
  case ScatterKind::mul:
    return element * update;
  case ScatterKind::min:
    return minimum(element, update);
  case ScatterKind::max:
    return maximum(element, update);
  }
  llvm_unreachable("every kind is listed");
}

static int64_t combined(ScatterKind kind, int64_t element, int64_t update, Type type) {
  auto a = static_cast<uint64_t>(element), b = static_cast<uint64_t>(update);
  switch (kind) {
  case ScatterKind::set:
    return update;
  case ScatterKind::add:
    return wrapped(a + b, type);
  case ScatterKind::mul:
    return wrapped(a * b, type);
  case ScatterKind::min:
    return type.isUnsignedInteger() ? std::min(a, b) : std::min(element, update);
  case ScatterKind::max:
    return type.isUnsignedInteger() ? std::max(a, b) : std::max(element, update);
  }
  llvm_unreachable("every kind is listed");
}

FailureOr<HostTensor> ScatterOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  HostTensor y = operands[0];
  const HostTensor &indices = operands[1], &updates = operands[2];
  int64_t width = getWidth().value_or(1), length = y.dims.back(), each = updates.dims.back();
  bool ofBlocks = indices.dims.back() != each; // an index for each block
  for (int64_t i = 0; i < updates.count(); ++i) {
    int64_t place = placeOf(indices.ints[ofBlocks ? i / width : i], length / width);
    int64_t to = i / each * length + place * width + i % width;
    if (y.isFloat())
      y.floats[to] = context.round(combined(getKind(), y.floats[to], updates.floats[i]), y.element);
    else
      y.ints[to] = combined(getKind(), y.ints[to], updates.ints[i], y.element);
  }
  return y;
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Index.cpp.inc"
