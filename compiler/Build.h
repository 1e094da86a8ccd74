// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From planned modules to machine code for the targets of their class.
#ifndef TUTTI_COMPILER_BUILD_H
#define TUTTI_COMPILER_BUILD_H

#include "compiler/artifact/Writer.h"
#include "compiler/codegen/cuda/Launches.h"
#include "dialects/plan/Plan.h"

namespace tutti {

/// What of the parts' geometries whoever launches them has to know.
CudaLaunch launchOf(llvm::ArrayRef<CudaGeometry> parts);

/// Registers of a thread of what is launched at once as its cubin has them, if there is one for the architecture.
std::optional<unsigned> registersOf(llvm::ArrayRef<ProgramCode> programs, llvm::StringRef architecture,
                                    llvm::ArrayRef<plan::KernelOp> parts, llvm::ArrayRef<CudaGeometry> geometries);

/// A planned module, and the ensemble whose weights it names.
struct PlannedModule {
  mlir::ModuleOp module;
  const Ensemble *ensemble;
};

/// A program for each module; kernels that are equal in several are built once. Levels are independent: each is built
/// in a context of its own, `jobs` at a time.
llvm::Expected<std::vector<ProgramCode>> buildCpu(llvm::ArrayRef<PlannedModule> planned,
                                                  llvm::ArrayRef<std::string> levels, unsigned jobs);

/// A program for each class of architectures that launch all kernels alike. `dump` gets each text, and the name of a
/// file for it.
llvm::Expected<std::vector<ProgramCode>>
buildCuda(llvm::ArrayRef<PlannedModule> planned, llvm::ArrayRef<const Architecture *> architectures, unsigned jobs,
          llvm::function_ref<llvm::Error(const std::string &file, const std::string &text)> dump);

} // namespace tutti

#endif
