// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an ONNX model to a module: its ports, limits and functions, around the walk over its graph (Walk.cpp).
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/Limits.h"
#include "compiler/import/NormalForm.h"
#include "compiler/import/Supplied.h"
#include "compiler/import/onnx/Walk.h"
#include "compiler/import/onnx/ops/Ops.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Ports.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tutti {
namespace {

class Importer {
public:
  Importer(MLIRContext &context, const MemberFiles &files, OnnxFile &file, const SafetensorsFile *weights,
           const ImportOptions &given, const Ports *ports, size_t member, DiagnosticCapture &diagnostics)
      : context(context), files(files), path(files.model), file(file), weights(weights), graph(file.graph()),
        ports(ports), member(member), options(given), dims(options), diagnostics(diagnostics),
        walk(context, path, file, weights) {}

  llvm::Expected<MemberModel> run() {
    if (llvm::Error error = prepare())
      return std::move(error);
    // Each restart makes two symbols one or gives one a value, so there are fewer of them than symbols.
    while (true) {
      llvm::Expected<std::optional<MemberModel>> model = attempt();
      if (!model)
        return model.takeError();
      if (*model)
        return std::move(**model);
      if (walk.walked > mostWalked)
        return fail(ExitCode::unsupported,
                    quote(path) + " has many dimensions that turn out to be one, each after many nodes: give them one "
                                  "name in the model, or bind them with --dim");
    }
  }

private:
  llvm::Error prepare();
  llvm::Error bindInputs();
  llvm::Error bindInput(const onnx::ValueInfoProto &input, const std::string &name, const BoundInput &bound);
  llvm::Error checkWeights();
  llvm::Expected<std::optional<MemberModel>> attempt();
  llvm::Error findResults(Emit &emit, Scope &scope, SmallVectorImpl<Value> &results);
  llvm::Expected<SmallVector<RankedTensorType>> inputTypes();
  llvm::Expected<Sizes> sizesOf(const onnx::ValueInfoProto &input, const RankedTensorType *reference);
  llvm::Error wrong(const llvm::Twine &what) { return fail(ExitCode::malformed, quote(path) + ": " + what); }

  MLIRContext &context;
  const MemberFiles &files;
  StringRef path;
  OnnxFile &file;
  const SafetensorsFile *weights; ///< or null
  const onnx::GraphProto &graph;
  const Ports *ports;
  size_t member;
  ImportOptions options; ///< with what bound inputs say of dimensions
  Dims dims;
  DiagnosticCapture &diagnostics;

