// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layers of a ring in numbers, and the ring: what it brings, and where (ring.cuh, bulk_ring.cuh), or what slices
// have in its place (slices.cuh).
#include "Common.h"
#include "Layers.h"

#include "llvm/ADT/MapVector.h"

#include <numeric>
#include <set>

using namespace mlir;
using llvm::formatv;

namespace tutti {

std::string globalRows(KernelText &k, Contraction c) {
  Value left = c.op.getLhs();
  std::string row = "int64_t(t.firstRow)", view = k.view(left); // rows are counted in 31 bits, elements are not
  if (RowForm::of(typeOf(left)).lifted && !k.isTable(left))
    row = "(t.member * totalRows + t.firstRow)";
  return formatv("t.{0}.slice({1} * {2}, int64_t(t.rows) * {2})", view, row, numberText(c.K));
}

/// The statements of each layer, which return; layers with equal statements share them.
static std::string chosen(ArrayRef<std::string> texts) {
  std::string all;
  LayerNumbers left = layersFrom(0, texts.size());
  while (!left.empty()) {
    const std::string &text = texts[left.front()];
    auto [some, others] = parted(left, [&](size_t n) { return texts[n] == text; });
    bool isOne = llvm::count(text, '\n') == 1;
    std::string head = others.empty() ? "" : "if (" + conditionOf(some, left) + ")";
    if (isOne)
      all += (head.empty() ? "" : "    " + head + "\n  ") + indented(text);
    else
      all += "    " + head + (head.empty() ? "{\n" : " {\n") + indented(indented(text)) + "    }\n";
    left = std::move(others);
  }
  return all;
}

bool hasAllRows(ArrayRef<Ending> endings, Value rows) {
  return llvm::any_of(endings, [&](const Ending &ending) {
    return llvm::any_of(ending.targets,
                        [&](const Ending::Target &target) { return target.value == rows && target.hasAllRows; });
  });
}

StringRef textOf(Lefts kind) {
  switch (kind) {
  case Lefts::floats:
    return "floats";
  case Lefts::halves:
    return "halves";
  case Lefts::inGlobal:
    return "inGlobal";
  case Lefts::ofInput:
    return "ofInput";
  }
  llvm_unreachable("unknown kind of place");
}

Lefts kindOfRows(KernelText &k, Contraction c) {
  const Place &place = k.steps.placeOf(c.op.getLhs());
  return c.readsInput(k.steps, k.geometry)                 ? Lefts::ofInput
         : place.kind == Place::result                     ? Lefts::inGlobal
         : place.narrow || c.isCopied(k.steps, k.geometry) ? Lefts::halves
                                                           : Lefts::floats;
}

/// The text that says where a layer's rows lie.
static std::string rowsText(KernelText &k, Contraction c, ArrayRef<Ending> endings) {
  const CudaGeometry &g = k.geometry;
  const Place &place = k.steps.placeOf(c.op.getLhs());
  Lefts kind = kindOfRows(k, c);
  if (c.isCopied(k.steps, k.geometry))
    return formatv("{0}, {1}, {2}", textOf(kind), numberText(g.copyOffset), numberText(c.copiedStride(g)));
  if (kind == Lefts::ofInput || kind == Lefts::inGlobal)
    return globalRows(k, c);
  return formatv("{0}, {1}, {2}{3}", textOf(kind), numberText(place.offset * g.rows), numberText(place.stride),
                 g.warps.wide && hasAllRows(endings, c.op.getLhs()) ? ", true" : "");
}

/// The sizes and weights of the layers as functions of n, the layer's number. The ring brings `vectors` for some
/// layers.
static std::string layersInNumbers(KernelText &k, ArrayRef<Contraction> layers, ArrayRef<Ending> endings,
                                   ArrayRef<std::string> vectors) {
  auto layerText = [&](KernelText &names, size_t n) {
    Contraction c = layers[n];
    std::string with = vectors[n].empty() ? "" : ".with(" + vectors[n] + ")";
    return formatv("  return layerOfProduct({0}, {1}, t.{2}, {3}){4};\n", numberText(c.K), numberText(c.N),
                   names.view(c.op.getRhs()), rowsText(names, c, endings), with)
        .str();
  };
  std::vector<std::string> texts(layers.size());
  // Layers with one weight are steps of a recurrent network. If there are only a few other layers, branches distinguish
  // them as well.
  constexpr size_t manyLayers = 8;
  llvm::MapVector<Value, LayerNumbers> byWeight;
  for (auto [n, c] : llvm::enumerate(llvm::to_vector(layers))) {
    if (vectors[n].empty())
      byWeight[layers.size() < manyLayers ? c.op.getRhs() : Value()].push_back(n);
    else
      texts[n] = layerText(k, n);
  }
  for (const auto &[weight, own] : byWeight) {
    std::vector<ScopedText> scoped;
    for (size_t n : own) {
      auto scope = std::make_shared<KernelText>(k.scope());
      scoped.push_back({scope, layerText(*scope, n)});
    }
    for (auto [n, common] : llvm::zip_equal(own, commonTexts(k, own, scoped, /*sameAreOne=*/false)))
      texts[n] = common.empty() ? layerText(k, n) : common;
  }
  return chosen(texts);
}

std::string emitRing(KernelText &k, ArrayRef<Contraction> layers, ArrayRef<Ending> endings,
                     ArrayRef<std::string> vectors) {
  const CudaGeometry &g = k.geometry;
  std::set<Lefts> lefts;
  int64_t widths = 0, unit = 32, rowUnit = 4;
  bool streams = false;
  for (Contraction c : layers) {
    lefts.insert(kindOfRows(k, c));
    int64_t tiles = llvm::divideCeil(c.N, 8);
    widths |= (tiles >= 4 ? 4 : 0) | tiles % 4;
    unit = std::min<int64_t>(unit, c.K % 32 == 0 ? 32 : c.K % 16 == 0 ? 16 : c.K % 4 == 0 ? 4 : 1);
    streams |= c.streamsRows(k.steps, g);
    if (c.readsInput(k.steps, g))
      rowUnit = std::gcd(rowUnit, c.K);
  }
  std::string more = g.warps.slices > 1 ? formatv(", {0}, {1}", g.exchange.offset, g.exchange.stages).str()
                     : g.warps.wide     ? formatv(", {0}, 0, WideProducts", g.exchange.offset).str()
                                        : "";
  std::string ring = "SliceWords<Contractions, decltype(layerOf)>";
  if (g.ring)
    ring = formatv("{0}Ring<{1}, BlockTile, {2}, {3}, {4}, {5}, {6}, decltype(layerOf)>",
                   g.ring.bulkCopies ? "Bulk" : "Async", layers.front().math(), g.ring.stages, g.ring.stageBytes,
                   g.ring.offset,
                   g.ring.bulkCopies ? formatv("{0}, {1}, {2}, {3}", WeightRing::barrierBytes, streams ? rowUnit : 0,
                                               g.ring.producerWarps, g.ring.columnPlaces)
                                           .str()
                                     : std::to_string(rowUnit),
                   g.persistent ? "Members" : "OneMember")
               .str();
  return formatv("  using Contractions = Layers<{0}, BlockTile, {1}, {2}, {3}{4}>;\n"
                 "  const auto layerOf = [&]{5} {{\n{6}  };\n"
                 "  {7} ring({8}, {9}, rows, layerOf);\n{10}",
                 layers.front().math(),
                 llvm::join(llvm::map_range(lefts, [](Lefts kind) { return textOf(kind); }), " | "), widths, unit, more,
                 g.persistent ? "(int m, int n)" : "(int, int n)",
                 (g.persistent ? "    const Task t(p, m, int(firstRow), rows);\n" : "") +
                     layersInNumbers(k, layers, endings, vectors),
                 ring, g.persistent ? "members" : "OneMember()", layers.size(),
                 g.ring.producerWarps ? "  if (ring.isProducer())\n    return ring.produce();\n" : "");
}

std::string emitHandovers(KernelText &k, ArrayRef<Ending> endings) {
  std::vector<std::string> bytes;
  for (const Ending &ending : endings)
    bytes.push_back(ending.handsOver() ? ending.handedBytes : "0");
  if (llvm::all_of(bytes, [](const std::string &of) { return of == "0"; }))
    return "";
  return formatv("  const Handovers<{0}, {1}> handovers([&](int n) {{ return rows * ({2}); });\n", bytes.size(),
                 k.geometry.exchange.handovers, chosenOf(layersFrom(0, bytes.size()), bytes));
}

} // namespace tutti
