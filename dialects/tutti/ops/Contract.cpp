// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contraction: an Einstein sum of two tensors.
#include "Family.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <cmath>

using namespace mlir;

namespace tutti {

static bool distinctLetters(StringRef labels) {
  for (auto [i, label] : llvm::enumerate(labels))
    if (!llvm::isAlpha(label) || labels.take_front(i).contains(label))
      return false;
  return true;
}

std::optional<ContractSpec> ContractSpec::parse(StringRef text) {
  auto [operands, result] = text.split("->");
  auto [lhs, rhs] = operands.split(',');
  if (!text.contains("->") || !operands.contains(',') || !distinctLetters(lhs) || !distinctLetters(rhs) ||
      !distinctLetters(result))
    return std::nullopt;
  for (char label : result)
    if (!lhs.contains(label) && !rhs.contains(label))
      return std::nullopt;
  for (char label : (lhs + rhs).str())
    if (lhs.contains(label) != rhs.contains(label) && !result.contains(label))
      return std::nullopt;
  return ContractSpec{lhs.str(), rhs.str(), result.str()};
}

std::string ContractSpec::contracted() const {
  std::string labels;
  for (char label : lhs)
    if (!StringRef(result).contains(label))
      labels += label;
  return labels;
}

bool ContractSpec::isRowsTimesWeight(bool lifted) const {
  StringRef weight = StringRef(rhs).drop_front(lifted && !rhs.empty());
  if (weight.size() != 2 || lhs.empty() || result.empty() || lhs.back() != weight[0] || result.back() != weight[1])
    return false;
  StringRef rows = StringRef(result).drop_back(), left = StringRef(lhs).drop_back();
  if (lifted && !rows.starts_with(rhs.substr(0, 1)))
    return false;
  if (lifted && !left.starts_with(rhs.substr(0, 1)))
    rows = rows.drop_front();
  return left == rows;
}

char ContractSpec::freeLabel() const {
  StringRef letters = "mabcdefghijklnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  size_t place = letters.find_first_not_of(lhs + rhs);
  return place == StringRef::npos ? 0 : letters[place];
}

ContractSpec ContractOp::labels() { return *ContractSpec::parse(getSpec()); } // it is an op by then

LogicalResult ContractOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor op,
                                           SmallVectorImpl<Type> &inferred) {
  StringRef name = getOperationName();
  std::optional<ContractSpec> spec = ContractSpec::parse(op.getSpec());
  if (!spec)
    return misfit(location, name,
                  "expected labels such as \"bk,kn->bn\", each a letter that occurs once in an operand, ",
                  "those of one operand alone in the result too, got \"", op.getSpec(), "\"");
  auto lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  if (lhs.getElementType() != rhs.getElementType())
    return misfit(location, name, "expected equal element types, got ", lhs.getElementType(), " and ",
                  rhs.getElementType());
  if (op.getBytes() && !lhs.getElementType().isSignlessInteger(32))
    return misfit(location, name, "expected words of four bytes as i32, got ", lhs.getElementType());
  if (!isNumber(lhs.getElementType()))
    return misfit(location, name, "expected elements of a float type or an integer wider than i1, got ",
                  lhs.getElementType());
  llvm::SmallDenseMap<char, Size> sizes;
  auto read = [&](StringRef side, RankedTensorType type, StringRef labels) -> LogicalResult {
    if (type.getRank() != static_cast<int64_t>(labels.size()))
      return misfit(location, name, "expected ", labels.size(), " axes of ", side, " for labels \"", labels, "\", got ",
                    str(getSizes(type)));
    for (auto [label, size] : llvm::zip_equal(labels, getSizes(type)))
      if (Size known = sizes.try_emplace(label, size).first->second; known != size)
        return misfit(location, name, "expected size ", known.str(), " for label ", std::string(1, label), " of ", side,
                      " as in lhs, got ", size.str());
    return success();
  };
  if (failed(read("lhs", lhs, spec->lhs)) || failed(read("rhs", rhs, spec->rhs)))
    return failure();
  Sizes result;
  for (char label : spec->result)
    result.push_back(sizes[label]);
  inferred.push_back(getTensorType(result, lhs.getElementType()));
  return success();
}

LogicalResult ContractOp::verifyNumerics(NumericsAttr numerics) {
  if (numerics.getRule() == NumericsRule::lanes)
    return emitOpError("expected the rule panels or chain, got lanes");
  // This is asked before the result's type is checked, which reports labels that do not fit the operands.
  std::optional<ContractSpec> spec = ContractSpec::parse(getSpec());
  if (!spec || int64_t(spec->lhs.size()) != typeOf(getLhs()).getRank() ||
      int64_t(spec->rhs.size()) != typeOf(getRhs()).getRank())
    return success();
  if (numerics.getRule() == NumericsRule::panels && !spec->isRowsTimesWeight(/*lifted=*/spec->rhs.size() == 3))
    return emitOpError("expected the rule chain, as \"") << spec->str() << "\" is not rows times a weight";
  if (!numerics.getChunk())
    return emitOpError("expected numerics with a chunk");
  if (*numerics.getChunk() == 0 && terms() != Size(0))
    return emitOpError("expected a chunk of 1 or more where there are terms");
  return success();
}

