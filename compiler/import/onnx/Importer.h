// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an ONNX file to a module in normal form.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_IMPORTER_H
#define TUTTI_COMPILER_IMPORT_ONNX_IMPORTER_H

#include "compiler/import/Ports.h"

namespace tutti {

class OnnxFile;
class SafetensorsFile;

/// Imports one member of an open file; `weights` (may be null) replace its initializers. `ports` is set for members
/// other than the first. `member` is the number, for messages.
llvm::Expected<MemberModel> importOnnx(mlir::MLIRContext &context, OnnxFile &model, const SafetensorsFile *weights,
                                       const MemberFiles &files, const ImportOptions &options, const Ports *ports,
                                       size_t member);
/// Imports a model that is a member by itself.
llvm::Expected<MemberModel> importOnnx(mlir::MLIRContext &context, llvm::StringRef path, const ImportOptions &options);

/// The symbols in the sizes of the file's inputs.
InputSymbols symbolsOf(const OnnxFile &file);

} // namespace tutti

#endif
