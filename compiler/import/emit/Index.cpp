// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers and scatters.
#include "compiler/import/emit/Emit.h"

using namespace mlir;

namespace tutti {

Operand Emit::list(ArrayRef<int64_t> numbers, Type element) {
  HostTensor tensor = HostTensor::zeros(element ? element : IntegerType::get(&context, 64), {int64_t(numbers.size())});
  if (tensor.isFloat())
    tensor.floats.assign(numbers.begin(), numbers.end());
  else
    tensor.ints.assign(numbers.begin(), numbers.end());
  for (int64_t number : tensor.ints)
    if (wrapped(uint64_t(number), tensor.element) != number)
      return malformed("the number " + Twine(number) + " beside elements of " + elementName(tensor.element));
  return Operand(computedSource(tensor));
}

Operand Emit::counted(int64_t length) {
  return affords(length) ? list(llvm::to_vector(llvm::seq<int64_t>(0, length))) : Operand();
}

/// The source's elements: in place if they are int64 there, else copied to `own`.
static ArrayRef<int64_t> numbersOf(const WeightSource &x, std::vector<int64_t> &own) {
  bool aligned = reinterpret_cast<uintptr_t>(x.data) % alignof(int64_t) == 0;
  if (x.element.isInteger(64) && x.contiguous() && aligned)
    return {reinterpret_cast<const int64_t *>(x.data), size_t(x.count())};
  own = readForProgram(x).ints;
  return own;
}

Operand Emit::checkedIndices(const Operand &indices, int64_t length, bool *known) {
  bool isChecked = indices && indices.isConstant() && budget.spend(indices.constant().count());
  if (known)
    *known = isChecked;
  if (!isChecked)
    return indices; // kernels clamp them
  const WeightSource &constant = indices.constant();
  std::vector<int64_t> own;
  ArrayRef<int64_t> numbers = numbersOf(constant, own);
  for (int64_t index : numbers)
    if (index < -length || index >= length)
      return malformed("index " + Twine(index) + " of an axis of length " + Twine(length));
  if (llvm::none_of(numbers, [](int64_t index) { return index < 0; }))
    return indices;
  HostTensor host = readForProgram(constant);
  for (int64_t &index : host.ints)
    index += index < 0 ? length : 0;
  return Operand(computedSource(host));
}

/// The step between neighbours, if it is the same everywhere.
static std::optional<int64_t> evenStep(ArrayRef<int64_t> numbers) {
  if (numbers.size() < 2)
    return 1;
  for (size_t i = 2; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0])
      return std::nullopt;
  return numbers[1] == numbers[0] ? std::nullopt : std::optional(numbers[1] - numbers[0]);
}

/// The runs of axes that a reshape regroups, each with at least one old axis; nothing where it multiplies or divides
/// sizes of the call.
static std::optional<SmallVector<AxisRuns>> regrouped(ArrayRef<Size> old, ArrayRef<Size> now) {
  std::optional<SmallVector<AxisRuns>> runs = matchAxes(old, now);
  SmallVector<AxisRuns> result;
  for (const AxisRuns &run : runs.value_or(SmallVector<AxisRuns>())) {
    bool isOne = run.count[0] == 1 && run.count[1] == 1;
    auto isFixed = [](const Size &size) { return size.isFixed(); };
    if (!isOne && !(llvm::all_of(old.slice(run.first[0], run.count[0]), isFixed) &&
                    llvm::all_of(now.slice(run.first[1], run.count[1]), isFixed)))
      return std::nullopt;
    if (run.count[0] > 0)
      result.push_back(run);
    else if (!result.empty()) // a new axis of length 1 joins the run before
      result.back().count[1] += run.count[1];
    else
      return std::nullopt;
  }
  return result.empty() ? std::nullopt : std::optional(result);
}

std::optional<std::pair<Operand, SmallVector<int64_t>>> Emit::belowTranspose(const Operand &x) {
  Operation *producer = x.isValue() ? x.value().getDefiningOp() : nullptr;
  auto reshape = dyn_cast_or_null<ReshapeOp>(producer);
  auto transpose = dyn_cast_or_null<TransposeOp>(reshape ? reshape.getX().getDefiningOp() : producer);
  if (!transpose)
    return std::nullopt;
  ArrayRef<int64_t> from = transpose.getPermutation();
  Operand source(transpose.getX());
  if (!reshape)
    return std::pair(source, llvm::to_vector(from));
  auto runs = regrouped(getSizes(transpose.getType()), x.sizes());
  if (!runs)
    return std::nullopt;
  for (const AxisRuns &run : *runs)
    for (unsigned i = run.first[0] + 1; i < run.first[0] + run.count[0]; ++i)
      if (from[i] != from[i - 1] + 1)
        return std::nullopt;
  llvm::sort(*runs, [&](const AxisRuns &a, const AxisRuns &b) { return from[a.first[0]] < from[b.first[0]]; });
  Sizes sizes;
  SmallVector<int64_t> permutation(x.rank());
  for (const AxisRuns &run : *runs)
    for (unsigned i = run.first[1]; i < run.first[1] + run.count[1]; ++i) {
      permutation[i] = sizes.size();
      sizes.push_back(x.sizes()[i]);
    }
  return std::pair(this->reshape(source, sizes), permutation);
}