  Walk walk;
  int64_t spent = 0; ///< of the budgets of all attempts
  Opsets opsets;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  std::vector<const onnx::ValueInfoProto *> inputs; ///< without initializers and bound ones, in member 0's order
  std::vector<std::string> allInputs;               ///< with bound ones
  std::vector<std::pair<const onnx::ValueInfoProto *, WeightSource>> bound;
  std::vector<const onnx::ValueInfoProto *> outputs; ///< in member 0's order
};

/// What kind of value a port is, that is no tensor.
StringRef kindOf(const onnx::TypeProto &type) {
  return type.has_sequence_type()        ? "a sequence"
         : type.has_map_type()           ? "a map"
         : type.has_sparse_tensor_type() ? "a sparse tensor"
         : type.has_optional_type()      ? "an optional"
                                         : "of no type";
}

/// Puts `own` into the order of `names`: by name where all of them are there, else as they are.
bool orderLike(std::vector<const onnx::ValueInfoProto *> &own, const std::vector<std::string> &names) {
  if (own.size() != names.size())
    return false;
  std::vector<const onnx::ValueInfoProto *> sorted;
  for (const std::string &name : names)
    for (const onnx::ValueInfoProto *each : own)
      if (each->name() == name)
        sorted.push_back(each);
  if (sorted.size() == own.size())
    own = sorted;
  return true;
}

llvm::Error Importer::prepare() {
  opsets = opsetsOf(file.model().opset_import());
  // A file without opsets is of the first IR versions, which had but one.
  if (file.model().opset_import_size() == 0)
    return fail(ExitCode::unsupported, quote(path) + " names no opset; opsets " + llvm::Twine(oldestOpset) + " to " +
                                           llvm::Twine(newestOpset) + " are supported");
  // One whose ops are all of other domains need not name that of the default one.
  if (auto own = opsets.find(""); own != opsets.end() && (own->second < oldestOpset || own->second > newestOpset))
    return fail(ExitCode::unsupported, quote(path) + " is of opset " + llvm::Twine(own->second) + "; opsets " +
                                           llvm::Twine(oldestOpset) + " to " + llvm::Twine(newestOpset) +
                                           " are supported: export the model for one of those");
  if (graph.sparse_initializer_size())
    return fail(ExitCode::unsupported, quote(path) + ": initializer " +
                                           quote(graph.sparse_initializer(0).values().name()) +
                                           " is sparse, which is not supported: store it dense");
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (!initializers.try_emplace(tensor.name(), &tensor).second)
      return wrong("there are two initializers " + quote(tensor.name()));
  for (const auto *list : {&graph.input(), &graph.output()})
    for (const onnx::ValueInfoProto &port : *list)
      if (port.name().find('\0') != std::string::npos)
        return wrong("an input or output has a 0 byte in its name: " + quote(std::string(port.name().c_str())));
  for (const onnx::OperatorSetIdProto &set : file.model().opset_import())
    if (int64_t last = opsets.lookup(set.domain() == "ai.onnx" ? "" : set.domain()); last != set.version())
      return wrong("it imports opset " + llvm::Twine(set.version()) + " and opset " + llvm::Twine(last) +
                   " of domain " + quote(set.domain()));
  llvm::StringSet<> names;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (!names.insert(input.name()).second)
      return wrong("there are two inputs " + quote(input.name()));
    // An initializer that is also listed as an input is a constant.
    if (!initializers.contains(input.name()))
      inputs.push_back(&input);
  }
  llvm::StringSet<> results;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    if (!results.insert(output.name()).second)
      return wrong("there are two outputs " + quote(output.name()));
    outputs.push_back(&output);
  }
  if (outputs.empty())
    return wrong("the graph has no outputs");
  if (inputs.size() > mostPorts || outputs.size() > mostPorts)
    return fail(ExitCode::unsupported, quote(path) + " has more than " + llvm::Twine(mostPorts) + " inputs or outputs");
  if (ports) {
    auto count = [&](StringRef what, size_t mine, size_t theirs) {
      return fail(ExitCode::unsupported, "member " + llvm::Twine(member) + " (" + quote(path) +
                                             ") differs from member 0: " + llvm::Twine(mine) + " " + what +
                                             ", member 0 has " + llvm::Twine(theirs));
    };
    if (!orderLike(inputs, ports->all))
      return count("inputs", inputs.size(), ports->all.size());
    if (!orderLike(outputs, ports->outputs))
      return count("outputs", outputs.size(), ports->outputs.size());
  }
  if (llvm::Error error = bindInputs())
    return error;
  for (const auto &initializer : initializers)
    names.insert(initializer.getKey());
  names.erase(""); // no name, of a node's output: not computed
  if (llvm::Error error = walk.check(graph.node(), names))
    return error;
  return weights ? checkWeights() : llvm::Error::success();
}

/// Why there is no input of the name that a flag --bind has.
llvm::Error bindError(const std::string &name, bool isWeight, llvm::Error error) {
  return llvm::handleErrors(std::move(error), [&](const CompileError &why) {
    return fail(why.code,
                "--bind " + shown(name) + ": " + (isWeight ? "it is a weight of the model; " : "") + why.message);
  });
}

/// The inputs that are constants, by the name that member 0 has for each.
llvm::Error Importer::bindInputs() {
  for (const onnx::ValueInfoProto *input : inputs)
    allInputs.push_back(input->name());
  const std::vector<std::string> &names = ports ? ports->all : allInputs;
  std::vector<const onnx::ValueInfoProto *> left = inputs;
  for (const auto &[name, constant] : options.binds) {
    llvm::Expected<unsigned> at = placeOf(names, "input", name);
    if (!at)
      return bindError(name, initializers.contains(name), at.takeError());
    if (!llvm::is_contained(left, inputs[*at]))
      return fail(ExitCode::usage, "--bind " + shown(names[*at]) + " is given twice, in two spellings");
    if (llvm::Error error = bindInput(*inputs[*at], name, constant))
      return error;
    llvm::erase(left, inputs[*at]);
  }
  inputs = left;
  return llvm::Error::success();
}

