// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replacing one member's weights in a loaded artifact.
#include "Fixture.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tutti::rt::test;
using tutti::Error;

namespace {
const int64_t kWeightDims[] = {kK, kN}, kBiasDims[] = {kN};

tutti_tensor_t weightTensor(std::vector<float> &w) {
  return {"W", TUTTI_F32, 2, kWeightDims, nullptr, w.data(), TUTTI_MEMORY_HOST};
}
tutti_tensor_t biasTensor(std::vector<float> &b) {
  return {"b", TUTTI_F32, 1, kBiasDims, nullptr, b.data(), TUTTI_MEMORY_HOST};
}
} // namespace

TEST(Swap, replacesOneMembersWeights) {
  Fixture f;
  auto x = inputOf(5), w = weightOf(40), b = biasOf(41);
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.run());
  tutti_tensor_t tensors[] = {weightTensor(w), biasTensor(b)};
  auto error = f.artifact.swapWeights(1, tensors);
  ASSERT_FALSE(error) << error.message();
  w.assign(w.size(), 0); // the data was copied
  ASSERT_FALSE(f.session.run());
  Answer before = answerOf(x, {0, 1, 2});
  auto swapped = expected(x, weightOf(40), biasOf(41)), got = f.get("members");
  size_t n = swapped.size();
  EXPECT_TRUE(std::equal(swapped.begin(), swapped.end(), got.begin() + n));
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + n, before.members.begin()));
  EXPECT_TRUE(std::equal(got.begin() + 2 * n, got.end(), before.members.begin() + 2 * n));
  // Also where the member stands elsewhere in the active set, and in a new session.
  uint32_t active[] = {1};
  ASSERT_FALSE(f.session.setActive(active));
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(f.get("members"), swapped);
}

// Its holder did not come along, and nobody waits for it.
TEST(Swap, aChildForkedInTheMiddleIsTold) {
  Fixture f;
  auto w = weightOf(40);
  tutti_tensor_t tensor = weightTensor(w);
  std::atomic<bool> done{false};
  std::thread swapping([&] {
    while (!done)
      EXPECT_FALSE(f.artifact.swapWeights(1, {&tensor, 1}));
  });
  for (int i = 0; i < 50; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(5);
      auto own = tutti::Session::create(f.artifact, 1);
      _exit(own.ok() || own.error().status() == TUTTI_FORKED ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  done = true;
  swapping.join();
}

TEST(Swap, aWeightInTwoLayoutsIsOne) {
  Spec spec;
  spec.second = "matrices.f16";
  Fixture f(spec);
  ASSERT_EQ(f.artifact.info().num_weights, 2u);
  EXPECT_STREQ(f.artifact.info().weights[0].name, "W");
  EXPECT_STREQ(f.artifact.info().weights[1].name, "b");
  auto x = inputOf(5), w = weightOf(40);
  tutti_tensor_t tensor = weightTensor(w);
  auto error = f.artifact.swapWeights(1, {&tensor, 1});
  ASSERT_FALSE(error) << error.message();
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.run());
  auto swapped = expected(x, w, biasOf(1)), got = f.get("members");
  EXPECT_TRUE(std::equal(swapped.begin(), swapped.end(), got.begin() + int64_t(swapped.size())));
}

TEST(Swap, namesARankThatIsNone) {
  Fixture f;
  auto w = weightOf(9);
  for (int32_t rank : {17, -1, 2}) {
    tutti_tensor_t weight = weightTensor(w);
    weight.rank = rank;
    if (rank == 2)
      weight.dims = nullptr;
    tutti_tensor_t input = weight;
    input.name = "x";
    const std::string said =
        rank == 2 ? "has rank 2 and no dims" : "has rank " + std::to_string(rank) + ", expected 0 to 16";
    Error error = f.artifact.swapWeights(1, {&weight, 1});
    EXPECT_EQ(error.status(), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(), "weight 'W' " + said);
    error = f.session.bindInput(input);
    EXPECT_EQ(error.status(), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(), "'x' " + said);
  }
}

TEST(Swap, takesStridedTensors) {
  Fixture f;
  auto x = inputOf(3), w = weightOf(9);
  std::vector<float> columns(w.size());
  for (int64_t k = 0; k < kK; ++k)
    for (int64_t n = 0; n < kN; ++n)
      columns[n * kK + k] = w[k * kN + n];
  int64_t strides[] = {4, kK * 4};
  tutti_tensor_t tensor = weightTensor(columns);
  tensor.strides = strides;
  ASSERT_FALSE(f.artifact.swapWeights(0, {&tensor, 1}));
  uint32_t active[] = {0};
  ASSERT_FALSE(f.session.setActive(active));
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(f.get("members"), expected(x, w, biasOf(0)));
}

TEST(Swap, refusesWhatDoesNotFitAndChangesNothing) {
  Spec spec;
  spec.sharedBias = true;
  spec.share = "content";
  File file = buildArtifact(spec);
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok()) << artifact.error().message();
  auto w = weightOf(4), b = biasOf(4);
  tutti_tensor_t weight = weightTensor(w), bias = biasTensor(b);
  auto shared = artifact->swapWeights(1, {&bias, 1});
  EXPECT_EQ(shared.status(), TUTTI_SHARED_WEIGHT);
  EXPECT_NE(shared.message().find("--share=none"), std::string::npos);
  EXPECT_EQ(artifact->swapWeights(3, {&weight, 1}).status(), TUTTI_NOT_FOUND);
  weight.memory = TUTTI_MEMORY_DEVICE;
  EXPECT_EQ(artifact->swapWeights(0, {&weight, 1}).status(), TUTTI_INVALID_ARGUMENT) << "it is read by the host";
  weight.memory = TUTTI_MEMORY_HOST;
  tutti_tensor_t both[] = {weight, bias};
  EXPECT_EQ(artifact->swapWeights(0, both).status(), TUTTI_SHARED_WEIGHT);
  tutti_tensor_t twice[] = {weight, weight};
  EXPECT_EQ(artifact->swapWeights(0, twice).status(), TUTTI_INVALID_ARGUMENT);
  weight.name = "nothing";
  EXPECT_EQ(artifact->swapWeights(0, {&weight, 1}).status(), TUTTI_NOT_FOUND);
  weight = weightTensor(w);
  weight.dtype = TUTTI_F64;
  EXPECT_EQ(artifact->swapWeights(0, {&weight, 1}).status(), TUTTI_DTYPE_MISMATCH);
  weight = weightTensor(w);
  int64_t turned[] = {kN, kK};
  weight.dims = turned;
  auto error = artifact->swapWeights(0, {&weight, 1});
  EXPECT_EQ(error.status(), TUTTI_SHAPE_MISMATCH);
  EXPECT_EQ(error.message(), "weight 'W' has dims [6, 45], given [45, 6]");
}

