// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random ops that move elements.
#include "RandomGenerator.h"

using namespace mlir;

namespace tutti::laws {

/// Often once more of what another was taken of, and of its columns.
Generator::Made Generator::slice(const Node &given) {
  Node x = given;
  if (auto before = x.value.getDefiningOp<SliceOp>(); before && chance(50))
    x.value = before.getX();
  int64_t axis =
      chance(40) && !x.type().isDynamicDim(x.rank() - 1) && x.dims().back() > 1 ? x.rank() - 1 : fixedAxis(x, 2);
  if (axis < 0)
    return std::nullopt;
  int64_t length = x.dims()[axis], step = oneOf<int64_t>({1, 1, 1, 1, 1, 2, 3, -1, -2});
  int64_t start = step < 0 ? length - 1 - below(length / 2) : chance(75) ? 0 : below(length - 1);
  int64_t room = step < 0 ? start / -step + 1 : (length - 1 - start) / step + 1;
  Node part = take(x, axis, start, between(1, room), step);
  // Of two axes at once, half of the time.
  int64_t other = chance(30) ? fixedAxis(part, 2) : -1;
  if (other >= 0 && other != axis) {
    Operation *first = part.value.getDefiningOp();
    auto op = cast<SliceOp>(first);
    SmallVector<int64_t> counts(op.getSizes());
    counts[other] = between(1, counts[other]);
    part.value = SliceOp::create(builder, loc, x.value, op.getStartsAttr(), builder.getDenseI64ArrayAttr(counts),
                                 op.getStepsAttr());
    first->erase();
  }
  return part;
}

Generator::Made Generator::transpose(const Node &x) {
  if (x.rank() < 2)
    return std::nullopt;
  auto order = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  for (int64_t i = x.rank() - 1; i > 0; --i)
    std::swap(order[i], order[below(i + 1)]);
  return Node{TransposeOp::create(builder, loc, x.value, builder.getDenseI64ArrayAttr(order)), x.most};
}

/// In the same shape: across the diagonal of two axes of one length, backwards along one, or around one.
Generator::Made Generator::acrossItself(const Node &x) {
  SmallVector<int64_t> axes = fixedAxes(x), order = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  for (int64_t a : axes)
    for (int64_t b : axes)
      if (a < b && x.dims()[a] == x.dims()[b] && x.dims()[a] > 1 && chance(80)) {
        std::swap(order[a], order[b]);
        return Node{TransposeOp::create(builder, loc, x.value, builder.getDenseI64ArrayAttr(order)), x.most};
      }
  int64_t axis = fixedAxis(x, 2);
  if (axis < 0)
    return std::nullopt;
  int64_t length = x.dims()[axis];
  if (chance(50))
    return take(x, axis, length - 1, length, -1);
  int64_t first = between(1, length - 1);
  Value parts[] = {take(x, axis, first, length - first, 1).value, take(x, axis, 0, first, 1).value};
  return Node{ConcatOp::create(builder, loc, parts, number(axis)), x.most};
}

/// Integers moved as unsigned ones, or to them and back.
Generator::Made Generator::withoutSign(const Node &x) {
  if (isa<FloatType>(element))
    return std::nullopt;
  auto castTo = [&](Value value, Type type) {
    auto from = cast<RankedTensorType>(value.getType());
    return CastOp::create(builder, loc, getTensorType(getSizes(from), type), value).getResult();
  };
  Type without = IntegerType::get(&context(), element.getIntOrFloatBitWidth(), IntegerType::Unsigned);
  Node at{castTo(x.value, without), x.most};
  for (int64_t moves = below(3); moves > 0; --moves) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(at.rank()));
    if (at.rank() > 1)
      std::swap(order[below(at.rank())], order[below(at.rank())]);
    at.value = TransposeOp::create(builder, loc, at.value, builder.getDenseI64ArrayAttr(order));
    if (chance(40))
      at.value = castTo(castTo(at.value, element), without);
  }
  return Node{castTo(at.value, element), x.most};
}

/// Two axes become one, or one two.
Generator::Made Generator::reshape(const Node &x) {
  Sizes from = getSizes(x.type()), to = from;
  if (x.rank() > 1 && chance(50)) {
    int64_t axis = below(x.rank() - 1);
    std::optional<Size> both = from[axis].times(from[axis + 1]);
    to[axis] = *both;
    to.erase(to.begin() + axis + 1);
  } else if (x.rank() < 5) {
    int64_t axis = below(x.rank()), factor = from[axis].getFactor();
    SmallVector<int64_t> parts;
    for (int64_t part = 1; part <= factor; ++part)
      if (factor % part == 0)
        parts.push_back(part);
    Size inner = Size(parts[below(parts.size())]);
    to[axis] = *from[axis].dividedBy(inner);
    to.insert(to.begin() + axis + 1, inner);
  } else {
    return std::nullopt;
  }
  if (mixedByReshape(from, to))
    return std::nullopt;
  return Node{ReshapeOp::create(builder, loc, getTensorType(to, element), x.value), x.most};
}

Generator::Made Generator::expand(const Node &x) {
  Sizes sizes = getSizes(x.type());
  bool any = false;
  for (Size &size : sizes)
    if (size == Size(1) && chance(70))
      size = Size(between(2, 5)), any = true;
  if (x.rank() < 4 && (!any || chance(20)))
    sizes.insert(sizes.begin(), Size(between(1, 3)));
  return Node{BroadcastOp::create(builder, loc, getTensorType(sizes, element), x.value), x.most};
}

Generator::Made Generator::concat(const Node &x) {
  int64_t axis = fixedAxis(x);
  if (axis < 0)
    return std::nullopt;
  SmallVector<Value> parts{x.value};
  double most = x.most;
  for (int tries = 0; tries < 12 && parts.size() < 3; ++tries) {
    Node other = pick();
    Sizes a = getSizes(x.type()), b = getSizes(other.type());
    if (a.size() != b.size() || !b[axis].isFixed())
      continue;
    a[axis] = b[axis];
    if (a != b)
      continue;
    parts.insert(chance(50) ? parts.begin() : parts.end(), other.value);
    most = std::max(most, other.most);
  }
  return Node{ConcatOp::create(builder, loc, parts, number(axis)), most};
}

Generator::Made Generator::pad(const Node &x) {
  int64_t axis = fixedAxis(x);
  if (axis < 0)
    return std::nullopt;
  SmallVector<Value> parts{x.value};
  for (int side : {0, 1})
    if (int64_t width = between(1 - side, 2)) {
      Sizes sizes = getSizes(x.type());
      sizes[axis] = Size(width);
      Value filled = BroadcastOp::create(builder, loc, getTensorType(sizes, element), constant({}, oneOf({0., 2.})));
      parts.insert(side ? parts.end() : parts.begin(), filled);
    }
  return Node{ConcatOp::create(builder, loc, parts, number(axis)), std::max(x.most, 2.)};
}

Generator::Made Generator::gather(const Node &x) {
  int64_t axis = fixedAxis(x);
  if (axis < 0)
    return std::nullopt;
  Value places = parameter(oneOf<int64_t>({0, 1}) || x.rank() > 3 ? SmallVector<int64_t>{between(1, 5)}
                                                                  : SmallVector<int64_t>{2, between(1, 3)},
                           builder.getI64Type());
  return Node{GatherOp::create(builder, loc, x.value, places, number(axis), IntegerAttr()), x.most};
}

} // namespace tutti::laws
