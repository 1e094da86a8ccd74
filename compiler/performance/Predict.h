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

/// Operations that wait for each other: the critical path of a block through a step.
struct Chain {
  double l2 = 0;     ///< reads of global memory
  double shared = 0; ///< reads of shared memory, and shuffles
  double fp32 = 0;   ///< plain operations: those of a warp, nearly each of which waits for the one before
  double mma = 0;
  double sharedBytes = 0; ///< that the whole block moves at once, with no other work to overlap
  double barriers = 0, clusterBarriers = 0;
};

/// The work of one block between two barriers: a dependent layer. Operations are counted in lanes: 32 for a warp's
/// instruction.
struct StepWork {
  std::string what;
  NumericsProduct product = NumericsProduct::fma; ///< what multiplies, if anything does
  bool wide = false;                              ///< by warpgroups
  double products = 0; ///< multiply-adds of whole tiles, so with their padding; tf32x3 does three for each
  double uneven = 1;   ///< the products of the busiest of the processor's four partitions, over its even share
  double fp32 = 0;     ///< other floating-point instructions
  double integer = 0;  ///< integers, comparisons, selections, conversions: addresses and loops among them
  double special = 0, fp64 = 0;
  double moves = 0;       ///< loads and stores of a word
  double sharedBytes = 0; ///< on the path to shared memory and L1: 128 per warp access, even if its lanes read one word
  double l2Bytes = 0;     ///< between the processor and the L2 cache
  double ringBytes = 0;   ///< of these, by the ring
  double inFlight = 0;    ///< of these, the most that can be in flight; 0: there is no ring, and the kernel's holds
  Chain chain = {};
};

/// A kernel's launch, or one launch of several kernels. The latter has the sums and maxima of its `parts`, which have
/// the steps.
struct KernelWork {
  std::string name;
  int64_t blocks = 1; ///< one a tile and member
  /// The members that a launched block works on, one after the other. It does `once` once, and `steps` for each member.
  int64_t members = 1;
  bool persistent = false; ///< whether a block may have several members
  int64_t cluster = 1;     ///< blocks that run at once on neighbouring processors
  int threads = 32, registers = 32;
  int ofTask = 0; ///< threads that do the steps; 0: all
  int64_t sharedBytes = 0;
  bool registersEstimated = true;
  double flops = 0;     ///< two a multiply-add of the contractions, no padding
  double dramBytes = 0; ///< all that it reads and writes, once
  bool warm = false;    ///< whether these bytes are in the L2 cache at the start
  double inFlight = 0;  ///< the most bytes that a block can have in flight; 0: the chains alone model waiting
  std::vector<StepWork> once, steps;
  /// The heads: work of the last block of each of the `tiles` of rows, for all blocks.
  std::vector<StepWork> last;
  int64_t tiles = 0;
  std::vector<KernelWork> parts; ///< in the order of their blocks

  int64_t launched() const;                        ///< blocks
  int processors(const DeviceModel &device) const; ///< that can run its blocks
  double total(double StepWork::*count) const;     ///< over all blocks
  size_t layers() const;                           ///< of the longest part: steps that wait for each other
  llvm::ArrayRef<KernelWork> each() const { return parts.empty() ? llvm::ArrayRef(*this) : llvm::ArrayRef(parts); }
};
/// One launch of all these kernels.
KernelWork together(std::vector<KernelWork> parts);

/// The limits that a time may be bound by. The pipes of a processor come first, in their order.
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

/// The cost of a block that the runtime is told, for a launch of one kernel whose data are in the L2 cache: `full` has
/// tiles of `rows` rows, `one` a single row.
rt::BlockCost blockCost(KernelWork full, KernelWork one, int64_t rows, const DeviceModel &device);

/// The number of blocks of this work that the device has room for.
rt::BlockRoom roomOf(const KernelWork &work, const DeviceModel &device);

/// The value of `members` when the runtime launches this work.
int64_t membersOfBlock(const KernelWork &work, const DeviceModel &device);

/// Blocks that a processor of this architecture holds at once.
int residentBlocks(const Architecture &architecture, int threads, int registers, int64_t sharedBytes);

} // namespace tutti

#endif
