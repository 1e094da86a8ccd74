// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of an imported module: its inputs and outputs.
#ifndef TUTTI_COMPILER_IMPORT_PORTS_H
#define TUTTI_COMPILER_IMPORT_PORTS_H

#include "compiler/import/Model.h"
#include "dialects/tutti/Module.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tutti {

/// What member 0 settles for the others: names, types and order of the inputs and outputs. The other members' are
/// matched by name where the names agree, else by position, and their dimensions are called as member 0 calls them.
struct Ports {
  std::vector<std::string> inputs, outputs;
  std::vector<mlir::RankedTensorType> types;
  std::vector<std::string> all;        ///< inputs with those that are bound to constants
  llvm::SmallVector<SizeRange> ranges; ///< of the symbols in the types
};

/// The ports of an imported module, of which no input is bound.
Ports portsOf(mlir::func::FuncOp main);
Ports portsOf(const MemberModel &model);
mlir::func::FuncOp mainOf(mlir::ModuleOp module);

/// The place among `names`, of what they are names of, that is meant: spelled as it is or, where that is one alone, as
/// file names have it. A name that there is not is an error.
llvm::Expected<unsigned> placeOf(llvm::ArrayRef<std::string> names, llvm::StringRef what, llvm::StringRef name);

/// Notes on the function what is asked of its inputs, whether each has a member axis, and the heads of its outputs. A
/// name that it has not is an error, and so are outputs that would go into one file.
llvm::Error askPorts(mlir::func::FuncOp main, const std::map<std::string, bool> &perMember,
                     const std::map<std::string, std::vector<std::string>> &heads);

/// By input of a file, the names of its symbolic dimensions as `ImportOptions` binds them, one an axis; "" where it is
/// fixed.
using InputSymbols = std::map<std::string, std::vector<std::string>>;

} // namespace tutti

#endif
