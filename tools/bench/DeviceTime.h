// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timing calls by a CUDA device's own clock.
#ifndef TUTTI_TOOLS_BENCH_DEVICETIME_H
#define TUTTI_TOOLS_BENCH_DEVICETIME_H

#include "Measure.h"

namespace tutti::tool {

/// Runs with inputs and outputs in the device's memory, the sets in rotation, each call between two events on its
/// stream. Calls are put on the stream behind a head start of fills, so that the device never waits for the host: this
/// is what the work takes, not what it takes to ask for it. Fills in `onDevice`, `emptyUs` and `driver`;
/// `setup.options` are those of a session that has run, `m.sizes` its dimensions.
Failure timeOnDevice(const Artifact &artifact, const Setup &setup, std::span<const InputSet> sets, Measurement &m);

} // namespace tutti::tool

#endif
