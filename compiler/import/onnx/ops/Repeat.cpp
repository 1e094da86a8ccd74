// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ops that repeat elements or trade axes for each other.
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

void importExpand(Node &n) {
  Operand x = n.in(0);
  std::optional<Sizes> wanted = n.lengthsIn(1);
  if (!x || !wanted)
    return;
  std::optional<Sizes> sizes = broadcast(x.sizes(), *wanted);
  if (!sizes) {
    Sizes mine = x.sizes();
    for (size_t i = 1; i <= std::min(mine.size(), wanted->size()); ++i)
      if (!n.emit.same(mine[mine.size() - i], (*wanted)[wanted->size() - i]) && n.emit.restart)
        return;
    auto isOpen = [](const Size &size) { return !size.isFixed(); };
    if (llvm::any_of(mine, isOpen) || llvm::any_of(*wanted, isOpen))
      n.emit.unsupported("shape " + str(mine) + " broadcasts to " + str(*wanted) + " only for some sizes of a call",
                         "bind the dimension to one value with --dim");
    else
      n.emit.malformed("shape " + str(mine) + " does not broadcast to " + str(*wanted));
    return;
  }
  n.set(0, n.emit.broadcast(x, *sizes));
}

/// Each axis so many times behind itself: an axis of repeats in front of it, which then become one.
void importTile(Node &n) {
  Operand x = n.in(0);
  std::optional<Sizes> repeats = n.sizesIn(1);
  if (!x || !repeats)
    return;
  Sizes sizes = x.sizes(), apart, wide, together;
  if (repeats->size() != sizes.size()) {
    n.emit.malformed(Twine(repeats->size()) + " repeats of a tensor of rank " + Twine(sizes.size()));
    return;
  }
  for (auto [size, count] : llvm::zip_equal(sizes, *repeats)) {
    std::optional<Size> all = size.times(count);
    if (!all || (count.isFixed() && count.getFixed() < 0)) {
      n.emit.malformed("an axis of length " + size.str() + ", " + count.str() + " times");
      return;
    }
    bool two = count != Size(1) && size != Size(1);
    if (two)
      apart.push_back(Size(1)), wide.push_back(count);
    apart.push_back(size);
    wide.push_back(two ? size : *all);
    together.push_back(*all);
  }
  n.set(0, n.emit.reshape(n.emit.broadcast(n.emit.reshape(x, apart), wide), together));
}

namespace {
/// What is put before and behind an axis, or cut off where negative.
struct Padding {
  int64_t axis, before, behind;
};
} // namespace

/// Attributes before opset 11, inputs from then on; axes from opset 18 on.
static std::optional<SmallVector<Padding>> paddings(Node &n, const Operand &x) {
  std::optional<SmallVector<int64_t>> pads = n.opset < 11 ? n.intsAttr("pads") : n.intsIn(1);
  SmallVector<int64_t> listed = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  if (n.opset >= 18 && n.has(3)) {
    std::optional<SmallVector<int64_t>> given = n.intsIn(3);
    if (!given || !n.axes(*given, x.rank()))
      return std::nullopt;
    listed = *given;
  }
  if (!pads || pads->size() != 2 * listed.size()) {
    if (!n.emit.failed())
      n.emit.malformed(Twine(pads ? pads->size() : 0) + " pads for " + Twine(listed.size()) + " axes");
    return std::nullopt;
  }
  SmallVector<Padding> all;
  for (auto [i, axis] : llvm::enumerate(listed)) {
    Padding one{*n.axis(axis, x.rank()), (*pads)[i], (*pads)[listed.size() + i]};
    const Size size = x.sizes()[one.axis];
    if (one.before == 0 && one.behind == 0)
      continue;
    if (!size.isFixed()) {
      n.emit.unknownLength("pads", size);
      return std::nullopt;
    }
    constexpr int64_t most = int64_t(1) << 40;
    auto isFar = [](int64_t count) { return count < -most || count > most; };
    if (isFar(one.before) || isFar(one.behind) || size.getFixed() > most ||
        one.before + one.behind + size.getFixed() < 0 ||
        std::min<int64_t>(one.before, 0) + std::min<int64_t>(one.behind, 0) + size.getFixed() < 0) {
      n.emit.malformed("an axis of length " + size.str() + " padded by " + Twine(one.before) + " and " +
                       Twine(one.behind));
      return std::nullopt;
    }
    all.push_back(one);
  }
  llvm::sort(all, [](const Padding &a, const Padding &b) { return a.axis < b.axis; }); // however it is spelled
  return all;
}

