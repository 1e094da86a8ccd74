// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs on a CUDA device that nobody has waited for yet.
#include "CudaFixture.h"

using namespace tutti::rt::test;
using tutti::rt::CUdeviceptr;

TEST_F(Cuda, runsAsynchronously) {
  Fixture f(cudaSpec());
  auto x = inputOf(6), z = inputOf(6);
  z[3] = 2;
  std::vector<float> first(6 * kN, -1), second(6 * kN, -1);
  std::vector<int64_t> dims{6, kN};
  ASSERT_FALSE(f.session.wait()) << "nothing runs";
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.bindOutput<float>("y", "mean", first, dims));
  ASSERT_FALSE(f.session.runAsync());
  EXPECT_EQ(first[0], -1) << "the fake driver has done nothing yet";
  // The next run may be prepared, and started, before the first is waited for.
  ASSERT_FALSE(f.bind(z));
  ASSERT_FALSE(f.session.bindOutput<float>("y", "mean", second, dims));
  ASSERT_FALSE(f.session.runAsync());
  EXPECT_EQ(first, answerOf(x, kAll).mean);
  ASSERT_FALSE(f.session.wait());
  EXPECT_EQ(second, answerOf(z, kAll).mean);
}

TEST_F(Cuda, runsInDeviceMemoryFollowOneAnotherWithoutWaiting) {
  Fixture f(cudaSpec());
  auto x = inputOf(4);
  const int64_t in[] = {4, kK}, members[] = {3, 4, kN}, mean[] = {4, kN};
  CUdeviceptr xs = fake.allocate(0, 4096), ys = fake.allocate(0, 3 * 4 * kN * 4), zs = fake.allocate(0, 4 * kN * 4);
  fake.write(xs, x.data(), x.size() * 4);
  ASSERT_FALSE(f.session.bindInput(tensorOf("x", in, 2, reinterpret_cast<void *>(xs), TUTTI_MEMORY_DEVICE)));
  ASSERT_FALSE(
      f.session.bindOutput("members", tensorOf("y", members, 3, reinterpret_cast<void *>(ys), TUTTI_MEMORY_DEVICE)));
  ASSERT_FALSE(f.session.bindOutput("mean", tensorOf("y", mean, 2, reinterpret_cast<void *>(zs), TUTTI_MEMORY_DEVICE)));
  fake.reset();
  for (int i = 0; i < 5; ++i)
    ASSERT_FALSE(f.session.runAsync());
  EXPECT_EQ(fake.calls("kernel"), 0);
  EXPECT_EQ(fake.calls("cuEventSynchronize") + fake.calls("cuStreamSynchronize"), 0);
  ASSERT_FALSE(f.session.wait());
  EXPECT_EQ(fake.calls("kernel"), 10);
  // Another active set changes the tables, which the runs before must have read.
  ASSERT_FALSE(f.session.runAsync());
  std::vector<uint32_t> one{1, 0, 2};
  ASSERT_FALSE(f.session.setActive(one));
  ASSERT_FALSE(f.session.runAsync());
  ASSERT_FALSE(f.session.wait());
  std::vector<float> got(3 * 4 * kN);
  fake.read(got.data(), ys, got.size() * 4);
  EXPECT_EQ(got, answerOf(x, one).members);
  for (CUdeviceptr p : {xs, ys, zs})
    fake.free(reinterpret_cast<void *>(p));
}

// What was bound is its owner's again, once something else is bound there.
TEST_F(Cuda, rebindingMemoryOfTheHostWaitsForWhatRuns) {
  const int64_t in[] = {4, kK}, out[] = {4, kN};
  auto x = inputOf(4);
  const std::vector<float> mean = answerOf(x, kAll).mean;
  for (bool input : {true, false})
    for (bool pinned : {true, false}) {
      std::vector<float> plain[2] = {mean, mean}, other = mean; // as long as either
      Fixture f(cudaSpec());
      float *places[2];
      for (int i : {0, 1})
        places[i] = pinned ? static_cast<float *>(fake.allocatePinned(mean.size() * 4)) : plain[i].data();
      std::copy(x.begin(), x.end(), places[0]);
      std::fill_n(places[1], mean.size(), -1.0f);
      auto bind = [&](bool isInput, float *data) {
        return isInput ? f.session.bindInput(tensorOf("x", in, 2, data, TUTTI_MEMORY_HOST))
                       : f.session.bindOutput("mean", tensorOf("y", out, 2, data, TUTTI_MEMORY_HOST));
      };
      ASSERT_FALSE(bind(true, places[0]));
      ASSERT_FALSE(bind(false, places[1]));
      fake.reset();
      ASSERT_FALSE(f.session.runAsync());
      ASSERT_FALSE(bind(input, places[!input])) << "the same as before";
      EXPECT_EQ(fake.calls("kernel"), 0) << "needs no waiting";
      ASSERT_FALSE(bind(input, other.data()));
      EXPECT_EQ(fake.calls("kernel"), 2);
      EXPECT_TRUE(std::equal(mean.begin(), mean.end(), places[1]));
      for (float *place : places)
        if (pinned)
          fake.free(place);
    }
}

