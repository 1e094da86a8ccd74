// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel's body to a translation unit.
//
// A block runs one task. `Task` holds the task's place and a view of every value that lies in memory; every other value
// is a member function of its own index, so the text reads like the body. The entry goes through the steps, a barrier
// after each.
#include "Kernel.h"
#include "Scalar.h"
#include "compiler/Error.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Steps.h"

#include "Layout.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

// What every architecture since sm_75 has, less the flag of the heads.
constexpr int64_t sharedBudget = (64 << 10) - 16;
constexpr int64_t mostRows = 16, blockThreads = 256;

static int64_t sharedPerRow(const Steps &steps) { return steps.scratchPerRow; }

std::optional<CudaGeometry> cudaGeometry(plan::KernelOp kernel) {
  int64_t perRow = sharedPerRow(Steps::of(kernel));
  int64_t rows = mostRows;
  while (rows > 1 && rows * perRow > sharedBudget)
    rows /= 2;
  if (rows * perRow > sharedBudget)
    return std::nullopt;
  return CudaGeometry{rows, blockThreads, int64_t(llvm::alignTo(rows * perRow, 16)) + 16};
}

namespace {

class KernelText {
public:
  KernelText(plan::KernelOp kernel, ArrayRef<std::string> symbols, CudaGeometry geometry)
      : kernel(kernel), symbols(symbols), geometry(geometry), steps(Steps::of(kernel)) {}

