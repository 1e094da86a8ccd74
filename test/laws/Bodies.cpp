// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Law body: the scalar body of a pointwise op is its reference, to a few units in the last place; and the index map of
// a layout op says where its reference takes each element from.
#include "Instances.h"
#include "test/numerics/Bounds.h"

#include "compiler/reference/Evaluator.h"
#include "dialects/tutti/Tutti.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti::laws {

namespace {
/// The dialect's own functions of a number, which nothing folds: in double, rounded to the number's format. Null of
/// other ops.
Attribute functionOf(Operation &step, ArrayRef<Attribute> operands) {
  auto number = operands.empty() ? FloatAttr() : dyn_cast_or_null<FloatAttr>(operands.front());
  if (!number || !isa<LogisticOp, Log1pExpOp, MishGateOp, NormalCdfOp>(step))
    return nullptr;
  double x = number.getValueAsDouble(), softplus = std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  double y = isa<LogisticOp>(step)   ? 1 / (1 + std::exp(-x))
             : isa<Log1pExpOp>(step) ? softplus
             : isa<MishGateOp>(step) ? std::tanh(softplus)
                                     : std::erfc(-x * M_SQRT1_2) / 2;
  return FloatAttr::get(number.getType(), y);
}

/// The value that a body has for constant operands, by MLIR's own folds. Null if an op does not fold.
TypedAttr folded(ScalarOpInterface op, ArrayRef<TypedAttr> operands) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context()));
  OpBuilder builder(module->getBodyRegion());
  Location loc = builder.getUnknownLoc();
  auto constants = llvm::map_to_vector(
      operands, [&](TypedAttr attr) -> Value { return arith::ConstantOp::create(builder, loc, attr); });
  Value result = buildElement(op, builder, loc, constants);
  llvm::DenseMap<Value, Attribute> known;
  for (Operation &step : *module->getBody()) {
    SmallVector<Attribute> inputs;
    for (Value input : step.getOperands())
      inputs.push_back(known[input]);
    if (auto constant = dyn_cast<arith::ConstantOp>(step)) {
      known[constant] = constant.getValue();
      continue;
    }
    if (Attribute value = functionOf(step, inputs)) {
      known[step.getResult(0)] = value;
      continue;
    }
    SmallVector<OpFoldResult> results;
    if (failed(step.fold(inputs, results)) || results.empty())
      return nullptr;
    known[step.getResult(0)] = isa<Value>(results[0]) ? known[cast<Value>(results[0])] : cast<Attribute>(results[0]);
  }
  return cast<TypedAttr>(known[result]);
}

TypedAttr attrOf(const HostTensor &tensor, int64_t i) {
  Builder builder(&context());
  if (!tensor.isFloat())
    return builder.getIntegerAttr(scalarType(tensor.element), tensor.ints[i]);
  APFloat value(tensor.floats[i]);
  bool lost;
  value.convert(cast<FloatType>(tensor.element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return builder.getFloatAttr(tensor.element, value);
}

/// Numbers at which functions go wrong, then ordinary ones.
HostTensor telling(Type element, std::mt19937 &generator, bool small) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  HostTensor x = random(generator, element, {64});
  const double special[] = {0.0,   -0.0, infinity, -infinity, std::nan(""), 1e-30, -1e-30, 20.5,  -20.5, 88.0,
                            -88.0, 90.0, -90.0,    -104.0,    1000.0,       1e30,  -1e30,  0.125, 3e9,   -3e9};
  const int64_t whole[] = {0, 1, -1, 2, -2, 127, -128, 7};
  for (auto [i, value] : llvm::enumerate(special))
    if (x.isFloat())
      x.floats[i] = value;
  if (!x.isFloat() && !element.isInteger(1) && !small)
    std::copy(std::begin(whole), std::end(whole), x.ints.begin());
  if (!x.isFloat() && !element.isInteger(1) && !small)
    x.ints[8] = llvm::minIntN(element.getIntOrFloatBitWidth());
  for (int64_t &value : x.ints)
    value = wrapped(value, element);
  for (double &value : x.floats) { // as the element type has it
    HostTensor one{element, {1}, {value}, {}};
    uint64_t bits = 0;
    one.toBytes(&bits);
    value = HostTensor::fromBytes(element, {1}, &bits).floats[0];
  }
  return x;
}
} // namespace

struct BodyLaw : testing::TestWithParam<Instance> {};

