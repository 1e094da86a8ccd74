// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters, constants, heads, and the user's own vmap.
#include "Family.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;

namespace tutti {

//===------------------------------------------------------------------------------------------------------------===//
// param, get, constant
//===------------------------------------------------------------------------------------------------------------===//

static SmallVector<Attribute> listOf(std::optional<Attribute> values) {
  auto list = dyn_cast_or_null<ArrayAttr>(values.value_or(Attribute()));
  return list ? llvm::to_vector(list) : values ? SmallVector<Attribute>{*values} : SmallVector<Attribute>{};
}

SmallVector<ElementsAttr> ParamOp::eachValue() {
  return llvm::map_to_vector(listOf(getValues()), llvm::CastTo<ElementsAttr>);
}

LogicalResult ParamOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  for (Attribute value : listOf(getValues())) {
    auto elements = dyn_cast<ElementsAttr>(value);
    if (!elements)
      return emitOpError("@") << getSymName() << ": expected values of the type " << type
                              << ", got what has no elements";
    if (elements.getShapedType() != type)
      return emitOpError("@") << getSymName() << ": expected values of the type " << type << ", got "
                              << elements.getShapedType();
  }
  if (auto perm = getPerm(); perm && (int64_t(perm->size()) != type.getRank() || !isPermutationVector(*perm)))
    return emitOpError("@") << getSymName() << ": expected perm to be a permutation of " << type.getRank()
                            << " axes, got " << getPermAttr();
  return success();
}

LogicalResult GetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto param = symbols.lookupNearestSymbolFrom<ParamOp>(*this, getParamAttr());
  if (!param)
    return emitOpError("expected the name of a tutti.param, got ") << getParamAttr();
  auto type = cast<RankedTensorType>(param.getType());
  auto own = cast<RankedTensorType>(getType());
  bool lifted = param.getPerMember() && isLifted(own) && own == addMemberAxis(type, getSizes(own).front());
  if (getType() != type && !lifted)
    return emitOpError("expected the type ")
           << type << " of parameter " << getParamAttr()
           << (param.getPerMember() ? ", or it with the member axis in front" : "") << ", got " << getType();
  return success();
}

LogicalResult GetOp::lift(LiftContext &context) {
  auto param = context.symbols.lookupNearestSymbolFrom<ParamOp>(*this, getParamAttr());
  if (!param || !param.getPerMember())
    return emitOpError("expected a per-member parameter to lift, got ") << getParamAttr();
  auto type = addMemberAxis(typeOf(getResult()), context.members);
  context.setLifted(getResult(), GetOp::create(context.builder, getLoc(), type, getParamAttr()));
  return success();
}

Sizes GetOp::mixedSizes() { return {}; }

FailureOr<HostTensor> GetOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor>) {
  if (!context.param)
    return emitOpError("cannot be evaluated without the parameters' values");
  return context.param(getParam());
}

ConstantOp ConstantOp::ofNumber(OpBuilder &builder, Location loc, TypedAttr number) {
  return create(builder, loc, DenseElementsAttr::get(RankedTensorType::get({}, number.getType()), Attribute(number)));
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::lift(LiftContext &) { return emitOpError("has no operand that could be lifted"); }

Sizes ConstantOp::mixedSizes() { return {}; }

FailureOr<HostTensor> ConstantOp::evaluate(EvaluateContext &, ArrayRef<HostTensor>) {
  return HostTensor::fromAttr(getValue());
}

//===------------------------------------------------------------------------------------------------------------===//
// head
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult HeadOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                       SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName(), kind = stringifyHeadKind(op.getKind());
  auto type = typeOf(op.getX());
  Type element = type.getElementType();
  Sizes sizes = getSizes(type);
  bool isFloat = isa<FloatType>(element), isVote = op.getKind() == HeadKind::vote;
  if (!isFloat && !isInteger(element))
    return misfit(location, name, "expected elements of a float type or an integer, got ", element);
  bool ofScores = isVote && isFloat;
  size_t needed = ofScores ? 2 : 1;
  if (sizes.size() < needed)
    return misfit(location, name, "expected at least ", needed, " axes for ", kind, ", got ", str(sizes));
  if (sizes.front() == Size(0))
    return misfit(location, name, "expected at least one member, got ", str(sizes));
  if (ofScores && sizes.back() == Size(0))
    return misfit(location, name, "expected at least one score to vote by, got ", str(sizes));
  if ((op.getKind() == HeadKind::quantile) != op.getQ().has_value())
    return misfit(location, name, "expected `at` a number for quantile and for no other kind, got ", kind);
  if (op.getQ() && !(op.getQ()->convertToDouble() >= 0 && op.getQ()->convertToDouble() <= 1))
    return misfit(location, name, "expected a quantile from 0 to 1, got ", op.getQ()->convertToDouble());
  sizes.erase(sizes.begin());
  if (ofScores)
    sizes.pop_back();
  if (isVote)
    element = IntegerType::get(type.getContext(), 64);
  else if (!isFloat && op.getKind() != HeadKind::min && op.getKind() != HeadKind::max)
    element = Float32Type::get(type.getContext());
  inferred.push_back(getTensorType(sizes, element));
  return success();
}

