// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that are computed where they are read, and their ops.
#include "Text.h"
#include "dialects/tutti/Module.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// The indices of `axes` from k, the last fastest.
static std::string unravel(ArrayRef<std::string> names, ArrayRef<int64_t> lengths) {
  std::string lines, rest = "k";
  for (unsigned i = names.size(); i-- > 0;) {
    lines +=
        formatv("const int {0} = {1};\n      ", names[i], i == 0 ? rest : formatv("{0} % {1}", rest, lengths[i]).str())
            .str();
    rest = formatv("{0} / {1}", rest, lengths[i]).str();
  }
  return lines;
}
static std::string joined(ArrayRef<std::string> parts) { return llvm::join(parts, ", "); }

std::string KernelText::compute(Value value, StringRef name) {
  Operation *op = value.getDefiningOp();
  if (isRowPhase(op) || (isa<NumericsOpInterface>(op) && numericsRule(op) != NumericsRule::chain))
    cannot("a sum in another order than the general one is read where no step has made it");
  unsigned rank = typeOf(value).getRank();
  std::string body;
  if (auto map = dyn_cast<MapOp>(op))
    body = "return " +
           call(map,
                [&](unsigned i) {
                  return at(map.getInputs()[i],
                            text(operandAccess(map, i, AffineMap::getMultiDimIdentityMap(rank, kernel.getContext())),
                                 ownDims(rank)));
                }) +
           ";";
  else if (auto concat = dyn_cast<ConcatOp>(op))
    body = concatBody(concat);
  else if (auto gather = dyn_cast<GatherOp>(op))
    body = gatherBody(gather);
  else if (auto contract = dyn_cast<ContractOp>(op))
    body = contractBody(contract);
  else if (auto arg = dyn_cast<ArgOp>(op))
    body = argBody(arg);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    body = reduceBody(reduce);
  else
    cannot("no text for " + op->getName().getStringRef());
  return formatv("  __device__ __forceinline__ {0} {1}{2}({3}) const {{\n    {4}\n  }\n", elementOf(value), name,
                 numberOf(value), parameters(rank), body)
      .str();
}

std::string KernelText::call(MapOp map, llvm::function_ref<std::string(unsigned)> operand) {
  std::string all;
  for (unsigned i = 0; i < map.getInputs().size(); ++i)
    all += (i ? ", " : "") + operand(i);
  unsigned number = (whole ? whole : this)->functionFor(map, numbers.lookup(map.getResult()));
  return formatv("f{0}({1})", number, all).str();
}

unsigned KernelText::functionFor(MapOp map, unsigned number) {
  auto [known, isNew] = functionOf.try_emplace(number, number);
  if (!isNew)
    return known->second;
  llvm::Expected<CudaFunction> function = cudaFunction(map, getPrecision(kernel->getParentOfType<ModuleOp>()));
  if (!function) {
    cannot(llvm::toString(function.takeError()));
    return number;
  }
  // Maps with the same code, such as the next layer's, share a function.
  known->second = bodies.try_emplace(*function, number).first->second;
  if (known->second == number)
    functions[number] = function->text("f" + std::to_string(number));
  return known->second;
}

std::string KernelText::combine(ScatterOp op) {
  if (op.getKind() == ScatterKind::set)
    return "";
  if (whole)
    return whole->combine(op);
  unsigned number = numbers.lookup(op.getResult());
  if (!functionOf.contains(number)) {
    // The combination is emitted as a map of two scalars.
    Type element = op.getType().getElementType();
    OpBuilder builder(kernel.getContext());
    Block scratch;
    auto scalar = RankedTensorType::get({}, element);
    Value left = scratch.addArgument(scalar, op.getLoc()), right = scratch.addArgument(scalar, op.getLoc());
    builder.setInsertionPointToEnd(&scratch);
    AffineMap none = AffineMap::get(kernel.getContext());
    auto map = MapOp::create(builder, op.getLoc(), scalar, ValueRange{left, right},
                             builder.getAffineMapArrayAttr({none, none}));
    Block *body = builder.createBlock(&map.getBody());
    body->addArguments({scalarType(element), scalarType(element)}, {op.getLoc(), op.getLoc()});
    YieldOp::create(builder, op.getLoc(), op.buildCombine(builder, body->getArgument(0), body->getArgument(1)));
    functionFor(map, number);
  }
  return "f" + std::to_string(functionOf[number]);
}

