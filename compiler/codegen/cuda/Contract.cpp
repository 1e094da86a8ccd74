// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family: a tile of rows times a weight, over the skeletons contract.cuh (fma, weights in panels) and
// tensor.cuh (tensor cores, weights in fragments that come through a ring).
#include "Text.h"
#include "passes/analysis/Numerics.h"

#include "Layout.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

static bool dependsOn(Value value, Value other) {
  if (value == other)
    return true;
  auto map = value.getDefiningOp<MapOp>();
  return map && llvm::any_of(map.getInputs(), [&](Value input) { return dependsOn(input, other); });
}

Contraction::Contraction(ContractOp op)
    : op(op), K(KernelText::typeOf(op.getLhs()).getShape().back()), N(op.getType().getShape().back()),
      math(llvm::StringSwitch<StringRef>(numericsProduct(op))
               .Case("tf32x3", "Tf32x3")
               .Case("tf32", "Tf32")
               .Case("bf16", "Bf16")
               .Case("f16", "F16")
               .Default("")) {}

bool Contraction::streamsRows(const Steps &steps) {
  return onTensorCores() && steps.places.find(op.getLhs())->second.kind == Place::argument;
}

int64_t Contraction::wordBytes() const { return math == "Bf16" || math == "F16" ? 2 : 4; }

int64_t Contraction::panels() const {
  int64_t tiles = llvm::divideCeil(N, 8);
  return tiles / 4 + tiles % 4 / 2 + tiles % 2;
}

int64_t Contraction::stages(const CudaGeometry &g) const {
  return llvm::divideCeil(panels(), g.warpColumns * g.cluster) * llvm::divideCeil(K, 32 * g.slices);
}

int64_t blocksThatRead(Value value, const CudaGeometry &geometry) {
  int64_t most = 1;
  for (OpOperand &use : value.getUses()) {
    auto op = dyn_cast<ContractOp>(use.getOwner());
    if (!op || use.getOperandNumber() != 0 || numericsRule(op) != "panels" || !Contraction(op).onTensorCores())
      return geometry.cluster; // what all blocks compute for themselves
    most = std::max(most, Contraction(op).panels());
  }
  return std::min<int64_t>(most, geometry.cluster);
}

/// The function that takes sums on: computes what is stored of them, and stores it.
static std::string storeFunction(KernelText &k, const Step &step) {
  ContractOp op = step.contraction;
  bool tensor = Contraction(op).onTensorCores(), cluster = k.geometry.cluster > 1;
  std::string makes, stores, place;
  std::vector<std::string> outer = k.space(place);
  bool toMemory = false;
  for (Value stored : step.stores) {
    std::string own, lines;
    std::vector<std::string> dims = k.space(own);
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
        std::string made =
            k.call(map, [&](unsigned i) { return read(map.getInputs()[i], operandAccess(map, i, access)); });
        name = "v" + std::to_string(k.numberOf(value)) + (known.size() > 1 ? "_" + std::to_string(known.size()) : "");
        lines += formatv("    const {0} {1} = {2};\n", k.elementOf(value), name, made).str();
      }
      return name;
    };
    unsigned number = k.numberOf(stored);
    std::string data = read(stored, k.own(stored));
    lines += "    return " + data + ";\n";
    bool readsRow = llvm::any_of(ArrayRef(dims).drop_front().drop_back(),
                                 [&](const std::string &row) { return llvm::StringRef(lines).contains(row); });
    makes += formatv("  const auto make{0} = [&](int row, int column, float sum) {{\n{1}{2}  };\n", number,
                     readsRow ? own : "", lines)
                 .str();
    // Rows of an output are aligned if they are multiples of 16 bytes.
    const Place &where = k.steps.places.find(stored)->second;
    bool inScratch = where.kind == Place::scratch,
         aligned = inScratch ? where.stride % 16 == 0 : k.typeOf(stored).getShape().back() % 4 == 0;
    toMemory |= !inScratch;
    std::string function = cluster && tensor && inScratch
                               ? formatv("giveAll<{0}>", blocksThatRead(stored, k.geometry)).str()
                               : formatv("storeNeighbours<{0}>", aligned).str();
    stores += formatv("    {0}{1}(t.{2}, {3}, sums, [&](int i) {{ return make{4}(row, column + i, sums.sum[i]); });\n",
                      cluster && !tensor && !inScratch ? "if (BlockTile::rank() == 0)\n      " : "", function,
                      k.view(stored), k.placeOf(stored, outer), number)
                  .str();
  }
  return makes + formatv("  const auto store{0} = [&](int row, int column, const auto &sums) {{\n{1}{2}  };\n",
                         k.numberOf(op.getResult()), toMemory ? place : "", stores)
                     .str();
}