// Where each member was to have its own, equal copies have one place still; another compilation would not help.
TEST(Swap, refusesWhatWasComputedWith) {
  Spec spec;
  spec.sharedBias = true;
  File file = buildArtifact(spec);
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok()) << artifact.error().message();
  auto b = biasOf(4);
  tutti_tensor_t bias = biasTensor(b);
  auto error = artifact->swapWeights(1, {&bias, 1});
  EXPECT_EQ(error.status(), TUTTI_UNSUPPORTED);
  EXPECT_EQ(error.message(), "weight 'b' went into values computed when compiling, so it cannot be replaced");
}

// Weights and bias of one version belong together; a run that mixed them, or saw freed memory, would show another sum.
TEST(Swap, aRunSeesOneVersion) {
  Fixture f;
  auto x = inputOf(64);
  std::vector<std::vector<float>> answers;
  for (uint32_t v = 0; v < 4; ++v)
    answers.push_back(expected(x, weightOf(50 + v), biasOf(50 + v)));
  auto swapTo = [&](uint32_t v) {
    auto w = weightOf(50 + v), b = biasOf(50 + v);
    tutti_tensor_t tensors[] = {weightTensor(w), biasTensor(b)};
    EXPECT_FALSE(f.artifact.swapWeights(2, tensors));
  };
  swapTo(0);
  std::atomic<bool> stop{false};
  std::vector<std::thread> runners;
  std::atomic<int> runs{0};
  for (uint32_t threads : {1, 2})
    runners.emplace_back([&, threads] {
      auto session = tutti::Session::create(f.artifact, threads);
      ASSERT_TRUE(session.ok());
      uint32_t active[] = {2};
      ASSERT_FALSE(session->setActive(active));
      ASSERT_FALSE(session->bindInput<float>("x", std::span<const float>(x), {64, kK}));
      while (!stop || runs < 50) {
        ASSERT_FALSE(session->run());
        auto got = session->output("y", "members")->as<float>();
        EXPECT_TRUE(std::any_of(answers.begin(), answers.end(), [&](const auto &answer) {
          return std::equal(answer.begin(), answer.end(), got.begin());
        }));
        ++runs;
      }
    });
  for (uint32_t i = 0; i < 400; ++i)
    swapTo(i % 4);
  stop = true;
  for (std::thread &runner : runners)
    runner.join();
}
