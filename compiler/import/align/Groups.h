// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Members with different models: groups of those that have the same.
#ifndef TUTTI_COMPILER_IMPORT_ALIGN_GROUPS_H
#define TUTTI_COMPILER_IMPORT_ALIGN_GROUPS_H

#include "compiler/import/align/Align.h"

namespace tutti {

/// Like `align`, for members that may differ in structure: those that align form a group. Inputs and outputs must agree
/// in name and type; otherwise the error (exit code `unsupported`) names the member and both sides. With several groups
/// the module has a function for each, @main for the first, then @main.1 and so on, each with its own parameters, and
/// `tutti.groups` lists the members by group. A weight is shared at most within its group.
llvm::Expected<Ensemble> alignGroups(mlir::MLIRContext &context, llvm::ArrayRef<std::string> paths,
                                     const ImportOptions &options, const AlignOptions &alignOptions);

} // namespace tutti

#endif
