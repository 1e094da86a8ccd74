// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module is compiled for, as the compiler writes it on the module before the stage `kernels`.
#ifndef TUTTI_PASSES_ANALYSIS_TARGET_H
#define TUTTI_PASSES_ANALYSIS_TARGET_H

#include "mlir/IR/BuiltinOps.h"

namespace tutti {

/// The class of targets that will run it: "cpu", which is also what a module without a word about it is for, or "cuda".
inline llvm::StringRef targetOf(mlir::ModuleOp module) {
  auto target = module->getAttrOfType<mlir::StringAttr>("tutti.target");
  return target ? target.getValue() : "cpu";
}

/// How float32 contractions with weights may be computed: "f32", or what `--precision` says.
inline llvm::StringRef precisionOf(mlir::ModuleOp module) {
  auto precision = module->getAttrOfType<mlir::StringAttr>("tutti.precision");
  return precision ? precision.getValue() : "f32";
}

/// Of a CUDA launch's parameters, 8 bytes each: what every driver takes (CUDA C++ Programming Guide, "Function
/// Parameters").
constexpr int64_t mostLaunchWords = 4096 / 8;

/// Buffers that a CUDA launch can be given: what the sizes of the call, the members' count and the tickets leave.
inline int64_t argumentsOf(mlir::ModuleOp module) {
  auto sizes = module->getAttrOfType<mlir::DictionaryAttr>("tutti.sizes");
  auto groups = module->getAttrOfType<mlir::ArrayAttr>("tutti.groups");
  return mostLaunchWords - 2 - int64_t(sizes ? sizes.size() : 0) - int64_t(groups ? groups.size() : 0);
}

} // namespace tutti

#endif
