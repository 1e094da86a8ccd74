// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of convolutions and pooling whose windows do not overlap: patches, single pixels, the whole image.
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

/// An image of more or longer axes is no model's.
static constexpr int64_t maxAxes = 3, maxLength = 1 << 20;

namespace {
/// Where the windows of an image are: how many along each of its axes, the axes that tell windows apart, and those that
/// go through one (none for windows of length 1).
struct Windows {
  SmallVector<int64_t> counts, across, inside;
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

/// x (rows, channels, a, b ...) with each axis of the image as one of windows and, where they are longer than 1, one
/// that goes through them. Attributes say the windows' lengths, or `kernel` does.
static Operand windowsOf(Node &n, const Operand &x, ArrayRef<int64_t> kernel, Windows &windows) {
  Emit &e = n.emit;
  int64_t axes = x.rank() - 2;
  if (axes < 1)
    return e.malformed("input 0 is " + x.str() + ", expected rows, channels, and an image of at least one axis");
  if (axes > maxAxes)
    return e.unsupported("an image of " + Twine(axes) + " axes");
  std::optional<SmallVector<int64_t>> lengths = perAxis(n, "kernel_shape", axes, 0),
                                      strides = perAxis(n, "strides", axes, 1), gaps = perAxis(n, "dilations", axes, 1),
                                      pads = perAxis(n, "pads", 2 * axes, 0);
  std::string padding = n.stringAttr("auto_pad", "NOTSET");
  bool roundsUp = n.intAttr("ceil_mode", 0) != 0;
  if (!lengths || !strides || !gaps || !pads)
    return Operand();
  if (!n.hasAttr("kernel_shape"))
    lengths->assign(kernel.begin(), kernel.end());
  Operand y = x;
  for (int64_t i = 0; i < axes; ++i) {
    if (!e.isKnown(x, i + 2, "moves windows along"))
      return Operand();
    int64_t size = x.sizes()[i + 2].getFixed(), length = (*lengths)[i], stride = (*strides)[i];
    if (size > maxLength)
      return e.unsupported("an image of " + Twine(size) + " elements along axis " + Twine(i + 2));
    if (length < 1 || stride < 1 || (*gaps)[i] < 1 || (!kernel.empty() && length != kernel[i]))
      return e.malformed("windows of length " + Twine(length) + " at steps of " + Twine(stride) + " along axis " +
                         Twine(i + 2));
    if (length > size || (*pads)[i] != 0 || (*pads)[i + axes] != 0)
      return unsupportedWindows(n, "with padding");
    if ((*gaps)[i] != 1 && length != 1)
      return unsupportedWindows(n, "with dilations");
    int64_t count = (size - length) / stride + 1, covered = (count - 1) * stride + length;
    bool isSame = padding == "SAME_UPPER" || padding == "SAME_LOWER";
    if ((isSame && (size - 1) / stride * stride + length > size) ||
        (roundsUp && covered < size && count * stride < size))
      return unsupportedWindows(n, "with padding");
    if (count > 1 && stride < length)
      return unsupportedWindows(n, "whose windows overlap (" + Twine(length) + " elements at steps of " +
                                       Twine(stride) + ")");
    // What is between one window and the next goes.
    SmallVector<int64_t> places;
    for (int64_t j = 0; stride > length && length > 1 && j < count * length; ++j)
      places.push_back(j / length * stride + j % length);
    int64_t axis = 2 + i + windows.inside.size();
    if (!places.empty())
      y = e.gather(y, e.list(places), axis);
    else
      y = length == 1 ? e.part(y, axis, 0, count, stride) : e.part(y, axis, 0, covered);
    windows.counts.push_back(count);
    windows.across.push_back(axis);
    if (length == 1 || !y)
      continue;
    windows.inside.push_back(axis + 1);
    Sizes apart = y.sizes();
    apart[axis] = Size(count);
    apart.insert(apart.begin() + axis + 1, Size(length));
    y = e.reshape(y, apart);
  }
  return y;
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
  if (groups != 1) {
    unsupportedWindows(n, "with groups of channels");
    return;
  }
  if (!e.isKnown(x, 1, "sums over"))
    return;
  if (x.sizes()[1] != Size(kernel[1])) {
    e.malformed("x is " + x.str() + ", the weights are for " + Twine(kernel[1]) + " channels");
    return;
  }
  Windows windows;
  Operand y = windowsOf(n, x, ArrayRef(kernel).drop_front(2), windows);
  if (!y)
    return;
  SmallVector<int64_t> order = {0};
  llvm::append_range(order, windows.across);
  order.push_back(1);
  llvm::append_range(order, windows.inside);
  Sizes counts(windows.counts.begin(), windows.counts.end());
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
  rows.push_back(*terms);
  llvm::append_range(sizes, counts);
  Operand weight = e.transpose(e.reshape(w, {Size(kernel[0]), *terms}), {1, 0});
  y = e.contract(e.reshape(e.transpose(y, order), rows), weight, isOne ? "bk,kn->bn" : "bsk,kn->bsn");
  if (bias)
    y = e.add(y, bias);
  if (!isOne)
    y = e.moveAxis(y, 2, 1);
  n.set(0, y ? e.reshape(y, sizes) : y);
}

/// What `reduce` makes of each window, along these axes.
static void pool(Node &n, llvm::function_ref<Operand(const Operand &, ArrayRef<int64_t>)> reduce) {
  Operand x = n.in(0);
  if (!x)
    return;
  if (!n.hasAttr("kernel_shape")) {
    n.emit.malformed("attribute 'kernel_shape' is missing");
    return;
  }
  Windows windows;
  Operand y = windowsOf(n, x, {}, windows);
  n.set(0, y ? reduce(y, windows.inside) : y);
}

void importAveragePool(Node &n) {
  n.intAttr("count_include_pad", 0);
  pool(n, [&](const Operand &x, ArrayRef<int64_t> axes) { return n.emit.reduce(ReduceKind::mean, x, axes, false); });
}

void importMaxPool(Node &n) {
  n.intAttr("storage_order", 0);
  if (n.wants(1)) {
    n.emit.unsupported("the places of the largest elements", "take them with ArgMax");
    return;
  }
  pool(n, [&](const Operand &x, ArrayRef<int64_t> axes) { return n.emit.reduce(ReduceKind::max, x, axes, false); });
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
