// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Law invariance: a member's bits are the same alone, in any ensemble, in any active set, at any number of rows, for
// any number of threads, on every CPU level and on the CUDA target. Compared across separately compiled artifacts.
#include "Compiled.h"
#include "Networks.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace tutti::laws {

struct InvarianceLaw : testing::TestWithParam<Network> {
  static constexpr uint32_t all = 7;
  const int64_t rows = cudaTarget() ? 33 : 64; // the emulated device is slow
  std::map<std::string, std::vector<HostTensor>> weights;
  HostTensor x;

  void SetUp() override {
    std::mt19937 generator(11);
    for (const auto &[name, dims] : GetParam().weights)
      for (uint32_t m = 0; m < all; ++m) {
        weights[name].push_back(random(generator, Float32Type::get(&context()), dims));
        for (double &value : weights[name].back().floats) // all bits of the fraction in use
          value = static_cast<float>(value * 0.1 + 1e-3 * static_cast<double>(generator() % 1009) / 1009);
      }
    for (const auto &[name, dims] : GetParam().indices)
      for (uint32_t m = 0; m < all; ++m)
        weights[name].push_back(random(generator, IntegerType::get(&context(), 64), dims));
    Subject subject = parseText();
    x = random(generator, Float32Type::get(&context()),
               {rows, cast<RankedTensorType>(subject.main.getArgumentTypes()[0]).getDimSize(1)});
    for (double &value : x.floats)
      value = static_cast<float>(value + 1e-3 * static_cast<double>(generator() % 1013) / 1013);
  }

  Subject parseText();

  /// The network's text; of `count` rows if that is not 0.
  static std::string textOf(int64_t count) {
    std::string text = GetParam().text;
    auto replace = [&](StringRef old, const std::string &now) {
      for (size_t at = 0; (at = text.find(old.str(), at)) != std::string::npos; at += now.size())
        text.replace(at, old.size(), now);
    };
    if (count) {
      replace(", #tutti.sizes<batch>", "");
      replace("?x", std::to_string(count) + "x");
    }
    return text;
  }

  /// The ensemble of these members; with `shared` they are one and the same member, whose weights are stored once.
  std::unique_ptr<Artifact> compiled(ArrayRef<uint32_t> members, bool shared = false, bool ownInput = false,
                                     std::vector<std::string> levels = levelsBeside(), int64_t fixedRows = 0) {
    Model model{textOfParams() + textOf(fixedRows), {}, static_cast<int64_t>(members.size()), levels, ownInput};
    for (const auto &[name, values] : weights)
      for (uint32_t member : shared ? members.take_front() : members)
        model.params[name].push_back(values[member]);
    llvm::Expected<std::unique_ptr<Artifact>> artifact = Artifact::compile(model);
    if (artifact)
      return std::move(*artifact);
    ADD_FAILURE() << llvm::toString(artifact.takeError());
    return nullptr;
  }

  std::string textOfParams() {
    std::string text;
    auto add = [&](const Network::Weights &params, const char *element) {
      for (const auto &[name, dims] : params) {
        text += std::string("tutti.param @") + name + " : tensor<";
        for (int64_t length : dims)
          text += std::to_string(length) + "x";
        text += std::string(element) + ">\n";
      }
    };
    add(GetParam().weights, "f32");
    add(GetParam().indices, "i64");
    return text;
  }

  static HostTensor run(const Artifact &artifact, const HostTensor &x, const Call &call = {}) {
    llvm::Expected<std::vector<HostTensor>> results = artifact.run(x, call);
    if (results)
      return (*results)[0];
    ADD_FAILURE() << llvm::toString(results.takeError());
    return HostTensor::zeros(x.element, {7, 64, 1});
  }
};

Subject InvarianceLaw::parseText() {
  Subject subject;
  subject.module = parseModule(textOfParams() + GetParam().text);
  subject.main = subject.module->lookupSymbol<func::FuncOp>("main");
  return subject;
}

