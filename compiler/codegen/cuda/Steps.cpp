// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a kernel's steps: those on tensor cores are one loop (Layers.h), the others stand before one of its
// layers or behind them all; and who waits for whom between them.
#include "Layers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// Steps outside of the ring: one, or layers that are alike.
static std::string emitOther(KernelText &k, ArrayRef<Step> steps, StringRef meet) {
  const Step &step = steps.front();
  if (!step.contraction)
    return emitRows(k, step);
  if (isPanels(step.contraction))
    return emitContractions(k, steps, meet);
  return formatv("  {{ // {0}\n{1}  }\n", ContractOp(step.contraction).getSpec(), indented(emitProduct(k, step)));
}

BlockText emitSteps(KernelText &k) {
  const CudaGeometry &g = k.geometry;
  // Other steps stand before the loop over contractions on tensor cores, or follow one of them.
  std::vector<Contraction> layers;
  std::vector<Ending> endings;
  std::vector<Others> others(1);
  // After steps whose stores other blocks may read, those of the cluster meet.
  auto meetAfter = [&](ArrayRef<Step> steps) {
    bool own = llvm::all_of(steps, [&](const Step &step) { return storesInScratch(step, k.steps); });
    return g.cluster == 1 || own ? "  taskSync();\n" : "  clusterSync();\n";
  };
  std::string meet; // before the next step
  auto isOfRing = [&](const Step &step) { return g.warpRows && isOnTensorCores(step); };
  for (ArrayRef<Step> rest = k.steps.steps; !rest.empty();) {
    if (isOfRing(rest.front())) {
      layers.emplace_back(rest.front().contraction);
      endings.emplace_back(k, rest.front(), handsOver(rest.front(), rest.size() > 1 ? &rest[1] : nullptr, k.steps, g));
      others.emplace_back();
      ArrayRef<Step> next = rest.drop_front().take_until(isOfRing);
      meet = !endings.back().handsOver() ? (g.cluster > 1 ? "  clusterSync();\n" : "  taskSync();\n")
             : storesOver(next, rest.front(), k.steps)
                 ? "  handovers.wait(n);\n  taskSync(); // what warps read is stored over\n"
                 : "  handovers.wait(n);\n";
      rest = rest.drop_front();
      continue;
    }
    size_t alike = 1;
    while (alike < rest.size() && !isOfRing(rest[alike]) && areAlike(k, rest.front(), rest[alike]))
      ++alike;
    ArrayRef<Step> steps = rest.take_front(alike);
    others.back().steps.push_back(meet + emitOther(k, steps, meetAfter(steps)));
    others.back().inScratch &= llvm::all_of(steps, [&](const Step &step) { return storesInScratch(step, k.steps); });
    meet = meetAfter(steps);
    rest = rest.drop_front(alike);
  }
  if (layers.empty())
    return {"", llvm::join(others.front().steps, "")};
  return emitLayers(k, layers, endings, std::move(others));
}

} // namespace tutti
