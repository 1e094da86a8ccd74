// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices that float32 cannot decide.
#include "Undecided.h"

#include "dialects/tutti/Tutti.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace tutti {

bool chooses(Operation &op) {
  if (op.getNumOperands() == 0 || !isa<FloatType>(getElementTypeOrSelf(op.getOperand(0).getType())))
    return false;
  if (auto head = dyn_cast<HeadOp>(op))
    return head.getKind() == HeadKind::vote;
  if (isa<ArgOp, TopOp>(op))
    return true;
  if (isa<CastOp>(op))
    return !isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType()));
  return isa<EqualOp, GreaterOp, GreaterEqualOp, SignOp, FloorOp, CeilOp, RoundOp, RemOp>(op);
}

/// Twice the largest deviation: what ours may deviate where contractions do not dominate (docs/DESIGN.md, "Numbers").
static double reach(const HostTensor &exact, const HostTensor &plain) {
  double largest = 0;
  for (auto [a, b] : llvm::zip_equal(exact.floats, plain.floats))
    if (double distance = std::fabs(a - b); std::isfinite(distance))
      largest = std::fmax(largest, distance);
  return 2 * largest;
}

/// Of each answer, whether the largest score of some member is rivalled by another one. No member votes for -1.
static std::vector<Alternative> undecidedVotes(const HostTensor &scores, double reach, const HostTensor &result) {
  std::vector<Alternative> found;
  int64_t classes = scores.dims.back(), each = result.count() * classes;
  for (int64_t place = 0; place < result.count(); ++place)
    for (int64_t member = 0; member < scores.dims[0]; ++member) {
      ArrayRef<double> row(&scores.floats[member * each + place * classes], classes);
      if (llvm::any_of(row, [](double score) { return std::isnan(score); })) // which is the vote
        continue;
      double best = *llvm::max_element(row);
      if (llvm::count_if(row, [&](double score) { return score >= best - 2 * reach; }) > 1) {
        found.push_back({place, -1});
        break;
      }
    }
  return found;
}

/// Of each place of an answer that orders a row's elements, whether another one may as well stand there: its neighbour
/// in that order.
static std::vector<Alternative> undecidedPlaces(const HostTensor &x, int64_t axis, bool smallest, double reach,
                                                const HostTensor &result) {
  int64_t length = x.dims[axis], count = result.dims[axis], step = x.strides()[axis];
  std::vector<Alternative> found;
  std::vector<int64_t> order(length);
  for (int64_t row = 0; row < result.count() / count; ++row) {
    int64_t first = row / step * step * length + row % step, answer = row / step * step * count + row % step;
    auto at = [&](int64_t i) { return smallest ? -x.floats[first + i * step] : x.floats[first + i * step]; };
    std::iota(order.begin(), order.end(), 0);
    // NaN are decided: they go last here, and have no neighbour within reach.
    llvm::sort(order, [&](int64_t a, int64_t b) {
      bool nanA = std::isnan(at(a)), nanB = std::isnan(at(b));
      return nanA || nanB ? nanB && (!nanA || a < b) : at(a) > at(b) || (at(a) == at(b) && a < b);
    });
    for (int64_t i = 0; i < count; ++i) {
      int64_t mine = result.ints[answer + i * step];
      auto rank = llvm::find(order, mine) - order.begin();
      for (int64_t other : {rank + 1, rank - 1})
        if (other >= 0 && other < length && std::fabs(at(order[other]) - at(mine)) <= 2 * reach) {
          found.push_back({answer + i * step, double(order[other])});
          break;
        }
    }
  }
  return found;
}

/// What a cast makes of the value, as docs/numerics.md has it.
static double castTo(Type type, double value) {
  return isTruth(type) ? value != 0 : static_cast<double>(saturated(value, type));
}