/// Moves a gather below a transposition: dynamo exports x[:, places] as a gather along the first axis between two
/// transpositions, which then cancel.
std::optional<Operand> Emit::gatherBelowTranspose(const Operand &x, const Operand &given, int64_t axis) {
  if (given.isRowNumbers())
    return std::nullopt;
  auto below = belowTranspose(x);
  if (!below || !below->first)
    return std::nullopt;
  const auto &[source, from] = *below;
  int64_t more = given.rank() - 1, own = from[axis];
  SmallVector<int64_t> back;
  for (auto [i, place] : llvm::enumerate(from))
    if (int64_t(i) == axis)
      llvm::append_range(back, llvm::seq(own, own + given.rank()));
    else
      back.push_back(place < own ? place : place + more);
  return transpose(gather(source, given, own), back);
}

Operand Emit::gatherShape(const ShapeValue &x, const Operand &given) {
  std::optional<ShapeValue> places = given.asShape();
  if (!places)
    return unsupported(given.isConstant() ? "sizes chosen as a matrix, by indices " + given.str()
                                          : "a size chosen by a number that is known at a call only");
  ShapeValue value{{}, places->vector, x.element};
  int64_t count = x.elements.size();
  for (const Size &place : places->elements) {
    int64_t at = place.isFixed() ? place.getFixed() : -1;
    at += at < 0 ? count : 0;
    if (at < 0 || at >= count || !place.isFixed())
      return malformed("index " + place.str() + " into a shape of rank " + Twine(count));
    value.elements.push_back(x.elements[at]);
  }
  return shape(std::move(value));
}

/// Turns known places that are evenly apart into a slice: exporters write either.
std::optional<Operand> Emit::gatherEvenly(const Operand &x, const Operand &indices, int64_t axis,
                                          ArrayRef<Size> sizes) {
  if (keepsNumbers() || !indices.isConstant() || (indices.rank() != 1 && indices.constant().count() != 1) ||
      !budget.spend(indices.constant().count()))
    return std::nullopt;
  std::vector<int64_t> own;
  ArrayRef<int64_t> places = numbersOf(indices.constant(), own);
  std::optional<int64_t> step = evenStep(places);
  if (!step || places.empty())
    return std::nullopt;
  return reshape(part(x, axis, places[0], places.size(), *step), sizes);
}

/// Each index takes a row of a table; the result lies as the indices do, the batch in front.
Operand Emit::gatherOfTable(const Operand &table, const Operand &indices, int64_t axis) {
  SmallVector<int64_t> before = llvm::to_vector(llvm::seq<int64_t>(0, axis)), front = {axis}, back;
  auto behind = llvm::seq<int64_t>(axis + 1, table.rank());
  llvm::append_range(front, before);
  llvm::append_range(front, behind);
  for (int64_t each : before)
    back.push_back(indices.rank() + each);
  llvm::append_range(back, llvm::seq<int64_t>(0, indices.rank()));
  for (int64_t each : behind)
    back.push_back(indices.rank() + each - 1);
  return transpose(gather(transpose(table, front), indices, 0), back);
}

Operand Emit::gather(const Operand &x, const Operand &given, int64_t axis, int64_t batch) {
  if (!x || !given)
    return Operand();
  if (!x.isShape() && (axis >= x.rank() || batch > std::min(axis, given.rank())))
    return malformed("a choice along axis " + Twine(axis) + " of " + x.str());
  if (batch == 0)
    if (std::optional<Operand> chosen = gatherBelowTranspose(x, given, axis))
      return *chosen;
  if (x.isShape())
    return gatherShape(x.shape(), given);
  if (given.isRowNumbers() && batch == 0)
    return gatherRows(x, given.rowNumbers(), axis);
  Sizes sizes = x.sizes(), chosen = given.sizes();
  Size length = sizes[axis];
  if (!length.isFixed())
    return unknownLength("chooses elements along", length);
  Operand indices = checkedIndices(given, length.getFixed());
  if (!indices)
    return Operand();
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, chosen.begin() + batch, chosen.end());
  if (!fits(sizes))
    return Operand();
  if (batch == 0)
    if (std::optional<Operand> even = gatherEvenly(x, indices, axis, sizes))
      return *even;
  if (x.isConstant() && !indices.isConstant() && indices.rank() > 0 && axis > 0 && batch == 0)
    return gatherOfTable(x, indices, axis);
  return op<GatherOp>(getTensorType(sizes, x.element()), {x, indices},
                      {.axis = number(axis), .batch = batch ? number(batch) : IntegerAttr()});
}

