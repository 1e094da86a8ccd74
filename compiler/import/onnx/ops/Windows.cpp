// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of convolutions, and the windows of an image: where they lie, what they hold, and the split into them.
#include "compiler/import/onnx/ops/Windows.h"

using namespace mlir;

namespace tutti {

std::optional<Convolution> Convolution::of(Node &n) {
  Emit &e = n.emit;
  Convolution c{n.in(0), n.in(1), n.has(2) ? n.in(2) : Operand(), n.intAttr("group", 1), {}};
  auto nothing = [](const Operand &) { return std::nullopt; }; // the return value after a problem
  if (!c.x || !c.w || (n.has(2) && !c.bias))
    return std::nullopt;
  if (c.x.rank() != c.w.rank() || c.x.element() != c.w.element() || c.x.rank() < 3)
    return nothing(e.malformed("x is " + c.x.str() + ", the weights are " + c.w.str()));
  for (const Size &size : c.w.sizes()) {
    if (!size.isFixed())
      return nothing(e.unsupported("convolutions with weights of shape " + str(c.w.sizes()) + " are not supported yet",
                                   "make them an initializer"));
    c.kernel.push_back(size.getFixed());
  }
  if (c.groups < 1)
    return nothing(e.malformed("attribute 'group' is " + Twine(c.groups) + ", expected at least 1"));
  return e.isKnown(c.x, 1, "sums over") ? std::optional(c) : std::nullopt;
}

bool Convolution::hasBiasOf(Emit &e, const Size &made) const {
  if (!bias || bias.sizes() == Sizes{made})
    return true;
  e.malformed("a bias " + bias.str() + " for " + made.str() + " channels");
  return false;
}

Operand withBias(Emit &e, const Operand &y, const Operand &bias) { return y && bias ? e.add(y, bias) : y; }

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
  auto nothing = [](const Operand &) { return std::nullopt; }; // the return value after a problem
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
    int64_t room = size + before + behind - reach; // the places where windows behind the first may begin
    if (room < 0 && (!roundsUp || room <= -stride))
      return nothing(e.malformed("windows of " + Twine(reach) + " elements along axis " + Twine(i + 2) + " of " +
                                 Twine(size) + " with padding of " + Twine(before) + " and " + Twine(behind)));
    int64_t count = room < 0 ? 0 : room / stride + 1;
    // Adds one more window that begins in the image or before it.
    if (roundsUp && (room < 0 || room % stride != 0) && count * stride < size + before)
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
    // Drops what lies between one window and the next.
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
  return counts;
}

Operand takenAt(Emit &e, const Operand &x, ArrayRef<int64_t> shape, ArrayRef<int64_t> places) {
  SmallVector<int64_t> ofMask(shape);
  if (x.rank() > 2)
    ofMask.push_back(1); // for all channels
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
  Sizes last = {sizes[0], *image, sizes[1]};
  // Undoes what `channelsFirst` did.
  if (auto apart = x.isValue() ? x.value().getDefiningOp<ReshapeOp>() : ReshapeOp())
    if (auto turn = apart.getX().getDefiningOp<TransposeOp>();
        turn && turn.getPermutation() == ArrayRef<int64_t>{0, 2, 1} && getSizes(typeOf(turn.getX())) == last)
      return Operand(turn.getX());
  return e.reshape(sizes[1] == Size(1) ? x : e.moveAxis(x, 1, x.rank() - 1), last);
}

bool liesTurned(const Operand &x) {
  constexpr int mostUpstream = 8;
  Operation *op = x.isValue() ? x.value().getDefiningOp() : nullptr;
  for (int i = 0; op && i < mostUpstream && !isa<TransposeOp>(op); ++i)
    op = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr;
  return isa_and_nonnull<TransposeOp>(op);
}

Operand channelsFirst(Emit &e, const Operand &y, ArrayRef<Size> image) {
  if (!y)
    return y;
  Sizes sizes = {y.sizes().front(), y.sizes().back()};
  llvm::append_range(sizes, image);
  return e.reshape(y.rank() > 2 ? e.moveAxis(y, y.rank() - 1, 1) : y, sizes);
}

Operand paddedFor(Emit &e, const Operand &x, int64_t axis, const WindowAxis &along, const Operand &outside) {
  int64_t behind = along.reach() - along.before - along.size;
  return e.padded(x, axis, along.before, std::max<int64_t>(behind, 0), outside);
}

