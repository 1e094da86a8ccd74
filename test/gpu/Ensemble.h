// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Artifacts of one set of models, and answers from them: on the device under test, and on the CPU.
#pragma once

#include "device/cuda/Driver.h"
#include "tutti/tutti.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tutti::gpu {

/// What the program was started with.
struct Options {
  std::string folder; ///< of artifacts and manifest.json
  tutti_device_t device = TUTTI_DEVICE_CUDA;
  uint32_t ordinal = 0;
  bool quick = false; ///< fewer sizes: under a sanitizer, on the emulated device
};
extern Options options;

/// The driver, with the device's primary context current in this thread.
struct Driver : rt::CudaDriver {
  rt::CUcontext context = nullptr;
  rt::CUdevice device = 0;
};
Driver &driver();

/// A stream with memory, which goes away with it.
class Stream {
public:
  Stream();
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  void *allocate(size_t bytes);
  void write(void *to, const void *from, size_t bytes);
  void read(void *to, const void *from, size_t bytes);

  rt::CUstream handle = nullptr;

private:
  std::vector<rt::CUdeviceptr> memory;
};

/// Values of every input, or of every output, row by row.
struct Values {
  struct Port {
    std::string name, head;
    tutti_dtype_t dtype;
    int rowAxis;    ///< -1: none
    int memberAxis; ///< 0 or -1
    std::vector<int64_t> dims;
    std::vector<char> data;
  };
  std::vector<Port> ports;
};

/// What one set has at one precision.
struct Case {
  std::string set, precision, file, cpu;
  bool bits = false;                                   ///< whether the CPU's are ours
  double tolerance = 0;                                ///< else: of the 2-norm, relative
  std::vector<std::pair<uint32_t, std::string>> alone; ///< members compiled by themselves
};

Artifact open(const std::string &file);
tutti_session_options_t optionsOf(Artifact &artifact, tutti_device_t device);
Session sessionOf(Artifact &artifact, tutti_device_t device);

/// Random inputs of so many rows for all members.
Values inputsOf(const Artifact &artifact, const tutti_session_options_t &options, int64_t rows, uint32_t members);
/// Binds them from memory of the host and runs; an empty set is all members, whose inputs are then picked.
Values run(Session &session, const Artifact &artifact, const tutti_session_options_t &options, const Values &inputs,
           const std::vector<uint32_t> &active = {});
/// These rows, in this order; these members, in this order.
Values rowsOf(const Values &values, const std::vector<int64_t> &rows);
Values membersOf(const Values &values, const std::vector<uint32_t> &members);
/// What has a member axis: heads depend on the set.
Values withoutHeads(const Values &values);

testing::AssertionResult sameBits(const Values &a, const Values &b);
/// By the 2-norm of each tensor, which counts as no less than that of as many elements of `usual` (the same of many
/// rows): a single number may be close to 0 by chance.
testing::AssertionResult near(const Values &a, const Values &b, const Values &usual, double tolerance);

/// A test for each property of each case.
void registerCases(const std::vector<Case> &cases);

} // namespace tutti::gpu
