// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From emitted functions to a flat, position-independent image.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_IMAGE_H
#define TUTTI_COMPILER_CODEGEN_CPU_IMAGE_H

#include "Code.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace tutti {

/// Machine code of all kernels for one level, with nothing left to relocate.
struct CpuImage {
  std::string bytes;
  std::vector<uint64_t> offsets; ///< of each kernel's function, in the order asked for
};

/// Lowers a module of emitted kernels (it is consumed) and links the functions of these names.
llvm::Expected<CpuImage> buildCpuImage(mlir::ModuleOp module, const CpuLevel &level,
                                       llvm::ArrayRef<std::string> kernels);

} // namespace tutti

#endif
