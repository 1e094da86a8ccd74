// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a transposed convolution's products land, and the windows that they come from.
#include "compiler/import/onnx/ops/Spreads.h"

using namespace mlir;

namespace tutti {

SmallVector<std::pair<int64_t, int64_t>> Spread::landing(int64_t place) const {
  SmallVector<std::pair<int64_t, int64_t>> all;
  for (int64_t j = 0; j < length; ++j)
    if (int64_t at = place + before - j * gap; at >= 0 && at % stride == 0 && at / stride < size)
      all.push_back({at / stride, j});
  return all;
}

namespace {

/// The attributes of a node's spreads, one number per axis.
struct SpreadAttributes {
  SmallVector<int64_t> lengths, strides, gaps, pads, more;
  SmallVector<int64_t> shape; ///< of the result; empty if not given
  std::string padding;

  /// Nothing after a problem.
  static std::optional<SpreadAttributes> of(Node &n, ArrayRef<int64_t> kernel);
};

} // namespace

std::optional<SpreadAttributes> SpreadAttributes::of(Node &n, ArrayRef<int64_t> kernel) {
  size_t axes = kernel.size();
  auto lengths = perAxis(n, "kernel_shape", axes, 0), strides = perAxis(n, "strides", axes, 1),
       gaps = perAxis(n, "dilations", axes, 1), pads = perAxis(n, "pads", 2 * axes, 0),
       more = perAxis(n, "output_padding", axes, 0);
  SmallVector<int64_t> shape = n.intsAttr("output_shape").value_or(SmallVector<int64_t>());
  std::optional<std::string> padding = paddingOf(n);
  if (!lengths || !strides || !gaps || !pads || !more || !padding)
    return std::nullopt;
  if (shape.size() == axes + 2) // it includes the batch and the channels
    shape.erase(shape.begin(), shape.begin() + 2);
  if (!shape.empty() && shape.size() != axes) {
    n.emit.malformed("attribute 'output_shape' has " + Twine(shape.size()) + " numbers, expected " + Twine(axes));
    return std::nullopt;
  }
  if (!n.hasAttr("kernel_shape"))
    lengths->assign(kernel.begin(), kernel.end());
  return SpreadAttributes{*lengths, *strides, *gaps, *pads, *more, shape, *padding};
}

/// The spread along the i-th axis of the image, of `size` elements. Nothing after a problem.
static std::optional<Spread> spreadOf(Emit &e, const SpreadAttributes &given, size_t i, int64_t size, int64_t kernel) {
  auto nothing = [](const Operand &) { return std::nullopt; }; // the return value after a problem
  int64_t length = given.lengths[i], stride = given.strides[i], gap = given.gaps[i], before = given.pads[i],
          behind = given.pads[i + given.lengths.size()], rest = given.more[i];
  std::optional<int64_t> shape = given.shape.empty() ? std::nullopt : std::optional(given.shape[i]);
  if (length != kernel || length < 1 || stride < 1 || gap < 1 || before < 0 || behind < 0 || rest < 0 ||
      (shape && *shape < 1))
    return nothing(e.malformed("weights of length " + Twine(length) + " at steps of " + Twine(stride) + " along axis " +
                               Twine(i + 2) + ", with padding of " + Twine(before) + " and " + Twine(behind) +
                               ", and of " + Twine(rest) + " behind the result"));
  if (std::max({size, length, stride, gap, before, behind, rest, shape.value_or(0)}) > mostLength)
    return nothing(e.unsupported("an image, weights, steps, gaps or padding of more than " + Twine(mostLength) +
                                 " elements along axis " + Twine(i + 2)));
  int64_t whole = (size - 1) * stride + (length - 1) * gap + 1 + rest;
  bool isUpper = given.padding == "SAME_UPPER", isSame = isUpper || given.padding == "SAME_LOWER";
  if (given.padding == "VALID")
    before = behind = 0;
  if (isSame || shape) {
    int64_t left = std::max<int64_t>(whole - shape.value_or(size * stride), 0);
    before = isUpper ? left / 2 : left - left / 2;
    behind = left - before;
  }
  int64_t count = shape.value_or(whole - before - behind);
  if (size < 1 || count < 1)
    return nothing(e.malformed(Twine(size) + " elements along axis " + Twine(i + 2) + " become " + Twine(count) +
                               ", with padding of " + Twine(before) + " and " + Twine(behind)));
  if (count > mostLength)
    return nothing(e.unsupported("a result of " + Twine(count) + " elements along axis " + Twine(i + 2)));
  return Spread{size, length, stride, gap, before, count};
}

std::optional<SmallVector<Spread>> spreadsOf(Node &n, const Operand &x, ArrayRef<int64_t> kernel) {
  Emit &e = n.emit;
  if (kernel.size() > size_t(mostAxes)) {
    e.unsupported("an image of " + Twine(kernel.size()) + " axes");
    return std::nullopt;
  }
  std::optional<SpreadAttributes> given = SpreadAttributes::of(n, kernel);
  SmallVector<Spread> all;
  for (size_t i = 0; given && i < kernel.size(); ++i) {
    if (!e.isKnown(x, i + 2, "spreads windows along"))
      return std::nullopt;
    std::optional<Spread> along = spreadOf(e, *given, i, x.sizes()[i + 2].getFixed(), kernel[i]);
    if (!along)
      return std::nullopt;
    all.push_back(*along);
  }
  return given ? std::optional(all) : std::nullopt;
}

/// x / y, rounded down.
static int64_t floorOf(int64_t x, int64_t y) { return x >= 0 ? x / y : -((y - 1 - x) / y); }

StepsAlong::StepsAlong(const Spread &along) : along(along) {
  // Element i lands at i stride + j - before: the window of the first step has all elements that reach a place of it.
  int64_t first = floorOf(along.before - along.length + along.stride, along.stride),
          last = floorOf(along.stride - 1 + along.before, along.stride);
  windows = {along.size, last - first + 1, 1, int64_t(llvm::divideCeil(along.count, along.stride)), 1, -first};
}

std::optional<StepsAlong> StepsAlong::of(const Spread &along) {
  StepsAlong steps(along);
  bool fill = along.gap == 1 && along.length >= along.stride;
  return fill && steps.windows.before >= 0 ? std::optional(steps) : std::nullopt;
}

SmallVector<int64_t> StepsAlong::weights() const {
  SmallVector<int64_t> all;
  for (int64_t element = 0; element < windows.length; ++element)
    for (int64_t place = 0; place < along.stride; ++place) {
      int64_t weight = place + along.before - (element - windows.before) * along.stride;
      all.push_back(weight >= 0 && weight < along.length ? weight : along.length);
    }
  return all;
}

SmallVector<StepsAlong::Place> StepsAlong::places() const {
  SmallVector<Place> all;
  for (int64_t place = 0; place < along.stride; ++place) {
    int64_t first = floorOf(place + along.before - along.length + along.stride, along.stride),
            last = floorOf(place + along.before, along.stride);
    if (first > 0)
      return {};
    Place own{{along.size, last - first + 1, 1, windows.count, 1, -first}, {}};
    for (int64_t element = first; element <= last; ++element)
      own.weights.push_back(place + along.before - element * along.stride);
    all.push_back(std::move(own));
  }
  return all;
}

std::optional<SmallVector<StepsAlong>> stepsOf(ArrayRef<Spread> spreads) {
  SmallVector<StepsAlong> all;
  for (const Spread &along : spreads) {
    std::optional<StepsAlong> own = StepsAlong::of(along);
    if (!own)
      return std::nullopt;
    all.push_back(*own);
  }
  return all;
}

std::optional<SmallVector<Windows>> windowsOfLandings(ArrayRef<Spread> spreads) {
  SmallVector<Windows> windows;
  for (const Spread &along : spreads) {
    int64_t before = (along.length - 1) * along.gap - along.before;
    if (along.stride != 1 || before < 0)
      return std::nullopt;
    windows.push_back({{along.size, along.length, 1, along.count, along.gap, before}});
  }
  return windows;
}

std::optional<SmallVector<int64_t>> landingsOf(Node &n, ArrayRef<Spread> spreads, Counts &counts) {
  SmallVector<SmallVector<SmallVector<std::pair<int64_t, int64_t>>>> landings;
  bool overflows = false;
  for (const Spread &along : spreads) {
    // The loop's cost is that of what is gathered.
    if (!n.emit.affords(along.count * along.length))
      return std::nullopt;
    size_t most = 1;
    landings.emplace_back();
    for (int64_t place = 0; place < along.count; ++place) {
      landings.back().push_back(along.landing(place));
      most = std::max(most, landings.back().back().size());
    }
    overflows |= llvm::MulOverflow(counts.windows, along.count, counts.windows) ||
                 llvm::MulOverflow(counts.elements, int64_t(most), counts.elements);
  }
  int64_t all = 0;
  if (!n.emit.affords(overflows || llvm::MulOverflow(counts.windows, counts.elements, all) ? INT64_MAX : all))
    return std::nullopt;
  SmallVector<int64_t> places;
  places.reserve(all);
  for (int64_t i = 0; i < counts.windows; ++i) {
    // The landings along the axes before, as elements and weights in row-major order.
    SmallVector<std::pair<int64_t, int64_t>> here = {{0, 0}};
    int64_t behind = counts.windows, weights = 1;
    for (auto [along, axis] : llvm::zip_equal(spreads, landings)) {
      behind /= along.count;
      weights *= along.length;
      SmallVector<std::pair<int64_t, int64_t>> more;
      for (auto [element, weight] : here)
        for (auto [at, j] : axis[i / behind % along.count])
          more.push_back({element * along.size + at, weight * along.length + j});
      here = std::move(more);
    }
    for (int64_t j = 0; j < counts.elements; ++j)
      places.push_back(j < int64_t(here.size()) ? here[j].first * weights + here[j].second : -1);
  }
  return places;
}

} // namespace tutti
