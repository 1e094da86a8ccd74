// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads members from their files: ONNX or MLIR, with or without a separate file of weights.
#ifndef TUTTI_COMPILER_IMPORT_MEMBER_H
#define TUTTI_COMPILER_IMPORT_MEMBER_H

#include "compiler/import/Ports.h"

namespace tutti {

class OnnxFile;
class SafetensorsFile;

/// Whether a file's name says that it is MLIR.
bool isMlir(llvm::StringRef path);

/// Reads members, one after the other, of one format. While their model is the same file it stays open, so what they
/// have in common is a view of the same bytes.
class MemberReader {
public:
  explicit MemberReader(mlir::MLIRContext &context);
  ~MemberReader();

  /// Opens the next member.
  llvm::Error open(const MemberFiles &given);
  /// Reads the members that the files hold, as modules in normal form: one, or for an MLIR file as many as it says,
  /// where those after the first have no module of their own. `ports` is set for members other than the first. `member`
  /// is the number, for messages. Another binding of the sizes takes another call.
  llvm::Expected<std::vector<MemberModel>> read(const ImportOptions &options, const Ports *ports, size_t member);

  /// Whether the members are MLIR, in which a constant is part of the structure and every number stays as it is.
  bool readsText() const { return isMlir(first); }

private:
  mlir::MLIRContext &context;
  std::string first; ///< the first member's model
  MemberFiles files;
  std::unique_ptr<OnnxFile> model; ///< of `files`, unless that is MLIR
  std::shared_ptr<SafetensorsFile> weights;
};

/// Imports one member; the first one of an MLIR file that holds several.
llvm::Expected<MemberModel> importMember(mlir::MLIRContext &context, const MemberFiles &files,
                                         const ImportOptions &options, const Ports *ports, size_t member);

/// The symbolic dimensions of a model file's inputs, read without importing it.
llvm::Expected<InputSymbols> symbolsOf(llvm::StringRef path);

} // namespace tutti

#endif
