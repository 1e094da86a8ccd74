// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the emulated driver tells a test beside CUDA's own interface: reports, counters, seed. All are plain symbols.
#ifndef TUTTI_TEST_EMULATED_EMULATED_H
#define TUTTI_TEST_EMULATED_EMULATED_H

#include <cstdint>

/// How the environment sets up the driver: read by cuInit.
///   TUTTI_EMULATED_SEED     order of blocks, threads and graph nodes (default 1; 0: ascending order)
///   TUTTI_EMULATED_MEMORY   bytes of device memory (default 4 GiB)
///   TUTTI_EMULATED_DEVICES  number of devices (default 1)
///   TUTTI_EMULATED_CAPABILITY  what the device claims to be (default 90); it runs text for this or less
///   TUTTI_EMULATED_MULTIPROCESSORS  (default 8)
///   TUTTI_EMULATED_BLOCKS   that a multiprocessor claims to hold at most (default: as many as the capability has)
///   TUTTI_EMULATED_TENSOR_CORES  "hardware": sums as Ampere and Hopper make them (default: exact, rounded once)
///   TUTTI_EMULATED_WITHOUT  FILE:LINE, a place in kernel text whose barriers, waits, arrivals and fences do nothing
///   TUTTI_EMULATED_FAIL     NAME:N:ERROR, the Nth call of entry point NAME returns this CUresult
struct TuttiEmulatedCounters {
  uint64_t launches, copies, copiedBytes, sets, graphLaunches;
  uint64_t allocations;     ///< ever made, on devices
  uint64_t liveAllocations; ///< of device memory now
  uint64_t liveBytes;
  uint64_t leaks; ///< allocations that were live when their context ended
  uint64_t reports;
};

extern "C" {
/// Text of the last report; empty before the first. Valid until the next call into the driver.
const char *tuttiEmulatedReport();
TuttiEmulatedCounters tuttiEmulatedCounters();
/// From now on as if TUTTI_EMULATED_SEED were this.
void tuttiEmulatedSetSeed(uint64_t seed);
/// From now on as if TUTTI_EMULATED_CAPABILITY were this.
void tuttiEmulatedSetCapability(int capability);
/// From now on as if TUTTI_EMULATED_TENSOR_CORES were "hardware", or not.
void tuttiEmulatedSetHardwareSums(bool hardware);
}

#endif
