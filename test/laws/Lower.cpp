// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Law lower: what is compiled from an op is the op's reference within its bound, for every op and every mix of operands
// that differ per member or not.
#include "Compiled.h"
#include "Within.h"

#include "compiler/reference/Evaluator.h"

#include "mlir/IR/IRMapping.h"
#include "gtest/gtest.h"

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
