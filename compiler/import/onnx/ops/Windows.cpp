// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of convolutions whose windows do not overlap (patches, single pixels, the whole image), and of pooling.
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

/// An image of more or longer axes is no model's.
static constexpr int64_t maxAxes = 3, maxLength = 1 << 20;
/// Elements of a window that are taken one by one: each is a part of the image, strided.
static constexpr int64_t mostTaken = 32;

namespace {
/// The windows along an axis of the image.
struct Windows {
  int64_t length, stride, count;
  bool overlap() const { return count > 1 && stride < length; }
};

/// An image whose axes are of windows each and, where these are longer than 1, one that goes through them.
struct Split {
  Operand image;
  SmallVector<int64_t> across, inside; ///< axes that tell windows apart, and that go through one
};
} // namespace

static Operand unsupportedWindows(Node &n, const Twine &which) {
  bool convolves = n.proto.op_type() == "Conv";
  return n.emit.unsupported((convolves ? "convolutions " : "pooling ") + which +
                                (convolves ? " are not supported yet" : " is not supported yet"),
                            convolves ? "a dense network of the same function can be compiled"
                                      : "write it with Slice and a reduction");
}

/// An attribute with a number for each axis of the image.
static std::optional<SmallVector<int64_t>> perAxis(Node &n, StringRef name, size_t count, int64_t otherwise) {
  SmallVector<int64_t> given = n.intsAttr(name).value_or(SmallVector<int64_t>(count, otherwise));
  if (given.size() == count)
    return given;
  n.emit.malformed("attribute " + quote(name) + " has " + Twine(given.size()) + " numbers, expected " + Twine(count));
  return std::nullopt;
}

/// The windows of x (rows, channels, a, b ...) along each axis of the image, none of which leaves it. Attributes say
/// their lengths, or `kernel` does. Nothing after a problem.
static std::optional<SmallVector<Windows>> windowsOf(Node &n, const Operand &x, ArrayRef<int64_t> kernel) {
  Emit &e = n.emit;
  int64_t axes = x.rank() - 2;
  auto nothing = [](const Operand &) { return std::nullopt; }; // behind a problem
  if (axes < 1)
    return nothing(
        e.malformed("input 0 is " + x.str() + ", expected rows, channels, and an image of at least one axis"));
  if (axes > maxAxes)
    return nothing(e.unsupported("an image of " + Twine(axes) + " axes"));
  std::optional<SmallVector<int64_t>> lengths = perAxis(n, "kernel_shape", axes, 0),
                                      strides = perAxis(n, "strides", axes, 1), gaps = perAxis(n, "dilations", axes, 1),
                                      pads = perAxis(n, "pads", 2 * axes, 0);
  std::string padding = n.stringAttr("auto_pad", "NOTSET");
  bool roundsUp = n.intAttr("ceil_mode", 0) != 0;
  if (!lengths || !strides || !gaps || !pads)
    return std::nullopt;
  if (!n.hasAttr("kernel_shape"))
    lengths->assign(kernel.begin(), kernel.end());
  SmallVector<Windows> all;
  for (int64_t i = 0; i < axes; ++i) {
    if (!e.isKnown(x, i + 2, "moves windows along"))
      return std::nullopt;
    int64_t size = x.sizes()[i + 2].getFixed(), length = (*lengths)[i], stride = (*strides)[i];
    if (size > maxLength)
      return nothing(e.unsupported("an image of " + Twine(size) + " elements along axis " + Twine(i + 2)));
    if (length < 1 || stride < 1 || (*gaps)[i] < 1 || (!kernel.empty() && length != kernel[i]))
      return nothing(e.malformed("windows of length " + Twine(length) + " at steps of " + Twine(stride) +
                                 " along axis " + Twine(i + 2)));
    if (length > size || (*pads)[i] != 0 || (*pads)[i + axes] != 0)
      return nothing(unsupportedWindows(n, "with padding"));
    if ((*gaps)[i] != 1 && length != 1)
      return nothing(unsupportedWindows(n, "with dilations"));
    int64_t count = (size - length) / stride + 1, covered = (count - 1) * stride + length;
    bool isSame = padding == "SAME_UPPER" || padding == "SAME_LOWER";
    if ((isSame && (size - 1) / stride * stride + length > size) ||
        (roundsUp && covered < size && count * stride < size))
      return nothing(unsupportedWindows(n, "with padding"));
    all.push_back({length, stride, count});
  }
  return all;
}

