// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timing one artifact at one binding of its dimensions.
#ifndef TUTTI_TOOLS_BENCH_MEASURE_H
#define TUTTI_TOOLS_BENCH_MEASURE_H

#include "../common/Programs.h"

#include <chrono>

namespace tutti::tool {

using Clock = std::chrono::steady_clock;
/// Microseconds.
inline double since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}
/// However long each takes, so many calls are timed.
constexpr size_t kLeastRuns = 20;

struct Setup {
  std::string artifact;
  Binding binding;                                              ///< dimensions not in it take their largest value
  std::vector<uint32_t> active;                                 ///< empty: all
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT; ///< device and program are chosen
  double seconds = 1;
};

/// One call's inputs in memory of the host.
struct InputSet {
  std::vector<std::vector<char>> data;
  std::vector<tutti_tensor_t> tensors;
};

/// Times in microseconds, ascending.
using Times = std::vector<double>;
double percentile(const Times &times, double p);

struct Measurement {
  Times microseconds; ///< of each call from and to memory of the host, by its clock
  double coldUs = 0;  ///< open, make a session, first answer
  double flops = 0;   ///< twice the contractions' multiply-adds, active members only
  uint64_t bytes = 0; ///< weights, inputs and outputs, once, unpadded
  int64_t rows = 0;   ///< the largest first axis of an input, behind that of the members, times the members
  uint32_t active = 0;
  std::string device; ///< what it ran on
  bool onCpu = true;
  bool emulated = false;
  double flopsPeak = 0, bytesPeak = 0; ///< of a device that says so; 0: not known
  Times onDevice;                      ///< of each call in the device's memory, by its events; empty for CPUs
  double emptyUs = 0;                  ///< between two events with no call between them
  int driver = 0;                      ///< 1000 * major + 10 * minor of the CUDA that it is for
  Binding sizes;
};

/// Runs on eight sets of random inputs in rotation.
Failure measure(const Setup &setup, Measurement &measurement);

} // namespace tutti::tool

#endif
