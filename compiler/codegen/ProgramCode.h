// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The output of code generation, from which the artifact is written.
#ifndef TUTTI_COMPILER_CODEGEN_PROGRAMCODE_H
#define TUTTI_COMPILER_CODEGEN_PROGRAMCODE_H

#include "dialects/plan/Plan.h"
#include "runtime/support/GridChoice.h"

#include <memory>
#include <optional>

namespace tutti {

struct Ensemble;  // of compiler/import: passed on, never looked into
struct LaunchWay; // of compiler/codegen/cuda

/// A planned module, and the ensemble whose weights it names.
struct PlannedModule {
  mlir::ModuleOp module;
  const Ensemble *ensemble;
};

/// Machine code of a program's kernels for one target.
struct TargetImage {
  std::string target;                       ///< "x86-64-v3", "sm_90a", "emulated-sm_80"
  unsigned minDriver = 0;                   ///< of CUDA, as cuDriverGetVersion counts
  std::shared_ptr<const std::string> bytes; ///< programs may have an image in common
  struct Kernel {
    uint64_t offset = 0; ///< of the function on a CPU, whose kernels share an image; else of the kernel's own file
    uint64_t bytes = 0;  ///< of that file
    unsigned registers = 0, stack = 0, staticShared = 0, barriers = 0, maxThreads = 0; ///< as the cubin has them
  };
  std::vector<Kernel> kernels; ///< in the order of the program's
  std::string compiler = {};   ///< of the text, with its version: "NVRTC 13.0"; empty: our own
};

/// How a kernel is launched on a CUDA device.
struct CudaLaunch {
  std::vector<int64_t> rows;            ///< of a block; several kernels in one: of each part's
  int64_t threads = 0, sharedBytes = 0; ///< of a block
  int64_t cluster = 1;                  ///< blocks in x that share the rows
  bool persistent = false;              ///< blocks go on from one member to the next
  bool operator==(const CudaLaunch &) const = default;
};

/// The launches that a device runs at once: one launch of the plan, or on a CUDA device several of one plan.parallel,
/// those with the longest tasks first.
using DeviceLaunch = llvm::SmallVector<plan::LaunchOp>;

/// A kernel of a module as one function, or several that are launched at once.
struct KernelCode {
  std::vector<unsigned> kernels; ///< their numbers in the module
  std::string name;              ///< of the function; one name is one kernel, also of several modules
  // On a CUDA device:
  CudaLaunch launch = {};
  std::shared_ptr<const LaunchWay> way = nullptr;   ///< the requested geometries
  std::optional<rt::BlockCost> cost = std::nullopt; ///< of a block
};

/// A planned module, and its kernels as code for targets that launch them alike.
struct ProgramCode {
  mlir::ModuleOp planned;
  const Ensemble *ensemble;                    ///< whose weights the module names
  std::vector<std::string> architectures = {}; ///< of CUDA
  std::vector<DeviceLaunch> launches = {};     ///< in the program's order
  /// In the module's order; of one kernel from the fewest blocks to the most.
  std::vector<KernelCode> kernels = {};
  std::vector<TargetImage> images = {};
};

} // namespace tutti

#endif
