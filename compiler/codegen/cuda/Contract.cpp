// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family by fma: a tile of rows times a weight in panels, over the skeleton contract.cuh.
#include "Layers.h"
#include "passes/analysis/Numerics.h"

#include "runtime/schema/Layout.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// The left operand as text, for layers that are alike: the first one's.
static std::string leftOperand(KernelText &k, ArrayRef<Contraction> layers) {
  Contraction c = layers.front();
  const Place &place = k.steps.placeOf(c.op.getLhs());
  if (place.kind == Place::scratch) {
    std::vector<std::string> views;
    for (Contraction layer : layers)
      views.push_back("t." + k.view(layer.op.getLhs()));
    return formatv("  const {0}> left{{{1}, {2}};\n",
                   place.narrow ? "NarrowRows<Shared<" + narrowElement(place) + ">" : "Rows<Shared<float>",
                   chosenOf(layersFrom(0, views.size()), views), numberText(place.stride));
  }
  if (c.isCopied(k.steps, k.geometry))
    return formatv("  const auto left = copiedRows<{0}, {1}>(t.rows, {2});\n", c.K, k.geometry.copyOffset,
                   globalRows(k, c));
  return formatv("  const Rows<Global<{0}float>> left{{{1}, {2}};\n", place.kind == Place::argument ? "const " : "",
                 globalRows(k, c), numberText(c.K));
}

/// One call for each run of equal blocks of the weight.
static std::string panelCalls(Contraction c) {
  std::string all;
  Contraction::Walk walk = c.walk();
  std::vector<rt::PanelBlock> blocks = rt::planPanels(c.K, c.N);
  for (size_t i = 0; i < blocks.size();) {
    const rt::PanelBlock &first = blocks[i];
    size_t next = i + 1;
    int64_t columns = first.cols;
    for (; next < blocks.size() && !first.lanes && !blocks[next].lanes && blocks[next].width == first.width; ++next)
      columns += blocks[next].cols;
    bool one = first.width <= 8; // a thread makes one sum
    std::string shape = first.lanes && !c.isSumOfThread()
                            ? formatv("multiplyLanes<{0}>({1}, ", first.cols, numberText(c.K)).str()
                        : first.lanes ? formatv("multiplyTrees<{0}, {1}>(", c.K, first.cols).str()
                        : one         ? formatv("multiplyNarrow<{0}, {1}, {2}>(", c.K, first.width, first.cols).str()
                                      : formatv("multiplyPanels<{0}, {1}, {2}, {3}, {4}>(", c.K, first.width,
                                                numericsChunk(c.op), walk.rowsAtOnce, walk.run)
                                            .str();
    all += formatv("  {0}t.rows, left, weights, {1}, {2}, {3}columns, store);\n", shape, numberText(first.offset),
                   numberText(first.col), first.lanes || one ? "" : numberText(columns) + ", ")
               .str();
    i = next;
  }
  return all;
}

bool areAlike(KernelText &k, const Step &a, const Step &b) {
  auto rowsOf = [&](const Step &step) { return k.steps.placeOf(ContractOp(step.contraction).getLhs()); };
  for (const Step &step : {a, b})
    if (!step.contraction || !isPanels(step.contraction) || rowsOf(step).kind != Place::scratch)
      return false;
  Contraction first(a.contraction), second(b.contraction);
  return first.K == second.K && first.N == second.N && first.product == second.product &&
         rowsOf(a).stride == rowsOf(b).stride && rowsOf(a).narrow == rowsOf(b).narrow &&
         k.isTable(first.op.getRhs()) == k.isTable(second.op.getRhs()) && Ending(k, a).isLike(Ending(k, b));
}

std::string emitContractions(KernelText &k, ArrayRef<Step> steps, StringRef meet) {
  std::vector<Contraction> layers;
  std::vector<Ending> endings;
  std::vector<std::string> weights;
  for (const Step &each : steps) {
    layers.emplace_back(each.contraction);
    endings.emplace_back(k, each);
    weights.push_back("t." + k.view(layers.back().op.getRhs()));
  }
  Contraction c = layers.front();
  EndingText ending = endingText(0, endings, k.geometry.rows, "");
  std::string text = leftOperand(k, layers) +
                     formatv("  const auto weights = {0};\n", chosenOf(layersFrom(0, weights.size()), weights)).str() +
                     ending.columns + ending.store;
  text += c.onTensorCores()
              ? formatv("  multiplyPlain<Product<{0}, {1}, {2}>, {3}>(t.rows, left, weights, columns, store);\n",
                        c.math(), c.K, c.N, c.walk().rowsAtOnce)
                    .str()
              : panelCalls(c);
  if (steps.size() == 1)
    return formatv("  {{ // {0} x {1}\n{2}  }\n", numberText(c.K), numberText(c.N), indented(text));
  return formatv("#pragma unroll 1\n  for (int n = 0; n < {0}; ++n) {{ // {1} x {2}, ...\n"
                 "    if (n > 0) {{\n    {3}    }\n{4}  }\n",
                 steps.size(), numberText(c.K), numberText(c.N), meet, indented(text));
}

} // namespace tutti
