// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ops that move elements.
#include "compiler/import/onnx/ops/Ops.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tutti {

/// 0 keeps the axis (unless allowzero), -1 is inferred.
void importReshape(Node &n) {
  Operand x = n.in(0);
  std::optional<Sizes> wanted = n.sizesIn(1);
  bool keepZero = n.intAttr("allowzero", 0) != 0;
  if (!x || !wanted)
    return;
  Sizes before = x.sizes(), sizes;
  std::optional<size_t> open;
  for (auto [i, size] : llvm::enumerate(*wanted)) {
    sizes.push_back(size);
    if (size == Size(0) && !keepZero) {
      if (i >= before.size()) {
        n.emit.malformed("keeps axis " + Twine(i) + " of shape " + str(before));
        return;
      }
      sizes.back() = before[i];
    } else if (size == Size(-1)) {
      if (open) {
        n.emit.malformed("two axes of length -1");
        return;
      }
      open = i;
      sizes.back() = Size(1);
    } else if (size.isFixed() && size.getFixed() < 0) {
      n.emit.malformed("an axis of length " + size.str());
      return;
    }
  }
  if (open) {
    std::optional<Size> all = product(before), rest = product(sizes);
    std::optional<Size> left = all && rest ? all->dividedBy(*rest) : std::nullopt;
    if (!left) {
      bool fixed = all && rest && all->isFixed() && rest->isFixed();
      sizes[*open] = Size(-1);
      std::string shapes = "shape " + str(before) + " into " + str(sizes);
      if (fixed)
        n.emit.malformed(shapes + " does not go");
      else
        n.emit.unsupported(shapes + " goes only for some sizes of a call",
                           "bind the dimension to one value with --dim");
      return;
    }
    sizes[*open] = *left;
  }
  n.set(0, n.emit.reshape(x, sizes));
}

/// The axes before `axis` become one, and so do the others.
void importFlatten(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  Sizes sizes = x.sizes();
  int64_t given = n.intAttr("axis", 1), rank = sizes.size();
  if (given < -rank || given > rank) {
    n.emit.malformed("axis " + Twine(given) + " of a tensor of rank " + Twine(rank));
    return;
  }
  size_t axis = given < 0 ? given + rank : given;
  std::optional<Size> head = product(ArrayRef(sizes).take_front(axis)),
                      tail = product(ArrayRef(sizes).drop_front(axis));
  if (!head || !tail)
    n.emit.malformed("more elements than there are numbers");
  else
    n.set(0, n.emit.reshape(x, {*head, *tail}));
}

void importTranspose(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  int64_t rank = x.rank();
  std::optional<SmallVector<int64_t>> given = n.intsAttr("perm");
  SmallVector<int64_t> permutation;
  for (int64_t i = 0; i < rank; ++i)
    permutation.push_back(given && i < int64_t(given->size()) ? (*given)[i] : rank - 1 - i);
  if ((given && int64_t(given->size()) != rank) || !isPermutationVector(permutation))
    n.emit.malformed("attribute 'perm' is no permutation of " + Twine(rank) + " axes");
  else
    n.set(0, n.emit.transpose(x, permutation));
}

void importSqueeze(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  Sizes before = x.sizes(), sizes;
  bool given;
  SmallVector<int64_t> listed = n.axesOf("axes", 1, 13, given);
  if (n.emit.failed())
    return;
  if (!given)
    for (auto [i, size] : llvm::enumerate(before)) {
      if (!size.isFixed() && !n.emit.isAboveOne(size)) {
        std::string symbol = shown(size.getSymbols()[0]);
        n.emit.unsupported("squeezes whatever axis has length 1, and dimension " + quote(size.str()) +
                               " is known at a call only",
                           "name the axes, or give the dimension sizes above 1 with --dim " + symbol + "=2..HIGH");
        return;
      }
      if (size == Size(1))
        listed.push_back(i);
    }
  std::optional<SmallVector<int64_t>> axes = n.axes(listed, before.size());
  if (!axes)
    return;
  for (auto [i, size] : llvm::enumerate(before)) {
    if (!llvm::is_contained(*axes, int64_t(i)))
      sizes.push_back(size);
    else if (!n.emit.same(size, Size(1)))
      return (void)n.emit.misfit(size, Size(1), "axis " + Twine(i) + " of shape " + str(before) + " and length 1",
                                 "fit");
  }
  n.set(0, n.emit.reshape(x, sizes));
}

