// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds ops, and folds constants.
#include "compiler/import/emit/ModuleBuilder.h"
#include "compiler/import/Limits.h"

using namespace mlir;

namespace tutti {

/// Constants larger than this are not computed while compiling.
static constexpr int64_t foldBytes = 64 << 20;

DenseI64ArrayAttr ModuleBuilder::numbers(ArrayRef<int64_t> values) { return DenseI64ArrayAttr::get(&context, values); }

IntegerAttr ModuleBuilder::number(int64_t value) { return IntegerAttr::get(IntegerType::get(&context, 64), value); }

UnitAttr ModuleBuilder::flag(bool isSet) { return isSet ? UnitAttr::get(&context) : UnitAttr(); }

const WeightSource *ModuleBuilder::sourceOf(Value value) const {
  auto get = value.getDefiningOp<GetOp>();
  size_t index;
  if (!get || get.getParam().drop_front(1).getAsInteger(10, index))
    return nullptr;
  return &params[index];
}

std::optional<double> ModuleBuilder::numberOf(const Operand &x) const {
  if (!x.isValue())
    return x.scalar();
  const WeightSource *weight = sourceOf(x.value());
  return weight ? scalarOf(*weight) : std::nullopt;
}

void ModuleBuilder::setRead(const Operand &x) const {
  if (const WeightSource *source = x.isConstant() ? &x.constant() : x.isValue() ? sourceOf(x.value()) : nullptr)
    tutti::setRead(*source);
}

bool ModuleBuilder::fits(ArrayRef<Size> sizes) {
  std::optional<Size> count = tutti::product(sizes);
  bool simple = llvm::all_of(sizes, [](const Size &size) { return size.getSymbols().size() <= 8; });
  if (sizes.size() <= mostRank && simple && count)
    return true;
  if (sizes.size() > mostRank)
    unsupported("a tensor of rank " + Twine(sizes.size()));
  else
    unsupported("a tensor of shape " + tutti::str(sizes));
  return false;
}

Operation *ModuleBuilder::make(const OperationState &state) {
  Operation *op = Operation::create(state);
  // The region invariants include the op's element types, a rule of its type inference.
  if (succeeded(op->getName().verifyInvariants(op)) && succeeded(op->getName().verifyRegionInvariants(op)))
    return op;
  op->destroy();
  std::string why = diagnostics.take();
  malformed(why.empty() ? "an op that its verifier refuses" : why);
  return nullptr;
}

Value ModuleBuilder::value(const Operand &x) {
  if (!x)
    return Value();
  if (x.isValue())
    return x.value();
  if (x.isShape()) {
    unsupported("a size that is known at a call only is used as a number",
                "bind the dimension to one value with --dim");
    return Value();
  }
  if (x.isRowNumbers()) {
    dependsOnPlace(x.rowNumbers());
    return Value();
  }
  const WeightSource &source = x.constant();
  if (source.count() == 0) {
    unsupported("a tensor without elements");
    return Value();
  }
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  // Repeated elements are kept once.
  SmallVector<int64_t> once(source.dims), zeros(once.size(), 0), ones(once.size(), 1);
  for (auto [size, stride] : llvm::zip_equal(once, source.strides))
    size = stride == 0 ? 1 : size;
  if (once != source.dims)
    return value(op<BroadcastOp>(RankedTensorType::get(source.dims, source.element),
                                 {Operand(value(Operand(sliceView(source, zeros, once, ones))))}));
  if (isa<FloatType>(source.element))
    return parameter(source);
  auto constant = ConstantOp::create(builder, location, toAttr(source));
  if (source.count() > 1)
    lists[constant] = source.data;
  return constant;
}

Value ModuleBuilder::parameter(const WeightSource &source) {
  params.push_back(source);
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  return GetOp::create(builder, location, RankedTensorType::get(source.dims, source.element),
                       "p" + std::to_string(params.size() - 1));
}

bool ModuleBuilder::mayFold(RankedTensorType type, ArrayRef<Operand> xs, int64_t work) {
  if (xs.empty() || !type.hasStaticShape() || !llvm::all_of(xs, [](const Operand &x) { return x.isConstant(); }))
    return false;
  int64_t cost = work / 16;
  for (const Operand &x : xs) {
    if (x.constant().count() > foldBytes / x.constant().elementBytes())
      return false;
    cost += x.constant().count();
  }
  std::optional<int64_t> count = countOf(type.getShape());
  return count && *count <= foldBytes / storageBytes(type.getElementType()) && budget.spend(cost + *count);
}

std::optional<Operand> ModuleBuilder::fold(StringRef name, RankedTensorType type, ArrayRef<Operand> xs, Fill fill) {
  Block scratch;
  OperationState state(location, name);
  SmallVector<HostTensor> hosts;
  for (const Operand &x : xs) {
    hosts.push_back(readForProgram(x.constant()));
    state.operands.push_back(
        scratch.addArgument(RankedTensorType::get(x.constant().dims, x.constant().element), location));
  }
  state.addTypes(type);
  if (fill)
    fill(state);
  Operation *op = make(state);
  if (!op)
    return Operand();
  EvaluateContext evaluation; // in float64; the result is rounded once, to its type
  FailureOr<HostTensor> result = cast<EvaluateOpInterface>(op).evaluate(evaluation, hosts);
  op->destroy();
  if (llvm::failed(result))
    return std::nullopt;
  return Operand(computedSource(*result));
}

Operand ModuleBuilder::op(StringRef name, RankedTensorType type, ArrayRef<Operand> xs, Fill fill, int64_t work) {
  if (!fits(getSizes(type)))
    return Operand();
  if (mayFold(type, xs, work))
    if (std::optional<Operand> folded = fold(name, type, xs, fill))
      return *folded;
  if (!ops.spend(1))
    return unsupported("with it the model has more than " + Twine(mostMade) + " ops");
  OperationState state(location, name);
  for (const Operand &x : xs) {
    Value operand = value(x);
    if (!operand)
      return Operand();
    state.operands.push_back(operand);
  }
  state.addTypes(type);
  if (fill)
    fill(state);
  Operation *op = make(state);
  if (!op)
    return Operand();
  block->push_back(op);
  return Operand(op->getResult(0));
}

std::optional<HostTensor> ModuleBuilder::known(const Operand &x) {
  return x.isConstant() && budget.spend(x.constant().count()) ? std::optional(toHost(x.constant())) : std::nullopt;
}

std::optional<HostTensor> ModuleBuilder::elementsOf(const Operand &constant) {
  std::optional<HostTensor> elements = known(constant);
  if (elements)
    setRead(constant);
  else
    unsupported("looks through " + Twine(constant.constant().count()) + " elements");
  return elements;
}

std::optional<HostTensor> ModuleBuilder::known(ConstantOp op) {
  return op && budget.spend(op.getType().getNumElements()) ? std::optional(HostTensor::fromAttr(op.getValue()))
                                                           : std::nullopt;
}

} // namespace tutti