/// Only windows that do not overlap can be split; else nothing, and a problem.
static std::optional<Split> splitOf(Node &n, const Operand &x, ArrayRef<Windows> windows) {
  Emit &e = n.emit;
  Split split{x, {}, {}};
  for (auto [i, along] : llvm::enumerate(windows)) {
    auto [length, stride, count] = along;
    if (along.overlap()) {
      unsupportedWindows(n, "whose windows overlap (" + Twine(length) + " elements at steps of " + Twine(stride) + ")");
      return std::nullopt;
    }
    // What is between one window and the next goes.
    SmallVector<int64_t> places;
    for (int64_t j = 0; stride > length && length > 1 && j < count * length; ++j)
      places.push_back(j / length * stride + j % length);
    int64_t axis = 2 + i + split.inside.size();
    Operand &y = split.image;
    if (!places.empty())
      y = e.gather(y, e.list(places), axis);
    else
      y = length == 1 ? e.part(y, axis, 0, count, stride) : e.part(y, axis, 0, (count - 1) * stride + length);
    split.across.push_back(axis);
    if (!y)
      return std::nullopt;
    if (length == 1)
      continue;
    split.inside.push_back(axis + 1);
    Sizes apart = y.sizes();
    apart[axis] = Size(count);
    apart.insert(apart.begin() + axis + 1, Size(length));
    y = e.reshape(y, apart);
  }
  return split;
}

/// Each window, with all channels, is a row that the weights multiply.
void importConv(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), w = n.in(1), bias = n.has(2) ? n.in(2) : Operand();
  int64_t groups = n.intAttr("group", 1);
  if (!x || !w || (n.has(2) && !bias))
    return;
  SmallVector<int64_t> kernel;
  for (const Size &size : w.sizes()) {
    if (!size.isFixed()) {
      unsupportedWindows(n, "with weights of shape " + str(w.sizes()));
      return;
    }
    kernel.push_back(size.getFixed());
  }
  if (x.rank() != w.rank() || x.element() != w.element() || x.rank() < 3) {
    e.malformed("x is " + x.str() + ", the weights are " + w.str());
    return;
  }
  if (!e.isKnown(x, 1, "sums over"))
    return;
  if (groups < 1 || kernel[0] % groups || x.sizes()[1] != Size(kernel[1]).times(Size(groups))) {
    std::string parts =
        groups == 1 ? "" : (" in each of " + Twine(groups) + " groups, and make " + Twine(kernel[0])).str();
    e.malformed("x is " + x.str() + ", the weights are for " + Twine(kernel[1]) + " channels" + parts);
    return;
  }
  std::optional<SmallVector<Windows>> windows = windowsOf(n, x, ArrayRef(kernel).drop_front(2));
  std::optional<Split> split = windows ? splitOf(n, x, *windows) : std::nullopt;
  if (!split)
    return;
  SmallVector<int64_t> order = {0};
  llvm::append_range(order, split->across);
  order.push_back(1);
  llvm::append_range(order, split->inside);
  Sizes counts;
  for (const Windows &along : *windows)
    counts.push_back(Size(along.count));
  std::optional<Size> places = product(counts), terms = product(ArrayRef<Size>(w.sizes()).drop_front(1));
  if (!places || !terms) {
    e.malformed("more elements than there are numbers");
    return;
  }
  if (bias && bias.sizes() != Sizes{Size(kernel[0])}) {
    e.malformed("a bias " + bias.str() + " for " + Twine(kernel[0]) + " channels");
    return;
  }
  bool isOne = *places == Size(1);
  Sizes rows = {x.sizes()[0]}, sizes = {x.sizes()[0], Size(kernel[0])};
  if (!isOne)
    rows.push_back(*places);
  Sizes together = rows; // of all groups' channels
  together.push_back(Size(kernel[0]));
  llvm::append_range(sizes, counts);
  Operand weight;
  if (groups == 1) {
    weight = e.transpose(e.reshape(w, {Size(kernel[0]), *terms}), {1, 0});
  } else {
    rows.push_back(Size(groups));
    weight = e.transpose(e.reshape(w, {Size(groups), Size(kernel[0] / groups), *terms}), {0, 2, 1});
  }
  rows.push_back(*terms);
  Operand patches = e.reshape(e.transpose(split->image, order), rows);
  Operand y = e.contract(patches, weight,
                         groups == 1 ? isOne ? "bk,kn->bn" : "bsk,kn->bsn"
                         : isOne     ? "bgk,gkn->bgn"
                                     : "bsgk,gkn->bsgn");
  if (y && groups != 1)
    y = e.reshape(y, together);
  if (bias)
    y = e.add(y, bias);
  if (!isOne)
    y = e.moveAxis(y, 2, 1);
  n.set(0, y ? e.reshape(y, sizes) : y);
}

