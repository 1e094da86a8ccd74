// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes, indices and views as text.
#include "Text.h"
#include "passes/analysis/Numerics.h"

#include "runtime/schema/Layout.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

KernelText::KernelText(plan::KernelOp kernel, ArrayRef<std::string> symbols, CudaGeometry geometry, bool isPart)
    : kernel(kernel), symbols(symbols), geometry(geometry), steps(Steps::of(kernel)) {
  if (isPart && kernel.getLifted()) // another one's table says one member, however many its rows are made of
    told[kernel.membersSize().str()] = "p.members";
  if (isPart && steps.form.rows.size() == 1 && steps.form.rows[0].getSymbols().size() == 1 &&
      steps.form.rows[0].getFactor() == 1)
    told[steps.form.rows[0].getSymbols()[0]] = "p.rows";

  unsigned count = 0;
  for (BlockArgument argument : kernel.getBody().getArguments())
    numbers[argument] = count++;
  for (Operation &op : kernel.getBody().front().without_terminator())
    for (Value result : op.getResults())
      numbers[result] = count++;
  constexpr int64_t mostAddresses = 12;
  manyAddresses = llvm::count_if(kernel.getBody().getArguments(), [&](Value value) {
                    return steps.isStored(value) && isTable(value) && !(geometry.ring && isOfTensorCores(value));
                  }) > mostAddresses;
  // Layers alternate between few places. Values in the same place and form share a number, so that texts that read them
  // are equal.
  std::map<std::tuple<const void *, int64_t, int64_t, bool>, unsigned> known;
  for (const auto &[value, place] : steps.places)
    if (place.kind == Place::scratch)
      memories[value] =
          known
              .try_emplace({value.getType().getAsOpaquePointer(), place.offset, place.stride, place.narrow.has_value()},
                           numbers.lookup(value))
              .first->second;
  // Maps of such values share numbers, too.
  std::map<std::tuple<const void *, const void *, SmallVector<unsigned>>, SmallVector<MapOp>> computed;
  for (auto map : kernel.getBody().getOps<MapOp>()) {
    if (steps.isStored(map.getResult()))
      continue;
    SmallVector<MapOp> &others =
        computed[{map.getType().getAsOpaquePointer(), map->getAttrDictionary().getAsOpaquePointer(),
                  llvm::map_to_vector(map.getInputs(), [&](Value input) { return memoryOf(input); })}];
    auto same = llvm::find_if(others, [&](MapOp other) {
      return OperationEquivalence::isRegionEquivalentTo(&map.getBody(), &other.getBody(),
                                                        OperationEquivalence::IgnoreLocations);
    });
    if (same != others.end())
      numbers[map.getResult()] = numbers.lookup(same->getResult());
    else
      others.push_back(map);
  }
}

KernelText KernelText::scope() {
  KernelText own(*this);
  own.whole = this;
  own.pieces = {};
  return own;
}

std::string joined(const std::map<unsigned, std::string> &parts) {
  std::string all;
  for (const auto &[number, part] : parts)
    all += part;
  return all;
}

