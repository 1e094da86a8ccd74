// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps under the sizes that they go through.
#include "Access.h"

using namespace mlir;

namespace tutti {

namespace {

class Simplifier {
public:
  explicit Simplifier(ArrayRef<Size> sizes) : sizes(sizes) {}

  AffineExpr of(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return expr;
    AffineExpr left = of(binary.getLHS()), right = of(binary.getRHS());
    auto divisor = dyn_cast<AffineConstantExpr>(right);
    bool divides = expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::Mod;
    if (!divides || !divisor || divisor.getValue() <= 0)
      return getAffineBinaryOpExpr(expr.getKind(), left, right);
    // left = divisor * whole + rest: where the rest lies in [0, divisor), it is the remainder.
    auto [whole, rest] = parts(left, divisor.getValue());
    IndexRange range = IndexRange::of(rest, sizes);
    bool isRemainder = range.least && *range.least >= 0 && range.most && *range.most < divisor.getValue();
    if (expr.getKind() == AffineExprKind::Mod)
      return isRemainder ? rest : rest % divisor.getValue();
    return isRemainder ? whole : whole + rest.floorDiv(divisor.getValue());
  }

private:
  ArrayRef<Size> sizes;

  std::pair<AffineExpr, AffineExpr> parts(AffineExpr expr, int64_t divisor) {
    AffineExpr zero = getAffineConstantExpr(0, expr.getContext());
    if (expr.getKind() == AffineExprKind::Add) {
      auto both = cast<AffineBinaryOpExpr>(expr);
      auto [wholeLeft, restLeft] = parts(both.getLHS(), divisor);
      auto [wholeRight, restRight] = parts(both.getRHS(), divisor);
      return {wholeLeft + wholeRight, restLeft + restRight};
    }
    return expr.isMultipleOf(divisor) ? std::pair(expr.floorDiv(divisor), zero) : std::pair(zero, expr);
  }
};

/// Axes in the order of the memory that an access goes through.
class Lying {
public:
  Lying(ArrayRef<Size> sizes, bool whole) : sizes(sizes), whole(whole) {}

  std::optional<SmallVector<unsigned>> of(AffineMap access, ArrayRef<Size> from) {
    for (auto [index, size] : llvm::zip_equal(access.getResults(), from))
      if (!take(index, size))
        return std::nullopt;
    // Axes of length 1 that no index uses may lie anywhere.
    SmallVector<unsigned> unit;
    for (unsigned axis = 0; axis < sizes.size(); ++axis)
      if (!llvm::is_contained(order, axis)) {
        if (sizes[axis] != Size(1))
          return std::nullopt;
        unit.push_back(axis);
      }
    order.insert(order.end() - std::min<size_t>(1, order.size()), unit.begin(), unit.end());
    return order;
  }

private:
  ArrayRef<Size> sizes;
  bool whole; ///< each element is read
  SmallVector<unsigned> order;
  SmallVector<std::pair<int64_t, unsigned>> terms; // of one index: factor and axis

  /// An axis of the memory: one or more of the result's, the innermost with factor 1.
  bool take(AffineExpr index, const Size &size) {
    terms.clear();
    if (!collect(index))
      return false;
    llvm::sort(terms, std::greater<>());
    Size inner(1);
    for (auto [factor, axis] : llvm::reverse(terms)) {
      std::optional<Size> next = inner.times(sizes[axis]);
      if (inner != Size(factor) || !next || llvm::is_contained(order, axis))
        return false;
      inner = *next;
    }
    for (auto [factor, axis] : terms)
      order.push_back(axis);
    return inner == size || !whole;
  }