static std::vector<Alternative> undecidedCasts(CastOp op, const HostTensor &x, double reach) {
  Type from = x.element, to = getElementTypeOrSelf(op.getType());
  std::vector<Alternative> found;
  for (auto [place, value] : llvm::enumerate(x.floats)) {
    double chosen = castTo(to, nearest(value, from));
    double below = castTo(to, value - reach), above = castTo(to, value + reach);
    bool zero = isTruth(to) && std::fabs(value) <= reach; // not between its neighbours
    if (zero || below != chosen || above != chosen)
      found.push_back({static_cast<int64_t>(place), zero ? !chosen : double(below != chosen ? below : above)});
  }
  return found;
}

/// Floor, ceil and round: another integer within reach.
static std::vector<Alternative> undecidedWhole(Operation &op, const HostTensor &x, double reach) {
  auto f = [&](double value) {
    return isa<FloorOp>(op) ? std::floor(value) : isa<CeilOp>(op) ? std::ceil(value) : std::nearbyint(value);
  };
  std::vector<Alternative> found;
  for (auto [place, value] : llvm::enumerate(x.floats)) {
    double chosen = f(nearest(value, x.element)), below = f(value - reach), above = f(value + reach);
    if (below != chosen || above != chosen)
      found.push_back({static_cast<int64_t>(place), below != chosen ? below : above});
  }
  return found;
}

/// Remainders near 0 or near the divisor: the other of the two.
static std::vector<Alternative> undecidedRemainders(ArrayRef<HostTensor> x, const HostTensor &result, double near) {
  std::vector<Alternative> found;
  forEachPlace(result.dims, x, [&](int64_t place, ArrayRef<int64_t> source) {
    double a = x[0].floats[source[0]], b = std::fabs(x[1].floats[source[1]]), r = std::fabs(result.floats[place]);
    double reach = near * std::fmax(1, std::fabs(a) / b); // the divisor's deviation counts once for each time it goes
    if (std::fmin(r, b - r) <= reach)
      found.push_back({place, std::copysign(r < b - r ? b : 0, a)});
  });
  return found;
}

std::vector<Alternative> undecided(Operation &op, ArrayRef<HostTensor> exact, ArrayRef<HostTensor> plain,
                                   const HostTensor &result) {
  double near = 0;
  for (auto [a, b] : llvm::zip_equal(exact, plain))
    near += reach(a, b);
  if (near == 0) // everybody has these operands
    return {};
  if (isa<HeadOp>(op))
    return undecidedVotes(exact[0], near, result);
  if (auto arg = dyn_cast<ArgOp>(op))
    return undecidedPlaces(exact[0], arg.getAxis(), arg.getKind() == ArgKind::min, near, result);
  if (auto top = dyn_cast<TopOp>(op))
    return undecidedPlaces(exact[0], exact[0].dims.size() - 1, top.getSmallest(), near, result);
  if (auto cast = dyn_cast<CastOp>(op))
    return undecidedCasts(cast, exact[0], near);
  if (isa<FloorOp, CeilOp, RoundOp>(op))
    return undecidedWhole(op, exact[0], near);
  if (isa<RemOp>(op))
    return undecidedRemainders(exact, result, near);
  std::vector<Alternative> found;
  if (op.getNumOperands() == 2 && op.getOperand(0) == op.getOperand(1))
    return found; // whether x equals itself, as asks for a NaN, hangs on no rounding
  if (isa<SignOp>(op)) {
    for (auto [place, value] : llvm::enumerate(exact[0].floats))
      if (std::fabs(value) <= near)
        found.push_back({static_cast<int64_t>(place), value > 0 ? -1.0 : 1.0});
    return found;
  }
  forEachPlace(result.dims, exact, [&](int64_t place, ArrayRef<int64_t> source) {
    if (std::fabs(exact[0].floats[source[0]] - exact[1].floats[source[1]]) <= near)
      found.push_back({place, !result.ints[place] ? 1.0 : 0.0});
  });
  return found;
}

} // namespace tutti
