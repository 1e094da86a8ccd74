// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of reading MLIR models: text that may be given to the parser, sizes.
#ifndef TUTTI_COMPILER_IMPORT_MLIR_PARTS_H
#define TUTTI_COMPILER_IMPORT_MLIR_PARTS_H

#include "compiler/import/mlir/MlirFile.h"

#include <set>

namespace tutti {

/// Where the text is nested deeper than `mostNesting`: what would use up the stack is not given to the parser.
std::optional<size_t> tooDeep(llvm::StringRef text);
/// Where the text names an attribute or a type to use it again, by which few letters say much, or has an affine map,
/// of which the parser makes a normal form in its own time. No model is printed with either.
std::optional<size_t> aliasIn(llvm::StringRef text);
/// Whether a resource says that its bytes are aligned to 0, for which the parser finds no memory.
bool hasUnalignedResource(llvm::StringRef text);

/// Ranges for the symbols in a module's types: those of `options`, else the module's `tutti.sizes`, else the batch's; a
/// fixed one goes into the types. Exit code `usage` where one has none, or the ops' rules break.
llvm::Error bindSymbols(mlir::ModuleOp module, mlir::func::FuncOp main, const std::set<std::string> &symbols,
                        llvm::StringRef path, const ImportOptions &options);

} // namespace tutti

#endif
