// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ops that repeat elements or exchange channels and space.
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
    if (std::optional<Emit::SizePair> apart = n.emit.meet(mine, *wanted))
      n.emit.misfit(apart->first, apart->second, "shapes " + str(mine) + " and " + str(*wanted), "broadcast");
    return;
  }
  n.set(0, n.emit.broadcast(x, *sizes));
}

/// Repeats each axis: an axis of repeats in front of it is merged with it.
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

/// The attribute 'blocksize' for an image (batch, channels, height, width); nothing if they do not fit.
static std::optional<Size> blockOf(Node &n, const Operand &x) {
  int64_t block = n.intAttr("blocksize", 0);
  if (x && x.rank() == 4 && block > 0 && block < (1 << 20))
    return Size(block);
  if (x)
    n.emit.malformed("blocks of " + Twine(block) + " of " + x.str());
  return std::nullopt;
}

/// Turns channels into blocks of the image. DCR: the block's axes are the outer ones of the channels; CRD: the inner
/// ones.
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

/// Turns blocks of the image into channels. DCR: they become the outer axes of the channels; CRD: the inner ones.
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