/// Which element of `length` stands at `place` of the axis, before 0 and past the end too.
static int64_t sourceOf(StringRef mode, int64_t place, int64_t length) {
  auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  if (mode == "edge")
    return std::clamp<int64_t>(place, 0, length - 1);
  if (mode == "wrap")
    return modulo(place, length);
  if (length == 1)
    return 0;
  int64_t there = modulo(place, 2 * (length - 1)); // to and fro
  return std::min(there, 2 * (length - 1) - there);
}

/// Places of a padded axis whose sources are evenly apart.
struct Run {
  int64_t first, step, count;
};

/// The axis from one end of its padding to the other; nothing if it takes more runs than are worth an op each.
static std::optional<SmallVector<Run>> runsOf(StringRef mode, int64_t before, int64_t length, int64_t behind) {
  SmallVector<Run> runs;
  int64_t last = 0;
  for (int64_t place = -before; place < length + behind; ++place) {
    int64_t source = sourceOf(mode, place, length);
    if (!runs.empty() && (runs.back().count == 1 || source - last == runs.back().step)) {
      runs.back().step = source - last;
      ++runs.back().count;
    } else if (runs.size() == 3) {
      return std::nullopt;
    } else {
      runs.push_back({source, 0, 1});
    }
    last = source;
  }
  return runs;
}

static Operand paddedByValue(Emit &e, const Operand &x, int64_t axis, int64_t before, int64_t behind,
                             const Operand &value) {
  SmallVector<Operand> parts;
  auto block = [&](int64_t count) {
    Sizes sizes = x.sizes();
    sizes[axis] = Size(count);
    if (count)
      parts.push_back(e.broadcast(value, sizes));
  };
  block(before);
  parts.push_back(x);
  block(behind);
  return e.concat(parts, axis);
}

static Operand paddedByItself(Emit &e, const Operand &x, int64_t axis, int64_t before, int64_t behind, StringRef mode) {
  int64_t length = x.sizes()[axis].getFixed(), padded = before + length + behind;
  // Of runs places are walked over; else they are listed and looked up, too, which costs each as much as some elements.
  auto spends = [&](int64_t cost) {
    bool fits = length > 0 && padded <= e.budget / cost;
    if (fits)
      e.budget -= cost * padded;
    else
      e.malformed("an axis of length " + Twine(length) + " padded to " + Twine(padded) + " by its own elements");
    return fits;
  };
  if (!spends(1))
    return Operand();
  if (std::optional<SmallVector<Run>> runs = runsOf(mode, before, length, behind)) {
    SmallVector<Operand> parts;
    for (const Run &run : *runs) {
      Sizes sizes = x.sizes();
      sizes[axis] = Size(run.count);
      parts.push_back(run.step ? e.part(x, axis, run.first, run.count, run.step)
                               : e.broadcast(e.part(x, axis, run.first, 1), sizes));
    }
    return e.concat(parts, axis);
  }
  if (!spends(3))
    return Operand();
  SmallVector<int64_t> sources;
  for (int64_t place = -before; place < length + behind; ++place)
    sources.push_back(sourceOf(mode, place, length));
  return e.gather(x, e.list(sources), axis);
}