std::string KernelText::concatBody(ConcatOp op) {
  std::vector<std::string> dims = ownDims(typeOf(op.getResult()).getRank());
  std::string body, along = dims[op.getAxis()];
  int64_t start = 0;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    int64_t end = start + typeOf(input).getShape()[op.getAxis()];
    dims[op.getAxis()] = start ? along + " - " + numberText(start) : along;
    if (i + 1 < op.getInputs().size())
      body += formatv("if ({0} < {1})\n      return {2};\n    ", along, numberText(end), at(input, joined(dims))).str();
    else
      body += "return " + at(input, joined(dims)) + ";";
    start = end;
  }
  return body;
}

std::string KernelText::gatherBody(GatherOp op) {
  unsigned axis = op.getAxis(), batch = op.getBatch().value_or(0), chosen = typeOf(op.getIndices()).getRank() - batch;
  std::vector<std::string> dims = ownDims(typeOf(op.getResult()).getRank());
  std::vector<std::string> places(dims.begin(), dims.begin() + batch), from(dims.begin(), dims.begin() + axis);
  places.insert(places.end(), dims.begin() + axis, dims.begin() + axis + chosen);
  from.push_back("index");
  from.insert(from.end(), dims.begin() + axis + chosen, dims.end());
  std::string length = sizeText(getSizes(typeOf(op.getX()))[axis]);
  return formatv(R"(const int index = inRange({1}, {0});
    return {2};)",
                 length, at(op.getIndices(), joined(places)), at(op.getX(), joined(from)))
      .str();
}

std::string KernelText::contractBody(ContractOp op) {
  ContractSpec spec = op.labels();
  std::string contracted = spec.contracted();
  std::vector<std::string> names;
  SmallVector<int64_t> lengths;
  for (const Size &length : op.mixedSizes()) {
    names.push_back("c" + std::to_string(names.size()));
    lengths.push_back(length.getFixed());
  }
  auto index = [&](const std::string &labels) {
    std::vector<std::string> dims;
    for (char label : labels) {
      size_t place = spec.result.find(label);
      dims.push_back(place != std::string::npos ? "i" + std::to_string(place) : names[contracted.find(label)]);
    }
    return joined(dims);
  };
  std::string type = elementOf(op.getResult());
  return formatv("return chainSum<{0}, {1}, {2}>([&](int k, {2} sum) {{\n      {3}return {6}({4}, {5}, "
                 "sum);\n    });",
                 op.terms()->getFixed(), numericsChunk(op), type, unravel(names, lengths),
                 at(op.getLhs(), index(spec.lhs)), at(op.getRhs(), index(spec.rhs)),
                 op.getBytes() ? "multiplyAddBytes" : "multiplyAdd")
      .str();
}

std::string KernelText::reduceBody(ReduceOp op) {
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
    return formatv("return chainSum<{0}, {1}, {2}>([&](int k, {2} sum) {{\n      {3}return plus(sum, {4});\n    }){5};",
                   count, chunkOf(count), type, each, element,
                   kind == ReduceKind::mean ? formatv(" / {0}({1})", type, count).str() : "")
        .str();
  return formatv("{0} all = {1};\n    for (int k = 0; k < {2}; ++k) {{\n      {3}all = {4}(all, {5});\n    }\n    "
                 "return all;",
                 type, cudaConstant(neutralOf(kind, typeOf(op.getResult()).getElementType())), numberText(count), each,
                 kind == ReduceKind::max   ? "maximum"
                 : kind == ReduceKind::min ? "minimum"
                                           : "times",
                 element)
      .str();
}

std::string KernelText::argBody(ArgOp op) {
  Sizes sizes = getSizes(typeOf(op.getX()));
  std::vector<std::string> dims = ownDims(sizes.size());
  dims[op.getAxis()] = "k";
  return formatv("return argOf<{0}, {1}>([&](int k) {{ return {2}; });", op.getLast(), sizes[op.getAxis()].getFixed(),
                 formatv(keyText(op).c_str(), at(op.getX(), joined(dims))).str())
      .str();
}

} // namespace tutti