/// The left operand, in memory or coming through the ring.
static std::string leftOperand(KernelText &k, Contraction c) {
  Value left = c.op.getLhs();
  const Place &place = k.steps.places.find(left)->second;
  unsigned number = k.numberOf(c.op.getResult());
  if (place.kind == Place::scratch)
    return formatv("  const {0}<{1}, {2}, Shared<{3}>> left{4}{{t.{5}};\n",
                   place.narrow.empty() ? "Rows" : "NarrowRows", c.K, place.stride,
                   place.narrow.empty()     ? "float"
                   : place.narrow == "bf16" ? "__nv_bfloat16"
                                            : "__half",
                   number, k.view(left));
  std::string row = "t.firstRow", view = k.view(left);
  if (RowForm::of(k.typeOf(left)).lifted && !k.isTable(left))
    row = "t.member * totalRows + " + row;
  std::string type = place.kind == Place::argument ? "Global<const float>" : "Global<float>";
  type = c.streamsRows(k.steps) && k.geometry.warpRows
             ? formatv("StreamedRows<{0}, {1}, {2}, {3}>", c.K, k.geometry.rows, 32 * k.geometry.slices, type).str()
             : formatv("Rows<{0}, {0}, {1}>", c.K, type).str();
  return formatv("  const {0} left{1}{{t.{2}.slice(({3}) * {4}, int64_t(t.rows) * {4})};\n", type, number, view, row,
                 c.K);
}

/// One call for each run of equal blocks of the weight.
static std::string panelCalls(KernelText &k, Contraction c) {
  std::string all;
  std::vector<rt::PanelBlock> blocks = rt::planPanels(c.K, c.N);
  for (size_t i = 0; i < blocks.size();) {
    const rt::PanelBlock &first = blocks[i];
    size_t next = i + 1;
    int64_t columns = first.cols;
    for (; next < blocks.size() && !first.lanes && !blocks[next].lanes && blocks[next].width == first.width; ++next)
      columns += blocks[next].cols;
    std::string shape = first.lanes
                            ? formatv("multiplyLanes<{0}, {1}>", c.K, first.cols).str()
                            : formatv("multiplyPanels<{0}, {1}, {2}>", c.K, first.width, numericsChunk(c.op)).str();
    all += formatv("  {0}(t.rows, left{1}, t.{2}, {3}, {4}, {5}store{1});\n", shape, k.numberOf(c.op.getResult()),
                   k.view(c.op.getRhs()), first.offset, first.col, first.lanes ? "" : std::to_string(columns) + ", ")
               .str();
    i = next;
  }
  return all;
}

std::string emitRing(KernelText &k) {
  if (!k.geometry.warpRows) // an architecture without these products: no ring
    return "";
  std::string lefts, cases;
  int64_t stages = 0;
  for (const Step &step : k.steps.steps) {
    if (!step.contraction || !Contraction(step.contraction).onTensorCores())
      continue;
    Contraction c(step.contraction);
    lefts += leftOperand(k, c);
    int64_t own = c.stages(k.geometry);
    cases += formatv("    if (n < {0})\n      return visit(n{1}, Product{2}(), left{2}, t.{3});\n", stages + own,
                     stages ? " - " + std::to_string(stages) : "", k.numberOf(c.op.getResult()), k.view(c.op.getRhs()))
                 .str();
    stages += own;
  }
  const CudaGeometry &g = k.geometry;
  if (!stages)
    return "";
  return formatv(
      "{0}  // What the stages of the ring hold, from the first contraction to the last.\n  const auto stageOf = "
      "[&](int n, auto visit) {{\n{1}  };\n  {2}Ring<BlockTile, {3}, {4}, {5}, decltype(stageOf)> ring({6}, "
      "t.rows, stageOf);\n",
      lefts, cases, g.bulkCopies ? "Bulk" : "Async", g.stages, g.stageBytes, g.ringOffset, stages);
}

std::string emitProducts(KernelText &k) {
  std::string all;
  for (const Step &step : k.steps.steps)
    if (step.contraction && Contraction(step.contraction).onTensorCores()) {
      Contraction c(step.contraction);
      all +=
          formatv("using Product{0} = Product<{1}, {2}, {3}>;\n", k.numberOf(c.op.getResult()), c.math, c.K, c.N).str();
    }
  if (!all.empty() && k.geometry.warpRows)
    all += formatv("using BlockTile = Tile<{0}, {1}, {2}, {3}, {4}>;\n", k.geometry.rowTiles, k.geometry.warpRows,
                   k.geometry.warpColumns, k.geometry.slices, k.geometry.cluster);
  return all;
}

std::string emitContraction(KernelText &k, const Step &step) {
  Contraction c(step.contraction);
  unsigned number = k.numberOf(c.op.getResult());
  std::string all = formatv("  // {0} x {1}\n", c.K, c.N);
  if (!c.onTensorCores())
    return all + leftOperand(k, c) + storeFunction(k, step) + panelCalls(k, c);
  if (!k.geometry.warpRows)
    return all + leftOperand(k, c) + storeFunction(k, step) +
           formatv("  multiplyPlain<Product{0}>(t.rows, left{0}, t.{1}, store{0});\n", number, k.view(c.op.getRhs()))
               .str();
  return all + storeFunction(k, step) +
         formatv("  multiply<Product{0}, BlockTile{1}>(t.rows, ring, left{0}, store{0});\n", number,
                 k.geometry.slices > 1 ? ", " + std::to_string(k.geometry.exchangeOffset) : "")
             .str();
}

} // namespace tutti
