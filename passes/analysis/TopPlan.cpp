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

TopPlan TopPlan::of(TopOp op) {
  Size size = RowForm::of(typeOf(op.getX())).columns;
  if (!size.isFixed() || size.getFixed() > INT32_MAX ||
      getElementTypeOrSelf(op.getX().getType()).getIntOrFloatBitWidth() > 32)
    return {};
  // Of half the groups the largest are wanted: then few elements are larger than what the last of them has.
  int64_t groups = std::max<int64_t>(lanes, llvm::PowerOf2Ceil(2 * op.getCount()));
  // Nanoseconds, about: an element compared with the worst of the best, and one that takes its place there; an element
  // brought into the working memory, and 16 that are compared with one; a vector in a pass of a network, and an element
  // in a merge.
  double columns = double(size.getFixed()), count = double(op.getCount()),
         block = std::min<double>(columns, sortedBlock), ranked = std::min<double>(columns, double(groups));
  double levels = std::ceil(std::log2(std::max(block / lanes, 2.0))), depth = std::log2(count + 1);
  double heap = columns * 0.15 + count * (1 + std::log(columns / count)) * (10 + 5 * depth) + count * 10 * depth;
  auto counted = [](double of, double among) { return of * (3 + among / lanes * 0.25); };
  // Of more elements than groups few are left to be ranked.
  double ranks = columns * 0.2 + counted(columns > ranked ? std::min(ranked, 1.5 * count) : ranked, ranked) +
                 (columns > ranked ? counted(ranked < halved ? ranked : 32, ranked) : 0);
  double sort = columns / lanes * levels * (levels + 1) / 2 + columns * (4 + std::ceil(std::log2(columns / block))) * 3;
  if (ranks <= heap && ranks <= sort) {
    TopPlan plan{TopPlan::ranks, 0, groups};
    plan.workBytes = 4 * plan.rowBytes(size.getFixed());
    return plan;
  }
  return heap <= sort ? TopPlan{} : TopPlan{TopPlan::sort, int64_t(llvm::alignTo(size.getFixed(), lanes)) * 8 * 2};
}

} // namespace tutti