std::string KernelText::structText(StringRef name) const {
  const char *layer = whole ? ", n" : "",
             *parameters = whole ? "const Task &t, int n" : "const Params &p, int member, int firstRow, int rows",
             *given = whole ? "p(t.p), member(t.member), firstRow(t.firstRow), rows(t.rows), n(n)"
                            : "p(p), member(member), firstRow(firstRow), rows(rows)";
  std::string members;
  for (const auto &[number, view] : pieces.views)
    if (view)
      members += formatv("  {0} {1};\n", view->type, view->name);
  return formatv(R"(
struct {0} {{
  const Params &p;
  int member, firstRow, rows{1};
{2}
  __device__ __forceinline__ {0}({3})
      : {4}{5} {{}

{6}};
)",
                 name, layer, members, parameters, given, joined(pieces.initializers), joined(pieces.methods))
      .str();
}

unsigned KernelText::memoryOf(Value value) {
  auto known = memories.find(value);
  return known == memories.end() ? numberOf(value) : named(known->second);
}

std::vector<std::string> KernelText::ownDims(unsigned rank) {
  std::vector<std::string> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back("i" + std::to_string(i));
  return dims;
}
std::string KernelText::parameters(unsigned rank) {
  std::string all;
  for (const std::string &dim : ownDims(rank))
    all += (all.empty() ? "int " : ", int ") + dim;
  return all;
}
unsigned KernelText::argumentCount() {
  return kernel.getBody().getNumArguments() + kernel.getYielded().size() + !steps.heads.empty();
}
bool KernelText::isOfTensorCores(Value value) {
  ContractOp contraction = geometry.warps.rows ? readerOfWeight(value) : ContractOp();
  return contraction && Contraction(contraction).onTensorCores();
}
bool KernelText::isLookedUp(Value value) { return isOfTensorCores(value) && (geometry.ring || hasManyAddresses()); }

// Sizes and indices as text.

std::string sizeText(const Size &size, ArrayRef<std::string> symbols,
                     const std::map<std::string, const char *> &named) {
  std::string text = size.getFactor() == 1 && !size.isFixed() ? "" : numberText(size.getFactor());
  for (const std::string &symbol : size.getSymbols()) {
    auto known = named.find(symbol);
    std::string one = known != named.end()
                          ? known->second
                          : "p.sizes[" + numberText(llvm::find(symbols, symbol) - symbols.begin()) + "]";
    text += (text.empty() ? "" : " * ") + one;
  }
  return text;
}
std::string KernelText::product(ArrayRef<Size> sizes) {
  Size fixed(1);
  std::string rest;
  for (const Size &size : sizes) {
    if (size.isFixed())
      fixed = *fixed.times(size);
    else
      rest += (rest.empty() ? "" : " * ") + sizeText(size);
  }
  return rest.empty() ? sizeText(fixed) : fixed == Size(1) ? rest : sizeText(fixed) + " * " + rest;
}

static const char *operatorOf(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return "+";
  case AffineExprKind::Mul:
    return "*";
  case AffineExprKind::FloorDiv:
    return "/";
  case AffineExprKind::Mod:
    return "%";
  default:
    llvm_unreachable("no map has other expressions (MapOp::verify)");
  }
}

std::string KernelText::text(AffineExpr expr, ArrayRef<std::string> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) // of what lies at 0 the text says less
    return constant.getValue() == 0 ? "0" : numberText(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string left = text(binary.getLHS(), dims), right = text(binary.getRHS(), dims);
  bool divides = expr.getKind() == AffineExprKind::Mod || expr.getKind() == AffineExprKind::FloorDiv;
  if (divides)
    right = withoutMarks(right);
  if (divides && mayBeNegative(binary.getLHS())) {
    const char *function = expr.getKind() == AffineExprKind::Mod ? "floorRemainder" : "floorQuotient";
    return function + ("(" + left + ", " + right + ")");
  }
  return "(" + left + " " + operatorOf(expr.getKind()) + " " + right + ")";
}
std::string KernelText::text(AffineMap map, ArrayRef<std::string> dims) {
  std::string all;
  for (AffineExpr expr : map.getResults())
    all += (all.empty() ? "" : ", ") + text(expr, dims);
  return all;
}

// Values in memory.

