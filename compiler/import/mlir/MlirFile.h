// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a file of the tutti dialect, at the stage `model`, as one model or as an ensemble.
#ifndef TUTTI_COMPILER_IMPORT_MLIR_MLIRFILE_H
#define TUTTI_COMPILER_IMPORT_MLIR_MLIRFILE_H

#include "compiler/import/Ports.h"

namespace tutti {

class SafetensorsFile;

/// The members that the file holds: one, or as many as its `tutti.members` says; those after the first share its
/// structure and have no module of their own.
///
/// The module has `func.func @main`, private functions that `tutti.vmap` names, and `tutti.param`s with `values`: one
/// for all members, or a list with one per member, as `dense` or `dense_resource`, row-major, one byte per bool.
/// `source` is the weight's name (absent: the symbol; empty: none). With `weights`, tensors of these names in a
/// safetensors file are the values instead. `tutti.sizes` has the ranges of the symbols in the types, which `options`
/// may override.
///
/// Text that is not MLIR, or breaks an op's rules, is an error with exit code `malformed` and the place in the text. An
/// op of a later stage is refused by name (`unsupported`).
llvm::Expected<std::vector<MemberModel>> importMlir(mlir::MLIRContext &context, const MemberFiles &files,
                                                    const SafetensorsFile *weights, const ImportOptions &options);

/// The symbols of the inputs' sizes.
llvm::Expected<InputSymbols> mlirSymbols(llvm::StringRef path);

/// Writes what `importMlir` reads: the values of an ensemble's weights beside their declarations.
void attachValues(mlir::ModuleOp module, const llvm::StringMap<std::vector<WeightSource>> &weights);

} // namespace tutti

#endif
