// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module says of its ensemble and of how it is compiled: the dialect's attributes on it, which nobody else reads
// or writes. The dialect has verified them (Attributes.cpp).
#ifndef TUTTI_DIALECTS_TUTTI_MODULE_H
#define TUTTI_DIALECTS_TUTTI_MODULE_H

#include "Tutti.h"

#include "mlir/IR/BuiltinOps.h"

namespace tutti {

// The names of the attributes, for the verifier and for messages.
constexpr llvm::StringLiteral membersName = "tutti.members", sizesName = "tutti.sizes", groupsName = "tutti.groups",
                              targetName = "tutti.target", precisionName = "tutti.precision",
                              scratchPerRowName = "tutti.scratch_per_row", chunkName = "tutti.chunk";

// The ensemble: written by the stage `model`. A plan under other conditions (--memory-limit) is made of a copy with
// fewer members or a shorter range.

/// How many members there are: the reader of a file writes 1, alignment the number of files. Nothing on a module that
/// is no model.
std::optional<int64_t> getMembers(mlir::ModuleOp module);
void setMembers(mlir::ModuleOp module, int64_t members);

/// The values that a call may give a symbol: numbers from `least` to `most`.
struct SizeRange {
  std::string symbol;
  int64_t least, most;
};
/// The ranges of the model's own symbols, by name: the reader of a file writes them, from its inputs and `--dim`.
llvm::SmallVector<SizeRange> getSizeRanges(mlir::ModuleOp module);
void setSizeRanges(mlir::ModuleOp module, llvm::ArrayRef<SizeRange> ranges);

/// The members of each group, if there are several: alignment writes them (--unequal). Empty where all members align.
llvm::SmallVector<llvm::ArrayRef<int64_t>> getGroups(mlir::ModuleOp module);
void setGroups(mlir::ModuleOp module, llvm::ArrayRef<llvm::ArrayRef<int64_t>> groups);

// How the ensemble is compiled: written by the compiler on the copy for each class of targets, before the passes to the
// stage `kernels`, which read it. None is taken from a file.

/// The class of targets that will run the module; CPUs, where the module does not say it.
Target getTarget(mlir::ModuleOp module);
void setTarget(mlir::ModuleOp module, Target target);

/// How float32 contractions with weights may be computed: f32, or what `--precision` says.
Precision getPrecision(mlir::ModuleOp module);
void setPrecision(mlir::ModuleOp module, Precision precision);

/// The most bytes that a row's values may take of a task's memory, where that is bounded: of a CUDA block's shared
/// memory.
std::optional<int64_t> getScratchPerRow(mlir::ModuleOp module);
void setScratchPerRow(mlir::ModuleOp module, int64_t bytes);

/// The most members that run at once, where the active set runs in pieces (--memory-limit).
std::optional<int64_t> getChunk(mlir::ModuleOp module);
void setChunk(mlir::ModuleOp module, int64_t members);

/// Removes, from a module that has been read from a file, what later stages write.
void eraseWhatIsWrittenLater(mlir::ModuleOp module);

} // namespace tutti

#endif