  llvm::Expected<std::string> emit(StringRef name) {
    Block &body = kernel.getBody().front();
    unsigned count = 0;
    for (BlockArgument argument : body.getArguments())
      numbers[argument] = count++;
    for (Operation &op : body.without_terminator())
      for (Value result : op.getResults())
        numbers[result] = count++;

    std::string steps = emitSteps();
    if (!broken.empty())
      return fail(ExitCode::internal, "kernel " + kernel.getSymName() + " cannot be emitted for cuda: " + broken);
    auto joined = [](const std::map<unsigned, std::string> &parts) {
      std::string all;
      for (const auto &[number, part] : parts)
        all += part;
      return all;
    };
    return formatv(R"(// {0}, a kernel of the family {1}.
#include "tutti/prelude.cuh"
#include "tutti/contract.cuh"
#include "tutti/row.cuh"
#include "tutti/head.cuh"

using namespace tutti;

struct Params {{
  uint64_t args[{2}];
  int64_t sizes[{3}];
};

{4}
struct Task {{
  const Params &p;
  int member, firstRow, rows;
{5}
  __device__ __forceinline__ Task(const Params &p, int member, int firstRow, int rows)
      : p(p), member(member), firstRow(firstRow), rows(rows){6} {{}

{7}};

extern "C" __global__ void __launch_bounds__({8}) {0}(const __grid_constant__ Params p) {{
  const int64_t totalRows = {9};
  const int64_t firstRow = int64_t(blockIdx.x) * {10};
  if (firstRow >= totalRows)
    return;
  const int rows = int(totalRows - firstRow < {10} ? totalRows - firstRow : {10});
  const Task t(p, int(blockIdx.y), int(firstRow), rows);
{11}}
)",
                   name, kernel.getFamily(), argumentCount(), symbols.size(), joined(functions), joined(members),
                   joined(initializers), joined(methods), geometry.threads, totalRows(), geometry.rows, steps)
        .str();
  }

private:
  plan::KernelOp kernel;
  ArrayRef<std::string> symbols;
  CudaGeometry geometry;
  Steps steps;
  llvm::DenseMap<Value, unsigned> numbers;
  /// What of the text belongs to a value, by its number.
  std::map<unsigned, std::string> functions, members, initializers, methods;
  std::string broken; ///< why the kernel cannot be emitted: our own mistake

  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  static std::string elementOf(Value value) { return cudaType(typeOf(value).getElementType()); }
  unsigned argumentCount() {
    auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
    return kernel.getBody().getNumArguments() + yield.getValues().size() + !steps.heads.empty();
  }
  bool isWeight(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && llvm::is_contained(kernel.getWeights(), int64_t(argument.getArgNumber()));
  }
  bool isPanels(Value value) {
    return llvm::any_of(value.getUses(), [](OpOperand &use) {
      return isa<ContractOp>(use.getOwner()) && use.getOperandNumber() == 1 && numericsRule(use.getOwner()) == "panels";
    });
  }

  // Sizes and indices as text.

  std::string sizeText(const Size &size) {
    std::string text = std::to_string(size.getFactor());
    for (const std::string &symbol : size.getSymbols()) {
      std::string one = "p.sizes[" + std::to_string(llvm::find(symbols, symbol) - symbols.begin()) + "]";
      text = text == "1" ? one : text + " * " + one;
    }
    return text;
  }
  std::string product(ArrayRef<Size> sizes) {
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
  std::string totalRows() { return product(steps.form.rows); }

  static std::string text(AffineExpr expr, ArrayRef<std::string> dims) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return std::to_string(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dims[dim.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    const char *symbol = expr.getKind() == AffineExprKind::Add   ? "+"
                         : expr.getKind() == AffineExprKind::Mul ? "*"
                         : expr.getKind() == AffineExprKind::Mod ? "%"
                                                                 : "/";
    return "(" + text(binary.getLHS(), dims) + " " + symbol + " " + text(binary.getRHS(), dims) + ")";
  }
  static std::string text(AffineMap map, ArrayRef<std::string> dims) {
    std::string all;
    for (AffineExpr expr : map.getResults())
      all += (all.empty() ? "" : ", ") + text(expr, dims);
    return all;
  }
  static std::vector<std::string> ownDims(unsigned rank) {
    std::vector<std::string> dims;
    for (unsigned i = 0; i < rank; ++i)
      dims.push_back("i" + std::to_string(i));
    return dims;
  }
  static std::string parameters(unsigned rank) {
    std::string all;
    for (const std::string &dim : ownDims(rank))
      all += (all.empty() ? "int " : ", int ") + dim;
    return all;
  }

  // Values in memory.

  std::string view(Value value) {
    auto place = steps.places.find(value);
    if (place == steps.places.end())
      broken = "a value that no step stores is read from memory";
    else if (!members.contains(numbers.lookup(value)))
      defineView(value, place->second);
    return "m" + std::to_string(numbers.lookup(value));
  }
  /// A value at an index: read from memory, or computed.
  std::string at(Value value, const std::string &index) {
    unsigned number = numbers.lookup(value);
    if (steps.places.contains(value))
      view(value);
    else if (!methods.contains(number))
      methods[number] = compute(value, "at");
    return "at" + std::to_string(number) + "(" + index + ")";
  }

  void defineView(Value value, const Place &place) {
    RankedTensorType type = typeOf(value);
    Sizes sizes = getSizes(type);
    unsigned own = numbers.lookup(value);
    std::string element = elementOf(value), name = "m" + std::to_string(own), address, count = product(sizes);
    bool table = isWeight(value) && isLifted(type);
    unsigned rank = type.getRank();
    std::string number = std::to_string(own);
    if (place.kind == Place::scratch) {
      members[own] = formatv("  Shared<{0}> {1};\n", element, name).str();
      initializers[own] = formatv(",\n        {0}(shared<{1}>({2}, {3}))", name, element, place.offset * geometry.rows,
                                  place.stride * geometry.rows)
                              .str();
      RowForm form = RowForm::of(type);
      std::string row = rowOf(form, ownDims(rank));
      methods[own] +=
          formatv("  __device__ __forceinline__ {0} at{1}({2}) const {{ return {3}[({4} - firstRow) * {5} + {6}]; }\n",
                  element, number, parameters(rank), name, row, place.stride,
                  rank ? "i" + std::to_string(rank - 1) : "0")
              .str();
      return;
    }
    unsigned index = place.kind == Place::argument ? place.index : kernel.getBody().getNumArguments() + place.index;
    address = formatv("p.args[{0}]", index).str();
    if (table) {
      sizes.erase(sizes.begin());
      count = product(sizes);
      address = formatv("Global<const uint64_t>({0}, p.sizes[0])[member]", address).str();
    }
    if (isPanels(value)) {
      auto shape = type.getShape().take_back(2);
      count = std::to_string(rt::panelFloats(shape[0], shape[1]));
    }
    const char *constant = place.kind == Place::argument ? "const " : "";
    members[own] = formatv("  Global<{0}{1}> {2};\n", constant, element, name).str();
    initializers[own] = formatv(",\n        {0}({1}, {2})", name, address, count).str();
    std::string linear;
    for (unsigned i = 0; i < sizes.size(); ++i) {
      std::string dim = "i" + std::to_string(i + table);
      linear = i == 0 ? (sizes.size() > 1 ? "int64_t(" + dim + ")" : dim)
                      : "(" + linear + ") * " + sizeText(sizes[i]) + " + " + dim;
    }
    methods[own] += formatv("  __device__ __forceinline__ {0} at{1}({2}) const {{ return {3}[{4}]; }\n", element,
                            number, parameters(rank), name, linear.empty() ? "0" : linear)
                        .str();
  }

  /// The row among all rows of an index of a value of this form.
  std::string rowOf(const RowForm &form, ArrayRef<std::string> dims) {
    std::string row;
    for (unsigned i = 0; i < form.rows.size(); ++i) {
      const std::string &dim = dims[i + form.lifted];
      row = i == 0 ? dim : "(" + row + ") * int(" + sizeText(form.rows[i]) + ") + " + dim;
    }
    return row.empty() ? "0" : row;
  }

  // Values that are computed where they are read.

  /// A member function that computes a value from its op.
  std::string compute(Value value, StringRef name) {
    Operation *op = value.getDefiningOp();
    if (op->hasAttr("numerics") && numericsRule(op) != "chain")
      broken = "a sum in another order than the general one is read where no step has made it";
    unsigned rank = typeOf(value).getRank();
    std::string body;
    if (auto map = dyn_cast<MapOp>(op))
      body = "return " +
             call(map,
                  [&](unsigned i) {
                    return at(map.getInputs()[i], text(operandAccess(map, i, identity(rank)), ownDims(rank)));
                  }) +
             ";";
    else if (auto concat = dyn_cast<ConcatOp>(op))
      body = concatBody(concat);
    else if (auto gather = dyn_cast<GatherOp>(op))
      body = gatherBody(gather);
    else if (auto contract = dyn_cast<ContractOp>(op))
      body = contractBody(contract);
    else
      body = reduceBody(cast<ReduceOp>(op));
    return formatv("  __device__ __forceinline__ {0} {1}{2}({3}) const {{\n    {4}\n  }\n", elementOf(value), name,
                   numbers.lookup(value), parameters(rank), body)
        .str();
  }

  AffineMap identity(unsigned rank) { return AffineMap::getMultiDimIdentityMap(rank, kernel.getContext()); }
  std::string call(MapOp map, llvm::function_ref<std::string(unsigned)> operand) {
    std::string all;
    for (unsigned i = 0; i < map.getInputs().size(); ++i)
      all += (i ? ", " : "") + operand(i);
    unsigned number = numbers.lookup(map.getResult());
    if (!functions.contains(number)) {
      llvm::Expected<std::string> function = cudaFunction(map, "f" + std::to_string(number));
      if (function)
        functions[number] = *function;
      else
        broken = llvm::toString(function.takeError());
    }
    return formatv("f{0}({1})", number, all).str();
  }
  static std::string joined(ArrayRef<std::string> parts) { return llvm::join(parts, ", "); }

  std::string concatBody(ConcatOp op) {
    std::vector<std::string> dims = ownDims(typeOf(op.getResult()).getRank());
    std::string body, along = dims[op.getAxis()];
    int64_t start = 0;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      int64_t end = start + typeOf(input).getShape()[op.getAxis()];
      dims[op.getAxis()] = start ? formatv("{0} - {1}", along, start).str() : along;
      if (i + 1 < op.getInputs().size())
        body += formatv("if ({0} < {1})\n      return {2};\n    ", along, end, at(input, joined(dims))).str();
      else
        body += "return " + at(input, joined(dims)) + ";";
      start = end;
    }
    return body;
  }

  std::string gatherBody(GatherOp op) {
    unsigned axis = op.getAxis(), batch = op.getBatch().value_or(0), chosen = typeOf(op.getIndices()).getRank() - batch;
    std::vector<std::string> dims = ownDims(typeOf(op.getResult()).getRank());
    std::vector<std::string> places(dims.begin(), dims.begin() + batch), from(dims.begin(), dims.begin() + axis);
    places.insert(places.end(), dims.begin() + axis, dims.begin() + axis + chosen);
    from.push_back("index");
    from.insert(from.end(), dims.begin() + axis + chosen, dims.end());
    std::string length = sizeText(getSizes(typeOf(op.getX()))[axis]);
    return formatv(R"(const long long length = {0}, given = {1};
    const long long wrapped = given < 0 ? given + length : given;
    const int index = int(wrapped < 0 ? 0 : wrapped < length ? wrapped : length - 1);
    return {2};)",
                   length, at(op.getIndices(), joined(places)), at(op.getX(), joined(from)))
        .str();
  }

  /// The indices of `axes` from k, the last fastest.
  static std::string unravel(ArrayRef<std::string> names, ArrayRef<int64_t> lengths) {
    std::string lines, rest = "k";
    for (unsigned i = names.size(); i-- > 0;) {
      lines += formatv("const int {0} = {1};\n      ", names[i],
                       i == 0 ? rest : formatv("{0} % {1}", rest, lengths[i]).str())
                   .str();
      rest = formatv("{0} / {1}", rest, lengths[i]).str();
    }
    return lines;
  }

  std::string contractBody(ContractOp op) {
    auto spec = ContractSpec::parse(op.getSpec());
    std::string contracted = spec->contracted();
    Sizes left = getSizes(typeOf(op.getLhs()));
    std::vector<std::string> names;
    SmallVector<int64_t> lengths;
    int64_t count = 1;
    for (char label : contracted) {
      names.push_back("c" + std::to_string(names.size()));
      lengths.push_back(left[spec->lhs.find(label)].getFixed());
      count *= lengths.back();
    }
    auto index = [&](const std::string &labels) {
      std::vector<std::string> dims;
      for (char label : labels) {
        size_t place = spec->result.find(label);
        dims.push_back(place != std::string::npos ? "i" + std::to_string(place) : names[contracted.find(label)]);
      }
      return joined(dims);
    };
    std::string type = elementOf(op.getResult());
    return formatv("return chainSum<{0}, {1}, {2}>([&](int k, {2} sum) {{\n      {3}return multiplyAdd({4}, {5}, "
                   "sum);\n    });",
                   count, numericsChunk(op), type, unravel(names, lengths), at(op.getLhs(), index(spec->lhs)),
                   at(op.getRhs(), index(spec->rhs)))
        .str();
  }

  std::string reduceBody(ReduceOp op) {
    Sizes sizes = getSizes(typeOf(op.getX()));
    std::vector<std::string> dims = ownDims(sizes.size()), names;
    SmallVector<int64_t> lengths;
    int64_t count = 1;
    for (int64_t axis : op.getAxes()) {
      names.push_back("c" + std::to_string(names.size()));
      lengths.push_back(sizes[axis].getFixed());
      count *= lengths.back();
      dims[axis] = names.back();
    }
    std::string type = elementOf(op.getResult()), element = at(op.getX(), joined(dims)), each = unravel(names, lengths);
    ReduceKind kind = op.getKind();
    if (kind == ReduceKind::sum || kind == ReduceKind::mean)
      return formatv(
                 "return chainSum<{0}, {1}, {2}>([&](int k, {2} sum) {{\n      {3}return plus(sum, {4});\n    }){5};",
                 count, chunkOf(count), type, each, element,
                 kind == ReduceKind::mean ? formatv(" / {0}({1})", type, count).str() : "")
          .str();
    return formatv("const auto element = [&](int k) -> {0} {{\n      {1}return {2};\n    };\n    {0} best = "
                   "element(0);\n    for (int k = 1; k < {3}; ++k)\n"
                   "      best = {4}(best, element(k));\n    return best;",
                   type, each, element, count, kind == ReduceKind::max ? "maximum" : "minimum")
        .str();
  }

  // Steps.

  /// Statements that name the kernel's index space from `row` (of the tile) and `column`: m, r0.., column.
  std::vector<std::string> space(std::string &lines, const char *indent) {
    std::vector<std::string> dims{"t.member"};
    std::string rest = "t.firstRow + row";
    unsigned count = steps.form.rows.size();
    for (unsigned i = count; i-- > 0;) {
      std::string name = "r" + std::to_string(i);
      if (i == 0) {
        lines += formatv("{0}const int {1} = {2};\n", indent, name, rest).str();
        continue;
      }
      std::string length = "int(" + sizeText(steps.form.rows[i]) + ")";
      lines +=
          formatv("{0}const int above{1} = ({2}) / {3}, {4} = ({2}) - above{1} * {3};\n", indent, i, rest, length, name)
              .str();
      rest = "above" + std::to_string(i);
    }
    for (unsigned i = 0; i < count; ++i)
      dims.push_back("r" + std::to_string(i));
    dims.push_back("column");
    return dims;
  }
  AffineMap own(Value value) { return ownRow(RowForm::of(typeOf(value)), kernel.getContext()); }

  std::string store(Value value, const std::string &data, ArrayRef<std::string> dims) {
    const Place &place = steps.places.find(value)->second;
    std::string memory = view(value);
    if (place.kind == Place::scratch)
      return formatv("t.{0}[row * {1} + column] = {2};\n", memory, place.stride, data).str();
    RankedTensorType type = typeOf(value);
    Sizes sizes = getSizes(type);
    std::string linear;
    AffineMap access = own(value);
    for (unsigned i = 0; i < sizes.size(); ++i) {
      std::string dim = text(access.getResult(i), dims);
      linear = i == 0 ? "int64_t(" + dim + ")" : "(" + linear + ") * " + sizeText(sizes[i]) + " + " + dim;
    }
    return formatv("t.{0}[{1}] = {2};\n", memory, linear.empty() ? "0" : linear, data).str();
  }

  std::string emitSteps() {
    std::string all;
    for (const Step &step : steps.steps) {
      all += step.contraction ? contraction(step) : rows(step);
      all += "  __syncthreads();\n";
    }
    return all + heads();
  }

  std::string rows(const Step &step) {
    std::string all;
    for (Value value : step.stores) {
      auto reduce = value.getDefiningOp<ReduceOp>();
      std::string lines;
      std::vector<std::string> dims = space(lines, "    ");
      if (reduce && numericsRule(reduce) == "lanes") {
        all += reduction(reduce, lines, dims);
        continue;
      }
      Size columns = RowForm::of(typeOf(value)).columns;
      methods[numbers.lookup(value)] += compute(value, "make");
      std::string made = formatv("t.make{0}({1})", numbers.lookup(value), text(own(value), dims)).str();
      all += formatv("  forElements(t.rows, int({0}), [&](int row, int column) {{\n{1}    {2}  });\n",
                     sizeText(columns), lines, store(value, made, dims))
                 .str();
    }
    return all;
  }

  std::string reduction(ReduceOp op, const std::string &lines, ArrayRef<std::string> dims) {
    RankedTensorType type = typeOf(op.getX());
    Type element = type.getElementType();
    int64_t count = RowForm::of(type).columns.getFixed();
    bool isSum = op.getKind() == ReduceKind::sum || op.getKind() == ReduceKind::mean,
         largest = op.getKind() == ReduceKind::max;
    TypedAttr neutral;
    Builder b(kernel.getContext());
    if (isSum)
      neutral = b.getZeroAttr(element);
    else if (auto number = dyn_cast<FloatType>(element))
      neutral = FloatAttr::get(element, APFloat::getInf(number.getFloatSemantics(), largest));
    else
      neutral = IntegerAttr::get(element, largest ? APInt::getSignedMinValue(element.getIntOrFloatBitWidth())
                                                  : APInt::getSignedMaxValue(element.getIntOrFloatBitWidth()));
    std::string name = cudaType(element),
                result = op.getKind() == ReduceKind::mean ? formatv("all / {0}({1})", name, count).str() : "all";
    return formatv("  reduceRows<{0}<{1}>, {2}>(t.rows, {3}, [&](int row, int column) {{\n{4}    return t.{5};\n  }, "
                   "[&](int row, {1} all) {{\n"
                   "    const int column = 0;\n{4}    {6}  });\n",
                   isSum     ? "SumOf"
                   : largest ? "LargestOf"
                             : "SmallestOf",
                   name, count, cudaConstant(neutral), lines, at(op.getX(), text(own(op.getX()), dims)),
                   store(op.getResult(), result, dims))
        .str();
  }

  std::string contraction(const Step &step) {
    ContractOp op = step.contraction;
    Value left = op.getLhs();
    int64_t K = typeOf(left).getShape().back(), N = op.getType().getShape().back();
    const Place &place = steps.places.find(left)->second;
    std::string stride = std::to_string(place.kind == Place::scratch ? place.stride : K), rowsOf = "t." + view(left);
    if (place.kind != Place::scratch) {
      std::string row = "t.firstRow";
      if (RowForm::of(typeOf(left)).lifted)
        row = "t.member * totalRows + " + row;
      rowsOf = formatv("{0}.slice(({1}) * {2}, int64_t(t.rows) * {2})", rowsOf, row, K).str();
    }

    std::string lines;
    std::vector<std::string> dims = space(lines, "    ");
    std::map<std::pair<void *, std::string>, std::string> known;
    // A map of the sums is computed from them; everything else is read.
    std::function<std::string(Value, AffineMap)> read = [&](Value value, AffineMap access) -> std::string {
      if (value == op.getResult())
        return "sum";
      auto map = value.getDefiningOp<MapOp>();
      if (!map || !dependsOn(value, op.getResult()))
        return "t." + at(value, text(access, dims));
      std::string &name = known[{value.getAsOpaquePointer(), text(access, dims)}];
      if (name.empty()) {
        std::string value_ =
            call(map, [&](unsigned i) { return read(map.getInputs()[i], operandAccess(map, i, access)); });
        name =
            "v" + std::to_string(numbers.lookup(value)) + (known.size() > 1 ? "_" + std::to_string(known.size()) : "");
        lines += formatv("    const {0} {1} = {2};\n", elementOf(value), name, value_).str();
      }
      return name;
    };
    std::string stores;
    for (Value value : step.stores) {
      std::string data = read(value, own(value));
      stores += "    " + store(value, data, dims);
    }
    std::string all = formatv("  // {0} x {1}\n  const Rows left{2}{{{3}, {4}};\n  const auto store{2} = [&](int row, "
                              "int column, float sum) {{\n{5}{6}  };\n",
                              K, N, numbers.lookup(op.getResult()), rowsOf, stride, lines, stores)
                          .str();
    std::vector<rt::PanelBlock> blocks = rt::planPanels(K, N);
    for (size_t i = 0; i < blocks.size();) {
      const rt::PanelBlock &first = blocks[i];
      size_t next = i + 1;
      int64_t columns = first.cols;
      for (; next < blocks.size() && !first.lanes && !blocks[next].lanes && blocks[next].width == first.width; ++next)
        columns += blocks[next].cols;
      std::string shape = first.lanes
                              ? formatv("multiplyLanes<{0}, {1}>", K, first.cols).str()
                              : formatv("multiplyPanels<{0}, {1}, {2}>", K, first.width, numericsChunk(op)).str();
      all += formatv("  {0}(t.rows, left{1}, t.{2}, {3}, {4}, {5}store{1});\n", shape, numbers.lookup(op.getResult()),
                     view(op.getRhs()), first.offset, first.col, first.lanes ? "" : std::to_string(columns) + ", ")
                 .str();
      i = next;
    }
    return all;
  }

  static bool dependsOn(Value value, Value other) {
    if (value == other)
      return true;
    auto map = value.getDefiningOp<MapOp>();
    return map && llvm::any_of(map.getInputs(), [&](Value input) { return dependsOn(input, other); });
  }

  std::string heads() {
    if (steps.heads.empty())
      return "";
    std::string all =
        formatv("  const Global<unsigned> tickets(p.args[{0}], (totalRows + {1}) / {2});\n"
                "  if (!isLastOf(int(p.sizes[0]), tickets, int(blockIdx.x), shared<int>({3}, 1)))\n    return;\n",
                argumentCount() - 1, geometry.rows - 1, geometry.rows, geometry.sharedBytes - 16)
            .str();
    for (HeadOp head : steps.heads) {
      Type element = typeOf(head.getX()).getElementType(), answer = typeOf(head.getResult()).getElementType();
      std::string x = view(head.getX()), columns = sizeText(RowForm::of(typeOf(head.getX())).columns),
                  type = cudaType(answer);
      std::string from = formatv("const auto of = [&](int m) -> {0} {{ return t.{1}[((m * totalRows) + t.firstRow + "
                                 "row) * {2} + column]; };",
                                 cudaType(element), x, columns)
                             .str();
      std::string result;
      switch (head.getKind()) {
      case HeadKind::mean:
        result = "meanOf<" + type + ">(count, of)";
        break;
      case HeadKind::var:
        result = "varOf<" + type + ">(count, of)";
        break;
      case HeadKind::std:
        result = "stdOf<" + type + ">(count, of)";
        break;
      case HeadKind::min:
        result = "minOf<" + type + ">(count, of)";
        break;
      case HeadKind::max:
        result = "maxOf<" + type + ">(count, of)";
        break;
      case HeadKind::quantile:
        result = formatv("quantileOf<{0}>(count, {1}, of)", type, cudaConstant(head.getQAttr())).str();
        break;
      case HeadKind::vote:
        result = "mostFrequent<" + type + ">(count, of)";
        break;
      }
      if (head.getKind() == HeadKind::vote && isa<FloatType>(element))
        all += formatv("  forElements(t.rows, 1, [&](int row, int) {{\n    const auto place = [&](int m) -> long long "
                       "{{\n      return placeOfLargest(int({0}), [&](int column) {{ "
                       "return {1}(t.{2}[((m * totalRows) + t.firstRow + row) * {0} + column]); });\n    };\n    "
                       "t.{3}[t.firstRow + row] = mostFrequent<long long>(int(p.sizes[0]), place);\n  });\n",
                       columns, cudaType(element), x, view(head.getResult()))
                   .str();
      else
        all += formatv("  forElements(t.rows, int({0}), [&](int row, int column) {{\n    const int count = "
                       "int(p.sizes[0]);\n    {1}\n"
                       "    t.{2}[int64_t(t.firstRow + row) * {0} + column] = {3};\n  });\n",
                       columns, from, view(head.getResult()), result)
                   .str();
    }
    return all;
  }
};

} // namespace

llvm::Expected<std::string> emitCudaKernel(plan::KernelOp kernel, ArrayRef<std::string> sizes, StringRef name) {
  std::optional<CudaGeometry> geometry = cudaGeometry(kernel);
  if (!geometry)
    return fail(ExitCode::unsupported,
                "kernel " + kernel.getSymName() + " needs " + std::to_string(sharedPerRow(Steps::of(kernel))) +
                    " bytes of shared memory for a row, a block has " + std::to_string(sharedBudget) +
                    "; layers so wide are not supported on cuda yet");
  return KernelText(kernel, sizes, *geometry).emit(name);
}

} // namespace tutti
