// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels of several modules are built.
#ifndef TUTTI_COMPILER_CODEGEN_KERNELSET_H
#define TUTTI_COMPILER_CODEGEN_KERNELSET_H

#include "ProgramCode.h"

namespace tutti {

/// The kernels of several modules; those that are equal but for their names are one.
class KernelSet {
public:
  struct Kernel {
    plan::KernelOp kernel; ///< the first occurrence
    std::string name;
  };
  explicit KernelSet(llvm::ArrayRef<PlannedModule> planned);

  std::vector<Kernel> kernels;
  std::vector<std::vector<unsigned>> ofModule; ///< by module, the indices of its kernels in `kernels`
};

} // namespace tutti

#endif
