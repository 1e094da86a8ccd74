// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a task keeps of its rows in its worker's memory, and where.
#ifndef TUTTI_PASSES_ANALYSIS_SCRATCH_H
#define TUTTI_PASSES_ANALYSIS_SCRATCH_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

struct Steps;
struct TargetTraits;

/// Rows of so few elements are narrow (TargetTraits::packsNarrowRows): half a vector at most.
constexpr int64_t mostPacked = 8;

/// Gives the values that steps keep in scratch memory their places there, from the order of the steps alone, and the
/// steps `scratchPerRow`. Values may have one place if they never live at once.
void layOutScratch(Steps &steps, const TargetTraits &target);

/// Working memory of a head: an order statistic sorts the members of 16 elements, a vote counts for every column.
int64_t headScratchBytes(HeadOp head, int64_t members);

} // namespace tutti

#endif
