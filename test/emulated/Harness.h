// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of the emulated device share: kernel text compiled and launched, and what came of it.
#ifndef TUTTI_TEST_EMULATED_HARNESS_H
#define TUTTI_TEST_EMULATED_HARNESS_H

#include "Emulated.h"
#include "Entries.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

/// The image of kernel text, made once for each text and compute capability. Fails the test where the text does not
/// compile.
const std::string &imageOf(const std::string &text, int capability = 90);

/// `text` without the `which`th (from 0) line that holds `line`; an empty line is left, so that line numbers stay.
std::string without(std::string text, const std::string &line, int which = 0);

/// Which line (from 1) of the text holds `part`, the `which`th time.
int lineOf(const std::string &text, const std::string &part, int which = 0);

/// A primary context for each test, and nothing of it left afterwards.
class EmulatedDevice : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;
  /// Ends the context if a launch has failed in it, with all its memory, and begins another; returns whether it did.
  bool renew();

  /// Device memory with these contents.
  template <class T> CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, values.size() * sizeof(T)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD_v2(address, values.data(), values.size() * sizeof(T)), CUDA_SUCCESS);
    allocations.push_back(address);
    return address;
  }
  template <class T> std::vector<T> download(CUdeviceptr address, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), address, count * sizeof(T)), CUDA_SUCCESS);
    return values;
  }

  struct Launch {
    unsigned grid = 1, block = 32, sharedBytes = 0, cluster = 1;
    int capability = 90; ///< that the text is compiled for
  };
  CUfunction function(const std::string &text, const std::string &kernel = "kernel", int capability = 90);
  /// Launches `kernel` with these words as its one parameter struct, and waits.
  CUresult run(const std::string &text, Launch launch, std::vector<uint64_t> words);
  CUresult run(CUfunction kernel, Launch launch, std::vector<uint64_t> words);

  /// Expects a run to fail, with a report that names this line of the text (0: any) and holds `part`.
  void expectFailure(const std::string &text, Launch launch, std::vector<uint64_t> words, CUresult result, int line,
                     const std::string &part);

  std::vector<CUdeviceptr> allocations;
  std::vector<CUmodule> modules;
};

#endif
