// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports an ONNX model into a module: its ports, limits and functions, around the walk over its graph (Walk.cpp).
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/Limits.h"
#include "compiler/import/NormalForm.h"
#include "compiler/import/Supplied.h"
#include "compiler/import/onnx/GraphPorts.h"
#include "compiler/import/onnx/Walk.h"
#include "compiler/import/onnx/ops/Ops.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Ports.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace tutti {
namespace {

/// The advice that makes an input equal whose dimensions have numbers where member 0 leaves them open; nothing if more
/// differs.
std::string adviceToBind(ArrayRef<Size> own, ArrayRef<Size> reference) {
  std::string bound;
  if (own.size() != reference.size())
    return bound;
  for (auto [mine, theirs] : llvm::zip_equal(own, reference)) {
    if (mine == theirs)
      continue;
    if (!mine.isFixed() || theirs != Size::symbol(theirs.str()))
      return {};
    bound += " --dim " + shown(theirs.str()) + "=" + mine.str();
  }
  return bound.empty() ? bound : ";" + bound + " makes them one";
}

class Importer {
public:
  Importer(MLIRContext &context, const MemberFiles &files, OnnxFile &file, const SafetensorsFile *weights,
           const ImportOptions &given, const Ports *ports, size_t member, DiagnosticCapture &diagnostics)
      : context(context), files(files), path(files.model), file(file), weights(weights), graph(file.graph()),
        ports(ports), member(member), options(given), dims(options), diagnostics(diagnostics),
        walk(context, path, file, weights), own(context, path, file.graph()) {}

