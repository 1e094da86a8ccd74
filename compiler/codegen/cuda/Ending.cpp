// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows a contraction's sums, as text: one piece of it for all layers of a kernel.
#include "Ending.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

namespace {

/// Makes an ending, one stored value after the other.
class EndingBuilder {
public:
  EndingBuilder(Ending &ending, KernelText &k, KernelText &scope, const Step &step, bool handsOver)
      : ending(ending), k(k), scope(scope), step(step), tensor(isOnTensorCores(step)), handsOver(handsOver) {
    outer = scope.space(outerLines);
  }
  void add(Value stored);
  /// Puts the definitions that stores to global memory need of the row before all stores.
  void finish() {
    ending.code = formatv("{0}  const auto store = [&](int row, int column, const auto &sums, const auto &of) {{\n"
                          "{1}{2}  };\n",
                          makes, toMemory ? outerLines : "", stores);
  }

private:
  Ending &ending;
  KernelText &k, &scope; ///< what all rows share, and targets, are read before the code
  const Step &step;
  bool tensor, handsOver, toMemory = false;
  std::map<std::string, std::string> fields; ///< names of what all rows share, by what they are read from
  std::vector<std::string> outer;            ///< the index space, as stores know it
  std::string outerLines, makes, stores;
  // These belong to the value that is being added.
  std::vector<std::string> dims; ///< the index space, as what makes the value knows it
  bool readsRow = false;         ///< of something that differs from row to row

  const Place *placeOf(Value value) const { return k.steps.isStored(value) ? &k.steps.placeOf(value) : nullptr; }
  std::string fieldOf(Value value, AffineMap access);
  std::string computed(Value stored, std::string &lines);
  std::string storeText(Value stored, const Place &where);
  Ending::Target targetOf(Value stored, const Place &where) const;
};

} // namespace

/// The text of a value that all rows of a column share. It is read once for several rows, before the sums exist.
std::string EndingBuilder::fieldOf(Value value, AffineMap access) {
  const Place *place = placeOf(value);
  Ending::Read from;
  if (place && place->kind == Place::argument)
    from = {"t." + k.viewOfPass(value), k.placeOf(value, access, dims), k.isFoundInPass(value)};
  else
    from = {"", "t." + k.at(value, k.text(access, dims))};
  if (ending.N == 1 && from.index == "0") // the one column, as columns are called elsewhere
    from.index = dims.back();
  std::string &name = fields[from.text()];
  if (name.empty()) {
    name = "c" + std::to_string(fields.size() - 1);
    ending.values.push_back(from);
    ending.types.push_back(k.elementOf(value));
  }
  return "of." + name;
}

/// The expression for a stored value, whose maps of sums are computed in `lines`.
std::string EndingBuilder::computed(Value stored, std::string &lines) {
  llvm::DenseMap<std::pair<Value, AffineMap>, std::string> names;
  std::string name;
  size_t maps = 0;
  for (const EndingValue &each : endingOf(step, stored, k.steps)) {
    switch (each.kind) {
    case EndingValue::sum:
      name = "sum";
      break;
    case EndingValue::column:
      name = fieldOf(each.value, each.access);
      break;
    case EndingValue::row:
      readsRow = true;
      name = "t." + scope.at(each.value, k.text(each.access, dims));
      break;
    case EndingValue::made: {
      auto map = cast<MapOp>(each.value.getDefiningOp());
      auto operand = [&](unsigned i) { return names.at({map.getInputs()[i], operandAccess(map, i, each.access)}); };
      std::string made = scope.call(map, operand);
      name = "v" + std::to_string(maps++);
      lines += formatv("    const {0} {1} = {2};\n", k.elementOf(each.value), name, made).str();
    }
    }
    names[{each.value, each.access}] = name;
  }
  return name;
}

/// The statement that stores a run of neighbours. Rows of an output are aligned if they are multiples of 16 bytes. Only
/// scratch memory has space behind the last row of a tile.
std::string EndingBuilder::storeText(Value stored, const Place &where) {
  size_t number = ending.targets.size();
  bool inScratch = where.kind == Place::scratch, cluster = k.geometry.warps.cluster > 1,
       aligned = inScratch ? where.stride % (where.narrow ? 8 : 16) == 0 : typeOf(stored).getShape().back() % 4 == 0;
  int64_t blocks = blocksThatRead(stored, k.steps, k.geometry);
  bool gives = cluster && tensor && inScratch;
  ending.givesAll |= handsOver || gives;
  std::string function = handsOver ? formatv("handovers.give<{0}>", blocks).str()
                         : gives   ? formatv("giveAll<{0}>", blocks).str()
                                   : formatv("storeNeighbours<{0}>", aligned).str();
  const char *condition = cluster && !tensor && !inScratch ? "if (BlockTile::rank() == 0)\n      "
                          : tensor && k.geometry.warps.rows && (!inScratch || readsRow || handsOver)
                              ? "if (row < t.rows)\n      "
                              : "";
  std::string place = inScratch ? formatv("row * stride{0} + column", number).str() : k.placeOf(stored, outer);
  return formatv("    {0}{1}({2}to{3}, {4}, sums, [&](int i) {{ return make{3}(row, sums.column(column, i), "
                 "sums.sum[i], of[i]); });\n",
                 condition, function, handsOver ? "n, " : "", number, place)
      .str();
}

