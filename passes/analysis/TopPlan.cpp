// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways of a TopK, by what they take.
#include "TopPlan.h"
#include "Numerics.h"
#include "Rows.h"

#include <cmath>

using namespace mlir;

namespace tutti {

int64_t TopPlan::rowBytes(int64_t columns) const {
  return llvm::alignTo(columns + std::max<int64_t>(groups, 64) + lanes, lanes) * 4;
}

// Nanoseconds that each way takes of a row, about: only which of them is less matters, and that is so by far but where
// two are alike.

/// Each element is compared with the worst of the best; those that are better, 1 + ln(columns / count) for each place
/// of the heap where elements come in no order, take its place; in the end all leave it.
static double timeOfHeap(double columns, double count) {
  constexpr double compared = 0.15, placed = 10, sunkALevel = 5, takenALevel = 10;
  double depth = std::log2(count + 1), better = count * (1 + std::log(columns / count));
  return columns * compared + better * (placed + sunkALevel * depth) + count * takenALevel * depth;
}

/// Elements come into the working memory; each of those that may be among the largest is compared with the others, a
/// vector at a time. Of more elements than groups few are left, once the last of the groups' largest is found.
static double timeOfRanks(double columns, double count, double groups) {
  constexpr double brought = 0.2, ranked = 3, comparedVector = 0.25, left = 1.5, leftByHalving = 32;
  auto ranks = [](double of, double among) { return of * (ranked + among / lanes * comparedVector); };
  if (columns <= groups)
    return columns * brought + ranks(columns, columns);
  return columns * brought + ranks(std::min(groups, left * count), groups) +
         ranks(groups < double(TopPlan::halved) ? groups : leftByHalving, groups);
}

/// Blocks are sorted by a network, whose passes take a vector each, and merged.
static double timeOfSort(double columns) {
  constexpr double vectorOfPass = 1, merged = 3, mergesOfBlock = 4;
  double block = std::min<double>(columns, sortedBlock);
  double levels = std::ceil(std::log2(std::max(block / lanes, 2.0)));
  return columns / lanes * levels * (levels + 1) / 2 * vectorOfPass +
         columns * (mergesOfBlock + std::ceil(std::log2(columns / block))) * merged;
}

TopPlan TopPlan::of(TopOp op) {
  Size size = RowForm::of(typeOf(op.getX())).columns;
  if (!size.isFixed() || size.getFixed() > INT32_MAX ||
      getElementTypeOrSelf(op.getX().getType()).getIntOrFloatBitWidth() > 32)
    return {};
  // There are at least twice as many groups as wanted elements: then few elements are larger than the last wanted one
  // of the group maxima.
  int64_t groups = std::max<int64_t>(lanes, llvm::PowerOf2Ceil(2 * op.getCount()));
  double columns = double(size.getFixed()), count = double(op.getCount());
  double heap = timeOfHeap(columns, count), ranks = timeOfRanks(columns, count, double(groups)),
         sort = timeOfSort(columns);
  if (ranks <= heap && ranks <= sort) {
    TopPlan plan{TopPlan::ranks, 0, groups};
    plan.workBytes = 4 * plan.rowBytes(size.getFixed());
    return plan;
  }
  return heap <= sort ? TopPlan{} : TopPlan{TopPlan::sort, int64_t(llvm::alignTo(size.getFixed(), lanes)) * 8 * 2};
}

} // namespace tutti
