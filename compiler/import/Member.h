// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Members from their files, whatever they are: ONNX or MLIR, with weights in a file of their own or not.
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

  /// Goes on to the next member.
  llvm::Error open(const MemberFiles &given);
  /// The members that its files hold, as modules in normal form: one, or of an MLIR file as many as it says, those
  /// after the first without a module of their own. With `ports`, they are others than the first. `member` is the
  /// number, for messages. Another binding of the sizes is read by another call.
  llvm::Expected<std::vector<MemberModel>> read(const ImportOptions &options, const Ports *ports, size_t member);

  /// Whether they are MLIR, in whose text a constant is part of the structure and every number stays as it is.
  bool readsText() const { return isMlir(first); }

private:
  mlir::MLIRContext &context;
  std::string first; ///< the first member's model
  MemberFiles files;
  std::unique_ptr<OnnxFile> model; ///< of `files`, unless that is MLIR
  std::shared_ptr<SafetensorsFile> weights;
};

/// One member alone. Of an MLIR file that holds several members the first.
llvm::Expected<MemberModel> importMember(mlir::MLIRContext &context, const MemberFiles &files,
                                         const ImportOptions &options, const Ports *ports, size_t member);

/// What can be asked of a model file before it is imported.
llvm::Expected<InputSymbols> symbolsOf(llvm::StringRef path);

} // namespace tutti

#endif
