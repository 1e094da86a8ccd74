// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of pooling, as reductions of windows, taken element by element, split from the image or gathered.
#include "compiler/import/onnx/ops/Windows.h"

using namespace mlir;

namespace tutti {

/// The elements at `places` of an image as (rows, windows, elements, channels). One long row where channels are few and
/// the image is small, else a row of channels for each element.
static Operand gathered(Node &n, const Operand &x, const Counts &counts, ArrayRef<int64_t> places) {
  Emit &e = n.emit;
  Sizes sizes = x.sizes();
  std::optional<Size> image = product(ArrayRef<Size>(sizes).drop_front(2));
  int64_t each = sizes[1].isFixed() ? sizes[1].getFixed() : 0; // channels
  if (!image || !image->isFixed() || !isOneLongRow(each, counts.windows * counts.elements)) {
    Operand last = channelsLast(e, x);
    return last ? takenAt(e, last, {counts.windows, counts.elements}, places) : last;
  }
  SmallVector<int64_t> ofAll = elementsOfPlaces(places, each, image->getFixed(), /*channelsFirst=*/true);
  Operand y = takenAt(e, e.reshape(x, {sizes[0], *image->times(sizes[1])}), {int64_t(ofAll.size())}, ofAll);
  return y ? e.reshape(y, {sizes[0], Size(counts.windows), Size(counts.elements), sizes[1]}) : y;
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
  SmallVector<int64_t> places = windowPlaces(windows);
  for (int64_t i = 0; !countsPadding && i < counts->windows; ++i) {
    MutableArrayRef<int64_t> window(places.data() + i * counts->elements, counts->elements);
    auto inside = llvm::find_if(window, [](int64_t place) { return place >= 0; });
    if (inside == window.end())
      return e.malformed("a window outside of the image");
    if (kind == ReduceKind::max) // what is outside is like what is inside
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
