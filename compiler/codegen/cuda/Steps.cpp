// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a kernel's steps: those on tensor cores are one loop (Layers.h), the others stand before one of its
// layers or behind them all.
#include "Common.h"
#include "Waits.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// The text of steps outside of the ring: one step, or layers that are alike with a barrier between them.
static std::string emitOther(KernelText &k, ArrayRef<Step> steps, Meet within) {
  const Step &step = steps.front();
  if (!step.contraction)
    return emitRows(k, step);
  if (isPanels(step.contraction))
    return emitContractions(k, steps, indented(textOf(within)));
  return formatv("  {{ // {0}\n{1}  }\n", ContractOp(step.contraction).getSpec(), indented(emitProduct(k, step)));
}

/// Steps behind a layer of the ring, or before the first one, that are one piece of text.
struct Behind {
  ArrayRef<Step> steps;
  std::string wait; ///< before them
  Meet within;      ///< between them
};

/// The endings of layers; layers that are alike share their code.
static std::vector<Ending> endingsOf(KernelText &k, ArrayRef<const Step *> layers, ArrayRef<bool> handOver) {
  std::vector<Ending> endings;
  std::vector<ScopedText> scoped;
  for (auto [step, hands] : llvm::zip_equal(layers, handOver)) {
    auto scope = std::make_shared<KernelText>(k.scope());
    endings.emplace_back(k, *scope, *step, hands);
    scoped.push_back({scope, endings.back().code});
  }
  std::vector<std::string> common = commonTexts(k, layersFrom(0, layers.size()), scoped, /*sameAreOne=*/true);
  for (size_t n = 0; n < layers.size(); ++n) {
    if (common[n].empty())
      endings[n] = Ending(k, *layers[n], handOver[n]);
    else
      endings[n].code = common[n], endings[n].isOfStep = true;
  }
  return endings;
}

/// The texts of all steps outside of the ring. The i-th steps behind each layer share one text if they are alike.
static void emitOthers(KernelText &k, ArrayRef<std::vector<Behind>> all, std::vector<Others> &others) {
  size_t most = 0;
  for (const std::vector<Behind> &steps : all)
    most = std::max(most, steps.size());
  for (size_t i = 0; i < most; ++i) {
    LayerNumbers layers;
    std::vector<ScopedText> scoped;
    for (size_t n = 1; n < all.size(); ++n)
      if (i < all[n].size() && all[n][i].steps.size() == 1) { // what is a loop of its own has another n
        auto scope = std::make_shared<KernelText>(k.scope());
        layers.push_back(n - 1);
        scoped.push_back({scope, emitOther(*scope, all[n][i].steps, Meet::nobody)});
      }
    std::vector<std::string> common = commonTexts(k, layers, scoped, /*sameAreOne=*/false);
    for (size_t n = 0; n < all.size(); ++n) {
      if (i >= all[n].size())
        continue;
      auto place = n == 0 ? layers.end() : llvm::find(layers, n - 1);
      std::string text = place == layers.end() ? "" : common[place - layers.begin()];
      const Behind &behind = all[n][i];
      if (text.empty())
        text = (n > 0 && k.looksUpEachLayer() ? "  const Task t(p, member, int(firstRow), rows); // its own addresses\n"
                                              : "") +
               emitOther(k, behind.steps, behind.within);
      others[n].steps.push_back(indented(behind.wait) + text);
    }
  }
}

BlockText emitSteps(KernelText &k) {
  const CudaGeometry &g = k.geometry;
  // Other steps run before the loop over contractions on tensor cores, or behind one of its layers.
  std::vector<Contraction> layers;
  std::vector<const Step *> ofRing;
  SmallVector<bool> handOver;
  std::vector<Others> others(1);
  std::vector<std::vector<Behind>> behind(1);
  std::string wait; // before the next step
  auto isOfRing = [&](const Step &step) { return g.warps.rows && isOnTensorCores(step); };
  for (ArrayRef<Step> rest = k.steps.steps; !rest.empty();) {
    if (isOfRing(rest.front())) {
      layers.emplace_back(rest.front().contraction);
      ofRing.push_back(&rest.front());
      handOver.push_back(handsOver(rest.front(), rest.size() > 1 ? &rest[1] : nullptr, k.steps, g));
      others.emplace_back();
      behind.emplace_back();
      ArrayRef<Step> next = rest.drop_front().take_until(isOfRing);
      wait = waitBehindLayer(rest.front(), handOver.back(), next, k.steps, g);
      rest = rest.drop_front();
      continue;
    }
    size_t alike = 1;
    while (alike < rest.size() && !isOfRing(rest[alike]) && areAlike(k, rest.front(), rest[alike]))
      ++alike;
    ArrayRef<Step> steps = rest.take_front(alike);
    Meet meet = meetBehind(steps, k.steps, g);
    behind.back().push_back({steps, wait, meet});
    others.back().inScratch &= llvm::all_of(steps, [&](const Step &step) { return storesInScratch(step, k.steps); });
    wait = textOf(meet);
    rest = rest.drop_front(alike);
  }
  std::vector<Ending> endings = endingsOf(k, ofRing, handOver);
  emitOthers(k, behind, others);
  if (layers.empty())
    return {"", llvm::join(others.front().steps, "")};
  return emitLayers(k, layers, endings, std::move(others));
}

} // namespace tutti