/// A vote of scores mixes the last axis: members vote by the place of the largest along it.
Sizes HeadOp::mixedSizes() { return votesByScores() ? Sizes{getSizes(typeOf(getX())).back()} : Sizes(); }

bool HeadOp::votesByScores() { return getKind() == HeadKind::vote && isa<FloatType>(typeOf(getX()).getElementType()); }

bool HeadOp::comparesElements() { return true; }

bool HeadOp::readsOwnRow(unsigned) { return true; }

LogicalResult HeadOp::lift(LiftContext &context) {
  // Over the inner axis for each index of the outer one: the inner axis goes in front, where the head wants it.
  Value x = context.get(getX());
  SmallVector<int64_t> permutation = axesOf(typeOf(x).getRank());
  std::swap(permutation[0], permutation[1]);
  x = TransposeOp::create(context.builder, getLoc(), x, permutation);
  context.setLifted(getResult(), HeadOp::create(context.builder, getLoc(), getKind(), x, getQAttr()));
  return success();
}

/// The most frequent of the values; the smallest of those that are equally frequent.
static int64_t mostFrequent(ArrayRef<int64_t> values) {
  std::map<int64_t, int64_t> counts;
  for (int64_t value : values)
    ++counts[value];
  return std::max_element(counts.begin(), counts.end(), [](auto &a, auto &b) { return a.second < b.second; })->first;
}

/// The result of a head other than vote for floats, which are in the order of the set.
static double headOf(HeadKind kind, double q, std::vector<double> x, llvm::function_ref<double(double)> round) {
  double count = x.size(), mean = 0;
  bool nan = llvm::any_of(x, [](double value) { return std::isnan(value); });
  if (kind == HeadKind::min || kind == HeadKind::max || kind == HeadKind::quantile) {
    if (nan)
      return std::nan("");
    if (kind != HeadKind::quantile)
      return std::accumulate(x.begin(), x.end(), x.front(), kind == HeadKind::min ? minimum : maximum);
    llvm::sort(x, [](double a, double b) { return a < b || (a == b && std::signbit(a) > std::signbit(b)); });
    double place = q * (count - 1), below = std::floor(place);
    double low = x[below], high = x[std::min(below + 1, count - 1)], weight = round(place - below);
    bool isLow = weight == 0 || low == high || (std::isinf(low) && !std::isinf(high));
    return isLow ? low : round(low + round(weight * round(high - low)));
  }
  for (double value : x)
    mean = round(mean + value);
  mean = round(mean / count);
  if (kind == HeadKind::mean)
    return mean;
  double squares = 0;
  for (double value : x) {
    double difference = round(value - mean);
    squares = round(squares + round(difference * difference));
  }
  double variance = round(squares / count);
  return kind == HeadKind::var ? variance : round(std::sqrt(variance));
}

FailureOr<HostTensor> HeadOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  HeadKind kind = getKind();
  int64_t members = x.dims[0], each = members ? x.count() / members : 0;
  SmallVector<int64_t> dims(ArrayRef(x.dims).drop_front());
  Type element = typeOf(getResult()).getElementType();
  std::vector<int64_t> votes(members);

  if (kind == HeadKind::vote && x.isFloat()) {
    int64_t classes = dims.pop_back_val();
    HostTensor y = HostTensor::zeros(element, dims);
    for (int64_t i = 0, count = y.count(); i < count; ++i) {
      for (int64_t member = 0; member < members; ++member) {
        const double *scores = &x.floats[member * each + i * classes];
        int64_t best = 0;
        for (int64_t c = 1; c < classes; ++c) // a choice: as the declared type has the scores
          if (isChosenBefore(nearest(scores[c], x.element), nearest(scores[best], x.element), /*largest=*/true))
            best = c;
        votes[member] = best;
      }
      y.ints[i] = mostFrequent(votes);
    }
    return y;
  }

  HostTensor y = HostTensor::zeros(element, dims), inSet = inOrder(x);
  int64_t turned = x.element.isUnsignedInteger(64) ? INT64_MIN : 0;
  for (int64_t i = 0; i < each; ++i) {
    if (!y.isFloat()) { // vote, min or max of integers
      for (int64_t member = 0; member < members; ++member)
        votes[member] = inSet.ints[member * each + i];
      y.ints[i] = turned ^ (kind == HeadKind::vote  ? mostFrequent(votes)
                            : kind == HeadKind::min ? *llvm::min_element(votes)
                                                    : *llvm::max_element(votes));
      continue;
    }
    std::vector<double> values(members);
    for (int64_t member = 0; member < members; ++member)
      values[member] = x.isFloat()   ? x.floats[member * each + i]
                       : turned != 0 ? nearest(static_cast<uint64_t>(x.ints[member * each + i]), element)
                                     : nearest(x.ints[member * each + i], element);
    double q = getQ() ? getQ()->convertToDouble() : 0;
    y.floats[i] = headOf(kind, q, values, [&](double value) { return context.round(value, element); });
  }
  return y;
}