/// The element at `offset` of every window.
static Operand elementOf(Emit &e, Operand x, ArrayRef<Windows> windows, ArrayRef<int64_t> offset) {
  for (auto [i, along] : llvm::enumerate(windows))
    if (x)
      x = e.part(x, 2 + i, offset[i], along.count, along.stride);
  return x;
}

/// The largest, or the mean, of each window. The few elements of a small one are combined one after the other, so that
/// windows lie side by side in vectors; axes of large ones are reduced.
static void pool(Node &n, ReduceKind kind) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  if (!x)
    return;
  if (!n.hasAttr("kernel_shape")) {
    e.malformed("attribute 'kernel_shape' is missing");
    return;
  }
  if (kind == ReduceKind::mean && !x.isFloat()) {
    e.malformed("x is " + x.str() + ", expected elements of a float type");
    return;
  }
  std::optional<SmallVector<Windows>> windows = windowsOf(n, x, {});
  if (!windows)
    return;
  int64_t taken = 1;
  for (const Windows &along : *windows)
    taken = std::min<int64_t>(taken * std::min(along.length, 2 * mostTaken), 2 * mostTaken);
  if (taken > mostTaken) {
    if (std::optional<Split> split = splitOf(n, x, *windows))
      n.set(0, e.reduce(kind, split->image, split->inside, false));
    return;
  }
  Type given = x.element();
  if (kind == ReduceKind::mean && given.getIntOrFloatBitWidth() < 32)
    x = e.cast(x, Float32Type::get(&e.context));
  Operand y;
  SmallVector<int64_t> offset(windows->size(), 0);
  for (int64_t i = 0; i < taken; ++i) {
    int64_t rest = i;
    for (size_t axis = windows->size(); axis-- > 0; rest /= (*windows)[axis].length)
      offset[axis] = rest % (*windows)[axis].length;
    Operand element = elementOf(e, x, *windows, offset);
    y = i == 0 ? element : kind == ReduceKind::max ? e.binary<MaxOp>(y, element) : e.add(y, element);
  }
  if (y && kind == ReduceKind::mean)
    y = e.cast(e.div(y, e.scalar(double(taken), y)), given);
  n.set(0, y);
}

void importAveragePool(Node &n) {
  n.intAttr("count_include_pad", 0);
  pool(n, ReduceKind::mean);
}

void importMaxPool(Node &n) {
  n.intAttr("storage_order", 0);
  if (n.wants(1)) {
    n.emit.unsupported("the places of the largest elements", "take them with ArgMax");
    return;
  }
  pool(n, ReduceKind::max);
}

/// Over all axes of the image, which stay.
static void poolAll(Node &n, llvm::function_ref<Operand(const Operand &, ArrayRef<int64_t>)> reduce) {
  Operand x = n.in(0);
  if (x && x.rank() < 2)
    n.emit.malformed("input 0 is " + x.str() + ", expected rows, channels, and an image");
  if (x && x.rank() >= 2)
    n.set(0, reduce(x, llvm::to_vector(llvm::seq<int64_t>(2, x.rank()))));
}
void importGlobalAveragePool(Node &n) {
  poolAll(n, [&](const Operand &x, ArrayRef<int64_t> axes) { return n.emit.reduce(ReduceKind::mean, x, axes, true); });
}
void importGlobalMaxPool(Node &n) {
  poolAll(n, [&](const Operand &x, ArrayRef<int64_t> axes) { return n.emit.reduce(ReduceKind::max, x, axes, true); });
}

} // namespace tutti