void importUnsqueeze(Node &n) {
  Operand x = n.in(0);
  bool given;
  SmallVector<int64_t> listed = n.axesOf("axes", 1, 13, given);
  if (!x || n.emit.failed())
    return;
  Sizes before = x.sizes(), sizes;
  std::optional<SmallVector<int64_t>> axes = n.axes(listed, before.size() + listed.size());
  if (!axes)
    return;
  size_t next = 0;
  for (size_t i = 0; i < before.size() + listed.size(); ++i)
    sizes.push_back(llvm::is_contained(*axes, int64_t(i)) ? Size(1) : before[next++]);
  n.set(0, n.emit.reshape(x, sizes));
}

void importConcat(Node &n) {
  SmallVector<Operand> xs;
  for (size_t i = 0; i < n.inputs(); ++i)
    xs.push_back(n.in(i));
  if (xs.empty() || llvm::any_of(xs, [](const Operand &x) { return !x; })) {
    n.in(xs.size());
    return;
  }
  if (!n.hasAttr("axis"))
    n.emit.malformed("attribute 'axis' is missing");
  if (std::optional<int64_t> axis = n.axis(n.intAttr("axis", 0), xs[0].rank()))
    n.set(0, n.emit.concat(xs, *axis));
}

/// Splits batches that were joined into `parts` of the same size.
static void splitBatches(Node &n, const Operand &x, int64_t axis, int64_t parts) {
  Sizes sizes = x.sizes(), apart = sizes;
  std::optional<Size> each =
      parts > 1 && parts == n.proto.output_size() ? sizes[axis].dividedBy(Size(parts)) : std::nullopt;
  if (!each) {
    n.emit.unknownLength("splits", sizes[axis]);
    return;
  }
  apart[axis] = *each;
  apart.insert(apart.begin() + axis, Size(parts));
  Operand all = n.emit.reshape(x, apart);
  for (int64_t i = 0; i < parts; ++i)
    if (n.wants(i))
      n.set(i, n.emit.dropAxes(n.emit.part(all, axis, i, 1), {axis}));
}

/// Lengths are an attribute before opset 13, an input from then on. Without them the parts are equal, from opset 18 on
/// with a smaller last one.
void importSplit(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  std::optional<int64_t> axis = n.axis(n.intAttr("axis", 0), x.rank());
  bool given;
  SmallVector<int64_t> lengths = n.axesOf("split", 1, 13, given);
  int64_t parts = n.opset >= 18 ? n.intAttr("num_outputs", n.proto.output_size()) : n.proto.output_size();
  if (!axis || n.emit.failed())
    return;
  Size size = x.sizes()[*axis];
  if (parts == 1 && n.proto.output_size() == 1 && !given) {
    n.set(0, x);
    return;
  }
  if (!size.isFixed()) {
    splitBatches(n, x, *axis, given ? 0 : parts);
    return;
  }
  int64_t length = size.getFixed();
  if (!given) {
    if (parts != n.proto.output_size() || parts < 1 || (n.opset < 18 && length % parts != 0)) {
      n.emit.malformed("length " + Twine(length) + " does not go in " + Twine(parts) + " parts");
      return;
    }
    int64_t each = length / parts + (length % parts != 0);
    for (int64_t i = 0; i < parts; ++i)
      lengths.push_back(std::clamp<int64_t>(length - i * each, 0, each));
  }
  int64_t sum = 0;
  for (int64_t each : lengths)
    if (each < 0 || llvm::AddOverflow(sum, each, sum))
      sum = -1;
  if (sum != length || int64_t(lengths.size()) != n.proto.output_size()) {
    n.emit.malformed("the parts do not make up the length " + Twine(length));
    return;
  }
  int64_t start = 0;
  for (auto [i, each] : llvm::enumerate(lengths)) {
    if (n.wants(i))
      n.set(i, n.emit.part(x, *axis, start, each));
    start += each;
  }
}