Ending::Target EndingBuilder::targetOf(Value stored, const Place &where) const {
  Ending::Target target{stored, "t." + k.view(stored), k.typeOfView(stored), ""};
  if (where.kind != Place::scratch)
    return target;
  target.element = where.narrow ? narrowElement(where) : k.elementOf(stored);
  target.offset = where.offset * k.geometry.rows;
  target.stride = where.stride;
  target.isNarrow = where.narrow.has_value();
  target.hasAllRows = !readsRow;
  return target;
}

void EndingBuilder::add(Value stored) {
  std::string own, lines;
  dims = scope.space(own);
  readsRow = false;
  size_t number = ending.targets.size();
  std::string data = computed(stored, lines);
  lines += "    return " + data + ";\n";
  makes += formatv("  const auto make{0} = [&](int row, int column, float sum, const auto &of) {{\n{1}{2}  };\n",
                   number, readsRow ? own : "", lines)
               .str();
  const Place &where = *placeOf(stored);
  toMemory |= where.kind != Place::scratch;
  stores += storeText(stored, where);
  if (handsOver) {
    std::string bytes = numberText(ending.N * 4);
    int64_t blocks = blocksThatRead(stored, k.steps, k.geometry);
    ending.handedBytes +=
        (ending.handedBytes.empty() ? "" : " + ") +
        (blocks < k.geometry.warps.cluster ? formatv("(BlockTile::rank() < {0} ? {1} : 0)", blocks, bytes).str()
                                           : bytes);
  }
  ending.targets.push_back(targetOf(stored, where));
}

Ending::Ending(KernelText &k, KernelText &scope, const Step &step, bool handsOver)
    : K(Contraction(step.contraction).K), N(Contraction(step.contraction).N),
      panels(Contraction(step.contraction).panels()), length(lengthOfEnding(step, k.steps)) {
  EndingBuilder builder(*this, k, scope, step, handsOver);
  for (Value stored : step.stores)
    builder.add(stored);
  builder.finish();
}

LayerNumbers layersFrom(size_t first, size_t count) { return llvm::to_vector(llvm::seq(first, first + count)); }

std::pair<LayerNumbers, LayerNumbers> parted(ArrayRef<size_t> layers, llvm::function_ref<bool(size_t)> isSo) {
  std::pair<LayerNumbers, LayerNumbers> parts;
  for (size_t n : layers)
    (isSo(n) ? parts.first : parts.second).push_back(n);
  return parts;
}

std::string conditionOf(ArrayRef<size_t> some, ArrayRef<size_t> all) {
  if (some.size() == all.size())
    return "";
  if (some.size() == 1)
    return formatv("n == {0}", some[0]).str();
  if (all.take_front(some.size()) == some)
    return formatv("n < {0}", all[some.size()]).str();
  if (all.take_back(some.size()) == some)
    return formatv("n >= {0}", some[0]).str();
  // In a network of equal blocks, `some` are the same layer of each block of `period` layers.
  for (size_t period : {2, 3, 4, 6, 8})
    if (llvm::all_of(all, [&](size_t n) { return llvm::is_contained(some, n) == (n % period == some[0] % period); }))
      return formatv("n % {0} == {1}", period, some[0] % period).str();
  static_assert(mostCudaLayers <= 32);
  uint32_t bits = 0;
  for (size_t n : some)
    bits |= uint32_t(1) << n;
  return formatv("({0:x}u >> n & 1) != 0", bits).str();
}

std::string chosenOf(ArrayRef<size_t> layers, ArrayRef<std::string> values) {
  std::string all;
  LayerNumbers left(layers);
  std::vector<std::string> of(values);
  while (!llvm::all_equal(of)) {
    std::string value = of.front();
    LayerNumbers some, others;
    std::vector<std::string> ofOthers;
    for (auto [n, own] : llvm::zip_equal(left, of)) {
      (own == value ? some : others).push_back(n);
      if (own != value)
        ofOthers.push_back(own);
    }
    all += formatv("{0} ? {1} : ", conditionOf(some, left), value).str();
    left = std::move(others);
    of = std::move(ofOthers);
  }
  return all + of.front();
}

std::string chosenView(ArrayRef<size_t> layers, ArrayRef<Ending::Target> targets, int64_t rows) {
  std::vector<std::string> views, offsets, counts;
  for (const Ending::Target &target : targets) {
    views.push_back(target.view);
    offsets.push_back(numberText(target.offset));
    counts.push_back(numberText(target.stride * rows));
  }
  std::string view = chosenOf(layers, views);
  if (view == views.front() || !targets.front().isShared())
    return view;
  return formatv("shared<{0}>({1}, {2})", targets.front().element, chosenOf(layers, offsets), chosenOf(layers, counts));
}