  llvm::Expected<MemberModel> run() {
    if (llvm::Error error = prepare())
      return std::move(error);
    // Each restart merges two symbols or gives one a value, so there are fewer restarts than symbols.
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
  llvm::Error findOpsets();
  llvm::Error checkWeights();
  llvm::Expected<std::optional<MemberModel>> attempt();
  func::FuncOp declareMain(ModuleOp module, ArrayRef<RankedTensorType> types, Scope &scope);
  SmallVector<SizeRange> sizeRanges();
  llvm::Error refused();
  MemberModel finish(OwningOpRef<ModuleOp> module, func::FuncOp main, ArrayRef<Value> results, Emit &emit);
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
  const Ports *ports; ///< the first member's; null for that member itself
  size_t member;
  ImportOptions options; ///< including what bound inputs determine of dimensions
  Dims dims;
  DiagnosticCapture &diagnostics;

  Walk walk;
  int64_t spent = 0;             ///< of the budgets of all attempts
  Budget ops = Budget(mostMade); ///< for all attempts
  Opsets opsets;
  GraphPorts own; ///< this member's ports
};

llvm::Error Importer::prepare() {
  if (llvm::Error error = findOpsets())
    return error;
  if (llvm::Error error = walk.findFunctions())
    return error;
  if (llvm::Error error = own.find())
    return error;
  if (ports)
    if (llvm::Error error = own.orderLike(*ports, member))
      return error;
  if (llvm::Error error = own.bind(options, ports))
    return error;
  if (llvm::Error error = walk.check(graph.node(), own.given()))
    return error;
  return weights ? checkWeights() : llvm::Error::success();
}

llvm::Error Importer::findOpsets() {
  opsets = opsetsOf(file.model().opset_import());
  // A file without opsets is of the first IR versions, which had only one.
  if (file.model().opset_import_size() == 0)
    return fail(ExitCode::unsupported, quote(path) + " names no opset; opsets " + llvm::Twine(oldestOpset) + " to " +
                                           llvm::Twine(newestOpset) + " are supported");
  // A model whose ops are all of other domains need not name the default domain's opset.
  if (auto standard = opsets.find("");
      standard != opsets.end() && (standard->second < oldestOpset || standard->second > newestOpset))
    return fail(ExitCode::unsupported, quote(path) + " is of opset " + llvm::Twine(standard->second) + "; opsets " +
                                           llvm::Twine(oldestOpset) + " to " + llvm::Twine(newestOpset) +
                                           " are supported: export the model for one of those");
  for (const onnx::OperatorSetIdProto &set : file.model().opset_import())
    if (int64_t last = opsets.lookup(set.domain() == "ai.onnx" ? "" : set.domain()); last != set.version())
      return wrong("it imports opset " + llvm::Twine(set.version()) + " and opset " + llvm::Twine(last) +
                   " of domain " + quote(set.domain()));
  return llvm::Error::success();
}

/// Checks that the weights file has what the graph uses, in its types and shapes, and nothing else.
llvm::Error Importer::checkWeights() {
  Readers used = readersAmong(orderFor(graph.node(), own.outputNames()), own.outputNames());
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
    else if (reference) // member 0's name for it
      sizes.push_back(axis < theirs.size() ? theirs[axis] : Size::symbol("?"));
    else
      sizes.push_back(dims.declare(dim.dim_param(), input.name(), axis));
  }
  return sizes;
}

llvm::Expected<SmallVector<RankedTensorType>> Importer::inputTypes() {
  SmallVector<RankedTensorType> types;
  for (const auto &[input, constant] : own.bound)
    for (auto [axis, dim] : llvm::enumerate(input->type().tensor_type().shape().dim()))
      if (!ports && !isFixed(dim))
        dims.declare(dim.dim_param(), input->name(), axis);
  for (auto [i, input] : llvm::enumerate(own.inputs)) {
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
    if (!tutti::product(*sizes))
      return no("of dims " + str(*sizes) + " has more elements than any memory holds");
    if (dims.count() > mostSymbols)
      return fail(ExitCode::unsupported,
                  quote(path) + " has more than " + llvm::Twine(mostSymbols) + " symbolic dimensions");
    types.push_back(getTensorType(*sizes, element));
    if (reference && types.back() != *reference)
      return fail(ExitCode::unsupported, "member " + llvm::Twine(member) + " (" + quote(path) +
                                             ") differs from member 0 at input " + quote(input->name()) + ": " +
                                             elementName(element) + " " + str(*sizes) + ", in member 0 " +
                                             elementName(reference->getElementType()) + " " +
                                             str(getSizes(*reference)) + adviceToBind(*sizes, getSizes(*reference)));
  }
  return types;
}

/// Finds the values of the outputs, except those whose ops are not supported, which the walk has reported.
llvm::Error Importer::findResults(Emit &emit, Scope &scope, SmallVectorImpl<Value> &results) {
  for (const onnx::ValueInfoProto *output : own.outputs) {
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
    // Shapes that graphs declare are often wrong, and nothing reads them; types matter to callers.
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

/// One attempt at the import. Nothing if it must restart, as two symbols turned out to be one, or one to have a value.
llvm::Expected<std::optional<MemberModel>> Importer::attempt() {
  walk.begin();
  llvm::Expected<SmallVector<RankedTensorType>> types = inputTypes();
  if (!types)
    return types.takeError();
  Scope scope{opsets, nullptr, "", {}, own.initializers, {}, {}};
  OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(&context)));
  func::FuncOp main = declareMain(*module, *types, scope);

  Emit emit(context, &main.getBody().front(), ports ? nullptr : &dims, diagnostics);
  emit.kept = options.kept;
  emit.ranges = sizeRanges();
  const Budget whole = Budget::of(file.size() + (weights ? weights->mapped->size() : 0)),
               given(std::min(whole.left(), mostBudgets * whole.left() - spent));
  emit.budget = given;
  emit.ops = ops;
  if (llvm::Error error = walk.run(emit, scope, graph.node(), own.outputNames()))
    return std::move(error);
  spent += given.left() - emit.budget.left();
  ops = emit.ops;
  if (emit.restart)
    return std::nullopt;

  SmallVector<Value> results;
  if (llvm::Error error = findResults(emit, scope, results))
    return std::move(error);
  if (llvm::Error error = refused())
    return std::move(error);
  return std::optional(finish(std::move(module), main, results, emit));
}

/// Declares @main without a body; the scope gets its arguments, and bound inputs, by name.
func::FuncOp Importer::declareMain(ModuleOp module, ArrayRef<RankedTensorType> types, Scope &scope) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> arguments(types.begin(), types.end());
  auto main = func::FuncOp::create(builder, module.getLoc(), "main", builder.getFunctionType(arguments, {}));
  main.addEntryBlock();
  for (auto [i, input] : llvm::enumerate(own.inputs)) {
    scope.values[input->name()] = Operand(main.getArgument(i));
    setInputName(main, i, input->name());
  }
  for (const auto &[input, constant] : own.bound)
    scope.values[input->name()] = Operand(constant);
  return main;
}