using Places = std::optional<SmallVector<int64_t>>;

/// Input 2 of a Slice. An end that is the axis' own size cuts nothing off.
static Places endsOf(Node &n, const Operand &x, const Places &axes) {
  std::optional<Sizes> given = n.sizesIn(2);
  if (!given)
    return std::nullopt;
  SmallVector<int64_t> ends;
  Sizes sizes = x.sizes();
  for (auto [i, end] : llvm::enumerate(*given)) {
    int64_t at = axes && i < axes->size() ? (*axes)[i] : i;
    at += at < 0 ? sizes.size() : 0;
    if (end.isFixed()) {
      ends.push_back(end.getFixed());
    } else if (at >= 0 && at < int64_t(sizes.size()) && sizes[at] == end) {
      ends.push_back(INT64_MAX);
    } else {
      n.emit.unsupported("an end of " + end.str() + ", which is known at a call only",
                         "bind the dimension to one value with --dim");
      return std::nullopt;
    }
  }
  return ends;
}

/// x[start:end:step] along an axis by ONNX' rules, which are Python's, except that a start before the axis means its
/// first place even for backward steps.
static Operand slice(Node &n, const Operand &x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  Size size = x.sizes()[axis];
  if (step == 0 || step == INT64_MIN)
    return n.emit.malformed("a step of " + Twine(step));
  if (!size.isFixed()) {
    // Exporters write the largest number of a type, or just a large one, for "to the end".
    int64_t most = std::min<int64_t>(n.emit.mostOf(size).value_or(INT32_MAX), INT32_MAX);
    return start == 0 && end >= most && step == 1 ? x : n.emit.unknownLength("slices", size);
  }
  int64_t length = size.getFixed();
  start += start < 0 ? length : 0;
  end += end < 0 ? length : 0;
  if (length > 0) {
    start = std::clamp<int64_t>(start, 0, step < 0 ? length - 1 : length);
    end = std::clamp<int64_t>(end, step < 0 ? -1 : 0, length);
  } else {
    start = end = 0; // backward steps have no last element to begin with
  }
  int64_t distance = step > 0 ? end - start : start - end, stride = std::abs(step);
  return n.emit.part(x, axis, start, distance > 0 ? (distance - 1) / stride + 1 : 0, step);
}

/// Slices the named axes one after the other; before opset 10 they are attributes (without steps).
void importSlice(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  Places starts, ends, axes, steps;
  if (n.opset < 10) {
    starts = n.intsAttr("starts");
    ends = n.intsAttr("ends");
    axes = n.intsAttr("axes");
  } else {
    starts = n.intsIn(1);
    axes = n.has(3) ? n.intsIn(3) : std::nullopt;
    steps = n.has(4) ? n.intsIn(4) : std::nullopt;
    ends = endsOf(n, x, axes);
  }
  if (n.emit.failed())
    return;
  if (!starts || !ends || starts->size() != ends->size() || (axes && axes->size() != starts->size()) ||
      (steps && steps->size() != starts->size())) {
    n.emit.malformed("starts, ends, axes and steps of different lengths");
    return;
  }
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts->size()));
  int64_t rank = x.rank();
  if (!n.axes(*axes, rank))
    return;
  for (size_t i = 0; i < starts->size() && x; ++i)
    x = slice(n, x, *n.axis((*axes)[i], rank), (*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1);
  n.set(0, x);
}

} // namespace tutti
