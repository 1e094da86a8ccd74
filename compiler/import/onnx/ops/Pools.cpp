// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of pooling, as reductions of windows that are taken element by element, split from the image or gathered.
#include "compiler/import/onnx/ops/Windows.h"
#include "passes/analysis/LongRows.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti {

/// The most elements of windows that are combined at once; larger windows go axis by axis.
constexpr int64_t mostAtOnce = 64;

/// The least length of a window along an axis that is built from windows of half the length.
constexpr int64_t leastDoubled = 4;

/// The elements at `places` of an image as (rows, windows, elements, channels): as one long row if channels are few and
/// the image is small, else as a row of channels for each element.
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

static Operand combine(Emit &e, ReduceKind kind, const Operand &a, const Operand &b) {
  return kind == ReduceKind::max ? e.binary<MaxOp>(a, b) : e.add(a, b);
}

/// The maximum, or the sum, of the elements of windows along the axes from `first` on, one after the other.
static Operand combined(Emit &e, const Operand &x, ReduceKind kind, ArrayRef<Windows> windows, int64_t first) {
  int64_t elements = 1;
  for (const Windows &along : windows)
    elements *= along.length;
  SmallVector<WindowAxis> axes(windows.begin(), windows.end());
  Operand all;
  for (int64_t i = 0; x && i < elements; ++i) {
    Operand element = elementOf(e, x, axes, first, i);
    all = i == 0 ? element : combine(e, kind, all, element);
  }
  return all;
}

static bool isDoubled(const Windows &along) { return along.stride == 1 && along.length >= leastDoubled; }

/// The maximum, or the sum, of windows along an axis that are one step apart, from windows of two elements, of four,
/// and so on: a maximum of two that overlap, or a sum of adjacent ones.
static Operand byDoubling(Emit &e, Operand x, ReduceKind kind, const Windows &along, int64_t axis) {
  int64_t span = 1, summed = 0, left = along.count + (along.length - 1) * along.gap; // elements of a window; windows
  Operand sum;
  auto addSpan = [&] {
    Operand part = x ? e.part(x, axis, summed * along.gap, along.count, 1) : x;
    sum = summed ? e.add(sum, part) : part;
    summed += span;
  };
  auto both = [&](int64_t apart) {
    left -= apart;
    x = x ? combine(e, kind, e.part(x, axis, 0, left, 1), e.part(x, axis, apart, left, 1)) : x;
  };
  for (; span * 2 <= along.length; span *= 2) {
    if (kind != ReduceKind::max && along.length & span)
      addSpan();
    both(span * along.gap);
  }
  if (kind != ReduceKind::max)
    addSpan();
  else if (span < along.length)
    both((along.length - span) * along.gap);
  return kind == ReduceKind::max ? x : sum;
}

/// The padding's value beside elements of a type: no larger than any of them, or neutral in a sum.
static double outsideOf(ReduceKind kind, Type element) {
  if (kind != ReduceKind::max || element.isUnsignedInteger())
    return 0;
  return isa<FloatType>(element) ? -std::numeric_limits<double>::infinity()
                                 : -std::ldexp(1.0, element.getIntOrFloatBitWidth() - 1);
}

/// Windows along an axis, some of which include elements of its margin.
static Operand withMargin(Emit &e, const Operand &x, ReduceKind kind, const Windows &along, int64_t axis) {
  if (!x)
    return x;
  Operand wide = paddedFor(e, x, axis, along, e.scalar(outsideOf(kind, x.element()), x));
  return isDoubled(along) ? byDoubling(e, wide, kind, along, axis) : combined(e, wide, kind, along, axis);
}

/// Whether windows along an axis fall into few kinds, by the elements that lie in the image, so that each kind can have
/// code of its own, and combining them one by one is faster than doubling. Without a margin it is not.
static bool areFewKinds(const Windows &along) {
  constexpr int64_t mostCombined = 64;
  int64_t behind = std::max<int64_t>(along.reach() - along.before - along.size, 0);
  int64_t kinds = 1 + llvm::divideCeil(along.before, along.stride) + llvm::divideCeil(behind, along.stride);
  return kinds * along.length <= mostCombined && (kinds > 1 || !isDoubled(along));
}

