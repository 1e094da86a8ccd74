// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a task keeps of its rows in its worker's memory, and where.
#ifndef TUTTI_PASSES_ANALYSIS_SCRATCH_H
#define TUTTI_PASSES_ANALYSIS_SCRATCH_H

#include "dialects/tutti/Tutti.h"

#include "llvm/Support/MathExtras.h"

namespace tutti {

struct Steps;
struct TargetTraits;

/// Rows of so few elements are narrow (TargetTraits::packsNarrowRows): half a vector at most.
constexpr int64_t mostPacked = 8;

/// Elements from one row of 16 bits to the next: tensor cores read eight times 16 bytes at once, which lie in all banks
/// if rows are an odd number of these apart.
inline int64_t narrowStride(int64_t columns) { return llvm::alignTo(columns, 16) + 8; }

/// Gives the values that steps keep in scratch memory their places there, from the order of the steps alone, and the
/// steps `scratchPerRow`. Values may have one place if they never live at once.
void layOutScratch(Steps &steps, const TargetTraits &target);

/// Working memory of a head: an order statistic sorts the members of 16 elements, a vote counts for every column.
int64_t headScratchBytes(HeadOp head, int64_t members);

} // namespace tutti

#endif