  bool collect(AffineExpr index) {
    if (auto constant = dyn_cast<AffineConstantExpr>(index))
      return constant.getValue() == 0 || !whole;
    int64_t factor = 1;
    if (auto both = dyn_cast<AffineBinaryOpExpr>(index)) {
      if (both.getKind() == AffineExprKind::Add)
        return collect(both.getLHS()) && collect(both.getRHS());
      auto constant = dyn_cast<AffineConstantExpr>(both.getRHS());
      if (both.getKind() != AffineExprKind::Mul || !constant)
        return false;
      factor = constant.getValue();
      index = both.getLHS();
    }
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (dim)
      terms.push_back({factor, dim.getPosition()});
    return bool(dim);
  }
};

} // namespace

AffineMap simplifyAccess(AffineMap access, ArrayRef<Size> sizes) {
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : simplifyAffineMap(access).getResults())
    exprs.push_back(Simplifier(sizes).of(expr));
  return simplifyAffineMap(AffineMap::get(access.getNumDims(), access.getNumSymbols(), exprs, access.getContext()));
}

std::optional<AffineMap> composed(AffineMap inner, AffineMap outer, ArrayRef<Size> sizes) {
  std::optional<AffineMap> plain = withoutSymbols(inner);
  return plain ? std::optional(simplifyAccess(plain->compose(outer), sizes)) : std::nullopt;
}

std::optional<AffineMap> withoutSymbols(AffineMap access) {
  for (unsigned symbol = 0; symbol < access.getNumSymbols(); ++symbol)
    if (access.isFunctionOfSymbol(symbol))
      return std::nullopt;
  return AffineMap::get(access.getNumDims(), 0, access.getResults(), access.getContext());
}

bool isOwnPlace(AffineMap access, RankedTensorType from, RankedTensorType to) {
  return getSizes(from) == getSizes(to) && llvm::all_of(llvm::enumerate(access.getResults()), [&](auto at) {
           auto [axis, expr] = at;
           bool only = to.getShape()[axis] == 1 && expr == getAffineConstantExpr(0, to.getContext());
           return only || expr == getAffineDimExpr(axis, to.getContext());
         });
}

std::optional<AffineMap> transpositionOf(MapOp map) {
  std::optional<AffineMap> access = map.isMove() ? withoutSymbols(map.getAccess(0)) : std::nullopt;
  if (!access || !access->isPermutation())
    return std::nullopt;
  Sizes from = getSizes(typeOf(map.getMoved())), to = getSizes(map.getType());
  for (auto [axis, index] : llvm::enumerate(access->getResults()))
    if (from[axis] != to[cast<AffineDimExpr>(index).getPosition()])
      return std::nullopt;
  return access;
}

SmallVector<AffineExpr> summandsOf(AffineExpr expr) {
  if (expr.getKind() != AffineExprKind::Add)
    return {expr};
  auto sum = cast<AffineBinaryOpExpr>(expr);
  SmallVector<AffineExpr> all = summandsOf(sum.getLHS());
  llvm::append_range(all, summandsOf(sum.getRHS()));
  return all;
}

std::optional<int64_t> slope(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> left = slope(binary.getLHS(), dim), right = slope(binary.getRHS(), dim);
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *left + *right;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul && factor)
    return *left * factor.getValue();
  return std::nullopt;
}

bool isTurn(AffineMap access, RankedTensorType from) {
  ArrayRef<AffineExpr> places = access.getResults();
  while (!places.empty() && from.getDimSize(places.size() - 1) == 1)
    places = places.drop_back();
  if (access.getNumDims() == 0 || places.empty())
    return false;
  unsigned column = access.getNumDims() - 1;
  return llvm::is_contained(places.drop_back(), getAffineDimExpr(column, access.getContext())) &&
         llvm::count_if(places, [&](AffineExpr place) { return place.isFunctionOfDim(column); }) == 1;
}

std::optional<SmallVector<unsigned>> axesAsTheyLie(AffineMap access, ArrayRef<Size> from, ArrayRef<Size> sizes) {
  return Lying(sizes, /*whole=*/true).of(access, from);
}

std::optional<SmallVector<unsigned>> axesAsPartsLie(AffineMap access, ArrayRef<Size> from, ArrayRef<Size> sizes) {
  return Lying(sizes, /*whole=*/false).of(access, from);
}

unsigned divisionsOf(AffineMap access) {
  unsigned count = 0;
  for (AffineExpr result : access.getResults())
    result.walk([&](AffineExpr expr) {
      count += expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::Mod;
    });
  return count;
}

} // namespace tutti
