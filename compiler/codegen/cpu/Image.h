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

/// Makes up to `most` (a power of two) neighbouring math functions one on a longer vector. Changes no bit.
void batchMath(mlir::ModuleOp module, unsigned most);

/// Makes e^x of vectors with AVX-512's multiplication by a power of two. Changes no bit.
void scaleExponentials(mlir::ModuleOp module);

/// Makes maximumf and minimumf of vectors with AVX-512's range. Changes no bit but a NaN's payload.
void rangeExtremes(mlir::ModuleOp module);

/// Makes values of bfloat16 integers of 16 bits. Changes no bit.
void holdShortFloatsAsBits(mlir::ModuleOp module);

/// Divides vectors of floats by one number as multiplications and fma. Changes no bit.
void divideByOne(mlir::ModuleOp module);

} // namespace tutti

#endif
