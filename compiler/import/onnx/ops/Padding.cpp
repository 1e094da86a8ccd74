// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of padding along axes: with a value, with the axis' own elements, or as the margin that convolutions read.
#include "compiler/import/onnx/ops/Windows.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tutti {

/// The paddings: attributes before opset 11, inputs from then on; with axes from opset 18 on.
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
  llvm::sort(all, [](const Padding &a, const Padding &b) { return a.axis < b.axis; }); // in any spelling
  return all;
}

/// Consecutive places of a padded axis whose sources are evenly apart.
struct Run {
  int64_t first, step, count;
};

/// The padded axis as runs; nothing if there are more than are worth an op each.
static std::optional<SmallVector<Run>> runsOf(Outside outside, int64_t before, int64_t length, int64_t behind) {
  SmallVector<Run> runs;
  int64_t last = 0;
  for (int64_t place = -before; place < length + behind; ++place) {
    int64_t source = elementAt(outside, place, length);
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

static Operand paddedByItself(Emit &e, const Operand &x, int64_t axis, int64_t before, int64_t behind,
                              Outside outside) {
  int64_t length = x.sizes()[axis].getFixed(), padded = before + length + behind;
  // Runs only cost a walk over the places. Without runs, places are also listed and looked up, each at the cost of some
  // elements.
  auto spends = [&](int64_t cost) {
    std::string what =
        "an axis of length " + std::to_string(length) + " padded to " + std::to_string(padded) + " by its own elements";
    if (length < 1)
      e.malformed(what);
    else if (padded > e.budget.left() / cost || !e.budget.spend(cost * padded))
      e.unsupported(what);
    return !e.failed();
  };
  if (!spends(1))
    return Operand();
  if (std::optional<SmallVector<Run>> runs = runsOf(outside, before, length, behind)) {
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
    sources.push_back(elementAt(outside, place, length));
  return e.gather(x, e.list(sources), axis);
}

/// The mode that an attribute names; nothing if it is unknown.
static std::optional<Outside> outsideOf(StringRef mode) {
  return llvm::StringSwitch<std::optional<Outside>>(mode)
      .Case("constant", Outside::zero)
      .Case("edge", Outside::edge)
      .Case("reflect", Outside::mirror)
      .Case("wrap", Outside::wrap)
      .Default(std::nullopt);
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
  std::optional<Outside> outside = outsideOf(mode);
  if (!outside) {
    e.malformed("attribute 'mode' is " + quote(mode) + "; expected constant, edge, reflect or wrap");
    return;
  }
  if (value.element() != x.element()) {
    e.malformed("x is " + x.str() + ", and the value " + value.str());
    return;
  }
  value = e.reshape(value, {});
  if (n.isForAlone(0, "Conv") && (*outside != Outside::zero || value.scalarForProgram() == 0.0))
    if (std::optional<Operand> padded = imageWithMargin(n, x, *pads, *outside)) {
      n.set(0, *padded);
      return;
    }
  for (const Padding &pad : *pads) { // a negative one crops
    int64_t cut = std::max<int64_t>(-pad.before, 0), before = std::max<int64_t>(pad.before, 0),
            behind = std::max<int64_t>(pad.behind, 0);
    x = e.part(x, pad.axis, cut, x.sizes()[pad.axis].getFixed() - cut - std::max<int64_t>(-pad.behind, 0));
    if (x && before + behind > 0)
      x = *outside == Outside::zero ? e.padded(x, pad.axis, before, behind, value)
                                    : paddedByItself(e, x, pad.axis, before, behind, *outside);
    if (!x)
      return;
  }
  n.set(0, x);
}

} // namespace tutti
