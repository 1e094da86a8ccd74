// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers that read MLIR models: checks of the text before parsing, and binding of sizes.
#ifndef TUTTI_COMPILER_IMPORT_MLIR_PARTS_H
#define TUTTI_COMPILER_IMPORT_MLIR_PARTS_H

#include "compiler/import/mlir/MlirFile.h"

#include <set>

namespace tutti {

/// The place where the text is nested deeper than `mostNesting`; such a text would exhaust the parser's stack.
std::optional<size_t> tooDeep(llvm::StringRef text);
/// The place where the text defines an alias of an attribute or a type, by which a short text can mean much, or has an
/// affine map, which takes the parser unbounded time to normalize. No model is printed with either.
std::optional<size_t> aliasIn(llvm::StringRef text);
/// Whether a resource claims an alignment of 0 for its bytes, for which the parser cannot allocate memory.
bool hasUnalignedResource(llvm::StringRef text);

/// Binds the symbols in a module's types to ranges: those of `options`, else the module's `tutti.sizes`, else the
/// batch's. A fixed size replaces its symbol in the types. Exit code `usage` if a symbol has no range, or if ops' rules
/// break.
llvm::Error bindSymbols(mlir::ModuleOp module, mlir::func::FuncOp main, const std::set<std::string> &symbols,
                        llvm::StringRef path, const ImportOptions &options);

} // namespace tutti

#endif
