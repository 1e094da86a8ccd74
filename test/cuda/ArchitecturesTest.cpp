// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of --target, and the table behind them.
#include "Support.h"

#include "llvm/ADT/StringExtras.h"

using namespace tutti;

namespace {

std::string namesOf(llvm::StringRef word) {
  std::vector<std::string> names;
  for (const Architecture *architecture : take(parseCudaTarget(word)))
    names.push_back(architecture->name.str());
  return llvm::join(names, " ");
}

TEST(Architectures, Words) {
  EXPECT_EQ(namesOf("cuda"), "sm_75 sm_80 sm_86 sm_89 sm_90a sm_100 sm_120 compute_120");
  EXPECT_EQ(namesOf("sm_90a"), "sm_90a");
  EXPECT_EQ(namesOf("compute_120"), "compute_120");
  EXPECT_EQ(namesOf("sm_110"), "sm_110");
  EXPECT_EQ(namesOf("emulated"), "emulated");
  EXPECT_EQ(namesOf("emulated-sm_75"), "emulated-sm_75");
}

TEST(Architectures, UnknownListsTheKnown) {
  for (const char *word : {"sm_90", "sm_13", "gpu", "", "CUDA"}) {
    Failure failure = failureOf(parseCudaTarget(word));
    EXPECT_EQ(failure.code, ExitCode::usage);
    EXPECT_NE(failure.message.find("--target " + std::string(word) + ": unknown"), std::string::npos)
        << failure.message;
    for (const Architecture &architecture : architectures())
      EXPECT_NE(failure.message.find(architecture.name), std::string::npos) << failure.message;
  }
}

TEST(Architectures, LimitsFitTogether) {
  for (const Architecture &a : architectures()) {
    EXPECT_LE(a.sharedPerBlock + a.sharedReserved, a.sharedPerProcessor) << a.name.str();
    EXPECT_LE(Architecture::threadsPerBlock, a.threadsPerProcessor) << a.name.str();
    EXPECT_EQ(findArchitecture(a.name), &a);
  }
  EXPECT_EQ(cudaVersionText(12080), "12.8");
  EXPECT_EQ(cudaVersionText(13000), "13.0");
}

} // namespace
