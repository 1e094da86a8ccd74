// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family: a tile of rows times a weight, over the skeletons contract.cuh (fma, weights in panels) and
// tensor.cuh (tensor cores, weights in fragments that come through a ring).
#include "Text.h"
#include "passes/analysis/Numerics.h"

#include "Layout.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <set>

using namespace mlir;
using llvm::formatv;

namespace tutti {

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

bool Contraction::copiesRows(const Steps &steps) {
  return !onTensorCores() && K % 4 != 0 && K <= 64 && steps.places.find(op.getLhs())->second.kind != Place::scratch;
}

int64_t Contraction::wordBytes() const { return math == "Bf16" || math == "F16" ? 2 : 4; }

int64_t Contraction::panels() const {
  int64_t tiles = llvm::divideCeil(N, 8);
  return tiles / 4 + tiles % 4 / 2 + tiles % 2;
}

int64_t Contraction::stages(const CudaGeometry &g) const {
  return llvm::divideCeil(panels(), g.warpColumns * g.warpPanels * g.cluster) * llvm::divideCeil(K, 32 * g.slices);
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

int rowsStoredAtOnce(const Step &step, const CudaGeometry &geometry) {
  // Operations of an element: a function is some thirty of them.
  int64_t longest = 1;
  for (Value stored : step.stores) {
    llvm::SetVector<Operation *> maps;
    int64_t length = 0;
    if (auto map = stored.getDefiningOp<MapOp>())
      maps.insert(map);
    for (size_t i = 0; i < maps.size(); ++i) {
      for (Operation &op : maps[i]->getRegion(0).front().without_terminator())
        length += isa<arith::ArithDialect>(op.getDialect()) ? 1 : 30;
      for (Value input : cast<MapOp>(maps[i]).getInputs())
        if (auto map = input.getDefiningOp<MapOp>(); map && isMadeOf(input, step.contraction->getResult(0)))
          maps.insert(map);
        else if (input != step.contraction->getResult(0))
          length += 6; // it is read
    }
    longest = std::max(longest, length);
  }
  int rows = 2 * geometry.rowTiles;
  while (rows > 1 && rows * longest > 80)
    rows /= 2;
  return rows;
}

bool isOfColumn(AffineMap access) {
  for (unsigned row = 1; row + 1 < access.getNumDims(); ++row)
    if (access.isFunctionOfDim(row))
      return false;
  return true;
}

namespace {

/// What follows a contraction's sums, as text: `columns` reads what all rows share of a column, `store` computes what
/// is stored of the sums, and stores it.
struct Ending {
  std::string fields, makes, stores; ///< the last with "@0" and so on for the views that it stores to
  /// What `columns` reads: an element of a view, or without one an expression.
  struct Read {
    std::string view, index;
    std::string text() const { return view.empty() ? index : view + "[" + index + "]"; }
  };
  std::vector<Read> values;
  std::vector<std::string> types; ///< of the values
  std::vector<std::string> views, viewTypes;
  int rowsAtOnce; ///< that one piece of code stores

  Ending(KernelText &k, const Step &step);
  /// The same code, but for what it reads and where it stores.
  bool isLike(const Ending &other) const {
    return fields == other.fields && makes == other.makes && stores == other.stores && viewTypes == other.viewTypes;
  }
};

} // namespace

Ending::Ending(KernelText &k, const Step &step) : rowsAtOnce(rowsStoredAtOnce(step, k.geometry)) {
  ContractOp op = step.contraction;
  bool tensor = Contraction(op).onTensorCores(), cluster = k.geometry.cluster > 1;
  std::map<std::string, std::string> shared; ///< fields by what they are read from
  std::string place;
  std::vector<std::string> outer = k.space(place);
  bool toMemory = false;
  for (Value stored : step.stores) {
    std::string own, lines;
    std::vector<std::string> dims = k.space(own);
    std::map<std::pair<void *, std::string>, std::string> known;
    unsigned computed = 0;
    auto field = [&](Value value, AffineMap access) {
      auto place = k.steps.places.find(value);
      Read from;
      if (place != k.steps.places.end() && place->second.kind == Place::argument)
        from = {"t." + k.view(value), k.placeOf(value, access, dims)};
      else
        from = {"", "t." + k.at(value, k.text(access, dims))};
      std::string &name = shared[from.text()];
      if (name.empty()) {
        name = "c" + std::to_string(shared.size() - 1);
        fields += (fields.empty() ? "" : " ") + k.elementOf(value) + " " + name + ";";
        values.push_back(from);
        types.push_back(k.elementOf(value));
      }
      return "of." + name;
    };
    // A map of the sums is computed from them; everything else is read.
    std::function<std::string(Value, AffineMap)> read = [&](Value value, AffineMap access) -> std::string {
      if (value == op.getResult())
        return "sum";
      auto map = value.getDefiningOp<MapOp>();
      if (!map || !isMadeOf(value, op.getResult()))
        return isOfColumn(access) ? field(value, access) : "t." + k.at(value, k.text(access, dims));
      std::string &name = known[{value.getAsOpaquePointer(), k.text(access, dims)}];
      if (name.empty()) {
        std::string made =
            k.call(map, [&](unsigned i) { return read(map.getInputs()[i], operandAccess(map, i, access)); });
        name = "v" + std::to_string(computed++);
        lines += formatv("    const {0} {1} = {2};\n", k.elementOf(value), name, made).str();
      }
      return name;
    };
    size_t number = views.size();
    std::string data = read(stored, k.own(stored));
    lines += "    return " + data + ";\n";
    bool readsRow = llvm::any_of(ArrayRef(dims).drop_front().drop_back(),
                                 [&](const std::string &row) { return llvm::StringRef(lines).contains(row); });
    makes += formatv("  const auto make{0} = [&](int row, int column, float sum, const auto &of) {{\n{1}{2}  };\n",
                     number, readsRow ? own : "", lines)
                 .str();
    // Rows of an output are aligned if they are multiples of 16 bytes.
    const Place &where = k.steps.places.find(stored)->second;
    bool inScratch = where.kind == Place::scratch,
         aligned = inScratch ? where.stride % 16 == 0 : k.typeOf(stored).getShape().back() % 4 == 0;
    toMemory |= !inScratch;
    std::string function = cluster && tensor && inScratch
                               ? formatv("giveAll<{0}>", blocksThatRead(stored, k.geometry)).str()
                               : formatv("storeNeighbours<{0}>", aligned).str();
    stores += formatv("    {0}{1}(@{2}, {3}, sums, [&](int i) {{ return make{2}(row, sums.column(column, i), "
                      "sums.sum[i], of[i]); });\n",
                      cluster && !tensor && !inScratch ? "if (BlockTile::rank() == 0)\n      " : "", function, number,
                      k.placeOf(stored, outer))
                  .str();
    views.push_back("t." + k.view(stored));
    viewTypes.push_back(llvm::StringRef(k.members[k.numberOf(stored)]).trim().rsplit(' ').first.str());
  }
  if (toMemory)
    stores = place + stores;
}

/// The text of the endings of layers first, first + 1 and so on, which are alike.
static std::string endingText(unsigned first, ArrayRef<Ending> alike) {
  const Ending &one = alike.front();
  // n == 1 ? a : n == 2 ? b : c
  auto chosen = [&](auto valueOf) {
    std::string all;
    bool same = llvm::all_of(alike, [&](const Ending &e) { return valueOf(e) == valueOf(one); });
    for (size_t i = 0; !same && i + 1 < alike.size(); ++i)
      all += formatv("n == {0} ? {1} : ", first + i, valueOf(alike[i])).str();
    return all + valueOf(alike.back());
  };
  std::string values, froms, views, stores = one.stores;
  for (size_t i = 0; i < one.values.size(); ++i) {
    // Of several views one is chosen, not of what was read from them.
    const Ending::Read &read = one.values[i];
    bool same = llvm::all_of(alike, [&](const Ending &e) {
      return e.values[i].view.empty() == read.view.empty() && e.values[i].index == read.index;
    });
    std::string from = chosen([&](const Ending &e) { return e.values[i].view; });
    if (same && !read.view.empty() && from != read.view) {
      froms += formatv("  const Global<const {0}> from{1} = {2};\n", one.types[i], i, from).str();
      values += formatv("{0}from{1}[{2}]", i ? ", " : "", i, read.index).str();
    } else {
      values += (i ? ", " : "") + chosen([&](const Ending &e) { return e.values[i].text(); });
    }
  }
  for (size_t i = 0; i < one.views.size(); ++i) {
    std::string view = chosen([&](const Ending &e) { return e.views[i]; }), name = "@" + std::to_string(i);
    if (view.find('?') != std::string::npos) {
      views += formatv("  const {0} to{1} = {2};\n", one.viewTypes[i], i, view).str();
      view = "to" + std::to_string(i);
    }
    for (size_t at; (at = stores.find(name + ",")) != std::string::npos;)
      stores.replace(at, name.size(), view);
  }
  return formatv(
             "{6}  const auto columns = [&](int{0}) {{\n    struct {{{1}} of{2};\n    return of;\n  };\n{3}{4}  const "
             "auto "
             "store = [&](int row, int column, const auto &sums, const auto &of) {{\n{5}  };\n",
             values.empty() ? "" : " column", one.fields.empty() ? "" : " " + one.fields + " ",
             values.empty() ? "" : "{" + values + "}", one.makes, views, stores, froms)
      .str();
}

/// The left operand's rows of the tile in an argument or a result.
static std::string globalRows(KernelText &k, Contraction c) {
  Value left = c.op.getLhs();
  std::string row = "t.firstRow", view = k.view(left);
  if (RowForm::of(k.typeOf(left)).lifted && !k.isTable(left))
    row = "t.member * totalRows + " + row;
  return formatv("t.{0}.slice(({1}) * {2}, int64_t(t.rows) * {2})", view, row, c.K);
}

/// The left operand, read by whoever multiplies.
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
  if (k.geometry.copyOffset >= 0 && c.copiesRows(k.steps))
    return formatv("  const auto left{0} = copiedRows<{1}, {2}>(t.rows, {3});\n", number, c.K, k.geometry.copyOffset,
                   globalRows(k, c));
  return formatv("  const Rows<{0}, {0}, Global<{1}float>> left{2}{{{3}};\n", c.K,
                 place.kind == Place::argument ? "const " : "", number, globalRows(k, c));
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
    all += formatv("  {0}(t.rows, left{1}, t.{2}, {3}, {4}, {5}columns, store);\n", shape, k.numberOf(c.op.getResult()),
                   k.view(c.op.getRhs()), first.offset, first.col, first.lanes ? "" : std::to_string(columns) + ", ")
               .str();
    i = next;
  }
  return all;
}

