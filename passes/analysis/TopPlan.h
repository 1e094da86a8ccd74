// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a CPU finds the places of a row's largest elements.
#ifndef TUTTI_PASSES_ANALYSIS_TOPPLAN_H
#define TUTTI_PASSES_ANALYSIS_TOPPLAN_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// What of a row a CPU sorts before it merges.
constexpr int64_t sortedBlock = 4096;

/// The quickest way for a TopK.
struct TopPlan {
  enum Way {
    heap,  ///< the best so far, as the row goes by
    ranks, ///< of those that may be among the largest, each counts the ones before it
    sort   ///< the whole row
  } way = heap;
  int64_t workBytes = 0;
  /// From so many groups on the last of their largest is found by halving, not by ranks.
  static constexpr int64_t halved = 256;
  /// Ranks: into so many groups a row is cut, and among so many elements at most ranks are counted; a multiple of 16.
  int64_t groups = 0;

  static TopPlan of(TopOp op);
  /// Ranks: bytes of a row's keys, or places, in the working memory, and of vectors that may be read behind them.
  int64_t rowBytes(int64_t columns) const;
};

} // namespace tutti

#endif
