// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What @main says of its inputs and outputs: the dialect's attributes on them, which nobody else reads or writes. The
// dialect has verified them (Attributes.cpp).
#ifndef TUTTI_DIALECTS_TUTTI_PORTS_H
#define TUTTI_DIALECTS_TUTTI_PORTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tutti {

// The names of the attributes, for the verifier and for messages.
constexpr llvm::StringLiteral portName = "tutti.name", perMemberName = "tutti.per_member", headsName = "tutti.heads",
                              headName = "tutti.head";

/// The names by which users call an input and an output: the reader of a file writes them. Null where there is none.
mlir::StringAttr inputName(mlir::func::FuncOp main, unsigned input);
void setInputName(mlir::func::FuncOp main, unsigned input, const llvm::Twine &name);
mlir::StringAttr outputName(mlir::func::FuncOp main, unsigned output);
void setOutputName(mlir::func::FuncOp main, unsigned output, const llvm::Twine &name);

/// Whether each member has its own value of an input: asked for when compiling (--input).
bool isPerMember(mlir::func::FuncOp main, unsigned input);
void setPerMember(mlir::func::FuncOp main, unsigned input);

/// The heads that tutti-vmap makes outputs of: asked for when compiling (--output), else the members alone.
llvm::SmallVector<llvm::StringRef> headsAsked(mlir::func::FuncOp main, unsigned output);
void askHeads(mlir::func::FuncOp main, unsigned output, llvm::ArrayRef<llvm::StringRef> heads);

/// The head that an output is: tutti-vmap writes it. Null before.
mlir::StringAttr headOf(mlir::func::FuncOp main, unsigned output);
/// The attributes of an output for which heads are asked, once it is one of them.
mlir::DictionaryAttr withHead(mlir::func::FuncOp main, unsigned output, llvm::StringRef head);

/// Removes, from a function that has been read from a file, what is asked for when compiling.
void eraseWhatIsAsked(mlir::func::FuncOp main);

} // namespace tutti

#endif
