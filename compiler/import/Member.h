// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One member from its files, whatever they are: ONNX or MLIR, with weights in a file of their own or not.
#ifndef TUTTI_COMPILER_IMPORT_MEMBER_H
#define TUTTI_COMPILER_IMPORT_MEMBER_H

#include "compiler/import/Ports.h"

namespace tutti {

/// The member as a module in normal form. With `ports`, the files are another member's than the first. `member` is its
/// number, for messages. Of an MLIR file that holds several members the first.
llvm::Expected<MemberModel> importMember(mlir::MLIRContext &context, const MemberFiles &files,
                                         const ImportOptions &options, const Ports *ports, size_t member);

/// What can be asked of a model file before it is imported.
llvm::Expected<InputSymbols> symbolsOf(llvm::StringRef path);

} // namespace tutti

#endif
