// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The predicted times of a program's launches, on every device that the model knows.
#ifndef TUTTI_COMPILER_PERFORMANCE_ESTIMATE_H
#define TUTTI_COMPILER_PERFORMANCE_ESTIMATE_H

#include "Work.h"
#include "compiler/codegen/ProgramCode.h"

namespace tutti {

/// One launch on one device, by the geometry that the runtime would take there.
struct LaunchEstimate {
  const DeviceModel *device;
  KernelWork work;
  Prediction cold, warm; ///< operands in the device's memory; in the L2 cache
};

/// A call of a program.
struct ProgramEstimate {
  CallSizes sizes;
  std::vector<std::string> kernels; ///< of each launch: "k0", or "k0 + k1" of parts
  /// By launch, on the devices that have it, in the order of `deviceModels`. Which kernels share a launch depends on
  /// the architecture.
  std::vector<std::vector<LaunchEstimate>> launches;

  struct Time {
    double cold = 0, warm = 0; ///< seconds
    bool fits = false;         ///< all that a call touches stays in the L2 cache from one call to the next
  };
  std::vector<Time> times; ///< by device; less than zero if a launch has no room on it
};

/// Sets KernelCode::cost, from which the runtime learns the time of a block for each way to launch a kernel, for a
/// device of the program's first architecture.
void addCosts(llvm::MutableArrayRef<ProgramCode> programs);

/// `at` has the sizes that are not the largest of their range; a name that is not a size, or a value that is outside
/// its range, is an error. On a device that `codes` have code of the module for, launches are as they were built.
llvm::Expected<ProgramEstimate> estimate(mlir::ModuleOp planned, const CallSizes &at,
                                         llvm::ArrayRef<ProgramCode> codes);

} // namespace tutti

#endif