/// The ranges of the symbols, as member 0 has them.
SmallVector<SizeRange> Importer::sizeRanges() {
  if (ports)
    return SmallVector<SizeRange>(ports->ranges);
  SmallVector<SizeRange> ranges;
  for (auto &[name, range] : dims.ranges())
    ranges.push_back({name, range.lo, range.hi});
  return ranges;
}

/// The error about unsupported ops of the graph, and about dimensions without a range.
llvm::Error Importer::refused() {
  llvm::Error unbound = ports ? llvm::Error::success() : dims.check();
  const std::vector<UnsupportedOp> &unsupported = walk.unsupported;
  if (unsupported.empty())
    return unbound;
  // A dimension without a size may be why an op is refused; reporting that helps more, unless ops are missing.
  bool missing = llvm::any_of(unsupported, [](const UnsupportedOp &op) { return !findOp(op.op); });
  if (unbound && !missing)
    return unbound;
  llvm::consumeError(std::move(unbound));
  return fail(ExitCode::unsupported, describe(path, unsupported), toJson(unsupported));
}

MemberModel Importer::finish(OwningOpRef<ModuleOp> module, func::FuncOp main, ArrayRef<Value> results, Emit &emit) {
  OpBuilder end = OpBuilder::atBlockEnd(&main.getBody().front());
  func::ReturnOp::create(end, main.getLoc(), results);
  main.setFunctionType(end.getFunctionType(main.getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [i, output] : llvm::enumerate(own.outputs))
    setOutputName(main, i, output->name());
  normalize(main, emit);

  MemberModel model;
  model.weights = declareParams(*module, main, emit);
  setSizeRanges(*module, ports ? SmallVector<SizeRange>() : emit.ranges);
  setMembers(*module, 1);
  model.module = std::move(module);
  model.file = weights ? files.weights : files.model;
  model.name = llvm::sys::path::stem(model.file).str();
  model.allInputs = own.allInputs;
  model.computedWith = walk.computedWith();
  model.compositions = std::move(emit.compositions);
  return model;
}

/// The first composition in which two lists differ.
StringRef differenceOf(ArrayRef<Composition> some, ArrayRef<Composition> others) {
  if (some.size() < others.size())
    std::swap(some, others);
  auto [it, other] = std::mismatch(some.begin(), some.end(), others.begin(), others.end());
  return *it == Composition::gelu ? "GELU" : *it == Composition::mish ? "Mish" : "division";
}

} // namespace

llvm::Expected<MemberModel> importOnnx(MLIRContext &context, OnnxFile &model, const SafetensorsFile *weights,
                                       const MemberFiles &files, const ImportOptions &options, const Ports *ports,
                                       size_t member) {
  context.loadDialect<TuttiDialect, func::FuncDialect>();
  DiagnosticCapture diagnostics(&context);
  auto imported = Importer(context, files, model, weights, options, ports, member, diagnostics).run();
  if (!imported)
    return imported;
  // Members must have the bits that they have alone, where no number is kept.
  if (options.kept != Kept::none) {
    ImportOptions alone = options;
    alone.kept = Kept::none;
    auto plain = Importer(context, files, model, weights, alone, ports, member, diagnostics).run();
    if (!plain)
      return plain;
    if (plain->compositions != imported->compositions)
      return fail(
          ExitCode::unsupported,
          quote(files.model) + ": a number that differs between the members is, in this one, what makes a " +
              differenceOf(plain->compositions, imported->compositions) +
              " of several ops, which rounds once; in an ensemble with the others it would have other bits than "
              "alone (--unequal makes groups)");
  }
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