TEST_P(InvarianceLaw, Holds) {
  std::vector<uint32_t> everybody = {0, 1, 2, 3, 4, 5, 6};
  std::unique_ptr<Artifact> artifact = compiled(everybody, false, false, {"x86-64-v3"});
  ASSERT_TRUE(artifact);
  const HostTensor y = run(*artifact, x);
  auto expect = [&](const HostTensor &got, ArrayRef<uint32_t> members, const std::string &what) {
    EXPECT_EQ(difference(got, choose(y, members)), "") << what;
  };

  for (uint32_t threads : threadCounts())
    expect(run(*artifact, x, {{}, threads}), everybody, std::to_string(threads) + " threads");
  if (!cudaTarget())
    for (uint32_t threads : threadCounts())
      expect(run(*artifact, x, {.active = {4, 1, 6}, .threads = threads, .strips = true}), {4, 1, 6},
             "strips, " + std::to_string(threads) + " threads");
  for (std::vector<uint32_t> set : {std::vector<uint32_t>{6, 0, 3}, {2}, {5, 4, 3, 2, 1, 0}})
    for (uint32_t threads : threadCounts())
      expect(run(*artifact, x, {set, threads}), set, "a set of " + std::to_string(set.size()));

  // Any number of rows, from any row on.
  for (int64_t count : {1, 5, 12, 33})
    for (int64_t first : {0, 7, 31}) {
      auto places = llvm::to_vector(llvm::seq<int64_t>(first, std::min(first + count, rows)));
      for (uint32_t threads : threadCounts())
        EXPECT_EQ(difference(run(*artifact, take(x, 0, places), {{}, threads}), take(y, 1, places)), "")
            << count << " rows from " << first << ", " << threads << " threads";
    }

  // Other ensembles: alone, with others, with itself (stored once, and twice, which is the same to a kernel).
  auto alone = cudaTarget() ? std::vector<uint32_t>{3} : std::vector<uint32_t>{0, 3, 6};
  for (uint32_t member : alone)
    if (std::unique_ptr<Artifact> one = compiled({member}))
      expect(run(*one, x), {member}, "alone");
  if (std::unique_ptr<Artifact> pair = compiled({4, 1}))
    expect(run(*pair, x), {4, 1}, "in another ensemble");
  if (std::unique_ptr<Artifact> same = compiled({2, 2, 2}, /*shared=*/true))
    expect(run(*same, x), {2, 2, 2}, "shared by all members");
  if (std::unique_ptr<Artifact> same = cudaTarget() ? nullptr : compiled({2, 2, 2}))
    expect(run(*same, x), {2, 2, 2}, "equal, and not shared");
  if (std::unique_ptr<Artifact> own = compiled({1, 5}, false, /*ownInput=*/true))
    expect(run(*own, stack({x, x})), {1, 5}, "an input for each member");

  // A number of rows that the compiler knows.
  for (int64_t count : cudaTarget() ? std::vector<int64_t>{5} : std::vector<int64_t>{1, 5})
    if (std::unique_ptr<Artifact> fixed = compiled({3, 0}, false, false, levelsBeside(), count)) {
      auto places = llvm::to_vector(llvm::seq<int64_t>(7, 7 + count));
      EXPECT_EQ(difference(run(*fixed, take(x, 0, places)), take(choose(y, {3, 0}), 1, places)), "")
          << count << " rows, fixed";
    }

  // Every level; for a CUDA target, the CPU.
  if (cudaTarget() && hasCpuBits())
    expect(run(*artifact, x, {{}, 1, "x86-64-v3"}), everybody, "x86-64-v3");
  else if (cudaTarget())
    return;
  else if (std::unique_ptr<Artifact> both = compiled(everybody, false, false, {"x86-64-v3", "x86-64-v4"})) {
    expect(run(*both, x, {{}, 1, "x86-64-v3"}), everybody, "x86-64-v3 beside x86-64-v4");
    if (hasWide())
      expect(run(*both, x, {{}, 2, "x86-64-v4"}), everybody, "x86-64-v4");
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, InvarianceLaw, testing::ValuesIn(networks()),
                         [](const auto &info) { return std::string(info.param.name); });

//===------------------------------------------------------------------------------------------------------------===//
// Single ops over a batch
//===------------------------------------------------------------------------------------------------------------===//

/// The axis whose size is `batch`; -1 when there is none, or when it is part of another.
static int64_t batchAxis(RankedTensorType type) {
  int64_t found = -1;
  for (auto [axis, size] : llvm::enumerate(getSizes(type)))
    if (size == Size::symbol("batch"))
      found = axis;
    else if (!size.isFixed())
      return -1;
  return found;
}

struct OpInvariance : testing::TestWithParam<Instance> {};

TEST_P(OpInvariance, Holds) {
  Subject subject = parse(GetParam());
  auto result = cast<RankedTensorType>(subject.op->getResult(0).getType());
  std::string text;
  llvm::raw_string_ostream(text) << subject.main;
  constexpr int64_t rows = 64, members = 7;
  std::mt19937 generator(13);
  std::vector<HostTensor> inputs;
  std::vector<int64_t> axes;
  for (Type type : subject.main.getArgumentTypes()) {
    EvaluateContext lengths;
    lengths.sizes["batch"] = rows;
    SmallVector<int64_t> dims = lengths.dimsOf(cast<RankedTensorType>(type));
    dims.insert(dims.begin(), members);
    inputs.push_back(random(generator, getElementTypeOrSelf(type), dims));
    axes.push_back(batchAxis(cast<RankedTensorType>(type)));
  }
  std::vector<std::string> levels = levelsBeside();
  if (!cudaTarget() && hasWide())
    levels.push_back("x86-64-v4");
  auto compiled = [&](int64_t count) {
    llvm::Expected<std::unique_ptr<Artifact>> artifact =
        Artifact::compile({text, {}, count, levels, /*ownInputs=*/true});
    EXPECT_TRUE(bool(artifact)) << llvm::toString(artifact.takeError());
    return artifact ? std::move(*artifact) : nullptr;
  };
  auto run = [&](const Artifact &artifact, ArrayRef<HostTensor> inputs, const Call &call) {
    llvm::Expected<std::vector<HostTensor>> results = artifact.run(inputs, call);
    EXPECT_TRUE(bool(results)) << llvm::toString(results.takeError());
    return results ? (*results)[0] : inputs[0];
  };
  std::unique_ptr<Artifact> artifact = compiled(members), alone = compiled(1);
  ASSERT_TRUE(artifact && alone);
  HostTensor y = run(*artifact, inputs, {});
  // On a CPU, such that contractions go through every number of rows that they take at a time (17 is 6 + 6 + 5).
  std::vector<int64_t> counts =
      cudaTarget() ? std::vector<int64_t>{1, 5, 64} : std::vector<int64_t>{1, 2, 3, 4, 5, 7, 17, 64};
  for (uint32_t threads : threadCounts())
    for (int64_t count : counts) {
      auto places = llvm::to_vector(llvm::seq<int64_t>(rows - count, rows));
      std::vector<HostTensor> part = inputs;
      for (auto [input, axis] : llvm::zip_equal(part, axes))
        if (axis >= 0)
          input = take(input, axis + 1, places);
      HostTensor want = take(y, batchAxis(result) + 1, places);
      SCOPED_TRACE(std::to_string(count) + " rows, " + std::to_string(threads) + " threads");
      EXPECT_EQ(difference(run(*artifact, part, {{}, threads}), want), "");
      if (!cudaTarget())
        EXPECT_EQ(difference(run(*artifact, part, {.active = {}, .threads = threads, .strips = true}), want), "")
            << "in strips";
      std::vector<HostTensor> some, one;
      for (const HostTensor &input : part) {
        some.push_back(choose(input, {4, 2}));
        one.push_back(choose(input, {5}));
      }
      EXPECT_EQ(difference(run(*artifact, some, {{4, 2}, threads}), choose(want, {4, 2})), "");
      EXPECT_EQ(difference(run(*alone, one, {{}, threads}), choose(want, {5})), "");
      if (levels.size() > 1)
        EXPECT_EQ(difference(run(*artifact, part, {{}, threads, "x86-64-v4"}), want), "");
    }
}

/// The ops' instances that keep the batch an axis. For a device, whose compilers take their time, at most eight of an
/// op, spread over them.
static std::vector<Instance> overBatch() {
  std::map<std::string, std::vector<Instance>> found;
  for (const Instance &instance : instances()) {
    Subject subject = parse(instance);
    auto isBatched = [](Type type) { return batchAxis(cast<RankedTensorType>(type)) >= 0; };
    auto isPlain = [&](Type type) { return isBatched(type) || cast<RankedTensorType>(type).hasStaticShape(); };
    if (instance.refused.empty() && llvm::any_of(subject.main.getArgumentTypes(), isBatched) &&
        llvm::all_of(subject.main.getArgumentTypes(), isPlain) && isBatched(subject.op->getResult(0).getType()))
      found[instance.op].push_back(instance);
  }
  std::vector<Instance> chosen;
  for (const auto &[op, all] : found)
    for (size_t i = 0, count = cudaTarget() ? std::min<size_t>(all.size(), 8) : all.size(); i < count; ++i)
      chosen.push_back(all[i * all.size() / count]);
  return chosen;
}
static std::string nameOf(const testing::TestParamInfo<Instance> &info) {
  return info.param.op.substr(6) + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Ops, OpInvariance, testing::ValuesIn(overBatch()), nameOf);

} // namespace tutti::laws
