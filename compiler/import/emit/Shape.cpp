// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout ops, casts, and the arithmetic of shapes.
#include "compiler/import/emit/Emit.h"

using namespace mlir;

namespace tutti {

/// The sizes as numbers, if all are fixed.
static std::optional<SmallVector<int64_t>> fixed(ArrayRef<Size> sizes) {
  SmallVector<int64_t> result;
  for (const Size &size : sizes) {
    if (!size.isFixed())
      return std::nullopt;
    result.push_back(size.getFixed());
  }
  return result;
}

Operand Emit::shape(ShapeValue value) {
  std::optional<SmallVector<int64_t>> numbers = fixed(value.elements);
  if (!numbers)
    return Operand(std::move(value));
  SmallVector<int64_t> dims;
  if (value.vector)
    dims.push_back(numbers->size());
  HostTensor tensor = HostTensor::zeros(value.element, dims);
  tensor.ints.assign(numbers->begin(), numbers->end());
  return Operand(computedSource(tensor));
}

/// One step of arithmetic on sizes; nothing if the result is not a size.
static std::optional<Size> compute(StringRef name, const Size &a, const Size &b) {
  if (name == MulOp::getOperationName()) {
    // Limits the length, as products of products double it at every step.
    if (a.getSymbols().size() + b.getSymbols().size() > 8)
      return std::nullopt;
    // A size is never negative, which a negative multiple would be.
    std::optional<Size> product = a.times(b);
    return product && (product->isFixed() || product->getFactor() > 0) ? product : std::nullopt;
  }
  if (name == DivOp::getOperationName()) {
    if (!a.isFixed() || !b.isFixed())
      return a.dividedBy(b);
    bool overflows = a.getFixed() == INT64_MIN && b.getFixed() == -1;
    return b.getFixed() == 0 || overflows ? std::nullopt : std::optional<Size>(a.getFixed() / b.getFixed());
  }
  if (name == AddOp::getOperationName()) {
    if (a == Size(0) || b == Size(0))
      return a == Size(0) ? b : a;
    int64_t sum;
    if (a.isFixed() && b.isFixed() && !llvm::AddOverflow(a.getFixed(), b.getFixed(), sum))
      return Size(sum);
    return std::nullopt;
  }
  if (name == SubOp::getOperationName()) {
    if (b == Size(0))
      return a;
    if (a == b)
      return Size(0);
    int64_t difference;
    if (a.isFixed() && b.isFixed() && !llvm::SubOverflow(a.getFixed(), b.getFixed(), difference))
      return Size(difference);
  }
  if (name == MaxOp::getOperationName() || name == MinOp::getOperationName()) {
    bool wantsMost = name == MaxOp::getOperationName();
    if (a.isFixed() && b.isFixed())
      return Size(wantsMost ? std::max(a.getFixed(), b.getFixed()) : std::min(a.getFixed(), b.getFixed()));
    // A size is at least 1.
    auto isLess = [](const Size &x, const Size &size) {
      return x.isFixed() && x.getFixed() <= 1 && size.getFactor() > 0;
    };
    if (a == b || isLess(b, a))
      return wantsMost ? a : b;
    if (isLess(a, b))
      return wantsMost ? b : a;
  }
  return std::nullopt;
}

Operand Emit::reduceShape(ReduceKind kind, const ShapeValue &x, Axes reduced) {
  StringRef name = kind == ReduceKind::prod  ? MulOp::getOperationName()
                   : kind == ReduceKind::sum ? AddOp::getOperationName()
                   : kind == ReduceKind::max ? MaxOp::getOperationName()
                   : kind == ReduceKind::min ? MinOp::getOperationName()
                                             : StringRef();
  std::optional<Size> all = x.elements[0];
  for (const Size &each : ArrayRef(x.elements).drop_front())
    all = all && !name.empty() ? compute(name, *all, each) : std::nullopt;
  if (!all)
    return unsupported(quote(stringifyReduceKind(kind)) + " of sizes " + tutti::str(x.elements) +
                           ", which is no product of sizes",
                       toBind(x.elements));
  return shape({{*all}, reduced == Axes::keep, x.element});
}

/// Whether two sizes are equal, if they are so at every call or at none.
static std::optional<bool> equal(const Size &a, const Size &b) {
  if (a == b || (a.isFixed() && b.isFixed()))
    return a == b;
  // A size is at least 1.
  if ((a.isFixed() && a.getFixed() < 1) || (b.isFixed() && b.getFixed() < 1))
    return false;
  return std::nullopt;
}

Operand Emit::shapeArithmetic(StringRef name, const Operand &a, const Operand &b) {
  std::optional<ShapeValue> x = a.asShape(), y = b.asShape();
  if (!x || !y)
    return unsupported("a size that is known at a call only is used as a number",
                       "bind the dimension to one value with --dim");
  if (x->element != y->element)
    return malformed("operands of types " + elementName(x->element) + " and " + elementName(y->element));
  size_t length = std::max(x->elements.size(), y->elements.size());
  for (size_t count : {x->elements.size(), y->elements.size()})
    if (count != 1 && count != length)
      return malformed("lengths " + Twine(x->elements.size()) + " and " + Twine(y->elements.size()) +
                       " do not broadcast");
  bool comparison = name == EqualOp::getOperationName();
  ShapeValue result{{}, x->vector || y->vector, comparison ? IntegerType::get(&context, 1) : x->element};
  for (size_t i = 0; i < length; ++i) {
    const Size &p = x->elements[x->elements.size() == 1 ? 0 : i], &q = y->elements[y->elements.size() == 1 ? 0 : i];
    std::optional<Size> number;
    if (!comparison)
      number = compute(name, p, q);
    else if (std::optional<bool> answer = equal(p, q))
      number = Size(*answer);
    // Exporters spell a broadcast of two shapes this way, which must then be equal.
    if (!number && name == MaxOp::getOperationName() && !p.isFixed() && !q.isFixed() && same(p, q))
      number = p;
    if (!number)
      return unsupported(quote(name.drop_front(StringRef("tutti.").size())) + " of sizes " + p.str() + " and " +
                             q.str() + ", which is no product of sizes",
                         toBind({p, q}));
    result.elements.push_back(*number);
  }
  return shape(std::move(result));
}

Operand Emit::cast(const Operand &x, Type element) {
  if (!x || x.element() == element)
    return x;
  if (x.isShape()) {
    if (!element.isInteger(64) && !element.isInteger(32))
      return unsupported("a size that is known at a call only is cast to " + elementName(element),
                         "bind the dimension to one value with --dim");
    ShapeValue value = x.shape();
    value.element = element;
    return Operand(std::move(value));
  }
  if (x.isRowNumbers())
    return castRows(x.rowNumbers(), element);
  return pointwise(CastOp::getOperationName(), {x}, element);
}

Operand Emit::widened(const Operand &x, Type wide) {
  wide = wide ? wide : Float32Type::get(&context);
  bool isNarrow = x && x.isFloat() && x.element().getIntOrFloatBitWidth() < wide.getIntOrFloatBitWidth();
  return isNarrow ? cast(x, wide) : x;
}

Operand Emit::reshape(const Operand &x, ArrayRef<Size> sizes) {
  if (!x || llvm::equal(x.sizes(), sizes))
    return x;
  if (!fits(sizes))
    return Operand();
  std::optional<Size> before = tutti::product(x.sizes()), after = tutti::product(sizes);
  if (!before || !after)
    return malformed("shape " + tutti::str(sizes) + " has more elements than there are numbers");
  if (*before != *after && !same(*before, *after)) {
    std::string shapes = tutti::str(x.sizes()) + " into " + tutti::str(sizes);
    if (before->isFixed() && after->isFixed())
      return malformed("shape " + shapes + " does not go: " + before->str() + " elements, and " + after->str());
    return unsupported("shape " + shapes + " goes only for some sizes of a call", toBind({*before, *after}));
  }
  if (x.isConstant()) {
    std::optional<SmallVector<int64_t>> dims = fixed(sizes);
    if (!dims)
      return unsupported("a tensor without elements");
    // A reshape without a view copies, if the budget allows.
    if (canReshape(x.constant(), *dims) || budget.spend(x.constant().count()))
      return Operand(reshapeView(x.constant(), *dims));
    return op<ReshapeOp>(getTensorType(sizes, x.element()), {x});
  }
  if (x.isShape()) {
    if (sizes.size() > 1)
      return unsupported("sizes that are known at a call only as a matrix");
    ShapeValue value = x.shape();
    value.vector = sizes.size() == 1;
    return Operand(std::move(value));
  }
  if (x.isRowNumbers())
    return reshapeRows(x.rowNumbers(), sizes);
  if (auto earlier = x.value().getDefiningOp<ReshapeOp>())
    return reshape(Operand(earlier.getX()), sizes);
  return op<ReshapeOp>(getTensorType(sizes, x.element()), {x});
}

Operand Emit::broadcast(const Operand &x, ArrayRef<Size> sizes) {
  if (!x || llvm::equal(x.sizes(), sizes))
    return x;
  if (!fits(sizes))
    return Operand();
  std::optional<SmallVector<int64_t>> dims = fixed(sizes);
  if (x.isConstant() && dims)
    return Operand(broadcastView(x.constant(), *dims));
  if (x.isRowNumbers())
    return broadcastRows(x.rowNumbers(), sizes);
  return op<BroadcastOp>(getTensorType(sizes, x.element()), {x});
}

/// The permutation of x's axes whose reshape is the transposition of x's reshape, if every run of axes that the reshape
/// splits or joins stays together and in order.
static std::optional<SmallVector<int64_t>> belowReshape(ArrayRef<Size> from, ArrayRef<Size> to,
                                                        ArrayRef<int64_t> permutation) {
  std::optional<SmallVector<AxisRuns>> runs = matchAxes(from, to);
  if (!runs)
    return std::nullopt;
  SmallVector<int64_t> moved; // except axes of length 1, which may stand anywhere
  llvm::copy_if(permutation, std::back_inserter(moved), [&](int64_t axis) { return to[axis] != Size(1); });
  SmallVector<int64_t> now;
  for (ArrayRef<int64_t> rest = moved; !rest.empty();) {
    auto run = llvm::find_if(*runs, [&](const AxisRuns &each) {
      return rest[0] >= each.first[1] && rest[0] < int64_t(each.first[1] + each.count[1]);
    });
    for (int64_t axis = run->first[1]; axis < int64_t(run->first[1] + run->count[1]); ++axis) {
      if (to[axis] == Size(1))
        continue;
      if (rest.empty() || rest[0] != axis)
        return std::nullopt;
      rest = rest.drop_front();
    }
    for (int64_t axis = run->first[0]; axis < int64_t(run->first[0] + run->count[0]); ++axis)
      now.push_back(axis);
  }
  for (int64_t axis = 0; axis < int64_t(from.size()); ++axis)
    if (!llvm::is_contained(now, axis))
      now.push_back(axis);
  return now;
}

Operand Emit::transpose(const Operand &x, ArrayRef<int64_t> permutation) {
  if (!x || llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  if (x.isConstant())
    return Operand(transposeView(x.constant(), permutation));
  Sizes before = x.sizes(), sizes;
  SmallVector<int64_t> moved;
  for (int64_t from : permutation) {
    sizes.push_back(before[from]);
    if (before[from] != Size(1))
      moved.push_back(from);
  }
  if (llvm::is_sorted(moved)) // only axes of length 1 move
    return reshape(x, sizes);
  if (x.isRowNumbers())
    return RowNumbers{sizes, x.element()};
  if (auto earlier = x.value().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> both;
    for (int64_t from : permutation)
      both.push_back(earlier.getPermutation()[from]);
    return transpose(Operand(earlier.getX()), both);
  }
  // Two transpositions around a reshape that could follow both become one: exporters reshape at different places.
  if (auto between = x.value().getDefiningOp<ReshapeOp>(); between && between.getX().getDefiningOp<TransposeOp>()) {
    Operand source(between.getX());
    if (std::optional<SmallVector<int64_t>> below = belowReshape(source.sizes(), before, permutation))
      return reshape(transpose(source, *below), sizes);
  }
  return op<TransposeOp>(getTensorType(sizes, x.element()), {x}, {.permutation = numbers(permutation)});
}

namespace {
/// One operand of a concat, and where it begins.
struct JoinedPart {
  Value value;
  int64_t begin;
};
} // namespace

/// The part of a concat that contains a slice along its axis, if there is one.
static std::optional<JoinedPart> partOf(ConcatOp joined, ArrayRef<int64_t> starts, ArrayRef<int64_t> lengths,
                                        ArrayRef<int64_t> steps) {
  int64_t axis = joined.getAxis(), begin = 0;
  if (lengths[axis] < 1)
    return std::nullopt;
  int64_t last = starts[axis] + (lengths[axis] - 1) * steps[axis];
  for (Value value : joined.getInputs()) {
    int64_t end = begin + typeOf(value).getDimSize(axis);
    if (begin <= std::min(starts[axis], last) && std::max(starts[axis], last) < end)
      return JoinedPart{value, begin};
    begin = end;
  }
  return std::nullopt;
}

Operand Emit::slice(const Operand &x, ArrayRef<int64_t> starts, ArrayRef<int64_t> lengths, ArrayRef<int64_t> steps) {
  if (!x)
    return Operand();
  Sizes sizes = x.sizes();
  bool whole = true;
  for (auto [size, start, length, step] : llvm::zip_equal(sizes, starts, lengths, steps))
    if (length >= 0) {
      whole &= size == Size(length) && start == 0 && (step == 1 || length == 1);
      size = Size(length);
    }
  if (whole)
    return x;
  if (x.isShape()) {
    ShapeValue value{{}, true, x.element()};
    for (int64_t i = 0; i < lengths[0]; ++i)
      value.elements.push_back(x.shape().elements[starts[0] + i * steps[0]]);
    return shape(std::move(value));
  }
  if (x.isRowNumbers())
    return RowNumbers{sizes, x.element()};
  if (x.isConstant())
    return Operand(sliceView(x.constant(), starts, lengths, steps));
  if (llvm::is_contained(sizes, Size(0))) // an empty list, which a later concat drops
    return RowNumbers{sizes, x.element()};
  // Looks through concats, and concats in them, for the part that has the whole slice. Their number is limited, as a
  // model may slice each link of a long chain.
  constexpr int mostJoins = 64;
  Value from = x.value();
  SmallVector<int64_t> inside(starts);
  int joins = 0;
  for (; joins < mostJoins; ++joins) {
    auto joined = from.getDefiningOp<ConcatOp>();
    std::optional<JoinedPart> part = joined ? partOf(joined, inside, lengths, steps) : std::nullopt;
    if (!part)
      break;
    inside[joined.getAxis()] -= part->begin;
    from = part->value;
  }
  if (joins > 0 && joins < mostJoins)
    return slice(Operand(from), inside, lengths, steps);
  if (std::optional<Operand> below = sliceBelowReshape(Operand(from), inside, lengths, steps))
    return *below;
  return op<SliceOp>(getTensorType(sizes, x.element()), {Operand(from)},
                     {.sizes = numbers(lengths), .starts = numbers(inside), .steps = numbers(steps)});
}

Operand Emit::part(const Operand &x, int64_t axis, int64_t start, int64_t length, int64_t step) {
  if (!x)
    return Operand();
  Sizes sizes = x.sizes();
  SmallVector<int64_t> starts(sizes.size(), 0), lengths(sizes.size(), -1), steps(sizes.size(), 1);
  for (auto [i, size] : llvm::enumerate(sizes))
    if (size.isFixed())
      lengths[i] = size.getFixed();
  starts[axis] = start;
  lengths[axis] = length;
  steps[axis] = length == 1 ? 1 : step;
  return slice(x, starts, lengths, steps);
}

} // namespace tutti
