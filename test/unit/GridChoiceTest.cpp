// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a launch's geometry is chosen: what many blocks take, and what is taken where that is not known.
#include "runtime/support/GridChoice.h"

#include <gtest/gtest.h>

using namespace tutti;

TEST(MembersAtOnce, FillTheDeviceAndLeaveNobodyBehind) {
  using rt::membersAtOnce;
  EXPECT_EQ(membersAtOnce(1, 1000, 132), 125u); // eight each
  EXPECT_EQ(membersAtOnce(2, 500, 132), 63u);
  EXPECT_EQ(membersAtOnce(1, 132, 132), 132u);
  EXPECT_EQ(membersAtOnce(1, 133, 132), 67u);  // two rounds in any case
  EXPECT_EQ(membersAtOnce(782, 7, 132), 1u);   // six rounds of seven are as many as 42 of one
  EXPECT_EQ(membersAtOnce(100, 7, 132), 7u);   // seven rounds of a block's own would be, where six will do
  EXPECT_EQ(membersAtOnce(1, 1000, 0), 1000u); // slots that nobody knows
  EXPECT_EQ(membersAtOnce(0, 1000, 132), 1000u);
  EXPECT_EQ(membersAtOnce(UINT32_MAX, UINT32_MAX, 1), 1u);
}

TEST(LaunchClocks, AreThoseOfTheMultiprocessorWithMostBlocks) {
  using rt::launchClocks;
  const rt::BlockCost latency = {8, 100, 1000, 10, 0, 300, 3}, busy = {8, 0, 1000, 1000, 0, 1000, 1000},
                      fetching = {8, 0, 10, 10, 500, 10, 10};
  EXPECT_EQ(launchClocks(latency, 4, 1, {1, 4}), 1100); // a block each
  EXPECT_EQ(launchClocks(latency, 5, 1, {1, 4}), 2200); // one has two, one after the other
  EXPECT_EQ(launchClocks(latency, 4, 3, {1, 4}), 3100); // three members each, which begin once
  // Two side by side hide each other's waits, but not what both are busy with.
  EXPECT_LT(launchClocks(latency, 8, 1, {2, 8}), 1120);
  EXPECT_NEAR(launchClocks(busy, 8, 1, {2, 8}), 2000, 1e-9);
  EXPECT_NEAR(launchClocks(busy, 9, 1, {2, 8}), 3000, 1e-9); // and one by itself
  EXPECT_EQ(launchClocks(fetching, 4, 1, {1, 4}), 500);      // the L2 cache is slower than any multiprocessor
  EXPECT_EQ(launchClocks(fetching, 8, 2, {1, 4}), 2000);
  EXPECT_EQ(launchClocks(latency, 0, 1, {1, 4}), 0);
  EXPECT_EQ(launchClocks(latency, 2, 1, {0, 0}), 2200); // room that nobody knows
  // Of fewer rows than a tile has a block does less.
  EXPECT_EQ(latency.inCall(1).alone, 300);
  EXPECT_EQ(latency.inCall(1).busy, 3);
  EXPECT_EQ(latency.inCall(4).alone, 600);
  EXPECT_EQ(latency.inCall(8).alone, 1000);
  EXPECT_EQ(latency.inCall(1000).alone, 1000);
}

TEST(SideBySide, IsNeverLessThanEitherAloneOrThePipe) {
  EXPECT_EQ(rt::sideBySide(1, 10, 1000), 1000);
  EXPECT_EQ(rt::sideBySide(8, 0, 1000), 1000); // nobody waits
  for (int64_t count : {1, 2, 5, 32})
    for (double busy : {1., 100., 900., 2000.}) {
      double clocks = rt::sideBySide(count, busy, 1000);
      EXPECT_GE(clocks, std::max({1000., busy, .999 * busy * double(count)})) << count << " of " << busy;
      EXPECT_LE(clocks, std::max(1000., busy) + busy * double(count - 1)) << count << " of " << busy;
    }
}

TEST(ChooseGeometry, TakesWhatIsPredictedToGainATenth) {
  auto choose = [](std::vector<double> clocks) {
    return rt::chooseGeometry(uint32_t(clocks.size()), 100, [&](uint32_t g) { return rt::Candidate{clocks[g], 1}; });
  };
  EXPECT_EQ(choose({100}), 0u);
  EXPECT_EQ(choose({100, 91}), 0u);
  EXPECT_EQ(choose({100, 89}), 1u);
  EXPECT_EQ(choose({100, 85, 75}), 2u); // of what is taken so far
  EXPECT_EQ(choose({100, 50, 46}), 1u);
  EXPECT_EQ(choose({0, 0}), 0u);
}

TEST(ChooseGeometry, WithoutPredictionsTheFirstThatFillsHalfOfTheDevice) {
  auto choose = [](uint64_t multiprocessors, std::vector<uint64_t> blocks) {
    return rt::chooseGeometry(uint32_t(blocks.size()), multiprocessors,
                              [&](uint32_t g) { return rt::Candidate{std::nullopt, blocks[g]}; });
  };
  EXPECT_EQ(choose(100, {50, 100, 400}), 0u);
  EXPECT_EQ(choose(100, {49, 100, 400}), 1u);
  EXPECT_EQ(choose(100, {10, 20, 40}), 2u);
  EXPECT_EQ(choose(100, {60, 60, 120}), 1u); // the first one's tiles are half empty
  EXPECT_EQ(choose(100, {60, 60, 60}), 2u);
  EXPECT_EQ(choose(1, {0, 0}), 1u);
}
