// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an ONNX file to a module in normal form.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_IMPORTER_H
#define TUTTI_COMPILER_IMPORT_ONNX_IMPORTER_H

#include "compiler/import/Model.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tutti {

class OnnxFile;
class SafetensorsFile;

/// What member 0 settles for the others: names, types and order of the inputs and outputs. The other members' are
/// matched by name where the names agree, else by position, and their dimensions are called as member 0 calls them.
struct Ports {
  std::vector<std::string> inputs, outputs;
  std::vector<mlir::RankedTensorType> types;
  std::vector<std::string> all; ///< inputs with those that are bound to constants
};

/// The ports of an imported module, of which no input is bound.
Ports portsOf(mlir::func::FuncOp main);
Ports portsOf(const MemberModel &model);
mlir::func::FuncOp mainOf(mlir::ModuleOp module);

/// By input of the file, the names of its symbolic dimensions as `ImportOptions` binds them, one an axis; "" where it
/// is fixed.
llvm::Expected<std::map<std::string, std::vector<std::string>>> symbolsOf(llvm::StringRef path);

/// As importOnnx; with `ports`, the file is another member's. `member` is its number, for messages.
llvm::Expected<MemberModel> importMember(mlir::MLIRContext &context, const MemberFiles &files,
                                         const ImportOptions &options, const Ports *ports, size_t member);
/// The same of files that are open; `weights` may be null.
llvm::Expected<MemberModel> importMember(mlir::MLIRContext &context, OnnxFile &model, const SafetensorsFile *weights,
                                         const MemberFiles &files, const ImportOptions &options, const Ports *ports,
                                         size_t member);

/// The node and the ONNX op that an op of the module was made from: "node 'linear_2' (Gemm)".
std::string describe(mlir::Location location);

} // namespace tutti

#endif