Operand elementOf(Emit &e, const Operand &x, ArrayRef<WindowAxis> windows, int64_t first, int64_t i) {
  Operand element = x;
  for (size_t axis = windows.size(); axis-- > 0; i /= windows[axis].length)
    element = e.part(element, first + axis, i % windows[axis].length * windows[axis].gap, windows[axis].count,
                     windows[axis].stride);
  return element;
}

std::optional<Operand> imageWithMargin(Node &n, const Operand &x, ArrayRef<Padding> pads, Outside outside) {
  if (x.rank() < 3 || x.rank() > 2 + mostAxes || pads.empty())
    return std::nullopt;
  auto isFar = [](int64_t count) { return count < 0 || count >= mostLength; };
  SmallVector<Windows> margin;
  for (const Size &size : ArrayRef<Size>(x.sizes()).drop_front(2)) {
    if (!size.isFixed() || size.getFixed() < 1 || isFar(size.getFixed()))
      return std::nullopt;
    margin.push_back({{size.getFixed(), /*length=*/1, /*stride=*/1, /*count=*/size.getFixed()}});
  }
  for (const Padding &pad : pads) {
    if (pad.axis < 2 || isFar(pad.before) || isFar(pad.behind))
      return std::nullopt;
    Windows &along = margin[pad.axis - 2];
    along.before = pad.before;
    along.count += pad.before + pad.behind;
    if (isFar(along.count))
      return std::nullopt;
  }
  if (!countsOf(n, margin))
    return Operand();
  Sizes image;
  for (const Windows &along : margin)
    image.push_back(Size(along.count));
  SmallVector<WindowAxis> windows(margin.begin(), margin.end());
  return channelsFirst(n.emit, n.emit.windows(channelsLast(n.emit, x), windows, outside), image);
}

namespace {
/// An end of the elements along an axis.
enum class End : bool { first, last };
} // namespace

/// The number of last, or first, elements of x along the axis that `part` is; nothing if it is something else.
static std::optional<int64_t> endOf(Value part, Value x, int64_t axis, End end) {
  auto slice = part.getDefiningOp<SliceOp>();
  if (!slice || slice.getX() != x)
    return std::nullopt;
  int64_t length = typeOf(x).getDimSize(axis), count = typeOf(part).getDimSize(axis);
  for (int64_t each = 0; each < typeOf(x).getRank(); ++each) {
    bool isWhole = slice.getStarts()[each] == 0 && typeOf(part).getDimSize(each) == typeOf(x).getDimSize(each);
    if (slice.getSteps()[each] != 1 || (each != axis && !isWhole))
      return std::nullopt;
  }
  return slice.getStarts()[axis] == (end == End::last ? length - count : 0) ? std::optional(count) : std::nullopt;
}

/// The image in the middle of a join that puts its own ends around it; null if it is no such join.
static Value endsAround(ConcatOp join, Padding &pad) {
  OperandRange parts = join.getInputs();
  pad.axis = join.getAxis();
  for (size_t i = 0; i < 2 && i < parts.size(); ++i) {
    Value image = parts[i];
    if (parts.size() - i > 2)
      continue;
    std::optional<int64_t> before = i > 0 ? endOf(parts[i - 1], image, pad.axis, End::last) : 0,
                           behind = i + 1 < parts.size() ? endOf(parts[i + 1], image, pad.axis, End::first) : 0;
    if (before && behind) {
      pad.before = *before, pad.behind = *behind;
      return image;
    }
  }
  return Value();
}

Operand wrapsAround(Node &n, const Operand &x) {
  SmallVector<Padding> pads;
  Value image = x.isValue() ? x.value() : Value();
  while (auto join = image ? image.getDefiningOp<ConcatOp>() : ConcatOp()) {
    Padding pad;
    Value inner = endsAround(join, pad);
    if (!inner || llvm::any_of(pads, [&](const Padding &other) { return other.axis == pad.axis; }))
      break;
    pads.push_back(pad);
    image = inner;
  }
  std::optional<Operand> wrapped =
      pads.empty() ? std::nullopt : imageWithMargin(n, Operand(image), pads, Outside::wrap);
  return wrapped.value_or(x);
}

} // namespace tutti
