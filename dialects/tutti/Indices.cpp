// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends of index expressions, and whether an index comes to them.
#include "Indices.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tutti {

namespace {

std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t all;
  return a && b && !llvm::AddOverflow(*a, *b, all) ? std::optional(all) : std::nullopt;
}

std::optional<int64_t> times(std::optional<int64_t> a, int64_t factor) {
  int64_t all;
  return factor == 0 ? 0 : a && !llvm::MulOverflow(*a, factor, all) ? std::optional(all) : std::nullopt;
}

bool shareDims(AffineExpr a, AffineExpr b, size_t dims) {
  for (unsigned dim = 0; dim < dims; ++dim)
    if (a.isFunctionOfDim(dim) && b.isFunctionOfDim(dim))
      return true;
  return false;
}

} // namespace

IndexRange IndexRange::of(AffineExpr expr, ArrayRef<Size> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue(), true};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    const Size &size = sizes[dim.getPosition()];
    return {0, size.isFixed() ? std::optional(size.getFixed() - 1) : std::nullopt, true};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return {};
  IndexRange left = of(binary.getLHS(), sizes);
  if (expr.getKind() == AffineExprKind::Add) {
    IndexRange right = of(binary.getRHS(), sizes);
    bool apart = !shareDims(binary.getLHS(), binary.getRHS(), sizes.size());
    return {sum(left.least, right.least), sum(left.most, right.most), left.isReached && right.isReached && apart};
  }
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!number)
    return {};
  int64_t by = number.getValue();
  switch (expr.getKind()) {
  case AffineExprKind::Mul: {
    IndexRange range = {times(left.least, by), times(left.most, by), left.isReached};
    if (by < 0)
      std::swap(range.least, range.most);
    return range;
  }
  case AffineExprKind::Mod:
    if (by < 1)
      return {};
    return left.least && *left.least >= 0 && left.most && *left.most < by ? left : IndexRange{0, by - 1, false};
  case AffineExprKind::FloorDiv: {
    auto divided = [&](std::optional<int64_t> end) {
      return end && by > 0 ? std::optional(llvm::divideFloorSigned(*end, by)) : std::nullopt;
    };
    return {divided(left.least), divided(left.most), left.isReached};
  }
  default:
    return {};
  }
}

bool IndexRange::leaves(const Size &size) const {
  std::optional<int64_t> last = size.isFixed() ? std::optional(size.getFixed() - 1) : std::nullopt;
  // An end outside proves an index outside only if it is reached; both ends on one side always do.
  auto isBefore = [](std::optional<int64_t> index) { return index && *index < 0; };
  auto isBehind = [&](std::optional<int64_t> index) { return index && last && *index > *last; };
  return (isReached && (isBefore(least) || isBehind(most))) || isBefore(most) || isBehind(least);
}

bool leavesOpenAxis(AffineExpr index, llvm::ArrayRef<Size> sizes, const Size &axis) {
  int64_t added = 0;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(index); sum && sum.getKind() == AffineExprKind::Add)
    if (auto number = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      added = number.getValue();
      index = sum.getLHS();
    }
  auto dim = dyn_cast<AffineDimExpr>(index);
  if (!dim || axis.isFixed() || sizes[dim.getPosition()].isFixed())
    return false;
  // An axis of `times` the dimension's size is longer by `times` - 1 at least, where that is a number.
  std::optional<Size> times = axis.dividedBy(sizes[dim.getPosition()]);
  return added < 0 || !times || added > (times->isFixed() ? times->getFixed() - 1 : 0);
}

bool mayBeNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() < 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() == AffineExprKind::Mod)
    return false;
  return mayBeNegative(binary.getLHS()) || mayBeNegative(binary.getRHS());
}

} // namespace tutti
