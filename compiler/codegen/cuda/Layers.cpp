// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family on tensor cores, over the skeletons tensor.cuh and warpgroup.cuh, with weights in core matrices
// that come through a ring (ring.cuh, bulk_ring.cuh), or to slices without one (slices.cuh).
#include "Layers.h"
#include "Waits.h"

#include "runtime/schema/Layout.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// Rows of an input as 16-bit floats, where the geometry has room for them. Those that all members have in common are
/// copied once.
struct Copy {
  std::string text;
  bool once = false;
};
static Copy copyOf(KernelText &k, ArrayRef<Contraction> layers) {
  for (Contraction c : layers) {
    if (!c.isCopied(k.steps, k.geometry))
      continue;
    Copy copy;
    copy.once = k.geometry.persistent && !RowForm::of(typeOf(c.op.getLhs())).lifted;
    int64_t stride = c.copiedStride(k.geometry);
    Contraction::Narrowing how = c.narrowing(k.geometry);
    copy.text = formatv("  {7}<{0}, {1}, {6}>(shared<{2}>({3}, {4}), t.rows, {5});\n", c.K, stride,
                        c.product == NumericsProduct::bf16 ? "__nv_bfloat16" : "__half",
                        numberText(k.geometry.copyOffset), numberText(stride * k.geometry.rows), globalRows(k, c),
                        how.atOnce, how.longRows ? "narrowLongRows" : "narrowRows")
                    .str();
    if (copy.once)
      copy.text = "  {\n    const Task t(p, members.first, int(firstRow), rows);\n" + indented(copy.text) + "  }\n";
    return copy;
  }
  return {};
}

/// The zeros behind the last column of 16-bit rows that a layer leaves to the next one. N is 0 for layers without such
/// rows.
static std::string zerosOfEndings(ArrayRef<Ending> endings, int64_t rows) {
  std::string all;
  LayerNumbers layers = layersFrom(0, endings.size());
  size_t most = 0;
  for (const Ending &e : endings)
    most = std::max(most, e.targets.size());
  for (size_t j = 0; j < most; ++j) {
    std::vector<Ending::Target> targets;
    std::vector<std::string> columns, strides;
    const Ending::Target *any = nullptr;
    auto needsZeros = [&](const Ending &e) { return j < e.targets.size() && e.targets[j].isNarrow && e.N % 16 != 0; };
    for (const Ending &e : endings)
      if (needsZeros(e))
        any = &e.targets[j];
    if (!any)
      continue;
    for (const Ending &e : endings) {
      targets.push_back(needsZeros(e) ? e.targets[j] : *any);
      columns.push_back(numberText(needsZeros(e) ? e.N : 0));
      strides.push_back(numberText(targets.back().stride));
    }
    all += formatv("    zeroBeyondOwn<BlockTile>({0}, {1}, {2});\n", chosenView(layers, targets, rows),
                   chosenOf(layers, columns), chosenOf(layers, strides))
               .str();
  }
  return all;
}

/// The call that stores the sums of these layers (device/ending.cuh). For warpgroups it says how many panels are
/// unrolled, and at which places of a pass partial panels occur.
static std::string storing(KernelText &k, ArrayRef<Ending> endings) {
  std::string how;
  if (k.geometry.warps.wide) {
    constexpr int64_t shortEnding = 48, ofLongEnding = 4; // more would be too much code
    int64_t most = k.geometry.warps.panels, longest = 0;
    unsigned rests = 0;
    for (const Ending &ending : endings) {
      longest = std::max(longest, ending.length);
      for (int64_t panel = ending.N / rt::panelColumns(); panel < ending.panels; ++panel)
        rests |= 1u << panel % most;
    }
    how = formatv(", {0}, {1:x}", longest <= shortEnding ? most : std::min(most, ofLongEnding), rests);
  }
  return "  storeSums<Contractions" + how + ">(sums, layer, pass, ahead, store);\n";
}

/// The text that runs per layer, for the first `count` layers: each distinct piece stands once, under a condition on
/// the layers that have it.
static std::string byLayer(ArrayRef<std::string> texts, size_t count, StringRef indent) {
  std::string all;
  LayerNumbers layers = layersFrom(0, count), left = layers;
  auto textOf = [&](size_t n) { return n < texts.size() ? StringRef(texts[n]) : ""; };
  bool haveAll = llvm::all_of(layers, [&](size_t n) { return !textOf(n).empty(); });
  while (!left.empty()) {
    StringRef text = textOf(left.front());
    auto [some, others] = parted(left, [&](size_t n) { return textOf(n) == text; });
    std::string condition = conditionOf(some, haveAll ? left : layers), head;
    if (!condition.empty())
      head = "if (" + condition + ") ";
    if (haveAll && some.front() > 0)
      head = "else " + head;
    if (!text.empty())
      all += head.empty() ? text.str() : head + "{\n" + indented(text) + "}\n";
    left = std::move(others);
  }
  std::string placed;
  for (StringRef line : llvm::split(StringRef(all).rtrim('\n'), '\n'))
    if (!line.empty())
      placed += (indent + line + "\n").str();
  return placed;
}

