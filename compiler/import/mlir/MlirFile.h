// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file of the tutti dialect, at the stage `model`, as a model; and such a file of an ensemble.
#ifndef TUTTI_COMPILER_IMPORT_MLIR_MLIRFILE_H
#define TUTTI_COMPILER_IMPORT_MLIR_MLIRFILE_H

#include "compiler/import/Ports.h"

namespace tutti {

class SafetensorsFile;

/// The members that the file holds: one, or as many as its `tutti.members` says; those after the first share its
/// structure and have no module of their own.
///
/// The module has `func.func @main`, private functions that `tutti.vmap` names, and `tutti.param`s with `values`: one
/// for all members or a list of one each, as `dense` or `dense_resource`, row-major, bools a byte each. `source` is the
/// weight's name (without it the symbol is; empty: it has none). With `weights`, a safetensors file's tensors of those
/// names are the values. `tutti.sizes` has the ranges of the symbols in the types, which `options` may bind otherwise.
///
/// Text that is no MLIR, or breaks an op's rules: exit code `malformed`, with the place in the text. An op of a later
/// stage is refused by name (`unsupported`).
llvm::Expected<std::vector<MemberModel>> importMlir(mlir::MLIRContext &context, const MemberFiles &files,
                                                    const SafetensorsFile *weights, const ImportOptions &options);

/// The symbols of the inputs' sizes.
llvm::Expected<InputSymbols> mlirSymbols(llvm::StringRef path);

/// Writes what `importMlir` reads: the values of an ensemble's weights beside their declarations.
void attachValues(mlir::ModuleOp module, const llvm::StringMap<std::vector<WeightSource>> &weights);

} // namespace tutti

#endif