llvm::Error Importer::bindInput(const onnx::ValueInfoProto &input, const std::string &name,
                                const BoundInput &constant) {
  auto no = [&](const llvm::Twine &what) {
    return fail(ExitCode::usage, "--bind " + shown(name) + "=" + shown(constant.file) + ": " + what);
  };
  const onnx::TypeProto::Tensor &tensor = input.type().tensor_type();
  Type element = elementOf(context, tensor.elem_type());
  if (!input.type().has_tensor_type() || !element)
    return fail(ExitCode::unsupported,
                quote(path) + ": input " + quote(input.name()) + " is " +
                    (input.type().has_tensor_type()
                         ? "of type " + dataTypeName(tensor.elem_type()) + ", which is not supported yet"
                         : (kindOf(input.type()) + " where a tensor is due").str()));
  llvm::Expected<WeightSource> source = constant.read(element);
  if (!source)
    return source.takeError();
  auto mismatch = [&](const llvm::Twine &expected) {
    return no("the file has " + Operand(*source).str() + ", input " + quote(input.name()) + " is " + expected);
  };
  if (source->element != element)
    return mismatch(elementName(element));
  if (tensor.has_shape()) {
    std::string expected;
    bool fits = size_t(tensor.shape().dim_size()) == source->dims.size();
    for (auto [axis, dim] : llvm::enumerate(tensor.shape().dim())) {
      bool fixed = isFixed(dim);
      std::string symbol = fixed ? "" : dimName(dim.dim_param(), input.name(), axis);
      expected += (axis ? ", " : "") + (fixed ? std::to_string(dim.dim_value()) : symbol);
      fits = fits && (!fixed || dim.dim_value() == source->dims[axis]);
      if (fixed || !fits || ports)
        continue;
      // A size that the file decides is bound by it.
      int64_t size = source->dims[axis];
      auto [place, fresh] = options.dims.try_emplace(symbol, DimBinding{size, size});
      if (!fresh && (place->second.lo != size || place->second.hi != size))
        return no("the file makes dimension " + quote(symbol) + " " + llvm::Twine(size) +
                  ", elsewhere it is bound to " + llvm::Twine(place->second.lo) +
                  (place->second.lo == place->second.hi ? "" : ".." + std::to_string(place->second.hi)));
    }
    if (!fits)
      return mismatch(elementName(element) + " (" + expected + ")");
  }
  bound.emplace_back(&input, std::move(*source));
  return llvm::Error::success();
}

/// The weights file has what the graph uses, in its types and shapes, and nothing else.
llvm::Error Importer::checkWeights() {
  SmallVector<std::string> names;
  for (const onnx::ValueInfoProto *output : outputs)
    names.push_back(output->name());
  Readers used = Walk::readersFor(graph.node(), names);
  std::vector<Wanted> wanted;
  for (const onnx::TensorProto &tensor : graph.initializer())
    wanted.push_back({tensor.name(),
                      tensor.data_type(),
                      {tensor.dims().begin(), tensor.dims().end()},
                      used.contains(tensor.name())});
  return checkSupplied(*weights, files, wanted);
}

llvm::Expected<Sizes> Importer::sizesOf(const onnx::ValueInfoProto &input, const RankedTensorType *reference) {
  const onnx::TensorShapeProto &shape = input.type().tensor_type().shape();
  if (shape.dim_size() > mostRank)
    return fail(ExitCode::unsupported,
                quote(path) + ": input " + quote(input.name()) + " is of rank " + llvm::Twine(shape.dim_size()));
  Sizes theirs = reference ? getSizes(*reference) : Sizes(), sizes;
  for (auto [axis, dim] : llvm::enumerate(shape.dim())) {
    bool fixed = isFixed(dim);
    if (fixed && dim.dim_value() == 0)
      return fail(ExitCode::unsupported, quote(path) + ": input " + quote(input.name()) + " has no elements");
    if (fixed)
      sizes.push_back(Size(dim.dim_value()));
    else if (reference) // what member 0 calls it
      sizes.push_back(axis < theirs.size() ? theirs[axis] : Size::symbol("?"));
    else
      sizes.push_back(dims.declare(dim.dim_param(), input.name(), axis));
  }
  return sizes;
}

