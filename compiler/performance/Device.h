// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model's data about a GPU: one row of constants, each from a public source (Devices.cpp).
#ifndef TUTTI_COMPILER_PERFORMANCE_DEVICE_H
#define TUTTI_COMPILER_PERFORMANCE_DEVICE_H

#include "compiler/codegen/cuda/images/Architectures.h"

namespace tutti {

/// A device by name. What a processor can hold (threads, blocks, shared memory) stands in the table of architectures.
struct DeviceModel {
  llvm::StringLiteral name;         ///< as in `--explain-for`: "H200"
  llvm::StringLiteral architecture; ///< whose cubin it loads: "sm_90a"
  double clock;                     ///< Hz, at the boost that the data sheet's rates are stated for
  int processors;
  int clustered; ///< processors that can run blocks of clusters of four and more, all at once

  // Rates of one processor, a clock.
  double fp32; ///< lanes of a plain FP32 instruction, an FMA among them
  double fp64;
  double tf32; ///< multiply-adds by mma.sync
  double half; ///< the same for bf16 and f16, summed in float32
  double wide; ///< the same by wgmma; 0: there is none

  // Rates of the device.
  double l2;     ///< bytes a clock
  double l2Size; ///< bytes
  double dram;   ///< bytes a second that a kernel gets, reads and writes mixed

  // Latencies.
  double launch;      ///< seconds from the end of a kernel to the first instruction of the one that waits for it
  double dramLatency; ///< clocks, as the ones below
  double l2Latency;
  double clusterBarrier; ///< 0: there are no clusters

  // The same for all devices of the table.
  static constexpr double issue = 128;        ///< lanes of any instruction
  static constexpr double integer = 64;       ///< lanes of integers, comparisons, selections, conversions
  static constexpr double special = 16;       ///< lanes of a special function: reciprocal, square root
  static constexpr double sharedPath = 128;   ///< bytes between a processor's registers and its shared memory or L1
  static constexpr double l2Port = 64;        ///< bytes that one processor can have from the L2 cache
  static constexpr double sharedLatency = 29; ///< clocks, as the ones below
  static constexpr double fp32Latency = 4;
  static constexpr double mmaLatency = 35;
  static double barrier(int threads); ///< __syncthreads

  const Architecture &limits() const;
};

/// All devices that the model has a row for.
llvm::ArrayRef<DeviceModel> deviceModels();
/// The device of this name, ignoring case and spaces; or null.
const DeviceModel *findDeviceModel(llvm::StringRef name);

} // namespace tutti

#endif
