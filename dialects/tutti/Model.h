// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every pass takes for granted of the module that it is given, and asks for first: IR that the ops' own verifiers
// pass may still be no model.
#ifndef TUTTI_DIALECTS_TUTTI_MODEL_H
#define TUTTI_DIALECTS_TUTTI_MODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tutti {

/// Whether tensors have elements of this type: floats of 16, 32 and 64 bits, bfloat16, integers of 8 to 64 with and
/// without a sign (those with one are signless), and i1.
bool isElement(mlir::Type type);

/// A type as a message names it: not more of its text than a line takes.
std::string textOf(mlir::Type type);

/// Why values of a model cannot be of a type.
struct TypeFault {
  std::string what;         ///< of the type, which it names
  bool unsupported = false; ///< sound, but its elements are none of ours
};
/// Nothing if it is a ranked tensor of our elements whose encoding names the size of each `?` as `Size::str` writes it.
std::optional<TypeFault> faultOf(mlir::Type type);

/// Fails, with an error, unless
/// - functions have a body of one block that ends in func.return, whose ops are tutti ops, calls and dispatches;
/// - their arguments, and what their ops make, are tensors without a fault; so are all tensors in kernels.
llvm::LogicalResult checkModel(mlir::ModuleOp module);

/// The function @main of a module of which this holds; fails, with an error, if there is none.
llvm::FailureOr<mlir::func::FuncOp> modelOf(mlir::ModuleOp module);

/// The functions of the groups before they are lifted, @main first, then @main.1 ...; of a model without groups, @main.
/// Fails, with an error, unless all are there and take and give the same.
llvm::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> groupFunctions(mlir::ModuleOp module);

} // namespace tutti

#endif