/// Windows along an axis without its margin: runs of windows with the same elements inside the image, one after the
/// other. Each window has such an element.
static Operand insideImage(Emit &e, const Operand &x, ReduceKind kind, const Windows &along, int64_t axis) {
  auto elementsOf = [&](int64_t window) { // the first one inside, and the last
    int64_t start = window * along.stride - along.before;
    return std::pair(start < 0 ? int64_t(llvm::divideCeil(-start, along.gap)) : 0,
                     std::min(along.length - 1, (along.size - 1 - start) / along.gap));
  };
  SmallVector<Operand> parts;
  for (int64_t from = 0, to = 0; x && from < along.count; from = to) {
    auto [least, most] = elementsOf(from);
    while (to < along.count && elementsOf(to) == std::pair(least, most))
      ++to;
    Operand all;
    for (int64_t i = least; i <= most; ++i) {
      int64_t start = from * along.stride - along.before + i * along.gap;
      Operand element = e.part(x, axis, start, to - from, along.stride);
      all = i == least ? element : combine(e, kind, all, element);
    }
    parts.push_back(all);
  }
  return x ? e.concat(parts, axis) : x;
}

/// The maximum, or the sum, of the elements of an image's windows. Large and overlapping windows are combined axis by
/// axis, rows first, which are vectors: shared parts are combined once.
static Operand ofWindows(Emit &e, Operand x, ReduceKind kind, ArrayRef<Windows> windows, bool byAxis) {
  if (!byAxis)
    return combined(e, x, kind, windows, 2);
  for (auto [i, along] : llvm::enumerate(windows))
    x = i + 1 < windows.size() && areFewKinds(along) ? insideImage(e, x, kind, along, 2 + i)
                                                     : withMargin(e, x, kind, along, 2 + i);
  return x;
}

/// The same for an image that was turned, whose channels go back behind it. A margin would copy the image.
static Operand ofTurned(Emit &e, const Operand &turned, ReduceKind kind, ArrayRef<Windows> windows) {
  int64_t last = turned.rank() - 1;
  Operand x = e.moveAxis(turned, 1, last);
  for (auto [i, along] : llvm::enumerate(windows))
    x = areFewKinds(along) ? insideImage(e, x, kind, along, 1 + i) : withMargin(e, x, kind, along, 1 + i);
  return e.moveAxis(x, last, 1);
}

