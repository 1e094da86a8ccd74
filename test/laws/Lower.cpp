// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Law lower: what is compiled from an op is the op's reference within its bound, for every op and every mix of operands
// that differ per member or not.
#include "Compiled.h"
#include "Within.h"

#include "compiler/reference/Evaluator.h"
#include "dialects/tutti/Ports.h"

#include "mlir/IR/IRMapping.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace tutti::laws {

constexpr int64_t members = 3;

/// An op and which of its operands differ per member: operand j where bit j is set.
struct Case {
  Subject &subject;
  unsigned mix;
};

static std::string describe(const Case &one) {
  std::string text;
  llvm::raw_string_ostream(text) << *one.subject.op << ", mix " << one.mix;
  return text;
}

/// "func.func @main" of the cases' ops side by side, each with arguments of its own.
static std::string mainOf(ArrayRef<Case> cases) {
  SmallVector<Type> arguments, results;
  for (const Case &one : cases) {
    llvm::append_range(arguments, one.subject.main.getArgumentTypes());
    llvm::append_range(results, one.subject.main.getResultTypes());
  }
  OpBuilder builder(&context());
  OwningOpRef<func::FuncOp> main =
      func::FuncOp::create(builder.getUnknownLoc(), "main", builder.getFunctionType(arguments, results));
  Block *body = main->addEntryBlock();
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> values;
  unsigned at = 0;
  for (const Case &one : cases) {
    IRMapping places;
    for (auto [j, argument] : llvm::enumerate(one.subject.main.getArguments())) {
      places.map(argument, body->getArgument(at));
      if (one.mix >> j & 1)
        setPerMember(*main, at);
      ++at;
    }
    llvm::append_range(values, builder.clone(*one.subject.op, places)->getResults());
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::any_of(cases, [](const Case &one) { return isa<GetOp>(one.subject.op); }))
    stream << "tutti.param @p : tensor<2x3xf32>\n";
  main->print(stream);
  return text;
}

/// Instances of one op.
struct LowerLaw : testing::TestWithParam<std::vector<Instance>> {
  static std::vector<Subject> parsed() {
    std::vector<Subject> subjects;
    for (const Instance &instance : GetParam())
      subjects.push_back(parse(instance));
    return subjects;
  }
  /// All operands differ per member.
  static unsigned allOf(Subject &subject) { return (1u << subject.main.getNumArguments()) - 1; }
  /// One artifact that computes every case.
  void check(ArrayRef<Case> cases);
};

void LowerLaw::check(ArrayRef<Case> cases) {
  ASSERT_TRUE(llvm::all_of(cases, [](const Case &one) { return one.subject.op; }));
  std::mt19937 generator(cases[0].mix);
  Model model{mainOf(cases), {}, members};
  for (int64_t m = 0; m < members; ++m)
    model.params["p"].push_back(random(generator, Float32Type::get(&context()), {2, 3}));
  llvm::Expected<std::unique_ptr<Artifact>> artifact = Artifact::compile(model);
  if (const std::string &refused = GetParam()[0].refused; !refused.empty()) {
    ASSERT_FALSE(bool(artifact)) << "compiles now: take it off the list";
    EXPECT_NE(llvm::toString(artifact.takeError()).find(refused), std::string::npos);
    return;
  }
  ASSERT_TRUE(bool(artifact)) << llvm::toString(artifact.takeError());
  if (!(*artifact)->runs())
    return; // no device: that it compiles, and spills nothing, is the test

  std::vector<HostTensor> inputs;
  std::vector<std::vector<std::vector<HostTensor>>> own(cases.size(), std::vector<std::vector<HostTensor>>(members));
  for (auto [one, operands] : llvm::zip_equal(cases, own))
    for (auto [i, type] : llvm::enumerate(one.subject.main.getArgumentTypes())) {
      std::vector<HostTensor> each;
      for (int64_t m = 0; m < members; ++m) {
        each.push_back(random(generator, cast<RankedTensorType>(type)));
        operands[m].push_back(each[one.mix >> i & 1 ? m : 0]);
      }
      inputs.push_back(one.mix >> i & 1 ? stack(each) : each[0]);
    }
  Call call{.active = {}, .batch = model.hasBatch() ? sizes().lookup("batch") : 0};
  llvm::Expected<std::vector<HostTensor>> results = (*artifact)->run(inputs, call);
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  ASSERT_EQ(results->size(), cases.size());
  for (auto [one, result, operands] : llvm::zip_equal(cases, *results, own))
    for (int64_t m = 0; m < members; ++m) {
      EvaluateContext reference;
      reference.sizes = sizes();
      reference.param = [&](StringRef) { return model.params["p"][m]; };
      llvm::Expected<std::vector<HostTensor>> want = evaluate(one.subject.main, operands[m], reference);
      ASSERT_TRUE(bool(want)) << llvm::toString(want.takeError());
      SCOPED_TRACE(describe(one) + ", member " + std::to_string(m));
      expectWithin(one.subject.op, unstack(result, m), (*want)[0], operands[m]);
    }
  if (!cudaTarget() || !hasCpuBits())
    return;
  // Ordinary float32 has the same bits everywhere.
  call.level = "x86-64-v3";
  llvm::Expected<std::vector<HostTensor>> onCpu = (*artifact)->run(inputs, call);
  ASSERT_TRUE(bool(onCpu)) << llvm::toString(onCpu.takeError());
  for (auto [one, result, want] : llvm::zip_equal(cases, *results, *onCpu))
    EXPECT_EQ(difference(result, want), "") << describe(one) << ", beside the CPU";
}

/// One artifact of all of them, for each mix of operands. What a cubin that nothing runs adds to what the emulated
/// device has seen is its compiler: there each member has all operands of its own.
TEST_P(LowerLaw, InEveryMix) {
  std::vector<Subject> subjects = parsed();
  std::vector<Case> cases;
  bool compilesOnly = cudaTarget() && cudaTarget()->code != Architecture::Code::emulated && !hasGpu();
  for (Subject &subject : subjects)
    for (unsigned mix = compilesOnly ? allOf(subject) : 0; mix <= allOf(subject); ++mix)
      cases.push_back({subject, mix});
  check(cases);
}

/// An artifact of each, which has nothing to fuse with.
TEST_P(LowerLaw, ByItself) {
  std::vector<Subject> subjects = parsed();
  for (Subject &subject : subjects)
    check(Case{subject, allOf(subject)});
}

/// Neighbours of one op: an artifact for each would take compilers of devices their time.
static std::vector<std::vector<Instance>> together() {
  constexpr size_t most = 8;
  std::vector<std::vector<Instance>> all;
  for (const Instance &instance : instances()) {
    bool begins = all.empty() || all.back().size() == most || all.back()[0].op != instance.op ||
                  !all.back()[0].refused.empty() || !instance.refused.empty();
    if (begins)
      all.emplace_back();
    all.back().push_back(instance);
  }
  return all;
}

static std::string nameOf(const testing::TestParamInfo<std::vector<Instance>> &info) {
  return info.param[0].op.substr(6) + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Ops, LowerLaw, testing::ValuesIn(together()), nameOf);

} // namespace tutti::laws
