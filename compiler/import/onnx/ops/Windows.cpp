// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of convolutions and of pooling, as products and reductions of windows, split from the image or gathered.
#include "compiler/import/onnx/ops/Windows.h"

using namespace mlir;

namespace tutti {

/// Elements of a window that are taken one by one: each is a part of the image, strided.
static constexpr int64_t mostTaken = 32;

namespace {
/// An image whose axes are of windows each and, where these are longer than 1, one that goes through them.
struct Split {
  Operand image;
  SmallVector<int64_t> across, inside; ///< axes that tell windows apart, and that go through one
};
} // namespace

std::optional<SmallVector<int64_t>> perAxis(Node &n, StringRef name, size_t count, int64_t otherwise) {
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
    if (size < 1 || size > maxLength)
      return nothing(e.unsupported("an image of " + Twine(size) + " elements along axis " + Twine(i + 2)));
    int64_t gap = length == 1 ? 1 : (*gaps)[i], before = (*pads)[i], behind = (*pads)[i + axes];
    constexpr int64_t most = maxLength;
    if (length < 1 || stride < 1 || gap < 1 || before < 0 || behind < 0 || (!kernel.empty() && length != kernel[i]))
      return nothing(e.malformed("windows of length " + Twine(length) + " at steps of " + Twine(stride) +
                                 " along axis " + Twine(i + 2) + ", with padding of " + Twine(before) + " and " +
                                 Twine(behind)));
    if (length > most || stride > most || gap > most || before > most || behind > most)
      return nothing(e.unsupported("windows, steps, gaps or padding of more than " + Twine(most) + " elements"));
    int64_t reach = (length - 1) * gap + 1;
    if (padding == "VALID")
      before = behind = 0;
    if (padding == "SAME_UPPER" || padding == "SAME_LOWER") {
      int64_t missing = std::max<int64_t>((size - 1) / stride * stride + reach - size, 0);
      before = padding == "SAME_UPPER" ? missing / 2 : missing - missing / 2;
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
    all.push_back({size, length, stride, count, gap, before, behind});
  }
  return all;
}

/// Nothing behind a problem.
static std::optional<Split> splitOf(Node &n, const Operand &x, ArrayRef<Windows> windows) {
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

/// Nothing, and a problem, where they are too many to be gathered.
static std::optional<Counts> countsOf(Node &n, ArrayRef<Windows> windows) {
  Counts counts;
  int64_t all = 1;
  bool overflows = false;
  for (const Windows &along : windows) {
    overflows |= llvm::MulOverflow(all, along.count, all) || llvm::MulOverflow(all, along.length, all);
    counts.windows *= overflows ? 1 : along.count;
    counts.elements *= overflows ? 1 : along.length;
  }
  return n.affords(overflows ? INT64_MAX : all) ? std::optional(counts) : std::nullopt;
}

/// Of each window in turn its elements' places in the image, in row-major order; -1 for those outside.
static SmallVector<int64_t> placesOf(const Counts &counts, ArrayRef<Windows> windows) {
  SmallVector<int64_t> all;
  all.reserve(counts.windows * counts.elements);
  for (int64_t i = 0; i < counts.windows; ++i)
    for (int64_t j = 0; j < counts.elements; ++j) {
      int64_t window = i, element = j, place = 0, stride = 1;
      bool inside = true;
      for (const Windows &along : llvm::reverse(windows)) {
        int64_t at = along.place(window % along.count, element % along.length);
        inside &= at >= 0 && at < along.size;
        place += at * stride;
        stride *= along.size, window /= along.count, element /= along.length;
      }
      all.push_back(inside ? place : -1);
    }
  return all;
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
  return e.reshape(e.moveAxis(x, 1, x.rank() - 1), {sizes[0], *image, sizes[1]});
}

/// The elements at `places` of an image as (rows, windows, elements, channels). One long row where channels are few and
/// the image is small, else a row of channels for each element.
static Operand gathered(Node &n, const Operand &x, const Counts &counts, ArrayRef<int64_t> places) {
  constexpr int64_t few = 4, most = 1 << 14;
  Emit &e = n.emit;
  Sizes sizes = x.sizes();
  std::optional<Size> image = product(ArrayRef<Size>(sizes).drop_front(2));
  int64_t each = sizes[1].isFixed() ? sizes[1].getFixed() : 0; // channels
  if (!image || !image->isFixed() || each < 1 || each > few || counts.windows * counts.elements > most / each) {
    Operand last = channelsLast(e, x);
    return last ? takenAt(e, last, {counts.windows, counts.elements}, places) : last;
  }
  SmallVector<int64_t> ofAll;
  for (int64_t place : places)
    for (int64_t channel = 0; channel < each; ++channel)
      ofAll.push_back(place < 0 ? -1 : place + channel * image->getFixed());
  Operand y = takenAt(e, e.reshape(x, {sizes[0], *image->times(sizes[1])}), {int64_t(ofAll.size())}, ofAll);
  return y ? e.reshape(y, {sizes[0], Size(counts.windows), Size(counts.elements), sizes[1]}) : y;
}

/// Each window, with all channels, is a row that the weights multiply: as (rows, windows, channels).
static Operand productOfGathered(Node &n, const Operand &x, const Operand &w, ArrayRef<Windows> windows, int64_t count,
                                 int64_t groups) {
  Emit &e = n.emit;
  std::optional<Counts> counts = countsOf(n, windows);
  Operand rows = counts ? gathered(n, x, *counts, placesOf(*counts, windows)) : Operand();
  if (!rows)
    return rows;
  Sizes of = w.sizes();
  Size batch = rows.sizes()[0], made = of[0], taken = of[1], elements = rows.sizes()[2], channels = rows.sizes()[3];
  Size each(groups ? made.getFixed() / groups : 0), terms = *elements.times(taken);
  Operand weights = e.reshape(w, {Size(groups), each, taken, elements});
  if (taken == Size(1) && each == Size(1)) { // each channel is summed by itself
    Operand factors = e.reshape(e.transpose(weights, {3, 0, 1, 2}), {elements, channels});
    return e.reduce(ReduceKind::sum, e.mul(rows, factors), {2}, false);
  }
  weights = e.reshape(e.transpose(weights, {0, 3, 2, 1}), {Size(groups), terms, each});
  if (groups == 1)
    return e.contract(e.reshape(rows, {batch, Size(count), terms}), e.reshape(weights, {terms, each}), "bsk,kn->bsn");
  rows = e.transpose(e.reshape(rows, {batch, Size(count), elements, Size(groups), taken}), {0, 1, 3, 2, 4});
  rows = e.reshape(rows, {batch, Size(count), Size(groups), terms});
  Operand y = e.contract(rows, weights, "bsgk,gkn->bsgn");
  return y ? e.reshape(y, {batch, Size(count), made}) : y;
}

/// The same of an image that can be split into windows; of a single one as (rows, channels).
static Operand productOfSplit(Node &n, const Operand &x, const Operand &w, ArrayRef<Windows> windows, int64_t count,
                              int64_t groups) {
  Emit &e = n.emit;
  std::optional<Split> split = splitOf(n, x, windows);
  if (!split)
    return Operand();
  SmallVector<int64_t> order = {0};
  llvm::append_range(order, split->across);
  order.push_back(1);
  llvm::append_range(order, split->inside);
  Sizes of = w.sizes();
  Size made = of[0], terms = *product(ArrayRef<Size>(of).drop_front(1));
  bool isOne = count == 1;
  Sizes rows = {x.sizes()[0]};
  if (!isOne)
    rows.push_back(Size(count));
  Sizes together = rows; // of all groups' channels
  together.push_back(made);
  Operand weight;
  if (groups == 1) {
    weight = e.transpose(e.reshape(w, {made, terms}), {1, 0});
  } else {
    rows.push_back(Size(groups));
    weight = e.transpose(e.reshape(w, {Size(groups), Size(made.getFixed() / groups), terms}), {0, 2, 1});
  }
  rows.push_back(terms);
  Operand patches = e.reshape(e.transpose(split->image, order), rows);
  Operand y = e.contract(patches, weight,
                         groups == 1 ? isOne ? "bk,kn->bn" : "bsk,kn->bsn"
                         : isOne     ? "bgk,gkn->bgn"
                                     : "bsgk,gkn->bsgn");
  return y && groups != 1 ? e.reshape(y, together) : y;
}

void importConv(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), w = n.in(1), bias = n.has(2) ? n.in(2) : Operand();
  int64_t groups = n.intAttr("group", 1);
  if (!x || !w || (n.has(2) && !bias))
    return;
  SmallVector<int64_t> kernel;
  for (const Size &size : w.sizes()) {
    if (!size.isFixed()) {
      e.unsupported("convolutions with weights of shape " + str(w.sizes()) + " are not supported yet",
                    "make them an initializer");
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
  if (!windows)
    return;
  Sizes counts;
  for (const Windows &along : *windows)
    counts.push_back(Size(along.count));
  std::optional<Size> places = product(counts), terms = product(ArrayRef<Size>(w.sizes()).drop_front(1)),
                      image = product(ArrayRef<Size>(x.sizes()).drop_front(1));
  if (!places || !terms || !image) {
    e.malformed("more elements than there are numbers");
    return;
  }
  if (bias && bias.sizes() != Sizes{Size(kernel[0])}) {
    e.malformed("a bias " + bias.str() + " for " + Twine(kernel[0]) + " channels");
    return;
  }
  bool lieApart = llvm::all_of(*windows, [](const Windows &along) { return along.lieApart(); });
  Operand y = (lieApart ? productOfSplit : productOfGathered)(n, x, w, *windows, places->getFixed(), groups);
  if (y && bias)
    y = e.add(y, bias);
  if (y && y.rank() == 3)
    y = e.moveAxis(y, 2, 1);
  Sizes sizes = {x.sizes()[0], Size(kernel[0])};
  llvm::append_range(sizes, counts);
  n.set(0, y ? e.reshape(y, sizes) : y);
}

/// The element at `offset` of every window.
static Operand elementOf(Emit &e, Operand x, ArrayRef<Windows> windows, ArrayRef<int64_t> offset) {
  for (auto [i, along] : llvm::enumerate(windows))
    if (x)
      x = e.part(x, 2 + i, offset[i], along.count, along.stride);
  return x;
}

/// How many elements of each window its mean is of: with those of the padding, or without.
static HostTensor dividersOf(const Counts &counts, ArrayRef<Windows> windows, ArrayRef<int64_t> places, Type element,
                             bool countsPadding) {
  HostTensor dividers = HostTensor::zeros(element, {counts.windows, 1});
  for (int64_t i = 0; i < counts.windows; ++i) {
    if (!countsPadding) {
      ArrayRef<int64_t> window = places.slice(i * counts.elements, counts.elements);
      dividers.floats[i] = double(counts.elements - llvm::count(window, -1));
      continue;
    }
    // A window that begins in the image may end behind its padding.
    int64_t rest = i, padded = 1;
    for (const Windows &along : llvm::reverse(windows)) {
      int64_t elements = 0;
      for (int64_t j = 0; j < along.length; ++j)
        elements += along.place(rest % along.count, j) < along.size + along.behind;
      padded *= elements;
      rest /= along.count;
    }
    dividers.floats[i] = double(padded);
  }
  return dividers;
}

/// The same of windows that are gathered.
static Operand poolGathered(Node &n, ReduceKind kind, const Operand &x, ArrayRef<Windows> windows, bool countsPadding) {
  Emit &e = n.emit;
  std::optional<Counts> counts = countsOf(n, windows);
  if (!counts)
    return Operand();
  if (!product(ArrayRef<Size>(x.sizes()).drop_front(1)))
    return e.malformed("more elements than there are numbers");
  SmallVector<int64_t> places = placesOf(*counts, windows);
  for (int64_t i = 0; kind == ReduceKind::max && i < counts->windows; ++i) { // what is outside is like what is inside
    MutableArrayRef<int64_t> window(places.data() + i * counts->elements, counts->elements);
    auto inside = llvm::find_if(window, [](int64_t place) { return place >= 0; });
    if (inside == window.end())
      return e.malformed("a window outside of the image");
    llvm::replace(window, int64_t(-1), *inside);
  }
  Operand taken = gathered(n, x, *counts, places), y;
  if (taken && kind == ReduceKind::mean) {
    if (taken.element().getIntOrFloatBitWidth() < 32)
      taken = e.cast(taken, Float32Type::get(&e.context));
    HostTensor dividers = dividersOf(*counts, windows, places, taken.element(), countsPadding);
    y = e.div(e.reduce(ReduceKind::sum, taken, {2}, false), Operand(computedSource(dividers)));
    y = y ? e.cast(y, x.element()) : y;
  } else {
    y = e.reduce(kind, taken, {2}, false);
  }
  Sizes sizes = {x.sizes()[0], x.sizes()[1]};
  for (const Windows &along : windows)
    sizes.push_back(Size(along.count));
  y = e.moveAxis(y, 2, 1);
  return y ? e.reshape(y, sizes) : y;
}

/// The largest, or the mean, of each window. The few elements of a small one are combined one after the other, so that
/// windows lie side by side in vectors; axes of large ones are reduced.
static void pool(Node &n, ReduceKind kind, bool countsPadding = false) {
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
  bool inImage = llvm::none_of(*windows, [](const Windows &along) { return along.leavesImage() || along.gap != 1; }),
       overlap = llvm::any_of(*windows, [](const Windows &along) { return along.overlap(); });
  int64_t taken = 1;
  for (const Windows &along : *windows)
    taken = std::min<int64_t>(taken * std::min(along.length, 2 * mostTaken), 2 * mostTaken);
  if (!inImage || (taken > mostTaken && overlap)) {
    n.set(0, poolGathered(n, kind, x, *windows, countsPadding));
    return;
  }
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

void importAveragePool(Node &n) { pool(n, ReduceKind::mean, n.intAttr("count_include_pad", 0) != 0); }

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