std::string KernelText::view(Value value) {
  if (!steps.isStored(value))
    cannot("a value that no step stores is read from memory");
  else if (!pieces.views.contains(memoryOf(value)))
    defineView(value, steps.placeOf(value));
  return "m" + std::to_string(memoryOf(value)) + (isLookedUp(value) ? "()" : "");
}
std::string KernelText::typeOfView(Value value) {
  view(value);
  auto known = pieces.views.find(memoryOf(value));
  return known == pieces.views.end() || !known->second ? "" : known->second->type;
}
bool KernelText::isFoundInPass(Value value) {
  bool keeps = (!geometry.persistent || geometry.keepsAddresses) && !hasManyAddresses();
  return steps.isStored(value) && (isLookedUp(value) || (isTable(value) && !keeps));
}
std::string KernelText::viewOfPass(Value value) {
  if (!isFoundInPass(value) || isLookedUp(value))
    return view(value);
  unsigned number = numberOf(value);
  std::string name = "find" + std::to_string(number);
  if (pieces.found.insert(number).second)
    pieces.methods[number] += finder(value, steps.placeOf(value), name);
  return name + "()";
}
std::string KernelText::at(Value value, const std::string &index) {
  unsigned number = memoryOf(value);
  if (steps.isStored(value)) {
    view(value);
    pieces.methods[number] += std::exchange(pieces.accessors[number], "");
  } else if (!pieces.methods.contains(number)) {
    pieces.methods[number] = compute(value, "at");
  }
  return "at" + std::to_string(number) + "(" + index + ")";
}

std::string narrowElement(const Place &place) {
  return place.narrow == NumericsProduct::bf16 ? "__nv_bfloat16" : "__half";
}

KernelText::Buffer KernelText::bufferOf(Value value, const Place &place) {
  Sizes sizes = getSizes(typeOf(value));
  unsigned index = place.kind == Place::argument ? place.index : kernel.getBody().getNumArguments() + place.index;
  Buffer buffer{elementOf(value), formatv("p.args[{0}]", whole ? numberText(index) : std::to_string(index)).str(), ""};
  if (isTable(value)) {
    sizes.erase(sizes.begin());
    buffer.address = formatv("Global<const uint64_t>({0}, {1})[member]", buffer.address, membersText()).str();
  }
  buffer.count = product(sizes);
  if (ContractOp contraction = readerOfWeight(value)) {
    Contraction c(contraction);
    if (c.onTensorCores())
      buffer.element = "uint32_t";
    buffer.count = c.onTensorCores()
                       ? formatv("wordsOf<{0}>({1}, {2})", c.math(), numberText(c.K), numberText(c.N)).str()
                       : numberText(rt::panelElements(c.K, c.N));
  }
  if (place.kind == Place::argument)
    buffer.element = "const " + buffer.element;
  return buffer;
}

std::string KernelText::finder(Value value, const Place &place, const std::string &name) {
  Buffer buffer = bufferOf(value, place);
  return formatv("  __device__ __forceinline__ Global<{0}> {1}() const {{ return {{{2}, {3}}; }\n", buffer.element,
                 name, buffer.address, buffer.count)
      .str();
}

void KernelText::defineView(Value value, const Place &place) {
  RankedTensorType type = typeOf(value);
  Sizes sizes = getSizes(type);
  unsigned own = memoryOf(value);
  std::string element = elementOf(value), name = "m" + std::to_string(own);
  unsigned rank = type.getRank();
  std::string number = std::to_string(own);
  if (place.kind == Place::scratch) {
    if (place.narrow)
      element = narrowElement(place);
    pieces.views[own] = {"Shared<" + element + ">", name};
    pieces.initializers[own] =
        formatv(",\n        {0}(shared<{1}>({2}, {3}))", name, element, numberText(place.offset * geometry.rows),
                numberText(place.stride * geometry.rows))
            .str();
    if (place.narrow)
      return; // contractions read it through their left operand
    RowForm form = RowForm::of(type);
    std::string row = rowOf(form, ownDims(rank));
    pieces.accessors[own] =
        formatv("  __device__ __forceinline__ {0} at{1}({2}) const {{ return {3}[({4} - firstRow) * {5} + {6}]; }\n",
                element, number, parameters(rank), name, row, numberText(place.stride),
                rank ? "i" + std::to_string(rank - 1) : "0")
            .str();
    return;
  }
  bool table = isTable(value);
  if (isLookedUp(value)) {
    pieces.views[own] = std::nullopt; // only what brings it reads it, and looks up its place for each pass
    pieces.methods[own] = finder(value, place, name);
    return;
  }
  Buffer buffer = bufferOf(value, place);
  pieces.views[own] = {"Global<" + buffer.element + ">", name};
  bool isKept = whole && table && !looksUpEachLayer();
  pieces.initializers[own] = formatv(",\n        {0}({1})", name,
                                     isKept ? marked("t." + whole->view(value)) : buffer.address + ", " + buffer.count)
                                 .str();
  if (table)
    sizes.erase(sizes.begin());
  std::string linear;
  for (unsigned i = 0; i < sizes.size(); ++i) {
    std::string dim = "i" + std::to_string(i + table);
    linear = i == 0 ? (sizes.size() > 1 ? "int64_t(" + dim + ")" : dim)
                    : "(" + linear + ") * " + sizeText(sizes[i]) + " + " + dim;
  }
  pieces.accessors[own] = formatv("  __device__ __forceinline__ {0} at{1}({2}) const {{ return {3}[{4}]; }\n", element,
                                  number, parameters(rank), name, linear.empty() ? "0" : linear)
                              .str();
}

