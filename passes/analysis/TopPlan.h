// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a CPU finds the places of a row's largest elements.
#ifndef TUTTI_PASSES_ANALYSIS_TOPPLAN_H
#define TUTTI_PASSES_ANALYSIS_TOPPLAN_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// The elements of a row that a CPU sorts as a block, before it merges blocks.
constexpr int64_t sortedBlock = 4096;

/// The quickest way for a TopK.
struct TopPlan {
  enum Way {
    heap,  ///< keeps the best so far, as the row goes by
    ranks, ///< counts, for each that may be among the largest, the ones before it
    sort   ///< sorts the whole row
  } way = heap;
  int64_t workBytes = 0;
  /// The fewest groups for which the last wanted one of the group maxima is found by halving, not by ranks.
  static constexpr int64_t halved = 256;
  /// Ranks: the number of groups into which a row is cut, and the most elements among which ranks are counted; a
  /// multiple of 16.
  int64_t groups = 0;

  static TopPlan of(TopOp op);
  /// Ranks: bytes of a row's keys, or places, in the working memory, and of vectors that may be read behind them.
  int64_t rowBytes(int64_t columns) const;
};

} // namespace tutti

#endif
