// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Members that are not one model: groups of those that are.
#ifndef TUTTI_COMPILER_IMPORT_ALIGN_GROUPS_H
#define TUTTI_COMPILER_IMPORT_ALIGN_GROUPS_H

#include "compiler/import/align/Align.h"

namespace tutti {

/// As `align`, for members that may differ in structure: those that align are a group. Inputs and outputs must agree in
/// name and type; where they do not, the error (exit code `unsupported`) names the member and both sides. With several
/// groups, the module has a function for each, @main of the first and then @main.1 ..., each with its own parameters,
/// and `tutti.groups`: by group, its members. A weight is shared within its group at most.
llvm::Expected<Ensemble> alignGroups(mlir::MLIRContext &context, llvm::ArrayRef<std::string> paths,
                                     const ImportOptions &options, const AlignOptions &alignOptions);

} // namespace tutti

#endif
