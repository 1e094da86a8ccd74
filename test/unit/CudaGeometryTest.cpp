// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of its geometries a launch takes on a CUDA device: tiles, clusters, blocks that go on to further members.
#include "CudaFixture.h"

using namespace tutti::rt::test;

/// The blocks of a call with so many rows, whose answer is right; the driver's calls are counted from its run on.
static uint64_t blocksOfRun(FakeDriver &fake, Fixture &f, int64_t batch) {
  auto x = inputOf(batch);
  EXPECT_FALSE(f.bind(x));
  fake.blocks = 0;
  fake.reset();
  EXPECT_FALSE(f.session.run());
  EXPECT_EQ(f.get("members"), answerOf(x, kAll).members) << batch;
  return fake.blocks;
}

TEST_F(Cuda, choosesTheGeometryThatFillsTheDevice) {
  for (bool oneLaunch : {false, true}) {
    Spec spec = cudaSpec(oneLaunch);
    spec.alternatives = true;
    for (int multiprocessors : {1, 48, 49, 1000}) {
      fake.multiprocessors = multiprocessors;
      Fixture f(spec);
      for (int64_t batch : {64, 3, 64}) {
        uint64_t launched = blocksOfRun(fake, f, batch);
        auto blocks = [&](int64_t members) { // of 8 rows, or of 4 where those are too few
          int64_t wide = members * ((batch + 7) / 8);
          return uint64_t(2 * wide >= multiprocessors ? wide : members * ((batch + 3) / 4));
        };
        EXPECT_EQ(launched, blocks(3) + (oneLaunch ? 0 : blocks(1))) << multiprocessors;
        EXPECT_EQ(fake.calls("cuGraphLaunch"), !oneLaunch) << "a node's function may change";
        EXPECT_EQ(fake.calls("cuMemAlloc") + fake.calls("cuMemHostAlloc") + fake.calls("cuModuleLoadData"), 0);
      }
    }
  }
}

TEST_F(Cuda, takesTheGeometryThatIsPredictedToBeFastest) {
  Spec spec = cudaSpec(/*oneLaunch=*/true);
  spec.alternatives = true;
  spec.cost = {8, 0, 1000, 1000, 0, 500, 500};
  spec.alternativeCost = {4, 0, 600, 600, 0, 500, 500}; // of half the rows
  for (auto [multiprocessors, blocks] : {std::pair{1, 24u}, {24, 24u}, {48, 48u}, {1000, 48u}}) {
    fake.multiprocessors = multiprocessors;
    Fixture f(spec);
    EXPECT_EQ(blocksOfRun(fake, f, 64), blocks) << multiprocessors;
    EXPECT_EQ(blocksOfRun(fake, f, 3), 3u) << "as many blocks of either";
    EXPECT_EQ(blocksOfRun(fake, f, 64), blocks) << multiprocessors << ", again";
  }
  // What is predicted to be nearly the same stays with the larger tile; and the environment decides all.
  spec.alternativeCost = {4, 0, 900, 900, 0, 500, 500};
  fake.multiprocessors = 1000;
  for (auto [tile, blocks] : {std::pair{"", 24u}, {"0", 24u}, {"1", 48u}, {"7", 48u}}) {
    setenv("TUTTI_CUDA_TILE", tile, 1);
    Fixture f(spec);
    EXPECT_EQ(blocksOfRun(fake, f, 64), blocks) << tile;
  }
  for (const char *tile : {"-1", "16 rows", "4294967296"}) {
    setenv("TUTTI_CUDA_TILE", tile, 1);
    tutti::Error error = errorOf(spec);
    EXPECT_EQ(error.status(), TUTTI_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.message()).find(tile), std::string::npos) << error.message();
  }
  unsetenv("TUTTI_CUDA_TILE");
}

TEST_F(Cuda, launchesNoBlockBehindTheLastRow) {
  Spec spec = cudaSpec(/*oneLaunch=*/true);
  spec.spareBlocks = 1000;
  spec.alternatives = true;
  spec.cost = {8, 0, 1000, 1000, 0, 500, 500};
  spec.alternativeCost = {4, 0, 600, 600, 0, 500, 500};
  // With as many blocks of either tile, the smaller one would always seem to be faster.
  for (auto [multiprocessors, blocks] : {std::pair{1, 24u}, {48, 48u}}) {
    fake.multiprocessors = multiprocessors;
    Fixture f(spec);
    EXPECT_EQ(blocksOfRun(fake, f, 64), blocks) << multiprocessors;
    EXPECT_EQ(blocksOfRun(fake, f, 3), 3u) << multiprocessors;
  }
}