llvm::Expected<SmallVector<RankedTensorType>> Importer::inputTypes() {
  SmallVector<RankedTensorType> types;
  for (const auto &[input, constant] : bound)
    for (auto [axis, dim] : llvm::enumerate(input->type().tensor_type().shape().dim()))
      if (!ports && !isFixed(dim))
        dims.declare(dim.dim_param(), input->name(), axis);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto no = [&](const llvm::Twine &what) {
      return fail(ExitCode::unsupported, quote(path) + ": input " + quote(input->name()) + " " + what);
    };
    if (!input->type().has_tensor_type())
      return no(Twine("is ") + kindOf(input->type()) + " where a tensor is due: export the model with tensors alone");
    const onnx::TypeProto::Tensor &tensor = input->type().tensor_type();
    Type element = elementOf(context, tensor.elem_type());
    if (!element)
      return no("is of type " + dataTypeName(tensor.elem_type()) + ", which is not supported yet");
    if (!tensor.has_shape())
      return no("has no shape: export the model with one");
    const RankedTensorType *reference = ports ? &ports->types[i] : nullptr;
    llvm::Expected<Sizes> sizes = sizesOf(*input, reference);
    if (!sizes)
      return sizes.takeError();
    if (dims.count() > mostSymbols)
      return fail(ExitCode::unsupported,
                  quote(path) + " has more than " + llvm::Twine(mostSymbols) + " symbolic dimensions");
    types.push_back(getTensorType(*sizes, element));
    if (reference && types.back() != *reference)
      return fail(ExitCode::unsupported,
                  "member " + llvm::Twine(member) + " (" + quote(path) + ") differs from member 0 at input " +
                      quote(input->name()) + ": " + elementName(element) + " " + str(*sizes) + ", in member 0 " +
                      elementName(reference->getElementType()) + " " + str(getSizes(*reference)));
  }
  return types;
}

/// The values of the outputs, but for those whose ops are not supported, which the walk has noted.
llvm::Error Importer::findResults(Emit &emit, Scope &scope, SmallVectorImpl<Value> &results) {
  for (const onnx::ValueInfoProto *output : outputs) {
    llvm::Expected<Operand> operand = walk.lookup(scope, output->name(), "output " + quote(output->name()));
    if (!operand)
      return operand.takeError();
    if (!*operand)
      continue; // reported
    if (operand->isSequence())
      return fail(ExitCode::unsupported, quote(path) + ": output " + quote(output->name()) + " is a " + operand->str() +
                                             ", expected a tensor: make each of them an output, or join them with "
                                             "ConcatFromSequence");
    Value value = emit.value(*operand);
    if (std::optional<Problem> problem = emit.takeProblem())
      return fail(problem->code, quote(path) + ": output " + quote(output->name()) + ": " + problem->reason +
                                     (problem->advice.empty() ? "" : "; " + problem->advice));
    // Shapes that graphs declare are as often wrong as right, and nothing reads them; types are what a caller goes by.
    int32_t declared = output->type().tensor_type().elem_type();
    Type element = elementOf(context, declared), computed = operand->element();
    if (declared && element != computed)
      return wrong("output " + quote(output->name()) + " is declared " +
                   (element ? elementName(element) : dataTypeName(declared)) + ", but the graph computes " +
                   elementName(computed));
    results.push_back(value);
  }
  return llvm::Error::success();
}

