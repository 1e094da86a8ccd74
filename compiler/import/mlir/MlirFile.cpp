// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads MLIR models. Nothing in the text is trusted unless it is checked here or by an op's verifier.
#include "compiler/import/Limits.h"
#include "compiler/import/Supplied.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/import/mlir/Parts.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Model.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Ports.h"
#include "dialects/tutti/Tutti.h"
#include "runtime/schema/Digest.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tutti {
namespace {

class Reader {
public:
  Reader(MLIRContext &context, const MemberFiles &files, const SafetensorsFile *supplied, const ImportOptions &options)
      : context(context), files(files), path(files.model), supplied(supplied), options(options) {}

  llvm::Expected<std::vector<MemberModel>> run() {
    auto mapped = MappedFile::open(path);
    if (!mapped)
      return mapped.takeError();
    if (!options.binds.empty())
      return fail(ExitCode::unsupported, "--bind " + shown(options.binds.begin()->first) + ": " + quote(path) +
                                             " is MLIR, whose inputs are bound in its text");
    if (llvm::Error error = parse(StringRef((*mapped)->data(), (*mapped)->size())))
      return std::move(error);
    if (llvm::Error error = checkStructure())
      return std::move(error);
    if (files.part >= members)
      return wrong("it holds " + Twine(members) + " members, and number " + Twine(files.part) + " is asked for");
    if (llvm::Error error = readParams())
      return std::move(error);
    if (llvm::Error error = bindSymbols(*module, main, symbols, path, options))
      return std::move(error);
    uint64_t digest = digestOf(rt::xxh64((*mapped)->data(), (*mapped)->size()), supplied, options);
    std::vector<MemberModel> models(members);
    for (int64_t m = 0; m < members; ++m) {
      models[m].file = supplied ? files.weights : files.model;
      models[m].name = llvm::sys::path::stem(models[m].file).str() + (members > 1 ? "." + std::to_string(m) : "");
      models[m].digest = digest;
      for (auto &[symbol, sources] : values)
        models[m].weights[symbol] = sources[sources.size() > 1 ? m : 0];
    }
    setMembers(*module, 1);
    if (files.part > 0)
      std::swap(models[0], models[files.part]);
    if (files.part >= 0)
      models.resize(1);
    models[0].allInputs = portsOf(main).inputs;
    models[0].module = std::move(module);
    return std::move(models);
  }

  /// The symbols of the inputs, by name.
  llvm::Expected<InputSymbols> symbolsOfInputs() {
    auto mapped = MappedFile::open(path);
    if (!mapped)
      return mapped.takeError();
    if (llvm::Error error = parse(StringRef((*mapped)->data(), (*mapped)->size())))
      return std::move(error);
    if (llvm::Error error = checkStructure())
      return std::move(error);
    InputSymbols names;
    Ports ports = portsOf(main);
    for (auto [name, type] : llvm::zip_equal(ports.inputs, ports.types))
      for (const Size &size : getSizes(type))
        names[name].push_back(size.getSymbols().size() == 1 && size.getFactor() == 1 ? size.getSymbols()[0] : "");
    return names;
  }

private:
  llvm::Error wrong(const Twine &what) { return fail(ExitCode::malformed, quote(path) + ": " + what); }
  llvm::Error wrongAt(Operation *op, const Twine &what) {
    return fail(ExitCode::malformed, placeOf(op->getLoc()) + ": " + what);
  }
  std::string placeOf(Location location) {
    auto place = location->findInstanceOf<FileLineColLoc>();
    return place
               ? (place.getFilename().getValue() + ":" + Twine(place.getLine()) + ":" + Twine(place.getColumn())).str()
               : quote(path.str());
  }

