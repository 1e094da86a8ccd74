// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether two members in normal form are equal but for their weights.
#ifndef TUTTI_COMPILER_IMPORT_ALIGN_COMPARE_H
#define TUTTI_COMPILER_IMPORT_ALIGN_COMPARE_H

#include "compiler/import/Model.h"

namespace tutti {

/// Compares member number `index` with member 0, the types of its outputs, or op by op; the error names the first place
/// where they part.
llvm::Error compareOutputs(const MemberModel &first, const MemberModel &other, size_t index);
/// `constants`: the ops of main, by number, that are lists of integers or bools with other elements in the two: what a
/// graph spells out as indices and masks is a member's own as its weights are. `areText`: both were read from MLIR, in
/// whose text a constant is no member's own, and where nothing else parts them the place may be a line.
llvm::Error compare(const MemberModel &first, const MemberModel &other, size_t index, bool areText,
                    llvm::SmallVectorImpl<unsigned> &constants);

} // namespace tutti

#endif
