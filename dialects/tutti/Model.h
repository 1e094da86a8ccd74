// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every pass takes for granted of the module that it is given, and asks for first: IR that the ops' own verifiers
// pass may still be no model.
#ifndef TUTTI_DIALECTS_TUTTI_MODEL_H
#define TUTTI_DIALECTS_TUTTI_MODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tutti {

/// Fails, with an error, unless
/// - functions have a body of one block that ends in func.return, whose ops are tutti ops, calls and dispatches;
/// - their arguments are tensors as ops take them (Tensors.h).
llvm::LogicalResult checkModel(mlir::ModuleOp module);

/// The function @main of a module that passes checkModel; fails, with an error, if there is none.
llvm::FailureOr<mlir::func::FuncOp> modelOf(mlir::ModuleOp module);

/// The functions of the groups before they are lifted, @main first, then @main.1 ...; of a model without groups, @main.
/// Fails, with an error, unless all are there and take and give the same.
llvm::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> groupFunctions(mlir::ModuleOp module);

} // namespace tutti

#endif
