// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timing one artifact at one binding of its dimensions.
#pragma once

#include "../common/Tool.h"

namespace tutti::tool {

using Binding = std::vector<std::pair<std::string, int64_t>>;

struct Setup {
  std::string artifact;
  Binding binding; ///< dimensions not in it take their largest value
  std::vector<uint32_t> active; ///< empty: all
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT; ///< as parseDevice makes them
  double seconds = 1;
};

struct Measurement {
  std::vector<double> microseconds; ///< of each call, ascending
  double coldUs = 0;                ///< open, make a session, first answer
  double flops = 0;                 ///< twice the contractions' multiply-adds, active members only
  uint64_t bytes = 0;               ///< weights, inputs and outputs, once, unpadded
  int64_t rows = 0;                 ///< of the largest batch-like dimension, times the members
  uint32_t active = 0;
  std::string device; ///< what it ran on
  bool onCpu = true;
  double flopsPeak = 0, bytesPeak = 0; ///< of a device that says so; 0: not known
  Binding sizes;

  double percentile(double p) const;
};

/// Runs on eight sets of random inputs in rotation.
Failure measure(const Setup &setup, Measurement &measurement);

} // namespace tutti::tool