static std::string indented(StringRef text) {
  std::string all;
  for (StringRef line : llvm::split(text.rtrim('\n'), '\n'))
    all += (line.starts_with("#") ? "" : "  ") + line.str() + "\n";
  return all;
}

/// if (n < 3) return one; ...; return the last.
static std::string chosen(ArrayRef<std::pair<int64_t, std::string>> upTo) {
  std::string all;
  for (const auto &[end, value] : upTo.drop_back())
    all += formatv("    if (n < {0})\n      return {1};\n", end, value).str();
  return all + "    return " + upTo.back().second + ";\n";
}

/// What all contractions on tensor cores share: the ring that brings their weights, and the layers in numbers.
static std::string emitRing(KernelText &k, ArrayRef<Contraction> layers) {
  const CudaGeometry &g = k.geometry;
  std::vector<std::pair<int64_t, std::string>> stages, inNumbers;
  std::set<llvm::StringRef> lefts;
  int64_t count = 0, widths = 0, rowUnit = 4;
  bool ragged = false;
  for (Contraction c : layers) {
    unsigned number = k.numberOf(c.op.getResult());
    const Place &place = k.steps.places.find(c.op.getLhs())->second;
    bool streams = c.streamsRows(k.steps);
    std::string rows = streams || place.kind == Place::result ? globalRows(k, c) : "";
    llvm::StringRef left = streams                       ? "streamed"
                           : place.kind == Place::result ? "inGlobal"
                           : place.narrow.empty()        ? "floats"
                                                         : "halves";
    stages.push_back({count + c.stages(g), formatv("stageOfProduct<Product{0}, BlockTile>(n{1}, t.{2}{3})", number,
                                                   count ? " - " + std::to_string(count) : "", k.view(c.op.getRhs()),
                                                   streams ? ", " + rows : "")});
    inNumbers.push_back(
        {inNumbers.size() + 1, left == "inGlobal" ? formatv("layerOfProduct<Product{0}>({1})", number, rows).str()
                               : streams          ? formatv("layerOfProduct<Product{0}>(streamed, 0, 0)", number).str()
                                                  : formatv("layerOfProduct<Product{0}>({1}, {2}, {3})", number, left,
                                                            place.offset * g.rows, place.stride)
                                                        .str()});
    lefts.insert(left);
    int64_t tiles = llvm::divideCeil(c.N, 8);
    widths |= (tiles >= 4 ? 4 : 0) | tiles % 4;
    ragged |= c.K % 16 != 0;
    if (streams && c.K % 4)
      rowUnit = 1;
    count += c.stages(g);
  }
  return formatv("  using Contractions = Layers<{0}, BlockTile, {1}, {2}, {3}{4}>;\n"
                 "  // What the stages of the ring hold, from the first contraction to the last.\n"
                 "  const auto stageOf = [&](int n) {{\n{5}  };\n"
                 "  {6}Ring<{0}, BlockTile, {7}, {8}, {9}, {10}decltype(stageOf)> ring({11}, t.rows, stageOf);\n"
                 "  const auto layerOf = [&](int n) {{\n{12}  };\n",
                 layers.front().math, llvm::join(lefts, " | "), widths, ragged ? "true" : "false",
                 g.slices > 1 ? ", " + std::to_string(g.exchangeOffset) : "", chosen(stages),
                 g.bulkCopies ? "Bulk" : "Async", g.stages, g.stageBytes, g.ringOffset,
                 g.bulkCopies ? "" : std::to_string(rowUnit) + ", ", count, llvm::StringRef(chosen(inNumbers)));
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
    all += formatv("using BlockTile = Tile<{0}, {1}, {2}, {3}, {4}, {5}>;\n", k.geometry.rowTiles, k.geometry.warpRows,
                   k.geometry.warpColumns, k.geometry.slices, k.geometry.cluster, k.geometry.warpPanels);
  return all;
}