/// The steps that follow each layer, as text: layers with equal steps share one piece.
static std::string othersText(ArrayRef<Others> behind) {
  LayerNumbers layers = layersFrom(0, behind.size());
  size_t most = 0;
  for (const Others &others : behind)
    most = std::max(most, others.steps.size());
  std::string all;
  for (size_t i = 0; i < most; ++i) {
    std::vector<std::pair<StringRef, LayerNumbers>> texts;
    for (size_t n : layers)
      if (i < behind[n].steps.size()) {
        StringRef text = behind[n].steps[i];
        auto known = llvm::find_if(texts, [&](const auto &each) { return each.first == text; });
        if (known == texts.end())
          known = texts.insert(known, {text, {}});
        known->second.push_back(n);
      }
    for (const auto &[text, some] : texts) {
      std::string condition = conditionOf(some, layers);
      all +=
          formatv("    {0}{{\n{1}    }\n", condition.empty() ? "" : "if (" + condition + ") ", indented(indented(text)))
              .str();
    }
  }
  return all;
}

/// A run of neighbouring layers whose endings read values of the same names.
struct EndingGroup {
  size_t begin, end;
  EndingText text;
  bool isBrought = false; ///< by the ring: what a column has
};
static std::vector<EndingGroup> groupsOf(KernelText &k, ArrayRef<Ending> endings) {
  std::vector<EndingGroup> groups;
  for (size_t i = 0, end; i < endings.size(); i = end) {
    end = i + 1;
    while (end < endings.size() &&
           llvm::all_of(endings.slice(i, end - i), [&](const Ending &e) { return e.goesWith(endings[end]); }))
      ++end;
    ArrayRef<Ending> own = endings.slice(i, end - i);
    groups.push_back({i, end, endingText(i, own, k.geometry.rows, storing(k, own))});
    groups.back().isBrought = k.geometry.ring.columnPlaces > 0 && !groups.back().text.vectors.empty();
  }
  return groups;
}

/// The text before a pass' products: it reads the values that the endings need of the pass' columns.
static std::string columnsOfGroup(const EndingGroup &group) {
  if (group.isBrought)
    return "  struct Own { float c0; };\n  const auto ahead = broughtBy<Contractions, Own>(ring, layer, pass);\n";
  return group.text.columns + group.text.touch +
         "  const auto ahead = readAhead<Contractions>(layer, pass, columns, touch);\n";
}

/// The one loop over all contractions on tensor cores, their passes and stages, so that the multiplying code exists
/// once. Layers that are alike also share the code of their ending. Other steps run before the first stage, while the
/// ring is filled, or after a layer.
static std::string layerLoop(KernelText &k, ArrayRef<Contraction> layers, ArrayRef<Ending> endings,
                             ArrayRef<EndingGroup> groups, ArrayRef<Others> others) {
  std::string columns, stores;
  for (const EndingGroup &group : groups) {
    std::string text = group.text.store;
    bool all = groups.size() == 1;
    (all ? columns : text).insert(0, columnsOfGroup(group));
    if (!all)
      text = formatv("  {0}{1}{{\n{2}  }\n", group.begin ? "else " : "",
                     group.end < layers.size() ? formatv("if (n < {0}) ", group.end).str() : "", indented(text))
                 .str();
    stores += text;
  }
  LoopWaits waits = waitsOf(k, layers, endings, others);
  auto textsOf = [&](std::string LoopWaits::Layer::*text) {
    return llvm::map_to_vector(waits.layers, [&](const LoopWaits::Layer &layer) { return layer.*text; });
  };
  std::string all = llvm::join(others.front().steps, "") + indented(waits.before);
  all += formatv("#pragma unroll 1\n  for (int n = 0; n < {0}; ++n) {{\n    const Layer layer = layerOf(member, n);\n"
                 "#pragma unroll 1\n    for (int pass = 0; pass < layer.passes<BlockTile>(); ++pass) {{\n"
                 "      const Contractions::Share share = shareOf<Contractions>(layer, pass, {6});\n"
                 "      Contractions::Sums sums;\n      clear<Contractions>(sums);\n"
                 "{1}{2}      multiply<Contractions>(layer, pass, ring, share, sums);\n{3}{4}{5}    }\n",
                 layers.size(), indented(indented(columns)),
                 byLayer(textsOf(&LoopWaits::Layer::begin), layers.size(), "      "),
                 byLayer(textsOf(&LoopWaits::Layer::late), layers.size(), "      "),
                 byLayer(textsOf(&LoopWaits::Layer::handing), layers.size(), "      "), indented(indented(stores)),
                 k.geometry.persistent ? formatv("rowsOfBlock<{0}>(totalRows)", k.geometry.rows).str() : "t.rows");
  all += zerosOfEndings(endings, k.geometry.rows);
  all += othersText(others.drop_front());
  all += byLayer(textsOf(&LoopWaits::Layer::behind), layers.size(), "    ") + "  }\n";
  return all + indented(waits.behind);
}

BlockText emitLayers(KernelText &k, ArrayRef<Contraction> layers, ArrayRef<Ending> endings,
                     std::vector<Others> others) {
  std::vector<EndingGroup> groups = groupsOf(k, endings);
  std::vector<std::string> vectors(layers.size());
  for (const EndingGroup &group : groups)
    if (group.isBrought)
      llvm::copy(group.text.vectors, vectors.begin() + group.begin);
  std::string once = emitHandovers(k, endings) + emitRing(k, layers, endings, vectors) + "  ring.fill();\n";
  Copy copy = copyOf(k, layers);
  if (copy.once)
    once += copy.text + "  taskSync();\n";
  else if (!copy.text.empty())
    others.front().steps.push_back(copy.text);
  return {std::move(once), layerLoop(k, layers, endings, groups, others)};
}

} // namespace tutti