std::string indented(StringRef text) {
  std::string all;
  if (text.empty())
    return all;
  for (StringRef line : llvm::split(text.rtrim('\n'), '\n'))
    all += (line.starts_with("#") ? "" : "  ") + line.str() + "\n";
  return all;
}

/// The text of `columns`, which reads the values that all rows of a column share, for these layers. The views that it
/// chooses from are declared in `before`.
static std::string columnsText(ArrayRef<size_t> layers, ArrayRef<Ending> endings, std::string &before,
                               EndingText &text) {
  const Ending &longest =
      *llvm::max_element(endings, [](const Ending &a, const Ending &b) { return a.types.size() < b.types.size(); });
  // The views to choose from are captured by value: if a lambda has their address, NVRTC may keep the whole `Task` in
  // local memory.
  std::string fields, values, asked, held;
  std::map<std::string, std::string> heldViews; // by name
  auto holdView = [&](const Ending::Read &read, StringRef type) {
    auto [known, isNew] = heldViews.try_emplace(read.view, "held" + std::to_string(heldViews.size()));
    if (isNew) {
      before += formatv("  const Global<const {0}> {1} = {2};\n", type, known->second, read.view);
      held += (heldViews.size() == 1 ? ", n, " : ", ") + known->second;
    }
    return known->second + "[" + read.index + "]";
  };
  for (auto [i, type] : llvm::enumerate(longest.types)) {
    // The text chooses one of several views, not one of several loaded values. A layer that reads fewer values uses
    // another layer's view where that is as long.
    const Ending::Read &any = longest.values[i];
    std::vector<std::string> views, texts;
    bool same = !any.view.empty();
    for (const Ending &e : endings) {
      bool has = i < e.values.size();
      const Ending::Read &read = has ? e.values[i] : any;
      views.push_back(read.view);
      same &= !read.view.empty() && read.index == any.index && (has || e.N <= longest.N);
    }
    for (const Ending &e : endings)
      if (i >= e.values.size())
        texts.push_back(type + "()");
      else if (const Ending::Read &read = e.values[i]; same || read.view.empty() || read.isFound)
        texts.push_back(read.text());
      else
        texts.push_back(holdView(read, type));
    std::string from = chosenOf(layers, views), value = chosenOf(layers, texts);
    bool named = same && (from != views.front() || any.isFound);
    if (named) {
      before += formatv("  const Global<const {0}> from{1} = known({2});\n", type, i, from).str();
      held += ", from" + std::to_string(i);
    }
    if (same) {
      value = !named ? any.text() : formatv("from{0}[{1}]", i, any.index).str();
      asked += formatv("    prefetch(&{0});\n", value).str();
      if (longest.types.size() == 1 && type == "float" && any.index == "column")
        text.vectors = views;
    }
    fields += formatv(" {0} c{1};", type, i).str();
    values += (i ? ", " : "") + value;
  }
  text.touch = formatv("  const auto touch = [&](int{0}) {{\n{1}  };\n", asked.empty() ? "" : " column", asked).str();
  return formatv("  const auto columns = [&{3}](int{0}) {{\n    struct {{{1}} of{2};\n    return of;\n  };\n",
                 values.empty() ? "" : " column", fields.empty() ? "" : fields + " ",
                 values.empty() ? "" : "{" + values + "}", held)
      .str();
}

EndingText endingText(size_t first, ArrayRef<Ending> endings, int64_t rows, StringRef call) {
  EndingText text;
  LayerNumbers left = layersFrom(first, endings.size());
  while (!left.empty()) {
    const Ending &one = endings[left.front() - first];
    auto [alike, others] = parted(left, [&](size_t n) { return endings[n - first].isLike(one); });
    std::string own;
    for (size_t j = 0; j < one.targets.size(); ++j) {
      std::vector<Ending::Target> all;
      std::vector<std::string> strides;
      for (size_t n : alike) {
        all.push_back(endings[n - first].targets[j]);
        strides.push_back(numberText(all.back().stride));
      }
      own += formatv("  const {0} to{1} = {2};\n", one.targets[j].type, j, chosenView(alike, all, rows)).str();
      if (one.targets[j].isShared())
        own += formatv("  const int stride{0} = {1};\n", j, chosenOf(alike, strides)).str();
    }
    own += one.code + call.str();
    // One branch around the whole text, not one per element: branches would separate loads and operations whose
    // latencies overlap.
    text.store += alike.size() == endings.size()
                      ? own
                      : formatv("  {0}{1}{{ // {2}{3} x {4}\n{5}  }\n", text.store.empty() ? "" : "else ",
                                others.empty() ? "" : formatv("if ({0}) ", conditionOf(alike, left)).str(),
                                numberText(one.K), alike.size() > 1 ? ", ..." : "", numberText(one.N), indented(own))
                            .str();
    left = std::move(others);
  }
  std::string before, columns = columnsText(layersFrom(first, endings.size()), endings, before, text);
  text.columns = before + columns;
  return text;
}

std::string emitEnding(KernelText &k, const Step &step) {
  EndingText text = endingText(0, Ending(k, step), k.geometry.rows, "");
  return text.columns + text.store;
}

} // namespace tutti