/// The number of elements by which each window's mean divides, with the padding or without.
static HostTensor dividersOf(const Counts &counts, ArrayRef<Windows> windows, ArrayRef<int64_t> places, Type element,
                             bool countsPadding) {
  HostTensor dividers = HostTensor::zeros(element, {counts.windows, 1});
  for (int64_t i = 0; i < counts.windows; ++i) {
    if (!countsPadding) {
      ArrayRef<int64_t> window = places.slice(i * counts.elements, counts.elements);
      dividers.floats[i] = double(counts.elements - llvm::count(window, -1));
      continue;
    }
    // A window that begins in the image may end past its padding.
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

/// The same as a tensor that broadcasts to the windows' sums y (rows, channels, a, b ...).
static Operand dividersBeside(Node &n, const Operand &y, ArrayRef<Windows> windows, bool countsPadding) {
  std::optional<Counts> counts = countsOf(n, windows);
  if (!counts || !n.emit.affords(counts->all()))
    return Operand();
  HostTensor all = dividersOf(*counts, windows, windowPlaces(windows), y.element(), countsPadding);
  return n.emit.reshape(Operand(computedSource(all)), Sizes(ArrayRef<Size>(y.sizes()).drop_front(2)));
}

/// The maximum, or the mean, of gathered windows.
static Operand poolGathered(Node &n, ReduceKind kind, const Operand &x, ArrayRef<Windows> windows, bool countsPadding) {
  Emit &e = n.emit;
  std::optional<Counts> counts = countsOf(n, windows);
  if (!counts || !e.affords(counts->all()))
    return Operand();
  if (!product(ArrayRef<Size>(x.sizes()).drop_front(1)))
    return e.malformed("more elements than there are numbers");
  SmallVector<int64_t> places = windowPlaces(windows);
  for (int64_t i = 0; !countsPadding && i < counts->windows; ++i) {
    MutableArrayRef<int64_t> window(places.data() + i * counts->elements, counts->elements);
    auto inside = llvm::find_if(window, [](int64_t place) { return place >= 0; });
    if (inside == window.end())
      return e.malformed("a window outside of the image");
    if (kind == ReduceKind::max) // repeating an element inside changes no maximum
      llvm::replace(window, int64_t(-1), *inside);
  }
  Operand taken = gathered(n, x, *counts, places), y;
  if (taken && kind == ReduceKind::mean) {
    if (taken.element().getIntOrFloatBitWidth() < 32)
      taken = e.cast(taken, Float32Type::get(&e.context));
    HostTensor dividers = dividersOf(*counts, windows, places, taken.element(), countsPadding);
    y = e.div(e.reduce(ReduceKind::sum, taken, {2}, Axes::drop), Operand(computedSource(dividers)));
    y = y ? e.cast(y, x.element()) : y;
  } else {
    y = e.reduce(kind, taken, {2}, Axes::drop);
  }
  Sizes sizes;
  for (const Windows &along : windows)
    sizes.push_back(Size(along.count));
  return channelsFirst(e, y, sizes);
}

/// Whether each window has an element of the image.
static bool areInside(ArrayRef<Windows> windows) {
  return llvm::all_of(windows, [](const Windows &along) {
    // The first window before the image must reach it, and with gaps must have an element in it; the last of the others
    // must begin in it.
    bool reaches = along.before == 0 ||
                   (along.gap <= along.size && llvm::divideCeil(along.before, along.gap) < uint64_t(along.length));
    return along.before >= 0 && reaches && along.place(along.count - 1, 0) < along.size;
  });
}

/// The maximum, or the mean, of each window. Elements are combined one after the other, so that windows lie side by
/// side in vectors. A window that is very long along an axis, or is the whole image, is reduced instead.
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
  int64_t elements = 1;          // of a window
  bool few = true, isOne = true; // few along each axis, so they are taken one by one; one window is the image
  for (const Windows &along : *windows) {
    few &= along.length <= mostTaken;
    elements *= few ? along.length : 1;
    isOne &= along.count == 1;
  }
  few &= overlap || !isOne || elements <= mostTaken;
  if ((!inImage && !(few && areInside(*windows))) || (!few && overlap)) {
    n.set(0, poolGathered(n, kind, x, *windows, countsPadding));
    return;
  }
  if (!few) {
    if (std::optional<Split> split = splitOf(n, x, *windows))
      n.set(0, e.reduce(kind, split->image, split->inside, Axes::drop));
    return;
  }
  Type given = x.element();
  if (kind == ReduceKind::mean && given.getIntOrFloatBitWidth() < 32)
    x = e.cast(x, Float32Type::get(&e.context));
  Operand y = !inImage && liesTurned(x) ? ofTurned(e, x, kind, *windows)
                                        : ofWindows(e, x, kind, *windows, overlap || !inImage || elements > mostAtOnce);
  if (y && kind == ReduceKind::mean)
    y = e.cast(e.div(y, inImage ? e.scalar(double(elements), y) : dividersBeside(n, y, *windows, countsPadding)),
               given);
  n.set(0, y);
}

void importAveragePool(Node &n) { pool(n, ReduceKind::mean, n.intAttr("count_include_pad", 0) != 0); }

void importMaxPool(Node &n) {
  n.intAttr("storage_order", 0);
  if (n.wants(1)) {
    n.emit.unsupported("a second output, the places of the largest elements", "leave it out, or take them with ArgMax");
    return;
  }
  pool(n, ReduceKind::max);
}

/// Pools over all axes of the image, which stay.
static void poolAll(Node &n, llvm::function_ref<Operand(const Operand &, ArrayRef<int64_t>)> reduce) {
  Operand x = n.in(0);
  if (x && x.rank() < 2)
    n.emit.malformed("input 0 is " + x.str() + ", expected rows, channels, and an image");
  if (x && x.rank() >= 2)
    n.set(0, reduce(x, llvm::to_vector(llvm::seq<int64_t>(2, x.rank()))));
}
void importGlobalAveragePool(Node &n) {
  poolAll(n, [&](const Operand &x, ArrayRef<int64_t> axes) {
    return n.emit.reduce(ReduceKind::mean, x, axes, Axes::keep);
  });
}
void importGlobalMaxPool(Node &n) {
  poolAll(
      n, [&](const Operand &x, ArrayRef<int64_t> axes) { return n.emit.reduce(ReduceKind::max, x, axes, Axes::keep); });
}

} // namespace tutti