static std::string emitStep(KernelText &k, const Step &step) {
  if (!step.contraction)
    return emitRows(k, step);
  Contraction c(step.contraction);
  std::string multiply = c.onTensorCores()
                             ? formatv("  multiplyPlain<Product{0}>(t.rows, left{0}, t.{1}, columns, store);\n",
                                       k.numberOf(c.op.getResult()), k.view(c.op.getRhs()))
                                   .str()
                             : panelCalls(k, c);
  return formatv("  {{ // {0} x {1}\n{2}  }\n", c.K, c.N,
                 indented(leftOperand(k, c) + endingText(0, Ending(k, step)) + multiply));
}

/// One loop goes through all contractions on tensor cores: what multiplies is one piece of code. So is what follows the
/// sums of layers that are alike.
static std::string layerLoop(KernelText &k, ArrayRef<Contraction> layers, ArrayRef<Ending> endings,
                             ArrayRef<std::string> others, StringRef meet) {
  std::string stores;
  for (size_t i = 0; i < layers.size();) {
    size_t end = i + 1;
    while (end < layers.size() && layers[end].N == layers[i].N && endings[end].isLike(endings[i]))
      ++end;
    StringRef otherwise = i ? "else " : "";
    stores +=
        formatv("  {0}{{ // {1}{2} x {3}\n{4}    storeSums<Product{5}, Contractions, {6}>(sums, pass, t.rows, columns, "
                "store);\n  }\n",
                end < layers.size() ? formatv("{0}if (n < {1}) ", otherwise, end).str() : otherwise, layers[i].K,
                end - i > 1 ? ", ..." : "", layers[i].N, indented(endingText(i, endings.slice(i, end - i))),
                k.numberOf(ContractOp(layers[i].op).getResult()), endings[i].rowsAtOnce)
            .str();
    i = end;
  }
  std::string all =
      formatv("#pragma unroll 1\n  for (int n = 0; n < {0}; ++n) {{\n    const Layer layer = layerOf(n);\n"
              "#pragma unroll 1\n    for (int pass = 0; pass < layer.passes<BlockTile>(); ++pass) {{\n"
              "      Contractions::Sums sums;\n"
              "      multiply<Contractions>(layer, pass, t.rows, ring, sums);\n{1}    }\n",
              layers.size(), indented(indented(stores)));
  for (size_t i = 0; i < layers.size(); ++i)
    if (!others[i].empty())
      all += formatv("    if (n == {0}) {{\n{1}    }\n", i, indented(indented(others[i]))).str();
  if (layers.size() > 1 && !meet.empty())
    all += formatv("    if (n < {0}) {{\n    {1}    }\n", layers.size() - 1, meet).str();
  return all + "  }\n";
}