//===------------------------------------------------------------------------------------------------------------===//
// part, join
//===------------------------------------------------------------------------------------------------------------===//

/// `part` has, of the members of a group of this size, what `whole` has of all.
static bool isPartOf(RankedTensorType part, RankedTensorType whole, const Size &group) {
  return isLifted(whole) && getSizes(whole).front() == activeSize() && part.getRank() == whole.getRank() &&
         part == addMemberAxis(dropMemberAxis(whole), group);
}

Sizes PartOp::mixedSizes() { return {}; }

LogicalResult PartOp::verify() {
  auto from = typeOf(getX()), to = typeOf(getResult());
  if (isLifted(to) && getSizes(to).front() != activeSize() && isPartOf(to, from, getSizes(to).front()))
    return success();
  return emitOpError("expected a group's part of ") << from << ", got " << to;
}

Sizes JoinOp::mixedSizes() { return {}; }

LogicalResult JoinOp::verify() {
  auto to = typeOf(getResult());
  if (getParts().empty())
    return emitOpError("expected the parts of groups, got none");
  for (auto [group, part] : llvm::enumerate(getParts()))
    if (!isPartOf(typeOf(part), to, activeSize(group)))
      return emitOpError("expected group ") << group << "'s part of " << to << ", got " << part.getType();
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// replicate
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult ReplicateOp::verify() {
  auto from = typeOf(getX()), to = typeOf(getResult());
  if (to.getRank() == 0 || to != addMemberAxis(from, getSizes(to).front()))
    return emitOpError("expected x's type ") << from << " with one axis more in front, got " << to;
  return success();
}

LogicalResult ReplicateOp::lift(LiftContext &context) {
  // x: (outer, ...) to (outer, 1, ...) to (outer, inner, ...).
  Value x = context.getAligned(getX(), typeOf(getResult()).getRank());
  auto type = addMemberAxis(typeOf(getResult()), context.members);
  context.setLifted(getResult(), BroadcastOp::create(context.builder, getLoc(), type, x));
  return success();
}

Sizes ReplicateOp::mixedSizes() { return {}; }

FailureOr<AffineMap> ReplicateOp::operandMap() {
  auto type = typeOf(getResult());
  SmallVector<AffineExpr> exprs;
  for (int64_t axis = 1; axis < type.getRank(); ++axis)
    exprs.push_back(getAffineDimExpr(axis, getContext()));
  return operandMapOf(type, exprs);
}

FailureOr<HostTensor> ReplicateOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  const HostTensor &x = operands[0];
  SmallVector<int64_t> strides = x.strides(), dims = context.dimsOf(typeOf(getResult()));
  return rearranged(x, dims, [&](ArrayRef<int64_t> index) { return linearize(index.drop_front(), strides); });
}

//===------------------------------------------------------------------------------------------------------------===//
// vmap
//===------------------------------------------------------------------------------------------------------------===//

/// The type without axis `dim`, which must be of length `size`; nothing when it is not. -1: the type itself.
static RankedTensorType withoutAxis(RankedTensorType type, int64_t dim, int64_t size) {
  Sizes sizes = getSizes(type);
  if (dim == -1)
    return type;
  if (dim < 0 || dim >= type.getRank() || sizes[dim] != Size(size))
    return {};
  sizes.erase(sizes.begin() + dim);
  return getTensorType(sizes, type.getElementType());
}

LogicalResult VmapOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("expected the name of a function, got ") << getCalleeAttr();
  int64_t size = static_cast<int64_t>(getSize());
  if (size < 1)
    return emitOpError("expected a size of at least 1, got ") << size;
  auto check = [&](StringRef what, TypeRange types, ArrayRef<int64_t> dims, TypeRange inner) -> LogicalResult {
    if (types.size() != inner.size() || dims.size() != inner.size())
      return emitOpError("expected ") << inner.size() << " " << what << "s and as many axes, as " << getCalleeAttr()
                                      << " has, got " << types.size() << " and " << dims.size();
    for (auto [i, type, dim, expected] : llvm::enumerate(types, dims, inner)) {
      RankedTensorType without = withoutAxis(cast<RankedTensorType>(type), dim, size);
      if (!without)
        return emitOpError("expected axis ")
               << dim << " of " << what << " " << i << " to have length " << size << ", got " << type;
      if (without != expected)
        return emitOpError("expected ") << what << " " << i << " of " << getCalleeAttr() << " to be " << without
                                        << ", got " << expected;
    }
    return success();
  };
  if (llvm::is_contained(getOutDims(), -1))
    return emitOpError("expected an axis for each result, got -1");
  if (failed(check("operand", getInputs().getTypes(), getInDims(), callee.getArgumentTypes())))
    return failure();
  return check("result", getResultTypes(), getOutDims(), callee.getResultTypes());
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Ensemble.cpp.inc"
