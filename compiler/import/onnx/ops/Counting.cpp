// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ops that count: ranges, diagonals, one-hot rows, the distinct elements of a constant.
#include "compiler/import/onnx/ops/Ops.h"
#include "dialects/tutti/Tutti.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace tutti {

/// start, start + delta, ... before the limit, in the type's own arithmetic.
void importRange(Node &n) {
  SmallVector<Operand, 3> given{n.in(0), n.in(1), n.in(2)};
  if (n.emit.failed() || llvm::any_of(given, [](const Operand &x) { return !x; }))
    return;
  bool fromZero = given[0].scalar() == std::optional<double>(0) && given[2].scalar() == std::optional<double>(1);
  if (given[1].isShape() && fromZero && given[0].element() == given[1].element() && !given[1].shape().vector)
    return n.set(0, RowNumbers{{given[1].shape().elements[0]}, given[1].element(), 0});
  SmallVector<HostTensor, 3> numbers;
  for (auto [i, x] : llvm::enumerate(given)) {
    if (x.isShape() && x.shape().elements.size() == 1) {
      n.emit.unknownLength("runs along", x.shape().elements[0]);
      return;
    }
    if (x.isShape()) {
      n.emit.malformed("input " + Twine(i) + " is " + x.str() + " where a number is due");
      return;
    }
    if (!x.isConstant()) {
      n.emit.unsupported("its length depends on a number that is computed from the model's inputs", n.toBeKnown(x));
      return;
    }
    if (x.constant().count() != 1 || x.element().isInteger(1) || (i && x.element() != numbers[0].element)) {
      n.emit.malformed("input " + Twine(i) + " is " + x.str() + " where a number is due");
      return;
    }
    numbers.push_back(readForProgram(x.constant()));
  }
  Type element = numbers[0].element;
  bool isFloat = numbers[0].isFloat();
  double count;
  if (isFloat)
    count = std::ceil((numbers[1].floats[0] - numbers[0].floats[0]) / numbers[2].floats[0]);
  else if (numbers[2].ints[0] == 0)
    count = std::nan("");
  else {
    __int128 distance = __int128(numbers[1].ints[0]) - numbers[0].ints[0], delta = numbers[2].ints[0];
    count = (distance > 0) == (delta > 0) ? double((distance + (delta > 0 ? delta - 1 : delta + 1)) / delta) : 0;
  }
  if (!std::isfinite(count)) {
    n.emit.malformed("a range without an end: its step is 0, or one of its numbers is not finite");
    return;
  }
  auto length = static_cast<int64_t>(std::clamp(count, 0.0, 0x1p62));
  if (!n.emit.affords(length))
    return;
  HostTensor result = HostTensor::zeros(element, {length});
  // 16-bit floats compute their steps in `wide`, which before opset 27 is the type itself.
  Type wide = element;
  if (n.opset >= 27)
    if (Type stash = n.elementAttr("stash_type", Float32Type::get(&n.emit.context)); isFloat && isShortFloat(element))
      wide = stash;
  if (wide && isa<FloatType>(wide) != isFloat)
    n.emit.malformed("attribute 'stash_type' is " + elementName(wide) + ", expected a type of floats");
  if (n.emit.failed())
    return;
  for (int64_t i = 0; i < length; ++i)
    if (isFloat)
      result.floats[i] =
          nearest(nearest(numbers[0].floats[0] + nearest(nearest(double(i), wide) * numbers[2].floats[0], wide), wide),
                  element);
    else
      result.ints[i] = wrapped(uint64_t(numbers[0].ints[0]) + uint64_t(i) * uint64_t(numbers[2].ints[0]), element);
  n.set(0, Operand(computedSource(result)));
}

/// The lengths of the last two axes, which must be fixed.
static std::optional<std::pair<int64_t, int64_t>> matrixOf(Node &n, const Operand &x) {
  Sizes sizes = x.sizes();
  if (sizes.size() < 2) {
    n.emit.malformed("a matrix of shape " + str(sizes));
    return std::nullopt;
  }
  for (const Size &size : ArrayRef(sizes).take_back(2))
    if (!size.isFixed()) {
      n.emit.unknownLength("a diagonal along", size);
      return std::nullopt;
    }
  int64_t rows = sizes[sizes.size() - 2].getFixed(), columns = sizes.back().getFixed(), count;
  if (!n.emit.affords(llvm::MulOverflow(rows, columns, count) ? INT64_MAX : count))
    return std::nullopt;
  return std::pair(rows, columns);
}

/// x where column - row is at least k (upper), or at most k; else 0.
void importTrilu(Node &n) {
  Operand x = n.in(0);
  bool upper = n.intAttr("upper", 1) != 0;
  std::optional<SmallVector<int64_t>> k = n.has(1) ? n.intsIn(1) : SmallVector<int64_t>{0};
  if (!x || !k)
    return;
  if (k->size() != 1) {
    n.emit.malformed("a diagonal of " + Twine(k->size()) + " numbers");
    return;
  }
  std::optional<std::pair<int64_t, int64_t>> matrix = matrixOf(n, x);
  if (!matrix)
    return;
  auto [rows, columns] = *matrix;
  HostTensor mask = HostTensor::zeros(IntegerType::get(&n.emit.context, 1), {rows, columns});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      mask.ints[i * columns + j] = upper ? j - i >= (*k)[0] : j - i <= (*k)[0];
  n.set(0, n.emit.select(Operand(computedSource(mask)), x, n.emit.broadcast(n.emit.scalar(0, x), x.sizes())));
}