std::string emitSteps(KernelText &k) {
  const CudaGeometry &g = k.geometry;
  // Other steps stand before the loop over contractions on tensor cores, or follow one of them.
  std::vector<Contraction> layers;
  std::vector<Ending> endings;
  std::vector<std::string> others(1);
  std::string meet = g.cluster > 1 ? "  clusterSync();\n" : "  __syncthreads();\n";
  for (const Step &step : k.steps.steps)
    if (step.contraction && g.warpRows && Contraction(step.contraction).onTensorCores()) {
      layers.emplace_back(step.contraction);
      endings.emplace_back(k, step);
      others.emplace_back();
    } else { // between two steps all meet
      others.back() += (others.back().empty() && layers.empty() ? "" : meet) + emitStep(k, step);
    }
  if (layers.empty())
    return others.front();
  std::string all = emitRing(k, layers);
  if (llvm::any_of(endings, [](const Ending &e) { return StringRef(e.stores).contains("giveAll"); }))
    all += "  clusterSync(); // all blocks are there to be given activations\n";
  // Heads begin with a barrier of their own, and so does each stage of a ring by cp.async.
  std::string between = g.bulkCopies || g.cluster > 1 ? meet : "";
  all += others.front() + (others.front().empty() ? "" : between);
  return all + layerLoop(k, layers, endings, ArrayRef(others).drop_front(), between);
}

} // namespace tutti