  llvm::Error parse(StringRef text) {
    if (text.starts_with("ML\xefR"))
      return wrong("MLIR bytecode, expected text");
    if (text.contains('\0'))
      return wrong("a 0 byte in the text");
    if (std::optional<size_t> at = aliasIn(text))
      return fail(ExitCode::unsupported,
                  quote(path) + ": line " + Twine(text.take_front(*at).count('\n') + 1) +
                      " has an alias or an affine map, which the stage model has not; print that "
                      "stage, without locations");
    if (hasUnalignedResource(text))
      return wrong("a resource of alignment 0");
    if (std::optional<size_t> at = tooDeep(text))
      return wrong("line " + Twine(text.take_front(*at).count('\n') + 1) + " is nested more than " +
                   Twine(mostNesting) + " deep");
    std::string said;
    unsigned count = 0;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && ++count <= mostDiagnostics)
        said += (said.empty() ? "" : "\n") + placeOf(diagnostic.getLocation()) + ": " + diagnostic.str();
      return success();
    });
    // The lexer reads the byte behind the text. If the text ends inside a construct, the parser even requests tokens
    // from behind it; none of these bytes forms one.
    std::string whole = text.str() + '\0' + std::string(64, '\1');
    module = parseSourceString<ModuleOp>(StringRef(whole).take_front(text.size()), &context, path);
    if (!module)
      return fail(ExitCode::malformed, said.empty() ? quote(path) + " is no MLIR module" : said);
    return llvm::Error::success();
  }

  /// Checks that passes support a type, that its sizes are the model's own, and that its bytes can be counted.
  llvm::Error checkType(Operation *op, Type given) {
    auto type = dyn_cast<RankedTensorType>(given);
    auto text = [&] { return textOf(given); };
    if (type && !isElement(type.getElementType()))
      return fail(ExitCode::unsupported,
                  placeOf(op->getLoc()) + ": elements of type " + textOf(type.getElementType()) + " are not supported");
    if (std::optional<std::string> fault = faultOf(given))
      return wrongAt(op, *fault);
    if (type.getRank() > mostRank)
      return fail(ExitCode::unsupported, placeOf(op->getLoc()) + ": a tensor of rank " + Twine(type.getRank()));
    for (const Size &size : getSizes(type))
      for (const std::string &symbol : size.getSymbols()) {
        if (isActiveSize(Size::symbol(symbol)))
          return wrongAt(op, text() + ": " + quote(symbol) + " is the ensemble's own size; a model is of one member");
        symbols.insert(symbol);
        if (symbols.size() > mostSymbols)
          return fail(ExitCode::unsupported,
                      quote(path) + " has more than " + Twine(mostSymbols) + " symbolic dimensions");
      }
    int64_t count = 1;
    for (const Size &size : getSizes(type))
      if (size.getFactor() < 1)
        return fail(ExitCode::unsupported, placeOf(op->getLoc()) + ": " + text() + " has no elements");
      else if (llvm::MulOverflow(count, size.getFactor(), count) || count > mostElements)
        return wrongAt(op, text() + " has more elements than any memory holds");
    return llvm::Error::success();
  }

  llvm::Error checkFunction(func::FuncOp function) {
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
      return wrongAt(function, quote(("@" + function.getSymName()).str()) + " has no body of one block");
    if (function.getNumArguments() > mostPorts || function.getNumResults() > mostPorts)
      return fail(ExitCode::unsupported, quote(path) + " has more than " + Twine(mostPorts) + " inputs or outputs");
    for (Type type : function.getArgumentTypes())
      if (llvm::Error error = checkType(function, type))
        return error;
    for (Operation &op : function.getBody().front()) {
      bool isEnd = isa<func::ReturnOp>(op);
      bool isModel = (isa<EvaluateOpInterface>(op) && !isa<HeadOp, ReplicateOp>(op)) || isa<VmapOp>(op);
      if (!isEnd && !isModel)
        return fail(ExitCode::unsupported, placeOf(op.getLoc()) + ": " + quote(op.getName().getStringRef()) +
                                               " is no op of the stage model" +
                                               (isa<HeadOp>(op) ? "; ask for heads by --output" : ""));
      for (Type type : op.getResultTypes())
        if (llvm::Error error = checkType(&op, type))
          return error;
      if (isModel && !isa<VmapOp>(op) && op.getNumResults() != 1)
        return wrongAt(&op, "expected one result");
      if (auto windows = dyn_cast<WindowsOp>(op)) {
        int64_t own = 1;
        for (auto [length, count] : llvm::zip_equal(windows.getLength(), windows.getCount()))
          own *= length * count;
        if ((places += own) > mostWindowPlaces)
          return wrongAt(&op, "more than " + Twine(mostWindowPlaces) + " elements in all windows");
      }
      if (auto constant = dyn_cast<ConstantOp>(op))
        if (!isa<DenseElementsAttr>(constant.getValue()) || constant.getValue().getNumElements() > mostWritten)
          return wrongAt(&op, "a constant stands in the text as dense<...>, with at most " + Twine(mostWritten) +
                                  " elements");
    }
    return llvm::Error::success();
  }

  /// Vmaps are resolved by copying the function that they name, so no function may name itself, and the copies are
  /// limited.
  llvm::Error checkCalls(func::FuncOp function, SmallVectorImpl<func::FuncOp> &callers, int64_t &work) {
    if (llvm::is_contained(callers, function))
      return wrongAt(function, "function " + quote(("@" + function.getSymName()).str()) + " maps itself");
    if (callers.size() == mostCalls)
      return fail(ExitCode::unsupported,
                  placeOf(function.getLoc()) + ": functions map each other more than " + Twine(mostCalls) + " deep");
    callers.push_back(function);
    called.insert(function);
    for (Operation &op : function.getBody().front()) {
      if (++work > mostOps)
        return fail(ExitCode::unsupported, quote(path) + " has more than " + Twine(mostOps) +
                                               " ops, those of mapped functions counted each time");
      if (auto vmap = dyn_cast<VmapOp>(op))
        if (auto callee = module->lookupSymbol<func::FuncOp>(vmap.getCallee()))
          if (llvm::Error error = checkCalls(callee, callers, work))
            return error;
    }
    callers.pop_back();
    return llvm::Error::success();
  }

  llvm::Error checkStructure() {
    members = getMembers(*module).value_or(1);
    if (members > mostMembers)
      return wrong(membersName + " is not a number from 1 to " + Twine(mostMembers));
    int64_t params = llvm::range_size(module->getOps<ParamOp>());
    if (members * params > mostSources)
      return fail(ExitCode::unsupported, quote(path) + " has " + Twine(members) + " members with " + Twine(params) +
                                             " weights each, more than " + Twine(mostSources) + " in all");
    std::vector<func::FuncOp> functions;
    for (Operation &op : *module->getBody()) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        functions.push_back(function);
      else if (!isa<ParamOp>(op))
        return fail(ExitCode::unsupported,
                    placeOf(op.getLoc()) + ": " + quote(op.getName().getStringRef()) +
                        " is no op of the stage model, whose module has functions and tutti.param");
    }
    for (func::FuncOp function : functions) {
      if (function.getSymName() == "main")
        main = function;
      if (llvm::Error error = checkFunction(function))
        return error;
    }
    if (!main)
      return wrong("there is no function @main");
    if (main.getNumResults() == 0)
      return wrong("@main has no results");
    SmallVector<func::FuncOp> callers;
    int64_t work = 0;
    if (llvm::Error error = checkCalls(main, callers, work))
      return error;
    for (func::FuncOp function : functions) {
      if (!called.contains(function))
        return wrongAt(function, "function " + quote(("@" + function.getSymName()).str()) +
                                     " is called by no tutti.vmap that @main comes to");
      SymbolTable::setSymbolVisibility(function, function == main ? SymbolTable::Visibility::Public
                                                                  : SymbolTable::Visibility::Private);
    }
    return namePorts();
  }

  llvm::Error checkName(const std::string &name, StringRef side, unsigned i, std::set<std::string> &others) {
    if (name.find('\0') != name.npos)
      return wrongAt(main, side + " " + Twine(i) + " has a 0 byte in its name: " + quote(name.c_str()));
    if (name.empty() || !others.insert(name).second)
      return wrongAt(main, side + " " + Twine(i) + " has no name of its own");
    return llvm::Error::success();
  }

  /// Sets missing names: x0, x1 ... and y0, y1 ...
  llvm::Error namePorts() {
    std::set<std::string> inputs, outputs;
    auto name = [](StringAttr given, StringRef letter, unsigned i) {
      return given ? given.str() : (letter + Twine(i)).str();
    };
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      std::string own = name(inputName(main, i), "x", i);
      if (llvm::Error error = checkName(own, "input", i, inputs))
        return error;
      setInputName(main, i, own);
    }
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      std::string own = name(outputName(main, i), "y", i);
      if (llvm::Error error = checkName(own, "output", i, outputs))
        return error;
      setOutputName(main, i, own);
    }
    eraseWhatIsWrittenLater(*module);
    eraseWhatIsAsked(main);
    return llvm::Error::success();
  }

  llvm::Expected<WeightSource> sourceOf(ParamOp param, ElementsAttr value) {
    RankedTensorType type = cast<RankedTensorType>(param.getType());
    auto no = [&](const Twine &what) { return wrongAt(param, "tutti.param @" + param.getSymName() + ": " + what); };
    int64_t bytes = type.getNumElements() * storageBytes(type.getElementType());
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
      AsmResourceBlob *blob = resource.getRawHandle().getBlob();
      if (!blob || int64_t(blob->getData().size()) != bytes)
        return no("resource " + quote(resource.getRawHandle().getKey()) + " has " +
                  Twine(blob ? blob->getData().size() : 0) + " bytes, expected " + Twine(bytes));
      return denseView(nullptr, blob->getData().data(), type.getElementType(), type.getShape());
    }
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (!dense)
      return no("its values are neither dense nor a dense_resource");
    if (type.getNumElements() > mostWritten)
      return no("more than " + Twine(mostWritten) +
                " elements stand in the text; give them as dense_resource or by --weights");
    if ((written += dense.isSplat() ? 1 : type.getNumElements()) > mostWritten)
      return no("with those before it, more than " + Twine(mostWritten) + " elements stand in the text");
    WeightSource source = computedSource(HostTensor::fromAttr(
        dense.isSplat() ? cast<ElementsAttr>(dense.resizeSplat(RankedTensorType::get({}, type.getElementType())))
                        : value));
    if (dense.isSplat()) {
      source.dims.assign(type.getShape().begin(), type.getShape().end());
      source.strides.assign(type.getRank(), 0);
    }
    return source;
  }

  /// A parameter, and the weight that it is a view of: the weight's name and dims, and which of its axes each of the
  /// parameter's is.
  struct Parameter {
    ParamOp op;
    std::string name;
    SmallVector<int64_t> perm;
    std::vector<int64_t> dims;

    Type element() { return cast<RankedTensorType>(op.getType()).getElementType(); }
  };

  llvm::Expected<Parameter> parameterOf(ParamOp op) {
    if (llvm::Error error = checkType(op, op.getType()))
      return error;
    auto type = cast<RankedTensorType>(op.getType());
    if (!type.hasStaticShape())
      return wrongAt(op, "tutti.param @" + op.getSymName() + " has a size that a call decides");
    auto perm = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    if (auto given = op.getPerm())
      perm.assign(given->begin(), given->end());
    std::vector<int64_t> dims(type.getRank());
    for (auto [axis, of] : llvm::enumerate(perm))
      dims[of] = type.getDimSize(axis);
    return Parameter{op, op.getSource().value_or(op.getSymName()).str(), std::move(perm), std::move(dims)};
  }

  llvm::Error readParams() {
    std::vector<Parameter> parameters;
    for (ParamOp op : module->getOps<ParamOp>()) {
      llvm::Expected<Parameter> parameter = parameterOf(op);
      if (!parameter)
        return parameter.takeError();
      parameters.push_back(std::move(*parameter));
    }
    if (supplied) {
      if (members > 1)
        return fail(ExitCode::usage,
                    quote(path) + " holds " + Twine(members) + " members; --weights is for a model of one");
      std::vector<Wanted> wanted;
      for (Parameter &each : parameters)
        if (!each.name.empty())
          wanted.push_back({each.name, dataTypeOf(each.element()), each.dims, true});
      if (llvm::Error error = checkSupplied(*supplied, files, wanted))
        return error;
    }
    for (Parameter &each : parameters)
      if (llvm::Error error = readValues(each))
        return error;
    return llvm::Error::success();
  }

  /// Reads the weights of one parameter from the file of weights or from the text, and removes the attributes that
  /// locate them.
  llvm::Error readValues(Parameter &parameter) {
    ParamOp op = parameter.op;
    std::vector<WeightSource> &sources = values[op.getSymName()]; // as the file of weights has it
    auto own = supplied ? supplied->tensors.find(parameter.name) : decltype(supplied->tensors.find(parameter.name))();
    if (supplied && own != supplied->tensors.end()) {
      sources.push_back(denseView(supplied->mapped, own->second.data, parameter.element(), own->second.dims));
    } else if (op.getValues()) {
      SmallVector<ElementsAttr> given = op.eachValue();
      if (given.size() != 1 && int64_t(given.size()) != members)
        return wrongAt(op, "tutti.param @" + op.getSymName() + " has values for " + Twine(given.size()) +
                               " members, expected 1 or " + Twine(members));
      for (ElementsAttr value : given) {
        auto read = sourceOf(op, value);
        if (!read)
          return read.takeError();
        sources.push_back(transposeView(*read, invertPermutationVector(parameter.perm)));
      }
    } else {
      return fail(ExitCode::usage,
                  placeOf(op.getLoc()) + ": tutti.param @" + op.getSymName() +
                      " has no values: write them beside it, as --stop-after model does, or give --weights");
    }
    for (WeightSource &each : sources)
      each = transposeView(asInitializer(std::move(each), parameter.name), parameter.perm);
    op.removeValuesAttr();
    op.removeSourceAttr();
    op.removePermAttr();
    op.setPerMember(true); // alignment finds what is shared
    return llvm::Error::success();
  }

  MLIRContext &context;
  const MemberFiles &files;
  StringRef path;
  const SafetensorsFile *supplied;
  const ImportOptions &options;
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
  int64_t members = 1;
  std::set<std::string> symbols;
  llvm::SmallPtrSet<Operation *, 16> called; ///< ops of functions, including @main
  int64_t written = 0;                       ///< elements of weights that stand in the text
  int64_t places = 0;                        ///< elements of all windows
  llvm::StringMap<std::vector<WeightSource>> values;
};

} // namespace

llvm::Expected<std::vector<MemberModel>> importMlir(MLIRContext &context, const MemberFiles &files,
                                                    const SafetensorsFile *weights, const ImportOptions &options) {
  context.loadDialect<TuttiDialect, func::FuncDialect>();
  return Reader(context, files, weights, options).run();
}

llvm::Expected<InputSymbols> mlirSymbols(StringRef path) {
  DialectRegistry registry;
  registry.insert<TuttiDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  MemberFiles files{path.str(), "", -1};
  ImportOptions options;
  return Reader(context, files, nullptr, options).symbolsOfInputs();
}

} // namespace tutti
