// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The windows of an image: where they lie, what they hold, an image that is split into them.
#include "compiler/import/onnx/ops/Windows.h"

using namespace mlir;

namespace tutti {

std::optional<SmallVector<int64_t>> perAxis(Node &n, StringRef name, size_t count, int64_t otherwise) {
  SmallVector<int64_t> given = n.intsAttr(name).value_or(SmallVector<int64_t>(count, otherwise));
  if (given.size() == count)
    return given;
  n.emit.malformed("attribute " + quote(name) + " has " + Twine(given.size()) + " numbers, expected " + Twine(count));
  return std::nullopt;
}

std::optional<std::string> paddingOf(Node &n) {
  std::string padding = n.stringAttr("auto_pad", "NOTSET");
  if (llvm::is_contained({"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}, padding))
    return padding;
  n.emit.malformed("attribute 'auto_pad' is " + quote(padding) + ", expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return std::nullopt;
}

std::optional<SmallVector<Windows>> windowsOf(Node &n, const Operand &x, ArrayRef<int64_t> kernel) {
  Emit &e = n.emit;
  int64_t axes = x.rank() - 2;
  auto nothing = [](const Operand &) { return std::nullopt; }; // behind a problem
  if (axes < 1)
    return nothing(
        e.malformed("input 0 is " + x.str() + ", expected rows, channels, and an image of at least one axis"));
  if (axes > mostAxes)
    return nothing(e.unsupported("an image of " + Twine(axes) + " axes"));
  std::optional<SmallVector<int64_t>> lengths = perAxis(n, "kernel_shape", axes, 0),
                                      strides = perAxis(n, "strides", axes, 1), gaps = perAxis(n, "dilations", axes, 1),
                                      pads = perAxis(n, "pads", 2 * axes, 0);
  std::optional<std::string> padding = paddingOf(n);
  bool roundsUp = n.intAttr("ceil_mode", 0) != 0;
  if (!lengths || !strides || !gaps || !pads || !padding)
    return std::nullopt;
  if (!n.hasAttr("kernel_shape"))
    lengths->assign(kernel.begin(), kernel.end());
  SmallVector<Windows> all;
  for (int64_t i = 0; i < axes; ++i) {
    if (!e.isKnown(x, i + 2, "moves windows along"))
      return std::nullopt;
    int64_t size = x.sizes()[i + 2].getFixed(), length = (*lengths)[i], stride = (*strides)[i];
    if (size < 1 || size > mostLength)
      return nothing(e.unsupported("an image of " + Twine(size) + " elements along axis " + Twine(i + 2)));
    int64_t gap = length == 1 ? 1 : (*gaps)[i], before = (*pads)[i], behind = (*pads)[i + axes];
    constexpr int64_t most = mostLength;
    if (length < 1 || stride < 1 || gap < 1 || before < 0 || behind < 0 || (!kernel.empty() && length != kernel[i]))
      return nothing(e.malformed("windows of length " + Twine(length) + " at steps of " + Twine(stride) +
                                 " along axis " + Twine(i + 2) + ", with padding of " + Twine(before) + " and " +
                                 Twine(behind)));
    if (length > most || stride > most || gap > most || before > most || behind > most)
      return nothing(e.unsupported("windows, steps, gaps or padding of more than " + Twine(most) + " elements"));
    int64_t reach = (length - 1) * gap + 1;
    if (*padding == "VALID")
      before = behind = 0;
    if (*padding == "SAME_UPPER" || *padding == "SAME_LOWER") {
      int64_t missing = std::max<int64_t>((size - 1) / stride * stride + reach - size, 0);
      before = *padding == "SAME_UPPER" ? missing / 2 : missing - missing / 2;
      behind = missing - before;
    }
    int64_t room = size + before + behind - reach;
    if (room < 0)
      return nothing(e.malformed("windows of " + Twine(reach) + " elements along axis " + Twine(i + 2) + " of " +
                                 Twine(size) + " with padding of " + Twine(before) + " and " + Twine(behind)));
    int64_t count = room / stride + 1;
    // One more that begins in the image or before it.
    if (roundsUp && room % stride != 0 && count * stride < size + before)
      ++count;
    all.push_back({{size, length, stride, count, gap, before}, behind});
  }
  return all;
}

std::optional<Split> splitOf(Node &n, const Operand &x, ArrayRef<Windows> windows) {
  Emit &e = n.emit;
  Split split{x, {}, {}};
  for (auto [i, along] : llvm::enumerate(windows)) {
    int64_t length = along.length, stride = along.stride, count = along.count;
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

std::optional<Counts> countsOf(Node &n, ArrayRef<Windows> windows) {
  Counts counts;
  int64_t all = 1;
  bool overflows = false;
  for (const Windows &along : windows) {
    overflows |= llvm::MulOverflow(all, along.count, all) || llvm::MulOverflow(all, along.length, all);
    counts.windows *= overflows ? 1 : along.count;
    counts.elements *= overflows ? 1 : along.length;
  }
  if (overflows || all > mostWindowPlaces) {
    n.emit.unsupported("windows of more than " + Twine(mostWindowPlaces) + " elements in all");
    return std::nullopt;
  }
  return n.emit.affords(all) ? std::optional(counts) : std::nullopt;
}

Operand takenAt(Emit &e, const Operand &x, ArrayRef<int64_t> shape, ArrayRef<int64_t> places) {
  SmallVector<int64_t> ofMask(shape);
  if (x.rank() > 2)
    ofMask.push_back(1); // all channels
  HostTensor inside = HostTensor::zeros(IntegerType::get(&e.context, 64), shape);
  HostTensor mask = HostTensor::zeros(IntegerType::get(&e.context, 1), ofMask);
  for (auto [i, place] : llvm::enumerate(places)) {
    inside.ints[i] = std::max<int64_t>(place, 0);
    mask.ints[i] = place >= 0;
  }
  Operand y = e.gather(x, Operand(computedSource(inside)), 1);
  return y && llvm::is_contained(places, -1) ? e.select(Operand(computedSource(mask)), y, e.scalar(0, y)) : y;
}

Operand channelsLast(Emit &e, const Operand &x) {
  Sizes sizes = x.sizes();
  std::optional<Size> image = product(ArrayRef<Size>(sizes).drop_front(2));
  if (!image)
    return e.malformed("more elements than there are numbers");
  return e.reshape(sizes[1] == Size(1) ? x : e.moveAxis(x, 1, x.rank() - 1), {sizes[0], *image, sizes[1]});
}

} // namespace tutti
