// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formula: from a kernel's counted work to a time on a device (docs/performance-model.md).
#ifndef TUTTI_COMPILER_PERFORMANCE_PREDICT_H
#define TUTTI_COMPILER_PERFORMANCE_PREDICT_H

#include "Device.h"
#include "dialects/tutti/Tutti.h"
#include "runtime/support/GridChoice.h"

#include <array>
#include <string>
#include <vector>

namespace tutti {

/// Operations that wait for each other, on a block's longest way through a step.
struct Chain {
  double l2 = 0;     ///< reads of global memory
  double shared = 0; ///< reads of shared memory, and shuffles
  double fp32 = 0;   ///< plain operations: those of a warp, nearly each of which waits for the one before
  double mma = 0;
  double sharedBytes = 0; ///< that all of the block move at once, and nobody does anything else
  double barriers = 0, clusterBarriers = 0;
};

/// What one block does between two barriers: a dependent layer. Operations are counted in lanes: 32 of a warp's
/// instruction.
struct StepWork {
  std::string what;
  NumericsProduct product = NumericsProduct::fma; ///< what multiplies, if anything does
  bool wide = false;                              ///< by warpgroups
  double products = 0; ///< multiply-adds of whole tiles, so with their padding; tf32x3 does three for each
  double uneven = 1;   ///< of them the busiest of the processor's four parts has so many times its share
  double fp32 = 0;     ///< other floating-point instructions
  double integer = 0;  ///< integers, comparisons, selections, conversions: addresses and loops among them
  double special = 0, fp64 = 0;
  double moves = 0; ///< loads and stores of a word
  double sharedBytes =
      0; ///< over the path to shared memory and L1: 128 a warp's access, also where its lanes read one word
  double l2Bytes = 0;   ///< between the processor and the L2 cache
  double ringBytes = 0; ///< of these, by the ring
  double inFlight = 0;  ///< of these, that can have been asked for and not be there; 0: there is no ring, the kernel's
  Chain chain = {};
};

/// A kernel's launch, or that of several in one: then the sums and the largest of its `parts`, which have the steps.
struct KernelWork {
  std::string name;
  int64_t blocks = 1; ///< one a tile and member
  /// Members that a launched block works on, one after the other; then it does `once` once, and `steps` for each.
  int64_t members = 1;
  bool persistent = false; ///< there may be several
  int64_t cluster = 1;     ///< blocks that run at once on neighbouring processors
  int threads = 32, registers = 32;
  int ofTask = 0; ///< threads that do the steps; 0: all
  int64_t sharedBytes = 0;
  bool registersEstimated = true;
  double flops = 0;     ///< two a multiply-add of the contractions, no padding
  double dramBytes = 0; ///< all that it reads and writes, once
  bool warm = false;    ///< that is in the L2 cache when it starts
  double inFlight = 0;  ///< bytes that a block can have asked for and not have; 0: the chains say what waits
  std::vector<StepWork> once, steps;
  /// What the last block of each of the `tiles` of rows does for all: heads.
  std::vector<StepWork> last;
  int64_t tiles = 0;
  std::vector<KernelWork> parts; ///< in the order of their blocks

  int64_t launched() const;                        ///< blocks
  int processors(const DeviceModel &device) const; ///< that can have blocks of it
  double total(double StepWork::*count) const;     ///< over all blocks
  size_t layers() const;                           ///< of the longest part: steps that wait for each other
  llvm::ArrayRef<KernelWork> each() const { return parts.empty() ? llvm::ArrayRef(*this) : llvm::ArrayRef(parts); }
};
/// The launch of these at once.
KernelWork together(std::vector<KernelWork> parts);

/// What a time is made of. The pipes come in the order of a processor's.
enum class Bound { tensor, fp32, integer, fp64, special, issue, shared, l2, dram, latency, launch };
constexpr unsigned pipes = 8; ///< tensor to l2: of one processor
llvm::StringRef boundName(Bound bound);

struct Prediction {
  double seconds = 0;
  double launch = 0, firstByte = 0, layers = 0; ///< seconds; never more than `seconds` together
  double dram = 0, l2 = 0;                      ///< seconds that the device's memory and L2 cache need at least
  std::array<double, pipes> busy{};             ///< seconds of each pipe on the processor with the most blocks
  Bound bound = Bound::latency;
  int resident = 0;     ///< blocks that a processor holds at once; 0: not even one, and there is no time
  double waves = 0;     ///< blocks over what the device holds at once
  double occupancy = 0; ///< resident threads over what a processor could hold
};

Prediction predict(const KernelWork &work, const DeviceModel &device);

/// What a block takes, as the runtime is told, of a launch of one kernel whose data are in the L2 cache: `full` has
/// tiles of `rows` rows, `one` a single row.
rt::BlockCost blockCost(KernelWork full, KernelWork one, int64_t rows, const DeviceModel &device);

/// How many of its blocks the device has room for.
rt::BlockRoom roomOf(const KernelWork &work, const DeviceModel &device);

/// What `members` is when the runtime launches it.
int64_t membersOfBlock(const KernelWork &work, const DeviceModel &device);

/// Blocks that a processor of this architecture holds at once.
int residentBlocks(const Architecture &architecture, int threads, int registers, int64_t sharedBytes);

} // namespace tutti

#endif
