// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether two members in normal form are equal but for their weights.
#ifndef TUTTI_COMPILER_IMPORT_ALIGN_COMPARE_H
#define TUTTI_COMPILER_IMPORT_ALIGN_COMPARE_H

#include "compiler/import/Model.h"

namespace tutti {

/// Compares the outputs' types of member number `index` with member 0's, or compares op by op; the error names the
/// first difference.
llvm::Error compareOutputs(const MemberModel &first, const MemberModel &other, size_t index);
/// `constants` gets the numbers of main's ops that are lists of integers or bools with different elements in both
/// members: indices and masks that a graph spells out are each member's own, as weights are. `areText`: both were read
/// from MLIR, in whose text no constant is a member's own, and where the error may name a line if nothing else differs.
llvm::Error compare(const MemberModel &first, const MemberModel &other, size_t index, bool areText,
                    llvm::SmallVectorImpl<unsigned> &constants);

} // namespace tutti

#endif