TEST_F(Cuda, persistentBlocksGoOnToFurtherMembers) {
  // Of 3 members with 16 tiles of rows, on so many multiprocessors with two blocks each.
  const std::pair<int, uint64_t> launched[] = {
      {4, 16}, {8, 16}, {16, 32}, {24, 48}, {1000, 48}, {7, 48}}; // two rounds of three members would be six, not four
  Spec spec = cudaSpec(/*oneLaunch=*/true);
  spec.persistent = true;
  for (auto [multiprocessors, blocks] : launched) {
    fake.multiprocessors = multiprocessors;
    Fixture f(spec);
    EXPECT_EQ(blocksOfRun(fake, f, 64), blocks) << multiprocessors;
  }
  fake.multiprocessors = 4;
  spec = cudaSpec();
  spec.persistent = true;
  spec.alternatives = true;
  Fixture f(spec);
  EXPECT_EQ(blocksOfRun(fake, f, 64), 8u + 8u) << "and those of the mean";
  EXPECT_EQ(blocksOfRun(fake, f, 3), 3u + 1u);
  EXPECT_EQ(fake.calls("cuOccupancyMaxActiveBlocksPerMultiprocessor"), 0) << "asked once";
  fake.multiprocessors = 4, fake.resident = 0; // where the driver does not know, a block for each
  Fixture g(spec);
  EXPECT_EQ(blocksOfRun(fake, g, 64), 24u + 8u);
}

TEST_F(Cuda, alternativesWithAndWithoutClusters) {
  auto x = inputOf(64);
  for (bool oneLaunch : {false, true})
    for (int multiprocessors : {1, 50, 200}) { // all geometries are the first ones; of one launch; none
      Spec spec = cudaSpec(oneLaunch);
      spec.alternatives = true;
      spec.cluster = {1, 1, 2};
      spec.gridZ = 2;
      fake.multiprocessors = multiprocessors;
      Fixture f(spec);
      ASSERT_FALSE(f.bind(x));
      fake.reset();
      ASSERT_FALSE(f.session.run());
      EXPECT_EQ(fake.calls("cuGraphLaunch"), !oneLaunch && multiprocessors != 50) << "a node keeps its cluster";
      EXPECT_EQ(fake.calls("cuLaunchKernelEx"), oneLaunch ? multiprocessors < 200 : multiprocessors == 50);
      EXPECT_EQ(f.get("members"), answerOf(x, kAll).members);
      // From one graph to the other, and back.
      for (int64_t batch : {3, 64}) {
        auto y = inputOf(batch);
        ASSERT_FALSE(f.bind(y));
        ASSERT_FALSE(f.session.run());
        EXPECT_EQ(f.get("members"), answerOf(y, kAll).members);
      }
    }
  Spec spec = cudaSpec();
  spec.alternatives = true;
  spec.alternativeCluster = {1, 1, 1};
  Fixture f(spec);
  ASSERT_FALSE(f.bind(x));
  fake.reset();
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(fake.calls("cuGraphLaunch"), 1) << "a cluster of one block is none";
}

TEST_F(Cuda, clustersThatHaveNoRoomAreLeftOut) {
  auto x = inputOf(64);
  Spec spec = cudaSpec(/*oneLaunch=*/true);
  spec.alternatives = true;
  spec.alternativeCluster = {1, 1, 2};
  spec.gridZ = 2;
  fake.multiprocessors = 200; // a call of so few rows would take the last geometry
  for (int clusters : {1, 0}) {
    fake.clusters = clusters;
    Fixture f(spec);
    ASSERT_FALSE(f.bind(x));
    fake.reset();
    ASSERT_FALSE(f.session.run());
    EXPECT_EQ(fake.calls("cuLaunchKernelEx"), clusters);
    EXPECT_EQ(f.get("members"), answerOf(x, kAll).members);
  }
}

TEST_F(Cuda, launchesInClusters) {
  for (bool oneLaunch : {false, true}) {
    Spec spec = cudaSpec(oneLaunch);
    spec.cluster = {1, 1, 1};
    Fixture f(spec);
    auto x = inputOf(3);
    ASSERT_FALSE(f.bind(x));
    ASSERT_FALSE(f.session.run());
    EXPECT_EQ(f.get("members"), answerOf(x, kAll).members);
  }
}