Operand Emit::windows(const Operand &x, ArrayRef<WindowAxis> axes, Outside outside) {
  if (!x)
    return x;
  int64_t windows = 1, elements = 1;
  SmallVector<int64_t> image, length, count, step, gap, before;
  for (const WindowAxis &along : axes) {
    windows *= along.count, elements *= along.length;
    image.push_back(along.size), length.push_back(along.length), count.push_back(along.count);
    step.push_back(along.stride), gap.push_back(along.gap), before.push_back(along.before);
  }
  Sizes sizes = x.sizes();
  std::optional<Size> columns = sizes.back().times(Size(elements));
  if (!columns)
    return malformed("more elements than there are numbers");
  sizes[sizes.size() - 2] = Size(windows);
  sizes.back() = *columns;
  return op<WindowsOp>(getTensorType(sizes, x.element()), {x},
                       {.before = numbers(before),
                        .count = numbers(count),
                        .gap = numbers(gap),
                        .image = numbers(image),
                        .length = numbers(length),
                        .outside = OutsideAttr::get(&context, outside),
                        .step = numbers(step)});
}

/// A scatter with known indices becomes a gather from x and the updates behind it, as the source of each element is
/// known. `ofBlocks`: each index is for a block of `width` elements, else for one element.
Operand Emit::placed(const Operand &x, const Operand &updates, const Operand &indices, int64_t width, bool ofBlocks) {
  HostTensor host = readForProgram(indices.constant());
  Sizes sizes = x.sizes();
  int64_t elements = sizes.back().getFixed(), count = updates.sizes().back().getFixed(), last = sizes.size() - 1;
  if (ofBlocks && indices.rank() == 1) { // each block is chosen as a whole
    auto apart = [&](const Operand &of) {
      Sizes own = of.sizes();
      own.back() = Size(own.back().getFixed() / width);
      own.push_back(Size(width));
      return reshape(of, own);
    };
    SmallVector<int64_t> from = llvm::to_vector(llvm::seq<int64_t>(0, elements / width));
    for (int64_t j = 0; j < count / width; ++j)
      from[host.ints[j]] = elements / width + j;
    return reshape(gather(concat({apart(x), apart(updates)}, last), list(from), last), sizes);
  }
  int64_t each = host.dims.back(), rows = host.count() / each;
  SmallVector<int64_t> dims(host.dims);
  dims.back() = elements;
  HostTensor from = HostTensor::zeros(IntegerType::get(&context, 64), dims);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < elements; ++i)
      from.ints[row * elements + i] = i;
    for (int64_t j = 0; j < count; ++j) {
      int64_t block = host.ints[row * each + (ofBlocks ? j / width : j)];
      from.ints[row * elements + block * width + j % width] = elements + j;
    }
  }
  Operand sources(computedSource(from));
  return gather(concat({x, updates}, last), sources, last, sources.rank() == 1 ? 0 : last);
}

Operand Emit::scatter(ScatterKind kind, const Operand &x, const Operand &given, const Operand &updates, int64_t width) {
  if (!x || !given || !updates)
    return Operand();
  Sizes sizes = x.sizes(), lengths = updates.sizes();
  for (const Size &size : {sizes.back(), lengths.back()})
    if (!size.isFixed())
      return unknownLength("puts elements along", size);
  if (width == 0 || llvm::is_contained(lengths, Size(0)))
    return x;
  int64_t length = sizes.back().getFixed() / width, count = lengths.back().getFixed() / width;
  bool known;
  Operand indices = checkedIndices(given, length, &known);
  if (!indices)
    return Operand();
  if (length == 0)
    return x;
  int64_t each = indices.sizes().back().getFixed(); // indices per row
  bool ofBlocks = each == count && width > 1;
  int64_t places;
  if (known && kind == ScatterKind::set &&
      !llvm::MulOverflow(indices.constant().count() / each, length * width, places) && budget.spend(places))
    return placed(x, updates, indices, width, ofBlocks);
  lengths.back() = Size(each);
  return op<ScatterOp>(
      getTensorType(sizes, x.element()), {x, broadcast(indices, lengths), updates},
      {.kind = ScatterKindAttr::get(&context, kind), .width = width > 1 ? number(width) : IntegerAttr()},
      count * width);
}

Operand Emit::places(const Operand &indices, int64_t length) {
  bool known;
  Operand one = checkedIndices(cast(indices, IntegerType::get(&context, 64)), length, &known);
  if (!one || known)
    return one;
  Operand zero = scalar(0, one);
  one = select(compare<GreaterOp>(zero, one), add(one, scalar(length, one)), one);
  return binary<MinOp>(binary<MaxOp>(one, zero), scalar(length - 1, one));
}

Operand Emit::linear(const Operand &tuples, ArrayRef<int64_t> lengths) {
  if (!tuples)
    return Operand();
  Operand all;
  int64_t last = tuples.rank() - 1;
  Sizes sizes = tuples.sizes();
  sizes.pop_back();
  if (lengths.size() == 1) // the readers wrap negative ones
    return checkedIndices(reshape(tuples, sizes), lengths[0]);
  for (auto [i, length] : llvm::enumerate(lengths)) {
    Operand one = places(reshape(part(tuples, last, i, 1), sizes), length);
    if (!one)
      return Operand();
    all = all ? add(mul(all, scalar(length, one)), one) : one;
  }
  return all;
}

} // namespace tutti