void importEyeLike(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  int64_t k = n.intAttr("k", 0);
  Type element = n.elementAttr("dtype", x.element());
  if (!element)
    return;
  std::optional<std::pair<int64_t, int64_t>> matrix = matrixOf(n, x);
  if (!matrix || x.rank() != 2) {
    if (matrix)
      n.emit.malformed("a matrix of shape " + str(x.sizes()));
    return;
  }
  auto [rows, columns] = *matrix;
  HostTensor eye = HostTensor::zeros(element, {rows, columns});
  for (int64_t i = std::max<int64_t>(0, k <= 0 && k > -rows ? -k : 0); i < rows; ++i)
    if (k > -rows && k < columns && i + k >= 0 && i + k < columns) {
      if (eye.isFloat())
        eye.floats[i * columns + i + k] = 1;
      else
        eye.ints[i * columns + i + k] = 1;
    }
  n.set(0, Operand(computedSource(eye)));
}

/// A row of `depth` along a new axis for each index: values[1] at the index, values[0] elsewhere and for indices out of
/// range.
void importOneHot(Node &n) {
  Emit &e = n.emit;
  Operand indices = n.in(0), depth = n.in(1), values = n.in(2);
  if (!indices || !depth || !values)
    return;
  if (!depth.isConstant()) {
    e.unsupported(depth.isShape()
                      ? "makes an axis as long as a dimension that is known at a call only"
                      : "the size of its output depends on its depth, which is computed from the model's inputs",
                  depth.isShape() ? "bind the dimension to one value with --dim" : n.toBeKnown(depth));
    return;
  }
  std::optional<double> number = depth.scalarForProgram();
  if (number && *number > double(e.budget.left())) {
    e.unsupported("a depth of " + llvm::formatv("{0:F0}", *number).str());
    return;
  }
  if (!number || !(*number >= 1) || values.rank() != 1 || values.sizes()[0] != Size(2) ||
      indices.element().isInteger(1)) {
    e.malformed("a depth " + depth.str() + ", indices " + indices.str() + " and values " + values.str());
    return;
  }
  std::optional<int64_t> axis = n.axis(n.intAttr("axis", -1), indices.rank() + 1);
  if (!axis)
    return;
  auto length = static_cast<int64_t>(*number);
  Type wide = IntegerType::get(&e.context, 64);
  Operand given = e.cast(indices, wide), classes = e.counted(length);
  given = e.select(e.compare<GreaterOp>(e.scalar(0, given), given), e.add(given, e.scalar(length, given)), given);
  Sizes sizes = indices.sizes(), along(sizes.size() - *axis, Size(1));
  sizes.insert(sizes.begin() + *axis, Size(1));
  along.insert(along.begin(), Size(length));
  Operand hits = e.compare<EqualOp>(e.reshape(given, sizes), e.reshape(classes, along));
  n.set(0, e.select(hits, e.reshape(e.part(values, 0, 1, 1), {}), e.reshape(e.part(values, 0, 0, 1), {})));
}

/// For a constant: its distinct elements, the first place of each, each element's index among them, and their counts.
void importUnique(Node &n) {
  Operand x = n.in(0);
  bool sorted = n.intAttr("sorted", 1) != 0;
  if (!x)
    return;
  if (!x.isConstant()) {
    n.emit.unsupported("the size of its output depends on its input, which is computed from the model's inputs",
                       "make that a constant of the graph");
    return;
  }
  if (n.hasAttr("axis")) {
    std::optional<int64_t> axis = n.axis(n.intAttr("axis", 0), x.rank());
    if (axis && x.rank() != 1)
      n.emit.unsupported("distinct slices of a tensor of rank " + Twine(x.rank()), "make its outputs initializers");
    if (n.emit.failed())
      return;
  }
  if (!n.emit.affords(x.constant().count()))
    return;
  HostTensor host = inOrder(readForProgram(x.constant()));
  int64_t count = host.count();
  // As in NumPy, NaN sorts behind all numbers and counts as one element.
  auto less = [&](int64_t a, int64_t b) {
    if (!host.isFloat())
      return host.ints[a] < host.ints[b];
    return host.floats[a] < host.floats[b] || (std::isnan(host.floats[b]) && !std::isnan(host.floats[a]));
  };
  std::vector<int64_t> order(count), inverse(count);
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t a, int64_t b) { return less(a, b) || (a < b && !less(b, a)); });
  SmallVector<int64_t> first, times;
  std::vector<int64_t> group(count);
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0 || less(order[i - 1], order[i]))
      first.push_back(order[i]), times.push_back(0);
    ++times.back();
    group[order[i]] = first.size() - 1;
  }
  SmallVector<int64_t> rank = llvm::to_vector(llvm::seq<int64_t>(0, first.size())), places(first.size());
  if (!sorted)
    llvm::sort(rank, [&](int64_t a, int64_t b) { return first[a] < first[b]; });
  SmallVector<int64_t> firsts, counts;
  for (auto [place, which] : llvm::enumerate(rank)) {
    places[which] = place;
    firsts.push_back(first[which]);
    counts.push_back(times[which]);
  }
  for (int64_t i = 0; i < count; ++i)
    inverse[i] = places[group[i]];
  n.set(0, n.emit.gather(n.emit.reshape(x, {Size(count)}), n.emit.list(firsts), 0));
  n.set(1, n.emit.list(firsts));
  n.set(2, n.emit.list(inverse));
  n.set(3, n.emit.list(counts));
}

} // namespace tutti
