// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions along axes: sums, extremes, places and scans.
#include "compiler/import/emit/Emit.h"

using namespace mlir;

namespace tutti {

bool Emit::isKnown(const Operand &x, int64_t axis, const Twine &does) {
  if (!x)
    return false;
  Size size = x.sizes()[axis];
  if (!size.isFixed())
    unknownLength(does, size);
  return size.isFixed();
}

Operand Emit::flattenFrom(const Operand &x, int64_t axis) {
  if (!x)
    return Operand();
  Sizes sizes(ArrayRef<Size>(x.sizes()).take_front(axis)), before = x.sizes();
  std::optional<Size> rest = tutti::product(ArrayRef(before).drop_front(axis));
  if (!rest)
    return malformed("more elements than there are numbers");
  sizes.push_back(*rest);
  return reshape(x, sizes);
}

Operand Emit::reduce(ReduceKind kind, const Operand &x, ArrayRef<int64_t> axes, Axes reduced) {
  if (!x)
    return Operand();
  if (axes.empty())
    return x;
  if (x.isShape())
    return reduceShape(kind, x.shape(), reduced);
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  Sizes sizes = x.sizes();
  if (std::optional<Operand> below = reduceBelowReshape(kind, x, sorted)) {
    Sizes kept;
    for (auto [i, size] : llvm::enumerate(sizes))
      if (!llvm::is_contained(sorted, int64_t(i)))
        kept.push_back(size);
    return *below && reduced == Axes::drop ? reshape(*below, kept) : *below;
  }
  for (int64_t axis : sorted) {
    if (!isKnown(x, axis, "reduces"))
      return Operand();
    if (sizes[axis] == Size(0) && kind == ReduceKind::mean)
      return unsupported("the mean of no elements");
    sizes[axis] = Size(1);
  }
  // If only the last axes are reduced, they become one: a reduction along rows. Axes of length 1 do not matter for
  // that.
  std::optional<int64_t> row = firstOfRow(x.sizes(), sorted);
  Operand rows = row ? flattenFrom(x, *row) : x;
  if (!rows)
    return Operand();
  Sizes own(sizes);
  if (row)
    own.truncate(*row + 1);
  Operand result = op<ReduceOp>(getTensorType(own, x.element()), {rows},
                                {.axes = numbers(row ? ArrayRef<int64_t>(*row) : ArrayRef<int64_t>(sorted)),
                                 .kind = ReduceKindAttr::get(&context, kind),
                                 .numerics = {}});
  result = reshape(result, sizes);
  return reduced == Axes::keep ? result : dropAxes(result, sorted);
}

Operand Emit::dropAxes(const Operand &x, ArrayRef<int64_t> axes) {
  if (!x)
    return Operand();
  Sizes kept;
  for (auto [i, size] : llvm::enumerate(x.sizes()))
    if (!llvm::is_contained(axes, int64_t(i)))
      kept.push_back(size);
  return reshape(x, kept);
}

Operand Emit::arg(ArgKind kind, const Operand &x, int64_t axis, Tie tie, Axes reduced) {
  if (!isKnown(x, axis, "compares along"))
    return Operand();
  Sizes sizes = x.sizes();
  if (sizes[axis] == Size(0))
    return malformed("the largest of no elements");
  sizes[axis] = Size(1);
  Operand result = op<ArgOp>(
      getTensorType(sizes, IntegerType::get(&context, 64)), {x},
      {.axis = number(axis), .kind = ArgKindAttr::get(&context, kind), .last = flag(tie == Tie::last), .numerics = {}});
  return reduced == Axes::keep ? result : dropAxes(result, axis);
}

Operand Emit::softmax(const Operand &x, int64_t axis) {
  Operand power = unary<ExpOp>(sub(x, reduce(ReduceKind::max, x, axis, Axes::keep)));
  return div(power, reduce(ReduceKind::sum, power, axis, Axes::keep));
}

Operand Emit::moveAxis(const Operand &x, int64_t from, int64_t to) {
  if (!x || from == to)
    return x;
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return transpose(x, permutation);
}

Operand Emit::scan(ScanKind kind, const Operand &x, int64_t axis, ScanRange range) {
  if (!isKnown(x, axis, "sums along"))
    return Operand();
  // The axes behind this one stay if their lengths are known; otherwise this one is moved behind them. No bit depends
  // on whether they are known.
  Sizes sizes = x.sizes();
  std::optional<Size> step = tutti::product(ArrayRef(sizes).drop_front(axis + 1));
  bool moves = !step || !step->isFixed() || step->getFixed() < 1;
  Operand rows = moves ? moveAxis(x, axis, x.rank() - 1) : flattenFrom(x, axis);
  if (!rows)
    return Operand();
  Operand result = op<ScanOp>(getTensorType(rows.sizes(), rows.element()), {rows},
                              {.exclusive = flag(range.exclusive),
                               .kind = ScanKindAttr::get(&context, kind),
                               .reverse = flag(range.reverse),
                               .step = moves              ? number(1)
                                       : *step != Size(1) ? number(step->getFixed())
                                                          : IntegerAttr()});
  return moves ? moveAxis(result, x.rank() - 1, axis) : reshape(result, sizes);
}

Operand Emit::top(ArgKind kind, const Operand &x, int64_t count) {
  int64_t last = x ? x.rank() - 1 : 0;
  if (!isKnown(x, last, "chooses among"))
    return Operand();
  Sizes sizes = x.sizes();
  if (count == 0)
    return unsupported("chooses no elements");
  if (count < 0 || count > sizes[last].getFixed())
    return malformed("chooses " + Twine(count) + " elements of " + sizes[last].str());
  sizes[last] = Size(count);
  return op<TopOp>(getTensorType(sizes, IntegerType::get(&context, 64)), {x},
                   {.count = number(count), .smallest = flag(kind == ArgKind::min)});
}

} // namespace tutti