llvm::Expected<std::optional<MemberModel>> Importer::attempt() {
  walk.begin();
  Scope scope{opsets, nullptr, "", {}, initializers, {}, {}};
  llvm::Expected<SmallVector<RankedTensorType>> types = inputTypes();
  if (!types)
    return types.takeError();

  Location location = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module(ModuleOp::create(location));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<Type> argumentTypes(types->begin(), types->end());
  auto main = func::FuncOp::create(builder, location, "main", builder.getFunctionType(argumentTypes, {}));
  Block *block = main.addEntryBlock();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    scope.values[input->name()] = Operand(main.getArgument(i));
    setInputName(main, i, input->name());
  }

  for (const auto &[input, constant] : bound)
    scope.values[input->name()] = Operand(constant);

  Emit emit(context, block, ports ? nullptr : &dims, diagnostics);
  emit.keepsNumbers = options.keepsNumbers;
  SmallVector<SizeRange> ranges;
  if (!ports)
    for (auto &[name, bound] : dims.ranges())
      ranges.push_back({name, bound.lo, bound.hi});
  emit.ranges = ports ? ports->ranges : ranges;
  emit.budget += file.size() + (weights ? weights->mapped->size() : 0);
  emit.budget = std::min(emit.budget, mostBudgets * emit.budget - spent);
  const int64_t budget = emit.budget;
  SmallVector<std::string> wanted;
  for (const onnx::ValueInfoProto *output : outputs)
    wanted.push_back(output->name());
  if (llvm::Error error = walk.run(emit, scope, graph.node(), wanted))
    return std::move(error);
  spent += budget - emit.budget;
  if (emit.restart)
    return std::nullopt;

  SmallVector<Value> results;
  if (llvm::Error error = findResults(emit, scope, results))
    return std::move(error);
  llvm::Error unbound = ports ? llvm::Error::success() : dims.check();
  if (const std::vector<UnsupportedOp> &unsupported = walk.unsupported; !unsupported.empty()) {
    // Without its size a dimension may be why an op is refused; to say so is the better help, unless ops are missing.
    bool missing = llvm::any_of(unsupported, [](const UnsupportedOp &op) { return !findOp(op.op); });
    if (unbound && !missing)
      return std::move(unbound);
    llvm::consumeError(std::move(unbound));
    return fail(ExitCode::unsupported, describe(path, unsupported), toJson(unsupported));
  }
  if (unbound)
    return std::move(unbound);

  OpBuilder end = OpBuilder::atBlockEnd(block);
  func::ReturnOp::create(end, location, results);
  main.setFunctionType(builder.getFunctionType(argumentTypes, ValueRange(results).getTypes()));
  for (auto [i, output] : llvm::enumerate(outputs))
    setOutputName(main, i, output->name());
  normalize(main, emit);

  MemberModel model;
  model.weights = declareParams(*module, main, emit);
  setSizeRanges(*module, ranges);
  setMembers(*module, 1);
  model.module = std::move(module);
  model.file = weights ? files.weights : files.model;
  model.name = llvm::sys::path::stem(model.file).str();
  model.allInputs = allInputs;
  return std::optional<MemberModel>(std::move(model));
}

} // namespace

llvm::Expected<MemberModel> importOnnx(MLIRContext &context, OnnxFile &model, const SafetensorsFile *weights,
                                       const MemberFiles &files, const ImportOptions &options, const Ports *ports,
                                       size_t member) {
  context.loadDialect<TuttiDialect, func::FuncDialect>();
  DiagnosticCapture diagnostics(&context);
  auto imported = Importer(context, files, model, weights, options, ports, member, diagnostics).run();
  if (imported)
    imported->digest = digestOf(model.digest(), weights, options);
  return imported;
}

llvm::Expected<MemberModel> importOnnx(MLIRContext &context, StringRef path, const ImportOptions &options) {
  llvm::Expected<std::unique_ptr<OnnxFile>> model = OnnxFile::open(path);
  if (!model)
    return model.takeError();
  return importOnnx(context, **model, nullptr, {path.str(), "", -1}, options, nullptr, 0);
}

InputSymbols symbolsOf(const OnnxFile &file) {
  InputSymbols symbols;
  for (const onnx::ValueInfoProto &input : file.graph().input()) {
    std::vector<std::string> &names = symbols[input.name()];
    for (auto [axis, dim] : llvm::enumerate(input.type().tensor_type().shape().dim())) {
      bool fixed = isFixed(dim);
      names.push_back(fixed ? "" : dimName(dim.dim_param(), input.name(), axis));
    }
  }
  return symbols;
}

} // namespace tutti
