// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of transposed convolutions, as products of windows, or as products of each element, summed where they land.
#include "compiler/import/onnx/ops/Spreads.h"

using namespace mlir;

namespace tutti {
/// The product of each element of the image with each weight, (rows, image weights, channels made). `weights`: the
/// number of weights per element.
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
  // Reorders w to (group, taken, weights, made in the group).
  Operand factors = e.transpose(e.reshape(w, {Size(groups), taken, each, weights}), {0, 1, 3, 2});
  Operand y;
  if (groups == 1) {
    y = e.contract(image, e.reshape(factors, {taken, columns}), "bsk,kn->bsn");
  } else if (taken == Size(1) && each == Size(1)) { // each channel separately
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

/// Puts products whose landings tile the result into their places: (rows, made, a, b ...).
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

/// The number of places of a step, with one product each.
static int64_t placesOfStep(ArrayRef<StepsAlong> steps) {
  int64_t count = 1;
  for (const StepsAlong &each : steps)
    count = llvm::MulOverflow(count, each.spread().stride, count) ? INT64_MAX : count;
  return count;
}

/// Computes all places of a step as columns of one product, with zeros where a place has no weight for an element:
/// (rows, windows, places of a step made).
static Operand columnsTogether(Emit &e, const Operand &image, Operand w, ArrayRef<StepsAlong> steps) {
  size_t axes = steps.size();
  Sizes apart{w.sizes()[0], w.sizes()[1]};
  Size elements(1), places(1);
  SmallVector<int64_t> order;
  SmallVector<WindowAxis> windows;
  for (size_t i = 0; w && i < axes; ++i) {
    windows.push_back(steps[i].windows);
    w = e.padded(w, i + 2, 0, 1, e.scalar(0, w));
    w = e.gather(w, e.list(steps[i].weights()), i + 2);
    Size length(windows.back().length), stride(steps[i].spread().stride);
    apart.append({length, stride});
    elements = *elements.times(length), places = *places.times(stride);
    order.push_back(2 + 2 * i);
  }
  order.push_back(0);
  for (size_t i = 0; i < axes; ++i)
    order.push_back(3 + 2 * i);
  order.push_back(1);
  w = e.transpose(e.reshape(w, apart), order);
  return e.contract(e.windows(image, windows), e.reshape(w, {*elements.times(apart[0]), *places.times(apart[1])}),
                    "bsk,kn->bsn");
}

/// The same with a product for each place of a step. Nothing if a place cannot have one.
static std::optional<Operand> columnsByPlace(Emit &e, const Operand &image, const Operand &w,
                                             ArrayRef<StepsAlong> steps) {
  SmallVector<SmallVector<StepsAlong::Place>> places;
  for (const StepsAlong &each : steps) {
    places.push_back(each.places());
    if (places.back().empty())
      return std::nullopt;
  }
  int64_t count = placesOfStep(steps);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(2, 2 + steps.size()));
  order.append({0, 1});
  SmallVector<Operand> columns;
  for (int64_t place = 0; place < count; ++place) {
    SmallVector<WindowAxis> windows;
    Operand own = w;
    Size terms = w.sizes()[0];
    int64_t behind = count;
    for (auto [i, along] : llvm::enumerate(places)) {
      behind /= along.size();
      const StepsAlong::Place &at = along[place / behind % along.size()];
      windows.push_back(at.windows);
      own = e.gather(own, e.list(at.weights), 2 + i);
      terms = *terms.times(Size(at.windows.length));
    }
    own = e.reshape(e.transpose(own, order), {terms, w.sizes()[1]});
    columns.push_back(e.contract(e.windows(image, windows), own, "bsk,kn->bsn"));
  }
  return e.concat(columns, 2);
}

/// Reorders columns (rows, windows, places of a step made) into the order of the image: (rows, image, made).
static Operand inOrderOfImage(Emit &e, Operand columns, ArrayRef<StepsAlong> steps, const Size &made) {
  // (rows, windows along a, b ..., places of a step along a, b ..., made)
  size_t axes = steps.size();
  Size batch = columns.sizes()[0], image(1);
  Sizes apart{batch}, together{batch};
  SmallVector<int64_t> order{0};
  for (size_t i = 0; i < axes; ++i) {
    const Spread &along = steps[i].spread();
    apart.push_back(Size(steps[i].windows.count));
    together.push_back(Size(steps[i].windows.count * along.stride));
    order.append({int64_t(1 + i), int64_t(1 + axes + i)});
    image = *image.times(Size(along.count));
  }
  for (const StepsAlong &each : steps)
    apart.push_back(Size(each.spread().stride));
  order.push_back(1 + 2 * axes);
  apart.push_back(made), together.push_back(made);
  Operand y = e.reshape(e.transpose(e.reshape(columns, apart), order), together);
  for (size_t i = 0; y && i < axes; ++i)
    y = e.part(y, i + 1, 0, steps[i].spread().count);
  return y ? e.reshape(y, {batch, image, made}) : y;
}

/// The result by steps, with the bias, (rows, image, made), for one group of `groups`.
static Operand productOfSteps(Node &n, const Operand &x, const Operand &w, const Operand &bias,
                              ArrayRef<StepsAlong> steps, int64_t groups) {
  Emit &e = n.emit;
  SmallVector<Windows> along;
  double waste = 1;
  for (const StepsAlong &each : steps) {
    along.push_back({each.windows});
    waste *= each.waste();
  }
  if (!countsOf(n, along))
    return Operand();
  // A place with too few columns to fill a vector is better computed together with the others.
  constexpr double mostWaste = 1.25;
  constexpr int64_t fewestColumns = 12;
  Size made = w.sizes()[1];
  Operand image = channelsLast(e, x);
  std::optional<Operand> byPlace;
  if (waste > mostWaste && made.getFixed() >= fewestColumns && placesOfStep(steps) <= mostProducts / groups)
    byPlace = columnsByPlace(e, image, w, steps);
  Operand y = byPlace ? *byPlace : columnsTogether(e, image, w, steps);
  if (y && bias) {
    Size columns = y.sizes().back();
    y = e.add(y, e.reshape(e.broadcast(bias, {*columns.dividedBy(made), made}), {columns}));
  }
  return y ? inOrderOfImage(e, y, steps, made) : y;
}

/// The same for all groups, one by one.
static Operand productsOfSteps(Node &n, const Convolution &c, ArrayRef<StepsAlong> steps) {
  Emit &e = n.emit;
  if (c.groups == 1)
    return productOfSteps(n, c.x, c.w, c.bias, steps, 1);
  std::vector<Operand> parts;
  int64_t taken = c.kernel[0] / c.groups, each = c.kernel[1];
  for (int64_t group = 0; group < c.groups; ++group)
    parts.push_back(productOfSteps(n, e.part(c.x, 1, group * taken, taken), e.part(c.w, 0, group * taken, taken),
                                   c.bias ? e.part(c.bias, 0, group * each, each) : c.bias, steps, c.groups));
  return e.concat(parts, 2);
}

/// Reorders the weights (channels, made in a group, a, b ...) to a convolution's, (made, channels of a group, a, b
/// ...).
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

/// The result (rows, image, made) as sums of the products that land at each place, with the bias.
static Operand sumOfLandings(Node &n, const Convolution &c, ArrayRef<Spread> spreads, const Size &weights) {
  Emit &e = n.emit;
  Counts counts;
  std::optional<SmallVector<int64_t>> places = landingsOf(n, spreads, counts);
  if (!places)
    return Operand();
  Operand products = productsOf(e, c.x, c.w, c.groups, weights);
  Operand landed = products ? takenAt(e, products, {counts.windows, counts.elements}, *places) : products;
  return withBias(e, e.reduce(ReduceKind::sum, landed, {2}, Axes::drop), c.bias);
}

/// Whether, with a stride of one, products that land are faster than windows, which reach beyond a small image: adding
/// what has landed costs as much as so many terms.
static bool landSooner(ArrayRef<Spread> spreads, int64_t channels) {
  constexpr double termsOfLanding = 8;
  double elements = 1, places = 1, terms = double(channels), landed = 1;
  for (const Spread &along : spreads) {
    if (along.stride != 1)
      return false;
    elements *= double(along.size), places *= double(along.count), terms *= double(along.length);
    landed *= double(std::min(along.size, along.length));
  }
  return elements * terms + places * landed * termsOfLanding < places * terms;
}

/// The result of a transposed convolution, (rows, made, a, b ...).
static Operand convolvedBack(Node &n, const Convolution &c, ArrayRef<Spread> spreads) {
  Emit &e = n.emit;
  Sizes image;
  for (const Spread &along : spreads)
    image.push_back(Size(along.count));
  // If weights do not overlap, each element's products are the result as they are.
  bool overlap = llvm::any_of(spreads, [](const Spread &along) { return along.overlap(); }) &&
                 !landSooner(spreads, c.kernel[0] / c.groups);
  auto steps = overlap ? stepsOf(spreads) : std::nullopt;
  auto windows = overlap ? windowsOfLandings(spreads) : std::nullopt;
  bool alone = c.kernel[0] == c.groups && c.kernel[1] == 1;
  if (steps && (c.groups == 1 || (!windows && c.groups <= mostProducts && !alone)))
    return channelsFirst(e, productsOfSteps(n, c, *steps), image);
  if (windows) {
    Operand y = convolved(n, c.x, turnedAround(e, c.w, c.groups), *windows, c.groups);
    return channelsFirst(e, withBias(e, y, c.bias), image);
  }
  Size weights = *product(ArrayRef<Size>(c.w.sizes()).drop_front(2));
  bool tile = llvm::all_of(spreads, [](const Spread &along) { return along.tile(); }),
       isOne = llvm::all_of(spreads, [](const Spread &along) { return along.size == 1; });
  if (tile && isOne)
    return channelsFirst(e, withBias(e, productsOf(e, c.x, c.w, c.groups, weights), c.bias), image);
  // Several channels are turned twice as fast in two steps: to lines of all channels, then these to the front.
  if (tile && c.kernel[1] * c.groups == 1) {
    Operand products = withBias(e, productsOf(e, c.x, c.w, c.groups, weights), c.bias);
    return products ? laidOut(e, products, spreads) : products;
  }
  return channelsFirst(e, sumOfLandings(n, c, spreads, weights), image);
}

/// False, and a problem, if the channels of x, of the weights and of the bias do not match.
static bool fitsBack(Emit &e, const Convolution &c) {
  int64_t taken = c.kernel[0], each = c.kernel[1];
  std::optional<Size> made = Size(each).times(Size(c.groups));
  if (!c.x.isFloat())
    e.malformed("x is " + c.x.str() + ", the weights are " + c.w.str());
  else if (c.x.sizes()[1] != Size(taken) || taken < 1 || each < 1 || taken % c.groups != 0)
    e.malformed("x is " + c.x.str() + ", the weights are for " + Twine(taken) + " channels in " + Twine(c.groups) +
                (c.groups == 1 ? " group" : " groups"));
  else if (!made || !product(ArrayRef<Size>(c.w.sizes()).drop_front(1)))
    e.malformed("more elements than there are numbers");
  else
    return c.hasBiasOf(e, *made);
  return false;
}

void importConvTranspose(Node &n) {
  Emit &e = n.emit;
  std::optional<Convolution> given = Convolution::of(n);
  if (!given || !fitsBack(e, *given))
    return;
  Convolution &c = *given;
  std::optional<SmallVector<Spread>> spreads = spreadsOf(n, c.x, ArrayRef(c.kernel).drop_front(2));
  if (!spreads)
    return;
  // Along an axis of one element each weight lands at its own place; weights that land outside are dropped.
  for (auto [i, along] : llvm::enumerate(*spreads))
    if (along.isOfOne()) {
      c.w = e.part(c.w, 2 + i, along.before, along.count);
      along = along.ofOne();
    }
  Type element = c.x.element();
  c.x = e.widened(c.x), c.w = e.widened(c.w), c.bias = e.widened(c.bias);
  n.set(0, e.cast(convolvedBack(n, c, *spreads), element));
}

} // namespace tutti
