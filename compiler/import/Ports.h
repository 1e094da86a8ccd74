// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs and outputs of an imported module.
#ifndef TUTTI_COMPILER_IMPORT_PORTS_H
#define TUTTI_COMPILER_IMPORT_PORTS_H

#include "compiler/import/Model.h"
#include "dialects/tutti/Module.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tutti {

/// Names, types and order of the inputs and outputs, which member 0 determines for all members. The other members'
/// ports are matched by name if the names agree, else by position. Their dimensions get member 0's names.
struct Ports {
  std::vector<std::string> inputs, outputs;
  std::vector<mlir::RankedTensorType> types;
  std::vector<std::string> all;        ///< inputs with those that are bound to constants
  llvm::SmallVector<SizeRange> ranges; ///< of the symbols in the types
};

/// The ports of an imported module without bound inputs.
Ports portsOf(mlir::func::FuncOp main);
Ports portsOf(const MemberModel &model);
mlir::func::FuncOp mainOf(mlir::ModuleOp module);

/// The index that `name` has in `names`: spelled exactly or, if that is unique, as in file names. `what` says what kind
/// of names they are. An unknown name is an error.
llvm::Expected<unsigned> placeOf(llvm::ArrayRef<std::string> names, llvm::StringRef what, llvm::StringRef name);

/// Sets on the function whether each input has a member axis, and the heads of its outputs. An unknown name is an
/// error, and so are outputs that would go into one file.
llvm::Error askPorts(mlir::func::FuncOp main, const std::map<std::string, bool> &perMember,
                     const std::map<std::string, std::vector<std::string>> &heads);

/// For each input of a file, the names of its symbolic dimensions as `ImportOptions` binds them, one per axis; "" for a
/// fixed one.
using InputSymbols = std::map<std::string, std::vector<std::string>>;

} // namespace tutti

#endif