void importPad(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  std::string mode = n.stringAttr("mode", "constant");
  if (!x)
    return;
  std::optional<SmallVector<Padding>> pads = paddings(n, x);
  Operand value = e.scalar(n.opset < 11 ? n.floatAttr("value", 0) : 0, x);
  if (n.opset >= 11 && n.has(2))
    value = n.in(2);
  if (!pads)
    return;
  if (mode != "constant" && mode != "edge" && mode != "reflect" && (mode != "wrap" || n.opset < 19)) {
    e.malformed("attribute 'mode' is " + quote(mode));
    return;
  }
  if (value.element() != x.element()) {
    e.malformed("x is " + x.str() + ", and the value " + value.str());
    return;
  }
  value = e.reshape(value, {});
  for (const Padding &pad : *pads) { // a negative one cuts off
    int64_t cut = std::max<int64_t>(-pad.before, 0), before = std::max<int64_t>(pad.before, 0),
            behind = std::max<int64_t>(pad.behind, 0);
    x = e.part(x, pad.axis, cut, x.sizes()[pad.axis].getFixed() - cut - std::max<int64_t>(-pad.behind, 0));
    if (x && before + behind > 0)
      x = mode == "constant" ? paddedByValue(e, x, pad.axis, before, behind, value)
                             : paddedByItself(e, x, pad.axis, before, behind, mode);
    if (!x)
      return;
  }
  n.set(0, x);
}

/// The sizes of an image (batch, channels, height, width) and the attribute 'blocksize'; nothing when they do not fit.
static std::optional<Size> blockOf(Node &n, const Operand &x) {
  int64_t block = n.intAttr("blocksize", 0);
  if (x && x.rank() == 4 && block > 0 && block < (1 << 20))
    return Size(block);
  if (x)
    n.emit.malformed("blocks of " + Twine(block) + " of " + x.str());
  return std::nullopt;
}

/// Channels become blocks of the image. DCR: the block's axes are the outer ones of the channels; CRD: the inner ones.
void importDepthToSpace(Node &n) {
  Operand x = n.in(0);
  std::optional<Size> block = blockOf(n, x);
  std::string mode = n.stringAttr("mode", "DCR");
  if (!block)
    return;
  Sizes s = x.sizes();
  std::optional<Size> channels = s[1].dividedBy(*block->times(*block)), h = s[2].times(*block), w = s[3].times(*block);
  if (!channels || !h || !w || (mode != "DCR" && mode != "CRD")) {
    n.emit.malformed("blocks of " + block->str() + " of " + x.str() + ", mode " + quote(mode));
    return;
  }
  bool outer = mode == "DCR";
  Operand apart = n.emit.reshape(x, outer ? Sizes{s[0], *block, *block, *channels, s[2], s[3]}
                                          : Sizes{s[0], *channels, *block, *block, s[2], s[3]});
  SmallVector<int64_t> permutation =
      outer ? SmallVector<int64_t>{0, 3, 4, 1, 5, 2} : SmallVector<int64_t>{0, 1, 4, 2, 5, 3};
  if (apart)
    n.set(0, n.emit.reshape(n.emit.transpose(apart, permutation), {s[0], *channels, *h, *w}));
}

/// Blocks of the image become channels. DCR: the outer ones; CRD: the inner ones.
void importSpaceToDepth(Node &n) {
  Operand x = n.in(0);
  std::optional<Size> block = blockOf(n, x);
  std::string mode = n.opset >= 28 ? n.stringAttr("mode", "DCR") : "DCR";
  if (!block)
    return;
  Sizes s = x.sizes();
  std::optional<Size> channels = s[1].times(*block->times(*block)), h = s[2].dividedBy(*block),
                      w = s[3].dividedBy(*block);
  if (!channels || !h || !w || (mode != "DCR" && mode != "CRD")) {
    n.emit.malformed("blocks of " + block->str() + " of " + x.str() + ", mode " + quote(mode));
    return;
  }
  SmallVector<int64_t> permutation =
      mode == "DCR" ? SmallVector<int64_t>{0, 3, 5, 1, 2, 4} : SmallVector<int64_t>{0, 1, 3, 5, 2, 4};
  Operand apart = n.emit.reshape(x, {s[0], s[1], *h, *block, *w, *block});
  if (apart)
    n.set(0, n.emit.reshape(n.emit.transpose(apart, permutation), {s[0], *channels, *h, *w}));
}

} // namespace tutti
