// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of transposed convolutions, as products of windows, or of each element and sums of what lands at one place.
#include "compiler/import/onnx/ops/Windows.h"

using namespace mlir;

namespace tutti {
namespace {

/// How an axis of the image is spread: element i times weight j lands at i stride + j gap - before.
struct Spread {
  int64_t size, length, stride, gap, before;
  int64_t count; ///< places

  /// The elements, and the weights of each, that land at a place.
  SmallVector<std::pair<int64_t, int64_t>> landing(int64_t place) const {
    SmallVector<std::pair<int64_t, int64_t>> all;
    for (int64_t j = 0; j < length; ++j)
      if (int64_t at = place + before - j * gap; at >= 0 && at % stride == 0 && at / stride < size)
        all.push_back({at / stride, j});
    return all;
  }
};

} // namespace

/// The axes of the image x under weights (channels, made in a group, a, b ...). Nothing behind a problem.
static std::optional<SmallVector<Spread>> spreadsOf(Node &n, const Operand &x, ArrayRef<int64_t> kernel) {
  Emit &e = n.emit;
  size_t axes = kernel.size();
  auto nothing = [](const Operand &) { return std::nullopt; }; // behind a problem
  if (axes > size_t(mostAxes))
    return nothing(e.unsupported("an image of " + Twine(axes) + " axes"));
  auto lengths = perAxis(n, "kernel_shape", axes, 0), strides = perAxis(n, "strides", axes, 1),
       gaps = perAxis(n, "dilations", axes, 1), pads = perAxis(n, "pads", 2 * axes, 0),
       more = perAxis(n, "output_padding", axes, 0);
  SmallVector<int64_t> shape = n.intsAttr("output_shape").value_or(SmallVector<int64_t>());
  std::optional<std::string> padding = paddingOf(n);
  if (!lengths || !strides || !gaps || !pads || !more || !padding)
    return std::nullopt;
  if (shape.size() == axes + 2) // with the batch and the channels
    shape.erase(shape.begin(), shape.begin() + 2);
  if (!shape.empty() && shape.size() != axes)
    return nothing(
        e.malformed("attribute 'output_shape' has " + Twine(shape.size()) + " numbers, expected " + Twine(axes)));
  if (!n.hasAttr("kernel_shape"))
    lengths->assign(kernel.begin(), kernel.end());
  SmallVector<Spread> all;
  for (size_t i = 0; i < axes; ++i) {
    if (!e.isKnown(x, i + 2, "spreads windows along"))
      return std::nullopt;
    int64_t size = x.sizes()[i + 2].getFixed(), length = (*lengths)[i], stride = (*strides)[i], gap = (*gaps)[i],
            before = (*pads)[i], behind = (*pads)[i + axes], rest = (*more)[i];
    if (length != kernel[i] || length < 1 || stride < 1 || gap < 1 || before < 0 || behind < 0 || rest < 0 ||
        (!shape.empty() && shape[i] < 1))
      return nothing(e.malformed("weights of length " + Twine(length) + " at steps of " + Twine(stride) +
                                 " along axis " + Twine(i + 2) + ", with padding of " + Twine(before) + " and " +
                                 Twine(behind) + ", and of " + Twine(rest) + " behind the result"));
    if (std::max({size, length, stride, gap, before, behind, rest, shape.empty() ? 0 : shape[i]}) > mostLength)
      return nothing(e.unsupported("an image, weights, steps, gaps or padding of more than " + Twine(mostLength) +
                                   " elements along axis " + Twine(i + 2)));
    int64_t whole = (size - 1) * stride + (length - 1) * gap + 1 + rest;
    bool isUpper = *padding == "SAME_UPPER", isSame = isUpper || *padding == "SAME_LOWER";
    if (*padding == "VALID")
      before = behind = 0;
    if (isSame || !shape.empty()) {
      int64_t left = std::max<int64_t>(whole - (shape.empty() ? size * stride : shape[i]), 0);
      before = isUpper ? left / 2 : left - left / 2;
      behind = left - before;
    }
    int64_t count = shape.empty() ? whole - before - behind : shape[i];
    if (size < 1 || count < 1)
      return nothing(e.malformed(Twine(size) + " elements along axis " + Twine(i + 2) + " become " + Twine(count) +
                                 ", with padding of " + Twine(before) + " and " + Twine(behind)));
    if (count > mostLength)
      return nothing(e.unsupported("a result of " + Twine(count) + " elements along axis " + Twine(i + 2)));
    all.push_back({size, length, stride, gap, before, count});
  }
  return all;
}

/// The product of each element of the image with each weight, (rows, image weights, channels made). `weights`: how many
/// of them an element has.
static Operand productsOf(Emit &e, const Operand &x, const Operand &w, int64_t groups, const Size &weights) {
  Operand image = channelsLast(e, x);
  if (!image)
    return image;
  Sizes of = image.sizes();
  Size batch = of[0], elements = of[1], taken(of[2].getFixed() / groups), each = w.sizes()[1];
  Size made = *each.times(Size(groups)), columns = *each.times(weights);
  std::optional<Size> all = elements.times(weights);
  if (!all)
    return e.malformed("more elements than there are numbers");
  // As (group, taken, weights, made in the group).
  Operand factors = e.transpose(e.reshape(w, {Size(groups), taken, each, weights}), {0, 1, 3, 2});
  Operand y;
  if (groups == 1) {
    y = e.contract(image, e.reshape(factors, {taken, columns}), "bsk,kn->bsn");
  } else if (taken == Size(1) && each == Size(1)) { // each channel by itself
    Operand own = e.reshape(e.transpose(factors, {2, 0, 1, 3}), {weights, made});
    y = e.mul(e.reshape(image, {batch, elements, Size(1), made}), own);
  } else {
    y = e.contract(e.reshape(image, {batch, elements, Size(groups), taken}),
                   e.reshape(factors, {Size(groups), taken, columns}), "bsgk,gkn->bsgn");
    if (y)
      y = e.transpose(e.reshape(y, {batch, elements, Size(groups), weights, each}), {0, 1, 3, 2, 4});
  }
  return y ? e.reshape(y, {batch, *all, made}) : y;
}

/// Products that lie side by side, the weights of an element beside each other, in their places: as (rows, made, a, b
/// ...).
static Operand laidOut(Emit &e, const Operand &products, ArrayRef<Spread> spreads) {
  Sizes apart = {products.sizes().front()}, together = {apart.front(), products.sizes().back()};
  size_t axes = spreads.size();
  SmallVector<int64_t> order = {0, int64_t(2 * axes) + 1};
  for (const Spread &along : spreads)
    apart.push_back(Size(along.size));
  for (auto [i, along] : llvm::enumerate(spreads)) {
    apart.push_back(Size(along.length));
    together.push_back(Size(along.count));
    order.append({int64_t(1 + i), int64_t(1 + axes + i)});
  }
  apart.push_back(together[1]);
  return e.reshape(e.transpose(e.reshape(products, apart), order), together);
}

/// Of each place of the result in turn the products that land there, -1 for none: as many for each place. Nothing, and
/// a problem, where they are too many.
static std::optional<SmallVector<int64_t>> landingsOf(Node &n, ArrayRef<Spread> spreads, Counts &counts) {
  SmallVector<SmallVector<SmallVector<std::pair<int64_t, int64_t>>>> landings;
  bool overflows = false;
  for (const Spread &along : spreads) {
    // What is looked at is paid for as what is gathered.
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
    // Those of the axes before, as elements and weights in row-major order.
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

namespace {

/// Along an axis of the image the places of a step, which lie behind each other, are columns of one product: of the
/// windows of all elements that land in it.
class StepsAlong {
public:
  WindowAxis windows;

  /// Nothing where weights have gaps or do not fill a step, most of whose columns would be zeros, or padding takes away
  /// whole steps.
  static std::optional<StepsAlong> of(const Spread &along) {
    StepsAlong steps(along);
    bool fill = along.gap == 1 && along.length >= along.stride;
    return fill && steps.windows.before >= 0 ? std::optional(steps) : std::nullopt;
  }
  /// For each element of a window and each place of a step its weight; `length` where it has none.
  SmallVector<int64_t> weights() const {
    SmallVector<int64_t> all;
    for (int64_t element = 0; element < windows.length; ++element)
      for (int64_t place = 0; place < along.stride; ++place) {
        int64_t weight = place + along.before - (element - windows.before) * along.stride;
        all.push_back(weight >= 0 && weight < along.length ? weight : along.length);
      }
    return all;
  }

private:
  Spread along;
  explicit StepsAlong(const Spread &along) : along(along) {
    // Element i lands at i stride + j - before: of the first step those from the first to the last that reach a place.
    auto floorOf = [&](int64_t x) { return x >= 0 ? x / along.stride : -((along.stride - 1 - x) / along.stride); };
    int64_t first = floorOf(along.before - along.length + along.stride),
            last = floorOf(along.stride - 1 + along.before);
    windows = {along.size, last - first + 1, 1, int64_t(llvm::divideCeil(along.count, along.stride)), 1, -first};
  }
};

} // namespace

/// The weights (channels, made, a, b ...) as [elements of a window channels, places of a step made], zeros where a
/// place has no weight for an element.
static Operand weightsOfSteps(Emit &e, Operand w, ArrayRef<Spread> spreads, ArrayRef<StepsAlong> steps) {
  size_t axes = spreads.size();
  Sizes apart{w.sizes()[0], w.sizes()[1]};
  Size elements(1), places(1);
  SmallVector<int64_t> order;
  for (size_t i = 0; w && i < axes; ++i) {
    w = e.padded(w, i + 2, 0, 1, e.scalar(0, w));
    w = e.gather(w, e.list(steps[i].weights()), i + 2);
    Size length(steps[i].windows.length), stride(spreads[i].stride);
    apart.append({length, stride});
    elements = *elements.times(length), places = *places.times(stride);
    order.push_back(2 + 2 * i);
  }
  order.push_back(0);
  for (size_t i = 0; i < axes; ++i)
    order.push_back(3 + 2 * i);
  order.push_back(1);
  w = e.transpose(e.reshape(w, apart), order);
  return e.reshape(w, {*elements.times(apart[0]), *places.times(apart[1])});
}

/// (rows, image, made) by steps, with the bias.
static Operand productOfSteps(Node &n, const Operand &x, const Operand &w, const Operand &bias,
                              ArrayRef<Spread> spreads, ArrayRef<StepsAlong> steps) {
  Emit &e = n.emit;
  SmallVector<Windows> along;
  for (const StepsAlong &each : steps)
    along.push_back({each.windows});
  if (!countsOf(n, along))
    return Operand();
  SmallVector<WindowAxis> windows(along.begin(), along.end());
  Operand y = e.contract(e.windows(channelsLast(e, x), windows), weightsOfSteps(e, w, spreads, steps), "bsk,kn->bsn");
  if (y && bias) {
    Size made = w.sizes()[1], columns = y.sizes().back();
    y = e.add(y, e.reshape(e.broadcast(bias, {*columns.dividedBy(made), made}), {columns}));
  }
  if (!y)
    return y;
  // (rows, windows along a, b ..., places of a step along a, b ..., made)
  size_t axes = spreads.size();
  Sizes apart{y.sizes()[0]}, together{y.sizes()[0]};
  SmallVector<int64_t> order{0};
  Size image(1);
  for (size_t i = 0; i < axes; ++i) {
    apart.push_back(Size(windows[i].count));
    together.push_back(Size(windows[i].count * spreads[i].stride));
    order.append({int64_t(1 + i), int64_t(1 + axes + i)});
    image = *image.times(Size(spreads[i].count));
  }
  for (const Spread &along : spreads)
    apart.push_back(Size(along.stride));
  order.push_back(1 + 2 * axes);
  apart.push_back(w.sizes()[1]), together.push_back(w.sizes()[1]);
  y = e.reshape(e.transpose(e.reshape(y, apart), order), together);
  for (size_t i = 0; y && i < axes; ++i)
    y = e.part(y, i + 1, 0, spreads[i].count);
  return y ? e.reshape(y, {y.sizes()[0], image, y.sizes().back()}) : y;
}

/// At steps of one what lands at a place comes from a window of the image, by the weights turned around: a
/// convolution's. Nothing where steps are longer, or padding takes away more than a window reaches.
static std::optional<SmallVector<Windows>> windowsOfLandings(ArrayRef<Spread> spreads) {
  SmallVector<Windows> windows;
  for (const Spread &along : spreads) {
    int64_t before = (along.length - 1) * along.gap - along.before;
    if (along.stride != 1 || before < 0)
      return std::nullopt;
    windows.push_back({{along.size, along.length, 1, along.count, along.gap, before}});
  }
  return windows;
}

/// The weights (channels, made in a group, a, b ...) as a convolution has them, (made, channels of a group, a, b ...).
static Operand turnedAround(Emit &e, Operand w, int64_t groups) {
  Sizes of = w.sizes();
  for (int64_t axis = 2; w && axis < int64_t(of.size()); ++axis)
    w = e.part(w, axis, of[axis].getFixed() - 1, of[axis].getFixed(), -1);
  Size taken(of[0].getFixed() / groups);
  Sizes apart{Size(groups), taken}, together{*of[1].times(Size(groups)), taken};
  llvm::append_range(apart, ArrayRef<Size>(of).drop_front());
  llvm::append_range(together, ArrayRef<Size>(of).drop_front(2));
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, apart.size()));
  std::swap(order[1], order[2]);
  return e.reshape(e.transpose(e.reshape(w, apart), order), together);
}

void importConvTranspose(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), w = n.in(1), bias = n.has(2) ? n.in(2) : Operand();
  int64_t groups = n.intAttr("group", 1);
  if (!x || !w || (n.has(2) && !bias))
    return;
  if (x.rank() != w.rank() || x.element() != w.element() || x.rank() < 3 || !x.isFloat())
    return (void)e.malformed("x is " + x.str() + ", the weights are " + w.str());
  SmallVector<int64_t> kernel;
  for (const Size &size : w.sizes()) {
    if (!size.isFixed())
      return (void)e.unsupported("transposed convolutions with weights of shape " + str(w.sizes()) +
                                     " are not supported yet",
                                 "make them an initializer");
    kernel.push_back(size.getFixed());
  }
  if (!e.isKnown(x, 1, "sums over"))
    return;
  if (groups < 1 || x.sizes()[1] != Size(kernel[0]) || kernel[0] < 1 || kernel[1] < 1 || kernel[0] % groups != 0)
    return (void)e.malformed("x is " + x.str() + ", the weights are for " + Twine(kernel[0]) + " channels in " +
                             Twine(groups) + (groups == 1 ? " group" : " groups"));
  std::optional<Size> made = Size(kernel[1]).times(Size(groups)),
                      weights = product(ArrayRef<Size>(w.sizes()).drop_front(2)),
                      terms = product(ArrayRef<Size>(w.sizes()).drop_front(1));
  if (!made || !weights || !terms)
    return (void)e.malformed("more elements than there are numbers");
  if (bias && bias.sizes() != Sizes{*made})
    return (void)e.malformed("a bias " + bias.str() + " for " + made->str() + " channels");
  std::optional<SmallVector<Spread>> spreads = spreadsOf(n, x, ArrayRef(kernel).drop_front(2));
  if (!spreads)
    return;
  Type given = x.element();
  auto finish = [&](const Operand &image) { // (rows, image, made)
    Sizes sizes;
    for (const Spread &along : *spreads)
      sizes.push_back(Size(along.count));
    n.set(0, channelsFirst(e, e.cast(image, given), sizes));
  };
  SmallVector<StepsAlong> steps;
  for (const Spread &along : *spreads)
    if (std::optional<StepsAlong> own = StepsAlong::of(along))
      steps.push_back(*own);
  // Weights that do not overlap are a product of each element as they are.
  bool overlap = llvm::any_of(*spreads, [](const Spread &along) { return along.length > along.stride; });
  bool bySteps = steps.size() == spreads->size() && overlap, alone = kernel[0] == groups && kernel[1] == 1;
  x = e.widened(x), w = e.widened(w), bias = e.widened(bias);
  if (groups == 1 && bySteps)
    return finish(productOfSteps(n, x, w, bias, *spreads, steps));
  if (auto windows = windowsOfLandings(*spreads); windows && overlap) {
    Operand y = convolved(n, x, turnedAround(e, w, groups), *windows, groups);
    return finish(y && bias ? e.add(y, bias) : y);
  }
  if (groups <= mostProducts && bySteps && !alone) { // each by itself
    std::vector<Operand> parts;
    int64_t taken = kernel[0] / groups, each = kernel[1];
    for (int64_t group = 0; group < groups; ++group)
      parts.push_back(productOfSteps(n, e.part(x, 1, group * taken, taken), e.part(w, 0, group * taken, taken),
                                     bias ? e.part(bias, 0, group * each, each) : bias, *spreads, steps));
    return finish(e.concat(parts, 2));
  }
  // Of several channels they are turned twice as fast: to lines of all channels, and these to the front.
  bool tiles = *made == Size(1) && llvm::all_of(*spreads, [](const Spread &along) {
    return along.length == along.stride && along.gap == 1 && along.before == 0 &&
           along.count == along.size * along.stride;
  });
  if (tiles) {
    Operand products = productsOf(e, x, w, groups, *weights);
    if (products && bias)
      products = e.add(products, bias);
    return n.set(0, products ? e.cast(laidOut(e, products, *spreads), given) : products);
  }
  Counts counts;
  std::optional<SmallVector<int64_t>> places = landingsOf(n, *spreads, counts);
  if (!places)
    return;
  Operand products = productsOf(e, x, w, groups, *weights);
  Operand landed = products ? takenAt(e, products, {counts.windows, counts.elements}, *places) : products;
  Operand y = e.reduce(ReduceKind::sum, landed, {2}, false);
  if (y && bias)
    y = e.add(y, bias);
  finish(y);
}

} // namespace tutti