// Of the first run the output comes by way of a copy, of the second one it would come first.
TEST_F(Cuda, memoryPinnedBetweenRunsHasTheLastOnesOutput) {
  const int64_t in[] = {4, kK}, out[] = {4, kN};
  auto bytes = [](const auto &values) { return values.size() * sizeof(float); };
  const std::vector<float> first = inputOf(4), second(first.rbegin(), first.rend());
  std::vector<float> mean = answerOf(first, kAll).mean;
  const std::vector<float> right = answerOf(second, kAll).mean;
  ASSERT_NE(mean, right);
  Fixture f(cudaSpec());
  CUdeviceptr x[] = {fake.allocate(0, bytes(first)), fake.allocate(0, bytes(first))},
              members = fake.allocate(0, 3 * bytes(mean));
  fake.write(x[0], first.data(), bytes(first));
  fake.write(x[1], second.data(), bytes(first));
  const int64_t all[] = {3, 4, kN};
  auto bindInput = [&](int i) {
    return f.session.bindInput(tensorOf("x", in, 2, reinterpret_cast<float *>(x[i]), TUTTI_MEMORY_DEVICE));
  };
  auto bindMean = [&] { return f.session.bindOutput("mean", tensorOf("y", out, 2, mean.data(), TUTTI_MEMORY_HOST)); };
  ASSERT_FALSE(
      f.session.bindOutput("members", tensorOf("y", all, 3, reinterpret_cast<float *>(members), TUTTI_MEMORY_DEVICE)));
  ASSERT_FALSE(bindInput(0));
  ASSERT_FALSE(bindMean());
  ASSERT_FALSE(f.session.runAsync());
  fake.pin(mean.data(), bytes(mean));
  ASSERT_FALSE(bindMean());
  ASSERT_FALSE(bindInput(1));
  ASSERT_FALSE(f.session.runAsync());
  ASSERT_FALSE(f.session.wait());
  EXPECT_EQ(mean, right);
  fake.free(mean.data());
  for (CUdeviceptr place : {x[0], x[1], members})
    fake.free(reinterpret_cast<void *>(place));
}

// What a run has read is let go by a swap once the run has ended, whether its session knows that or not.
TEST_F(Cuda, swapsFreeWhatRunsThatNobodyWaitsForHaveRead) {
  Fixture f(cudaSpec());
  auto x = inputOf(4), w = weightOf(40);
  const int64_t dims[] = {kK, kN};
  tutti_tensor_t tensor = tensorOf("W", dims, 2, w.data(), TUTTI_MEMORY_HOST);
  auto swap = [&] { EXPECT_FALSE(f.artifact.swapWeights(1, {&tensor, 1})); };
  uint64_t without = fake.used;
  swap();
  uint64_t before = fake.used, copy = before - without;
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.runAsync());
  for (int i = 0; i < 3; ++i)
    swap();
  EXPECT_EQ(fake.used, before + 3 * copy) << "it is under way";
  fake.free(reinterpret_cast<void *>(fake.allocate(0, 4096))); // the device comes to its end
  swap();
  EXPECT_EQ(fake.used, before);
  // The next run, which nobody waits for either, has the newest.
  ASSERT_FALSE(f.session.runAsync());
  for (int i = 0; i < 3; ++i)
    swap();
  EXPECT_GT(fake.used, before);
  ASSERT_FALSE(f.session.wait());
  Answer answer = answerOf(x, kAll);
  auto swapped = expected(x, w, biasOf(1));
  std::copy(swapped.begin(), swapped.end(), answer.members.begin() + int64_t(swapped.size()));
  EXPECT_EQ(f.get("members"), answer.members);
}

// A swap frees the version of a run that has ended, whose session does not know that. Nothing of the run waits: all is
// in the device's memory.
TEST_F(Cuda, runsOnAfterTheirVersionIsFreed) {
  Fixture f(cudaSpec());
  auto x = inputOf(4), w = weightOf(40);
  const int64_t dims[] = {kK, kN}, in[] = {4, kK}, all[] = {3, 4, kN}, out[] = {4, kN};
  tutti_tensor_t tensor = tensorOf("W", dims, 2, w.data(), TUTTI_MEMORY_HOST);
  const size_t bytes = 4 * kN * sizeof(float);
  CUdeviceptr given = fake.allocate(0, x.size() * sizeof(float)), members = fake.allocate(0, 3 * bytes),
              mean = fake.allocate(0, bytes);
  auto on = [](CUdeviceptr place) { return reinterpret_cast<float *>(place); };
  fake.write(given, x.data(), x.size() * sizeof(float));
  ASSERT_FALSE(f.session.bindInput(tensorOf("x", in, 2, on(given), TUTTI_MEMORY_DEVICE)));
  ASSERT_FALSE(f.session.bindOutput("members", tensorOf("y", all, 3, on(members), TUTTI_MEMORY_DEVICE)));
  ASSERT_FALSE(f.session.bindOutput("mean", tensorOf("y", out, 2, on(mean), TUTTI_MEMORY_DEVICE)));
  for (int run = 0; run < 3; ++run) {
    ASSERT_FALSE(f.session.runAsync());
    fake.free(reinterpret_cast<void *>(fake.allocate(0, 4096))); // the device comes to its end
    ASSERT_FALSE(f.artifact.swapWeights(1, {&tensor, 1}));
  }
  ASSERT_FALSE(f.session.runAsync());
  ASSERT_FALSE(f.session.wait());
  std::vector<float> got(3 * 4 * kN), right = answerOf(x, kAll).members, swapped = expected(x, w, biasOf(1));
  fake.read(got.data(), members, 3 * bytes);
  std::copy(swapped.begin(), swapped.end(), right.begin() + int64_t(swapped.size()));
  EXPECT_EQ(got, right);
  for (CUdeviceptr place : {given, members, mean})
    fake.free(reinterpret_cast<void *>(place));
}
