// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joins tensors along an axis that they have, or along a new one.
#include "compiler/import/emit/Emit.h"

using namespace mlir;

namespace tutti {

Operand Emit::stack(ArrayRef<Operand> xs, int64_t axis) {
  SmallVector<Operand> parts;
  for (const Operand &x : xs) {
    if (!x)
      return Operand();
    Sizes sizes = x.sizes();
    if (x.rank() != xs[0].rank())
      return malformed("tensors " + xs[0].str() + " and " + x.str() + " do not join along a new axis");
    sizes.insert(sizes.begin() + axis, Size(1));
    parts.push_back(reshape(x, sizes));
  }
  return concat(parts, axis);
}

/// Flattens a join of joins along one axis: exporters write either. The number of parts is limited, as models may have
/// long chains.
static SmallVector<Operand> partsOfJoins(ArrayRef<Operand> xs, int64_t axis) {
  constexpr size_t mostParts = 64;
  SmallVector<Operand> parts;
  for (const Operand &x : xs) {
    auto join = x.isValue() ? x.value().getDefiningOp<ConcatOp>() : ConcatOp();
    if (join && int64_t(join.getAxis()) == axis && parts.size() + join.getInputs().size() + xs.size() <= mostParts)
      llvm::append_range(parts, join.getInputs());
    else
      parts.push_back(x);
  }
  return parts;
}

Operand Emit::padded(const Operand &x, int64_t axis, int64_t before, int64_t behind, const Operand &value) {
  if (!x || !value || (before == 0 && behind == 0))
    return value ? x : Operand();
  auto edge = [&](int64_t length) {
    Sizes sizes = x.sizes();
    sizes[axis] = Size(length);
    return broadcast(value, sizes);
  };
  SmallVector<Operand> parts{x};
  if (before > 0)
    parts.insert(parts.begin(), edge(before));
  if (behind > 0)
    parts.push_back(edge(behind));
  return concat(parts, axis);
}

Operand Emit::concatShapes(ArrayRef<Operand> xs) {
  ShapeValue all{{}, true, xs[0].element()};
  for (const Operand &x : xs) {
    std::optional<ShapeValue> part = x.asShape();
    if (!part)
      return unsupported("a size that is known at a call only is used as a number",
                         "bind the dimension to one value with --dim");
    all.elements.append(part->elements);
  }
  return shape(std::move(all));
}

/// Joins batches that go through one network and are split again: as a further axis, and a view.
std::optional<Operand> Emit::concatBatches(ArrayRef<Operand> xs, int64_t axis) {
  Size each = xs[0].sizes()[axis];
  std::optional<Size> all = each.times(Size(int64_t(xs.size())));
  if (!all || each.isFixed())
    return std::nullopt;
  bool alike = llvm::all_of(xs, [&](const Operand &x) {
    return x.sizes()[axis] == each || (!x.sizes()[axis].isFixed() && same(x.sizes()[axis], each));
  });
  if (restart)
    return Operand();
  if (!alike)
    return std::nullopt;
  Operand stacked = stack(xs, axis);
  if (!stacked)
    return stacked;
  Sizes flat = stacked.sizes();
  flat.erase(flat.begin() + axis);
  flat[axis] = *all;
  return reshape(stacked, flat);
}

std::optional<Sizes> Emit::joined(ArrayRef<Operand> xs, int64_t axis) {
  auto nothing = [](const Operand &) { return std::nullopt; }; // the return value after a problem
  Sizes sizes = xs[0].sizes();
  int64_t length = 0;
  for (const Operand &x : xs) {
    Sizes mine = x.sizes();
    for (size_t i = 0; i < sizes.size(); ++i)
      if (int64_t(i) != axis && !same(sizes[i], mine[i]))
        return nothing(misfit(sizes[i], mine[i], "shapes " + tutti::str(sizes) + " and " + tutti::str(mine),
                              "join along axis " + Twine(axis)));
    if (!mine[axis].isFixed())
      return nothing(unknownLength("joins along", mine[axis]));
    if (llvm::AddOverflow(length, mine[axis].getFixed(), length))
      return nothing(malformed("an axis longer than there are numbers"));
  }
  sizes[axis] = Size(length);
  return sizes;
}

Operand Emit::concat(ArrayRef<Operand> given, int64_t axis) {
  SmallVector<Operand> xs;
  for (const Operand &x : given) {
    if (!x)
      return Operand();
    if (x.rank() != given[0].rank() || x.element() != given[0].element())
      return malformed("tensors " + given[0].str() + " and " + x.str() + " do not join");
    // Exporters join lists that may be empty.
    if (x.sizes()[axis] != Size(0))
      xs.push_back(x);
  }
  if (xs.size() < 2)
    return xs.empty() ? given[0] : xs[0];
  if (llvm::any_of(xs, [](const Operand &x) { return x.isShape(); }))
    return concatShapes(xs);
  xs = partsOfJoins(xs, axis);
  if (std::optional<Operand> batches = concatBatches(xs, axis))
    return *batches;
  std::optional<Sizes> sizes = joined(xs, axis);
  if (!sizes)
    return Operand();
  if (llvm::any_of(xs, [](const Operand &x) { return x.isRowNumbers(); }))
    return concatRows(xs, axis, *sizes);
  if (std::optional<Operand> below = concatBelowReshape(xs, axis))
    return *below;
  return op<ConcatOp>(getTensorType(*sizes, xs[0].element()), xs, {.axis = number(axis)});
}

} // namespace tutti
