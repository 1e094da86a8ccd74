// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which code fits which CUDA device, and which best.
#include "device/cuda/Image.h"

#include <gtest/gtest.h>

#include <tuple>

TEST(Image, fitsByArchitecture) {
  using tutti::rt::fitOf;
  EXPECT_GT(fitOf("sm_90a", 9, 0), fitOf("sm_90", 9, 0));
  EXPECT_GT(fitOf("sm_90", 9, 0), fitOf("compute_90", 9, 0));
  EXPECT_GT(fitOf("sm_89", 8, 9), fitOf("sm_86", 8, 9));
  EXPECT_GT(fitOf("sm_80", 8, 9), fitOf("compute_80", 8, 9));
  EXPECT_GT(fitOf("compute_80", 9, 0), fitOf("compute_75", 9, 0));
  EXPECT_GT(fitOf("sm_100f", 10, 3), fitOf("sm_100", 10, 3));
  EXPECT_GT(fitOf("sm_120", 12, 1), 0);
  for (auto [target, major, minor] : {std::tuple("sm_90a", 9, 1),
                                      {"sm_90", 10, 0},
                                      {"sm_89", 8, 6},
                                      {"sm_80", 7, 5},
                                      {"compute_120", 9, 0},
                                      {"compute_90a", 10, 0},
                                      {"sm_", 9, 0},
                                      {"sm_90x", 9, 0},
                                      {"x86-64-v3", 9, 0},
                                      {"emulated", 9, 0},
                                      {"", 0, 0},
                                      {"sm_99999999999", 9, 0}})
    EXPECT_EQ(fitOf(target, major, minor), 0) << target;

  using tutti::rt::fitOfEmulated;
  EXPECT_GT(fitOfEmulated("emulated", 9, 0), fitOfEmulated("emulated-sm_80", 9, 0));
  EXPECT_GT(fitOfEmulated("emulated-sm_80", 8, 9), fitOfEmulated("emulated-sm_75", 8, 9));
  for (auto [target, major, minor] : {std::tuple("emulated", 8, 0),
                                      {"emulated-sm_80", 7, 5},
                                      {"emulated-sm_80a", 9, 0},
                                      {"emulated-sm_", 9, 0},
                                      {"emulated-sm_-1", 9, 0},
                                      {"sm_80", 9, 0}})
    EXPECT_EQ(fitOfEmulated(target, major, minor), 0) << target;
}