/// The number of the row, among all rows, that an index into a value of this form names.
std::string KernelText::rowOf(const RowForm &form, ArrayRef<std::string> dims) {
  std::string row;
  for (unsigned i = 0; i < form.rows.size(); ++i) {
    const std::string &dim = dims[i + form.lifted];
    row = i == 0 ? dim : "(" + row + ") * int(" + sizeText(form.rows[i]) + ") + " + dim;
  }
  return row.empty() ? "0" : row;
}

std::vector<std::string> KernelText::space(std::string &lines) {
  std::vector<std::string> dims{"t.member"};
  std::string rest = "t.firstRow + row";
  unsigned count = steps.form.rows.size();
  for (unsigned i = count; i-- > 0;) {
    std::string name = "r" + std::to_string(i);
    if (i == 0) {
      lines += formatv("    const int {0} = {1};\n", name, rest).str();
      continue;
    }
    std::string length = "int(" + sizeText(steps.form.rows[i]) + ")";
    lines +=
        formatv("    const int above{0} = ({1}) / {2}, {3} = ({1}) - above{0} * {2};\n", i, rest, length, name).str();
    rest = "above" + std::to_string(i);
  }
  for (unsigned i = 0; i < count; ++i)
    dims.push_back("r" + std::to_string(i));
  dims.push_back("column");
  return dims;
}

std::string KernelText::placeOf(Value value, ArrayRef<std::string> dims) {
  const Place &place = steps.placeOf(value);
  if (place.kind == Place::scratch)
    return "row * " + numberText(place.stride) + " + column";
  return placeOf(value, own(value), dims);
}

std::string KernelText::placeOf(Value value, AffineMap access, ArrayRef<std::string> dims) {
  Sizes sizes = getSizes(typeOf(value));
  std::string linear;
  unsigned first = isTable(value);
  for (unsigned i = first; i < sizes.size(); ++i) {
    std::string dim = text(access.getResult(i), dims);
    bool last = i + 1 == sizes.size();
    if (linear.empty() || linear == "0")
      linear = last || dim == "0" ? dim : "int64_t(" + dim + ")";
    else
      linear = "(" + linear + ") * " + sizeText(sizes[i]) + " + " + dim;
  }
  return linear.empty() ? "0" : linear;
}

std::string KernelText::store(Value value, const std::string &data, ArrayRef<std::string> dims) {
  const Place &place = steps.placeOf(value);
  bool once = geometry.warps.cluster > 1 && place.kind == Place::result;
  return formatv("{0}t.{1}[{2}] = {3};\n", once ? "if (BlockTile::rank() == 0) " : "", view(value),
                 placeOf(value, dims), place.narrow ? "stored<" + narrowElement(place) + ">(" + data + ")" : data);
}

} // namespace tutti
