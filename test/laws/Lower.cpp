// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Law lower: what is compiled from an op is the op's reference within its bound, for every op and every mix of operands
// that differ per member or not.
#include "Compiled.h"

#include "compiler/reference/Evaluator.h"
#include "test/numerics/Bounds.h"

#include "mlir/IR/IRMapping.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;

namespace tutti::laws {

constexpr int64_t members = 3;

/// "func.func @main" of the instance's op, once for each mix: its arguments are per member where the bit is set.
static std::string mainOf(Subject &subject, ArrayRef<unsigned> mixes) {
  SmallVector<Type> arguments, results;
  for ([[maybe_unused]] unsigned mix : mixes) {
    llvm::append_range(arguments, subject.main.getArgumentTypes());
    llvm::append_range(results, subject.main.getResultTypes());
  }
  OpBuilder builder(&context());
  OwningOpRef<func::FuncOp> main =
      func::FuncOp::create(builder.getUnknownLoc(), "main", builder.getFunctionType(arguments, results));
  Block *body = main->addEntryBlock();
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> values;
  for (auto [i, mix] : llvm::enumerate(mixes)) {
    IRMapping places;
    for (auto [j, argument] : llvm::enumerate(subject.main.getArguments())) {
      unsigned at = i * subject.main.getNumArguments() + j;
      places.map(argument, body->getArgument(at));
      if (mix >> j & 1)
        main->setArgAttr(at, "tutti.per_member", builder.getUnitAttr());
    }
    llvm::append_range(values, builder.clone(*subject.op, places)->getResults());
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isa<GetOp>(subject.op))
    stream << "tutti.param @p : tensor<2x3xf32>\n";
  main->print(stream);
  return text;
}

namespace {
/// How far a compiled result may be from the float64 reference, in units in the last place of the result and in
/// absolute terms.
struct Bound {
  double units, absolute;
};
} // namespace

/// What td entries state. Of scatters, heads and products, whose bounds are no such terms, generously: what the order
/// and the rounding can change of the sum of absolute values.
static Bound boundOf(Operation *op, ArrayRef<HostTensor> operands, FloatType type) {
  int digits = APFloat::semanticsPrecision(type.getFloatSemantics());
  const OpBound &stated = tutti::boundOf(op->getName().getStringRef());
  if (stated.isFormula) {
    double largest = 0, count = 8;
    for (const HostTensor &operand : operands)
      for (double value : operand.floats)
        largest = std::fmax(largest, std::fabs(value));
    return {8, count * count * std::fmax(largest * largest, largest) * std::ldexp(1.0, 1 - digits)};
  }
  double units = type.isF64() ? stated.ulps64 : stated.ulps;
  if (units > 0.5 && type.isF64())
    units += 1; // the reference, in float64 itself, is off by up to a unit
  if (units > 0 && digits < 24)
    units = 0.5 + units / 256; // float32's result, rounded once more
  if (units > 0.5 && cudaTarget() && !hasCpuBits())
    units += 4; // special-function units
  return {units, units * APFloat::getSmallest(type.getFloatSemantics()).convertToDouble()};
}

/// Of an op whose td entry has terms, and that sums: the bound of each element, from the same op on absolute values.
static std::optional<std::vector<double>> boundsOfSums(Operation *op, ArrayRef<HostTensor> operands, FloatType type) {
  auto reduce = dyn_cast<ReduceOp>(op);
  auto scan = dyn_cast<ScanOp>(op);
  const OpBound &stated = tutti::boundOf(op->getName().getStringRef());
  if (!stated.terms || (scan && scan.getKind() != ScanKind::sum) ||
      (reduce && reduce.getKind() != ReduceKind::sum && reduce.getKind() != ReduceKind::mean))
    return std::nullopt;
  std::vector<HostTensor> sizes(operands), ones(operands);
  for (auto [size, one] : llvm::zip_equal(sizes, ones)) {
    llvm::for_each(size.floats, [](double &value) { value = std::fabs(value); });
    std::fill(one.floats.begin(), one.floats.end(), 1);
  }
  EvaluateContext context;
  context.sizes = laws::sizes();
  auto evaluator = cast<EvaluateOpInterface>(op);
  FailureOr<HostTensor> sums = evaluator.evaluate(context, sizes), counts = evaluator.evaluate(context, ones);
  if (failed(sums) || failed(counts))
    return std::nullopt;
  double n = 1;
  for (double count : counts->floats)
    n = std::fmax(n, count);
  if (reduce) // the mean of ones is 1
    n = std::fmax(1, double(operands[0].count()) / std::fmax(1, double(sums->count())));
  double terms = scan && scan.getStep() ? n : stated.terms(n);
  int digits = APFloat::semanticsPrecision(type.getFloatSemantics());
  double unit = std::ldexp(1.0, -std::max(digits, 24)), last = digits < 24 ? std::ldexp(1.0, -digits) : 0;
  if (type.isF64())
    terms *= 2; // the reference's own
  std::vector<double> all;
  for (double sum : sums->floats)
    all.push_back((terms * unit + last) * sum);
  return all;
}

static void expectWithin(Operation *op, const HostTensor &got, const HostTensor &want, ArrayRef<HostTensor> operands) {
  ASSERT_EQ(got.element, want.element);
  ASSERT_EQ(got.dims, want.dims);
  EXPECT_EQ(got.ints, want.ints);
  if (!want.isFloat())
    return;
  int digits = APFloat::semanticsPrecision(cast<FloatType>(want.element).getFloatSemantics());
  Bound bound = boundOf(op, operands, cast<FloatType>(want.element));
  std::optional<std::vector<double>> sums = boundsOfSums(op, operands, cast<FloatType>(want.element));
  for (size_t i = 0; i < want.floats.size(); ++i) {
    double a = want.floats[i], b = got.floats[i];
    double most = sums ? (*sums)[i] : bound.units * std::ldexp(std::fabs(a), 1 - digits) + bound.absolute;
    bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= most;
    EXPECT_TRUE(same) << "element " << i << ": " << b << ", not " << a;
  }
}

struct LowerLaw : testing::TestWithParam<Instance> {
  /// One artifact that computes every mix.
  void check(Subject &subject, ArrayRef<unsigned> mixes);
};

void LowerLaw::check(Subject &subject, ArrayRef<unsigned> mixes) {
  std::mt19937 generator(mixes[0]);
  Model model{mainOf(subject, mixes), {}, members};
  for (int64_t m = 0; m < members; ++m)
    model.params["p"].push_back(random(generator, Float32Type::get(&context()), {2, 3}));
  llvm::Expected<std::unique_ptr<Artifact>> artifact = Artifact::compile(model);
  if (!GetParam().refused.empty()) {
    ASSERT_FALSE(bool(artifact)) << "compiles now: take it off the list";
    EXPECT_NE(llvm::toString(artifact.takeError()).find(GetParam().refused), std::string::npos);
    return;
  }
  ASSERT_TRUE(bool(artifact)) << llvm::toString(artifact.takeError());
  if (!(*artifact)->runs())
    return; // no device: that it compiles, and spills nothing, is the test

  std::vector<HostTensor> inputs;
  std::vector<std::vector<std::vector<HostTensor>>> own(mixes.size(), std::vector<std::vector<HostTensor>>(members));
  for (auto [mix, operands] : llvm::zip_equal(mixes, own))
    for (auto [i, type] : llvm::enumerate(subject.main.getArgumentTypes())) {
      std::vector<HostTensor> each;
      for (int64_t m = 0; m < members; ++m) {
        each.push_back(random(generator, cast<RankedTensorType>(type)));
        operands[m].push_back(each[mix >> i & 1 ? m : 0]);
      }
      inputs.push_back(mix >> i & 1 ? stack(each) : each[0]);
    }
  bool hasBatch = GetParam().text.find("\"batch\"") != std::string::npos;
  Call call{.active = {}, .batch = hasBatch ? sizes().lookup("batch") : 0};
  llvm::Expected<std::vector<HostTensor>> results = (*artifact)->run(inputs, call);
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  ASSERT_EQ(results->size(), mixes.size());
  for (auto [mix, result, operands] : llvm::zip_equal(mixes, *results, own))
    for (int64_t m = 0; m < members; ++m) {
      EvaluateContext reference;
      reference.sizes = sizes();
      reference.param = [&](StringRef) { return model.params["p"][m]; };
      llvm::Expected<std::vector<HostTensor>> want = evaluate(subject.main, operands[m], reference);
      ASSERT_TRUE(bool(want)) << llvm::toString(want.takeError());
      SCOPED_TRACE("mix " + std::to_string(mix) + ", member " + std::to_string(m));
      expectWithin(subject.op, unstack(result, m), (*want)[0], operands[m]);
    }
  if (!cudaTarget() || !hasCpuBits())
    return;
  // Ordinary float32 has the same bits everywhere.
  call.level = "x86-64-v3";
  llvm::Expected<std::vector<HostTensor>> onCpu = (*artifact)->run(inputs, call);
  ASSERT_TRUE(bool(onCpu)) << llvm::toString(onCpu.takeError());
  for (auto [mix, result, want] : llvm::zip_equal(mixes, *results, *onCpu))
    EXPECT_EQ(difference(result, want), "") << "mix " << mix << ", beside the CPU";
}

TEST_P(LowerLaw, Holds) {
  Subject subject = parse(GetParam());
  ASSERT_TRUE(subject.op);
  auto mixes = llvm::to_vector(llvm::seq(1u << subject.main.getNumArguments()));
  // On the CPU each by itself; for a device, whose compilers take their time, all in one artifact.
  if (cudaTarget())
    return check(subject, mixes);
  for (unsigned mix : mixes) {
    SCOPED_TRACE("mix " + std::to_string(mix));
    check(subject, mix);
  }
}

static std::string nameOf(const testing::TestParamInfo<Instance> &info) {
  return info.param.op.substr(6) + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Ops, LowerLaw, testing::ValuesIn(instances()), nameOf);

} // namespace tutti::laws