TEST_P(BodyLaw, IsTheReference) {
  Subject subject = parse(GetParam());
  ASSERT_TRUE(subject.op);
  auto scalar = cast<ScalarOpInterface>(subject.op);
  bool isPower = isa<PowOp>(subject.op);
  std::mt19937 generator(3);
  std::vector<HostTensor> operands;
  for (Value operand : subject.op->getOperands()) {
    operands.push_back(telling(cast<RankedTensorType>(operand.getType()).getElementType(), generator, isPower));
    std::shuffle(operands.back().floats.begin(), operands.back().floats.end(), generator);
    std::shuffle(operands.back().ints.begin(), operands.back().ints.end(), generator);
  }
  EvaluateContext plain;
  plain.plain = true;
  FailureOr<HostTensor> expected = cast<EvaluateOpInterface>(subject.op).evaluate(plain, operands);
  ASSERT_TRUE(succeeded(expected));
  int folds = 0;
  for (int64_t i = 0; i < 64; ++i) {
    auto scalars = llvm::map_to_vector(operands, [&](const HostTensor &x) { return attrOf(x, i); });
    TypedAttr given = folded(scalar, scalars);
    if (!given)
      continue;
    ++folds;
    HostTensor one =
        HostTensor::fromAttr(DenseElementsAttr::get(RankedTensorType::get({}, given.getType()), Attribute(given)));
    std::string where = "element " + std::to_string(i);
    for (const HostTensor &x : operands)
      where += " " + (x.isFloat() ? std::to_string(x.floats[i]) : std::to_string(x.ints[i]));
    if (!one.isFloat()) {
      EXPECT_EQ(wrapped(one.ints[0], expected->element), expected->ints[i]) << where; // scalars have no sign
      continue;
    }
    double want = expected->floats[i], got = one.floats[0];
    if (std::isnan(want) || std::isinf(want)) {
      EXPECT_TRUE(want == got || (std::isnan(want) && std::isnan(got))) << where << ": " << got << ", not " << want;
      continue;
    }
    // Results below the normal numbers may become 0: sigmoid(-90) is 1 / (1 + infinity).
    const llvm::fltSemantics &semantics = cast<FloatType>(one.element).getFloatSemantics();
    double smallest = APFloat::getSmallestNormalized(semantics).convertToDouble();
    // Where a sum of float32's own composition cancels, it errs by units of the operand.
    double size = std::fabs(want);
    if (boundOf(subject.op->getName().getStringRef()).isFormula)
      size = std::fmax(size, std::fabs(operands[0].floats[i]));
    double bound = std::fmax(std::ldexp(size, 3 - APFloat::semanticsPrecision(semantics)), smallest);
    EXPECT_LE(std::fabs(want - got), bound) << where << ": " << got << ", not " << want;
  }
  EXPECT_GT(folds, 0) << "its body does not fold: nothing has been compared";
}

struct MapLaw : testing::TestWithParam<Instance> {};

TEST_P(MapLaw, IsTheReference) {
  Subject subject = parse(GetParam());
  ASSERT_TRUE(subject.op);
  auto layout = cast<LayoutOpInterface>(subject.op);
  FailureOr<AffineMap> map = layout.operandMap();
  ASSERT_TRUE(succeeded(map));
  auto from = cast<RankedTensorType>(subject.op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(subject.op->getResult(0).getType());
  ASSERT_EQ(map->getNumDims(), static_cast<unsigned>(to.getRank()));
  ASSERT_EQ(map->getNumSymbols(), static_cast<unsigned>(to.getNumDynamicDims()));
  ASSERT_EQ(map->getNumResults(), static_cast<unsigned>(from.getRank()));
  EvaluateContext context;
  context.sizes = sizes();
  std::mt19937 generator(5);
  HostTensor x = random(generator, from);
  FailureOr<HostTensor> y = cast<EvaluateOpInterface>(subject.op).evaluate(context, x);
  ASSERT_TRUE(succeeded(y));
  SmallVector<int64_t> dims = context.dimsOf(to), outer = y->strides(), inner = x.strides();
  for (int64_t place = 0; place < y->count(); ++place) {
    SmallVector<Attribute> inputs;
    Builder builder(&laws::context());
    for (auto [length, stride] : llvm::zip_equal(dims, outer))
      inputs.push_back(builder.getIndexAttr(place / stride % length));
    for (int64_t axis = 0; axis < to.getRank(); ++axis)
      if (to.isDynamicDim(axis))
        inputs.push_back(builder.getIndexAttr(dims[axis]));
    SmallVector<Attribute> index;
    ASSERT_TRUE(map->getNumResults() == 0 || succeeded(map->constantFold(inputs, index)));
    int64_t source = 0;
    for (auto [i, stride, length] : llvm::zip_equal(index, inner, x.dims)) {
      int64_t at = cast<IntegerAttr>(i).getInt();
      ASSERT_TRUE(at >= 0 && at < length);
      source += at * stride;
    }
    ASSERT_TRUE(x.isFloat() ? x.floats[source] == y->floats[place] : x.ints[source] == y->ints[place]) << place;
  }
}

static std::string nameOf(const testing::TestParamInfo<Instance> &info) {
  return info.param.op.substr(6) + "_" + std::to_string(info.index);
}
/// The instances of ops with this interface.
template <typename Interface> static std::vector<Instance> with() {
  std::vector<Instance> chosen;
  for (const Instance &instance : instances())
    if (RegisteredOperationName::lookup(instance.op, &context())->hasInterface<Interface>())
      chosen.push_back(instance);
  return chosen;
}
INSTANTIATE_TEST_SUITE_P(Ops, BodyLaw, testing::ValuesIn(with<ScalarOpInterface>()), nameOf);
INSTANTIATE_TEST_SUITE_P(Ops, MapLaw, testing::ValuesIn(with<LayoutOpInterface>()), nameOf);

} // namespace tutti::laws
