// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of convolutions, as products of windows that split the image, or that overlap or leave it.
#include "compiler/import/onnx/ops/Windows.h"

using namespace mlir;

namespace tutti {

/// The most terms of a sum that is written out: more do not fit a CUDA thread's registers.
constexpr int64_t mostSummed = 64;

/// For each output channel the t-th input channel of its group, as (rows, image, channels).
static Operand channelsOfGroups(Emit &e, const Operand &x, int64_t groups, int64_t t, const Size &made) {
  Operand last = channelsLast(e, x);
  if (!last || (x.sizes()[1] == Size(groups) && made == Size(groups)))
    return last;
  Sizes sizes = last.sizes(); // rows, image, channels
  Size taken(sizes[2].getFixed() / groups), each(made.getFixed() / groups);
  Operand own = e.part(e.reshape(last, {sizes[0], sizes[1], Size(groups), taken}), 3, t, 1);
  return e.reshape(e.broadcast(own, {sizes[0], sizes[1], Size(groups), each}), {sizes[0], sizes[1], made});
}

/// Sums each channel by itself, one element of all windows after the other. These are parts of an image with its
/// margin, so channels lie side by side in vectors. The result is (rows, a, b ..., channels).
static Operand sumOfChannels(Emit &e, const Operand &x, const Operand &w, int64_t groups, ArrayRef<WindowAxis> inside,
                             ArrayRef<WindowAxis> margin, const Counts &counts) {
  Size made = w.sizes()[0], taken = w.sizes()[1];
  Sizes image = {x.sizes()[0]};
  for (const WindowAxis &along : inside)
    image.push_back(Size(along.size));
  image.push_back(made);
  Operand factors = e.transpose(e.reshape(w, {made, taken, Size(counts.elements)}), {1, 2, 0}), y;
  for (int64_t t = 0; t < taken.getFixed(); ++t) {
    Operand padded = e.reshape(e.windows(channelsOfGroups(e, x, groups, t, made), margin), image);
    for (int64_t i = 0; i < counts.elements; ++i) {
      Operand product =
          e.mul(elementOf(e, padded, inside, 1, i), e.reshape(e.part(e.part(factors, 0, t, 1), 1, i, 1), {made}));
      y = y ? e.add(y, product) : product;
    }
  }
  return y;
}

/// Whether each channel is summed by itself, and channels are so few that lines of the image fill vectors better: up to
/// three, or up to eight if that avoids turning the image.
static bool isSummedAlongLines(const Operand &x, ArrayRef<int64_t> weights, int64_t groups, ArrayRef<Windows> windows) {
  constexpr int64_t shortLine = 8, mostTerms = 32; // more take several seconds to compile
  int64_t terms = llvm::product_of(weights.drop_front(2));
  return groups == weights[0] && weights[1] == 1 && groups <= (liesTurned(x) ? 3 : 8) &&
         windows.back().count >= shortLine && terms > 0 && terms <= mostTerms;
}

/// The same along lines of the image as it lies; the result is (rows, channels, a, b ...).
static Operand sumAlongLines(Emit &e, Operand x, const Operand &w, ArrayRef<Windows> windows) {
  int64_t elements = 1;
  SmallVector<WindowAxis> axes(windows.begin(), windows.end());
  for (auto [axis, along] : llvm::enumerate(axes)) {
    x = x ? paddedFor(e, x, 2 + axis, along, e.scalar(0, x)) : x;
    elements *= along.length;
  }
  Sizes each(windows.size() + 1, Size(1)); // one factor per channel
  each.front() = w.sizes().front();
  Operand factors = e.reshape(w, {each.front(), Size(elements)}), y;
  for (int64_t i = 0; x && i < elements; ++i) {
    Operand product = e.mul(elementOf(e, x, axes, 2, i), e.reshape(e.part(factors, 1, i, 1), each));
    y = y ? e.add(y, product) : product;
  }
  return y;
}

/// Gathers each window, with all channels, as a row that is multiplied by the weights; the result is (rows, windows,
/// channels).
static Operand productOfGathered(Node &n, const Operand &x, const Operand &w, ArrayRef<Windows> windows, int64_t count,
                                 int64_t groups) {
  Emit &e = n.emit;
  std::optional<Counts> counts = countsOf(n, windows);
  if (!counts)
    return Operand();
  Sizes of = w.sizes();
  Size made = of[0], taken = of[1], elements(counts->elements);
  Size each(groups ? made.getFixed() / groups : 0), terms = *elements.times(taken);
  Operand weights = e.reshape(w, {Size(groups), each, taken, elements});
  SmallVector<WindowAxis> axes(windows.begin(), windows.end()), inside(axes);
  // With many groups of few output channels each, products would leave most of a vector empty.
  bool alone = taken == Size(1) && each == Size(1), narrow = groups >= 8 && each.getFixed() < 8;
  if ((alone || narrow) && terms.getFixed() > 0 && terms.getFixed() <= mostSummed)
    if (std::optional<SmallVector<WindowAxis>> margin = takeMargin(inside))
      return sumOfChannels(e, x, w, groups, inside, *margin, *counts);
  if (groups == 1) {
    Operand columns = e.reshape(e.transpose(weights, {0, 3, 2, 1}), {terms, each});
    return e.contract(e.windows(channelsLast(e, x), axes), columns, "bsk,kn->bsn");
  }
  if (groups <= mostProducts && !alone) { // each group is a convolution of its own
    std::vector<Operand> parts;
    for (int64_t group = 0; group < groups; ++group) {
      Operand own = e.part(x, 1, group * taken.getFixed(), taken.getFixed()), part = e.part(weights, 0, group, 1);
      Operand columns = e.reshape(e.transpose(part, {0, 3, 2, 1}), {terms, each});
      parts.push_back(e.contract(e.windows(channelsLast(e, own), axes), columns, "bsk,kn->bsn"));
    }
    return e.concat(parts, 2);
  }
  Operand rows = e.windows(channelsLast(e, x), axes);
  if (!rows)
    return rows;
  Size batch = x.sizes()[0];
  rows = e.reshape(rows, {batch, Size(count), elements, Size(groups), taken});
  if (alone) {
    Operand factors = e.reshape(e.transpose(weights, {3, 0, 1, 2}), {elements, x.sizes()[1]});
    rows = e.reshape(rows, {batch, Size(count), elements, x.sizes()[1]});
    return e.reduce(ReduceKind::sum, e.mul(rows, factors), {2}, Axes::drop);
  }
  weights = e.reshape(e.transpose(weights, {0, 3, 2, 1}), {Size(groups), terms, each});
  rows = e.reshape(e.transpose(rows, {0, 1, 3, 2, 4}), {batch, Size(count), Size(groups), terms});
  Operand y = e.contract(rows, weights, "bsgk,gkn->bsgn");
  return y ? e.reshape(y, {batch, Size(count), made}) : y;
}

/// The same for an image that can be split into windows; with a single window the result is (rows, channels).
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

Operand convolved(Node &n, const Operand &x, const Operand &w, ArrayRef<Windows> windows, int64_t groups) {
  int64_t count = 1;
  for (const Windows &along : windows)
    count *= along.count;
  bool lieApart = llvm::all_of(windows, [](const Windows &along) { return along.lieApart(); });
  return (lieApart ? productOfSplit : productOfGathered)(n, x, w, windows, count, groups);
}

void importConv(Node &n) {
  Emit &e = n.emit;
  std::optional<Convolution> given = Convolution::of(n);
  if (!given)
    return;
  auto [x, w, bias, groups, kernel] = *given;
  if (kernel[0] % groups || x.sizes()[1] != Size(kernel[1]).times(Size(groups))) {
    std::string parts =
        groups == 1 ? "" : (" in each of " + Twine(groups) + " groups, and make " + Twine(kernel[0])).str();
    return (void)e.malformed("x is " + x.str() + ", the weights are for " + Twine(kernel[1]) + " channels" + parts);
  }
  x = wrapsAround(n, x);
  std::optional<SmallVector<Windows>> windows = x ? windowsOf(n, x, ArrayRef(kernel).drop_front(2)) : std::nullopt;
  if (!windows)
    return;
  Sizes counts;
  for (const Windows &along : *windows)
    counts.push_back(Size(along.count));
  std::optional<Size> places = product(counts), terms = product(ArrayRef<Size>(w.sizes()).drop_front(1)),
                      image = product(ArrayRef<Size>(x.sizes()).drop_front(1));
  if (!places || !terms || !image)
    return (void)e.malformed("more elements than there are numbers");
  Size made(kernel[0]);
  if (!given->hasBiasOf(e, made))
    return;
  if (isSummedAlongLines(x, kernel, groups, *windows)) {
    Sizes each(counts.size() + 1, Size(1));
    each.front() = made;
    return n.set(0, withBias(e, sumAlongLines(e, x, w, *windows), bias ? e.reshape(bias, each) : bias));
  }
  n.set(0, channelsFirst(e, withBias(e, convolved(n, x, w, *windows, groups), bias), counts));
}

} // namespace tutti