LogicalResult ContractOp::lift(LiftContext &context) {
  ContractSpec spec = labels();
  char member = spec.freeLabel();
  if (!member)
    return emitOpError("has no letter left for the label of the member axis");
  if (context.isLifted(getLhs()))
    spec.lhs.insert(0, 1, member);
  if (context.isLifted(getRhs()))
    spec.rhs.insert(0, 1, member);
  spec.result.insert(0, 1, member);
  auto now = ContractOp::create(context.builder, getLoc(), context.get(getLhs()), context.get(getRhs()), spec.str(),
                                NumericsAttr(), getBytes());
  context.setLifted(getResult(), now);
  return success();
}

Sizes ContractOp::mixedSizes() {
  ContractSpec spec = labels();
  Sizes sizes = getSizes(typeOf(getLhs()));
  return llvm::map_to_vector(spec.contracted(), [&](char label) { return sizes[spec.lhs.find(label)]; });
}

std::optional<Size> ContractOp::terms() { return product(mixedSizes()); }

std::optional<Size> ContractOp::flops() {
  std::optional<Size> sums = product(getSizes(getType())), each = terms(),
                      products = sums && each ? sums->times(*each) : std::nullopt;
  constexpr int64_t ofProduct = 2, ofWord = 4 * ofProduct;
  return products ? products->times(Size(getBytes() ? ofWord : ofProduct)) : std::nullopt;
}

bool ContractOp::comparesElements() { return false; }

/// For each label of `labels`, its stride in a tensor with labels `own`: 0 when it has none.
static SmallVector<int64_t> stridesOf(StringRef labels, StringRef own, const HostTensor &tensor) {
  SmallVector<int64_t> strides = tensor.strides();
  return llvm::map_to_vector(labels, [&](char label) {
    size_t axis = own.find(label);
    return axis == StringRef::npos ? int64_t(0) : strides[axis];
  });
}

/// The sum of the products of four unsigned bytes with four signed ones.
static uint64_t productOfWords(uint32_t a, uint32_t b) {
  int64_t sum = 0;
  for (int shift = 0; shift < 32; shift += 8)
    sum += int64_t(uint8_t(a >> shift)) * int8_t(b >> shift);
  return sum;
}

FailureOr<HostTensor> ContractOp::evaluate(EvaluateContext &context, ArrayRef<HostTensor> operands) {
  ContractSpec spec = labels();
  const HostTensor &a = operands[0], &b = operands[1];
  std::string contracted = spec.contracted();
  auto dimOf = [&](char label) {
    size_t axis = spec.lhs.find(label);
    return axis != std::string::npos ? a.dims[axis] : b.dims[spec.rhs.find(label)];
  };
  HostTensor y = HostTensor::zeros(a.element, llvm::map_to_vector(spec.result, dimOf));
  SmallVector<int64_t> outerA = stridesOf(spec.result, spec.lhs, a), outerB = stridesOf(spec.result, spec.rhs, b);
  SmallVector<int64_t> innerA = stridesOf(contracted, spec.lhs, a), innerB = stridesOf(contracted, spec.rhs, b);

  // The terms' places relative to the first one, ascending in the order of the left operand's labels.
  std::vector<std::pair<int64_t, int64_t>> terms;
  forEachIndex(llvm::map_to_vector(contracted, dimOf),
               [&](ArrayRef<int64_t> k) { terms.emplace_back(linearize(k, innerA), linearize(k, innerB)); });
  int64_t place = 0;
  forEachIndex(y.dims, [&](ArrayRef<int64_t> index) {
    int64_t fromA = linearize(index, outerA), fromB = linearize(index, outerB);
    if (!y.isFloat()) {
      uint64_t sum = 0;
      for (auto [i, j] : terms)
        sum += getBytes() ? productOfWords(a.ints[fromA + i], b.ints[fromB + j])
                          : static_cast<uint64_t>(a.ints[fromA + i]) * static_cast<uint64_t>(b.ints[fromB + j]);
      y.ints[place++] = wrapped(sum, y.element);
    } else if (!context.plain) {
      double sum = 0;
      for (auto [i, j] : terms)
        sum += a.floats[fromA + i] * b.floats[fromB + j];
      y.floats[place++] = sum;
    } else if (y.element.isF64()) {
      double sum = 0;
      for (auto [i, j] : terms)
        sum = context.round(sum + a.floats[fromA + i] * b.floats[fromB + j], y.element);
      y.floats[place++] = sum;
    } else {
      float sum = 0; // 16-bit types accumulate in float32 too
      for (auto [i, j] : terms)
        sum = std::fma(static_cast<float>(a.floats[fromA + i]), static_cast<float>(b.floats[fromB + j]), sum);
      y.floats[place++] = context.round(sum, y.element);
    }
  });
  return y;
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Contract.cpp.inc"
