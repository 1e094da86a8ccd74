// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a task keeps of its rows in its worker's memory, and where.
#ifndef TUTTI_PASSES_ANALYSIS_SCRATCH_H
#define TUTTI_PASSES_ANALYSIS_SCRATCH_H

#include "dialects/tutti/Tutti.h"

#include "llvm/Support/MathExtras.h"

namespace tutti {

struct Steps;
struct TargetTraits;

/// The most elements of a narrow row (TargetTraits::packsNarrowRows): half a vector.
constexpr int64_t mostPacked = 8;

/// The stride of rows of 16-bit elements. Tensor cores read eight times 16 bytes at once, which lie in all banks if
/// rows are an odd number of 16 bytes apart.
inline int64_t narrowStride(int64_t columns) { return llvm::alignTo(columns, 16) + 8; }

/// Assigns places to the values that steps keep in scratch memory, from the order of the steps alone, and sets
/// `scratchPerRow`. Values that never live at once may share a place.
void layOutScratch(Steps &steps, const TargetTraits &target);

/// Bytes of working memory of a head: a quantile sorts the members of 16 elements at a time, a vote by scores has a
/// count for every column. Others have none.
int64_t headScratchBytes(HeadOp head, int64_t members);

} // namespace tutti

#endif
