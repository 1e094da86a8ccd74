// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family: a tile of rows times a weight in panels, over the skeleton contract.cuh.
#include "Text.h"
#include "passes/analysis/Numerics.h"

#include "Layout.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

static bool dependsOn(Value value, Value other) {
  if (value == other)
    return true;
  auto map = value.getDefiningOp<MapOp>();
  return map && llvm::any_of(map.getInputs(), [&](Value input) { return dependsOn(input, other); });
}

std::string emitContraction(KernelText &k, const Step &step) {
  ContractOp op = step.contraction;
  Value left = op.getLhs();
  int64_t K = k.typeOf(left).getShape().back(), N = op.getType().getShape().back();
  const Place &place = k.steps.places.find(left)->second;
  std::string stride = std::to_string(place.kind == Place::scratch ? place.stride : K), rowsOf = "t." + k.view(left);
  if (place.kind != Place::scratch) {
    std::string row = "t.firstRow";
    if (RowForm::of(k.typeOf(left)).lifted)
      row = "t.member * totalRows + " + row;
    rowsOf = formatv("{0}.slice(({1}) * {2}, int64_t(t.rows) * {2})", rowsOf, row, K).str();
  }

  std::string lines;
  std::vector<std::string> dims = k.space(lines);
  std::map<std::pair<void *, std::string>, std::string> known;
  // A map of the sums is computed from them; everything else is read.
  std::function<std::string(Value, AffineMap)> read = [&](Value value, AffineMap access) -> std::string {
    if (value == op.getResult())
      return "sum";
    auto map = value.getDefiningOp<MapOp>();
    if (!map || !dependsOn(value, op.getResult()))
      return "t." + k.at(value, k.text(access, dims));
    std::string &name = known[{value.getAsOpaquePointer(), k.text(access, dims)}];
    if (name.empty()) {
      std::string value_ =
          k.call(map, [&](unsigned i) { return read(map.getInputs()[i], operandAccess(map, i, access)); });
      name = "v" + std::to_string(k.numberOf(value)) + (known.size() > 1 ? "_" + std::to_string(known.size()) : "");
      lines += formatv("    const {0} {1} = {2};\n", k.elementOf(value), name, value_).str();
    }
    return name;
  };
  std::string stores;
  for (Value value : step.stores) {
    std::string data = read(value, k.own(value));
    stores += "    " + k.store(value, data, dims);
  }
  std::string all = formatv("  // {0} x {1}\n  const Rows left{2}{{{3}, {4}};\n  const auto store{2} = [&](int row, "
                            "int column, float sum) {{\n{5}{6}  };\n",
                            K, N, k.numberOf(op.getResult()), rowsOf, stride, lines, stores)
                        .str();
  std::vector<rt::PanelBlock> blocks = rt::planPanels(K, N);
  for (size_t i = 0; i < blocks.size();) {
    const rt::PanelBlock &first = blocks[i];
    size_t next = i + 1;
    int64_t columns = first.cols;
    for (; next < blocks.size() && !first.lanes && !blocks[next].lanes && blocks[next].width == first.width; ++next)
      columns += blocks[next].cols;
    std::string shape = first.lanes ? formatv("multiplyLanes<{0}, {1}>", K, first.cols).str()
                                    : formatv("multiplyPanels<{0}, {1}, {2}>", K, first.width, numericsChunk(op)).str();
    all += formatv("  {0}(t.rows, left{1}, t.{2}, {3}, {4}, {5}store{1});\n", shape, k.numberOf(op.getResult()),
                   k.view(op.getRhs()), first.offset, first.col, first.lanes ? "" : std::to_string(columns) + ", ")
               .str();
    i = next;
  }
  return all;
}

} // namespace tutti
