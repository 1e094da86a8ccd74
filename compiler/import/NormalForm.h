// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of an imported function: the same for every spelling of the same computation.
#ifndef TUTTI_COMPILER_IMPORT_NORMALFORM_H
#define TUTTI_COMPILER_IMPORT_NORMALFORM_H

#include "compiler/import/emit/Emit.h"

namespace tutti {

/// Orders the operands of commutative ops by the structure of what computes them, constants last; merges equal
/// computations; puts the ops into the order of a walk from the outputs, and drops those that no output needs. It sees
/// only this member, and of its weights only the shapes and whether two are the same.
void normalize(mlir::func::FuncOp function, const Emit &emit);

/// Numbers the parameters by first use, declares them in the module, and hands their sources over.
llvm::StringMap<WeightSource> declareParams(mlir::ModuleOp module, mlir::func::FuncOp function, Emit &emit);

} // namespace tutti

#endif
