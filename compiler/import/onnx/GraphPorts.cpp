// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds a graph's ports, orders them like the first member's, and binds some of them.
#include "compiler/import/onnx/GraphPorts.h"
#include "compiler/import/Dims.h"
#include "compiler/import/Limits.h"
#include "compiler/import/onnx/Node.h"

using namespace mlir;

namespace tutti {

llvm::Error GraphPorts::wrong(const llvm::Twine &what) { return fail(ExitCode::malformed, quote(path) + ": " + what); }

StringRef kindOf(const onnx::TypeProto &type) {
  return type.has_sequence_type()        ? "a sequence"
         : type.has_map_type()           ? "a map"
         : type.has_sparse_tensor_type() ? "a sparse tensor"
         : type.has_optional_type()      ? "an optional"
                                         : "of no type";
}

llvm::Error findInitializers(StringRef path, const onnx::GraphProto &graph,
                             llvm::StringMap<const onnx::TensorProto *> &initializers) {
  if (graph.sparse_initializer_size())
    return fail(ExitCode::unsupported, quote(path) + ": initializer " +
                                           quote(graph.sparse_initializer(0).values().name()) +
                                           " is sparse, which is not supported: store it dense");
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (!initializers.try_emplace(tensor.name(), &tensor).second)
      return fail(ExitCode::malformed, quote(path) + ": there are two initializers " + quote(tensor.name()));
  return llvm::Error::success();
}

llvm::Error GraphPorts::find() {
  if (llvm::Error error = findInitializers(path, graph, initializers))
    return error;
  auto collect = [&](StringRef what, const auto &all, std::vector<const onnx::ValueInfoProto *> &list) -> llvm::Error {
    llvm::StringSet<> names;
    for (const onnx::ValueInfoProto &port : all) {
      if (port.name().find('\0') != std::string::npos)
        return wrong("an input or output has a 0 byte in its name: " + quote(std::string(port.name().c_str())));
      if (!names.insert(port.name()).second)
        return wrong("there are two " + what + " " + quote(port.name()));
      list.push_back(&port);
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = collect("inputs", graph.input(), inputs))
    return error;
  if (llvm::Error error = collect("outputs", graph.output(), outputs))
    return error;
  // An initializer that is also listed as an input is a constant.
  llvm::erase_if(inputs, [&](const onnx::ValueInfoProto *input) { return initializers.contains(input->name()); });
  if (outputs.empty())
    return wrong("the graph has no outputs");
  if (inputs.size() > mostPorts || outputs.size() > mostPorts)
    return fail(ExitCode::unsupported, quote(path) + " has more than " + llvm::Twine(mostPorts) + " inputs or outputs");
  return llvm::Error::success();
}

/// Sorts `own` into the order of `names` if all names are there; else leaves it.
static bool orderLike(std::vector<const onnx::ValueInfoProto *> &own, const std::vector<std::string> &names) {
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

llvm::Error GraphPorts::orderLike(const Ports &first, size_t member) {
  for (auto [what, own, theirs] :
       {std::tuple("inputs", &inputs, &first.all), std::tuple("outputs", &outputs, &first.outputs)})
    if (!tutti::orderLike(*own, *theirs))
      return fail(ExitCode::unsupported, "member " + llvm::Twine(member) + " (" + quote(path) +
                                             ") differs from member 0: " + llvm::Twine(own->size()) + " " + what +
                                             ", member 0 has " + llvm::Twine(theirs->size()));
  return llvm::Error::success();
}

llvm::StringSet<> GraphPorts::given() const {
  llvm::StringSet<> names;
  for (const onnx::ValueInfoProto &input : graph.input())
    names.insert(input.name());
  for (const auto &initializer : initializers)
    names.insert(initializer.getKey());
  names.erase(""); // "" is no name: a node's output that is not computed
  return names;
}

std::vector<std::string> GraphPorts::outputNames() const {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto *output : outputs)
    names.push_back(output->name());
  return names;
}

/// The error for a flag --bind whose name is not an input.
static llvm::Error bindError(const std::string &name, bool isWeight, llvm::Error error) {
  return llvm::handleErrors(std::move(error), [&](const CompileError &why) {
    return fail(why.code,
                "--bind " + shown(name) + ": " + (isWeight ? "it is a weight of the model; " : "") + why.message);
  });
}

llvm::Error GraphPorts::bind(ImportOptions &options, const Ports *first) {
  for (const onnx::ValueInfoProto *input : inputs)
    allInputs.push_back(input->name());
  const std::vector<std::string> &names = first ? first->all : allInputs;
  std::vector<const onnx::ValueInfoProto *> left = inputs;
  for (const auto &[name, constant] : options.binds) {
    llvm::Expected<unsigned> at = placeOf(names, "input", name);
    if (!at)
      return bindError(name, initializers.contains(name), at.takeError());
    if (!llvm::is_contained(left, inputs[*at]))
      return fail(ExitCode::usage, "--bind " + shown(names[*at]) + " is given twice, in two spellings");
    if (llvm::Error error = bindInput(*inputs[*at], name, constant, first ? nullptr : &options))
      return error;
    llvm::erase(left, inputs[*at]);
  }
  inputs = left;
  return llvm::Error::success();
}

llvm::Error GraphPorts::bindInput(const onnx::ValueInfoProto &input, const std::string &name,
                                  const BoundInput &constant, ImportOptions *dims) {
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
    return no("the file has " + Operand(*source).str() + ", input " + quote(input.name()) + " of " + quote(path) +
              " is " + expected);
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
      if (fixed || !fits || !dims)
        continue;
      // A size that the file of a bound input determines binds its dimension.
      int64_t size = source->dims[axis];
      auto [place, fresh] = dims->dims.try_emplace(symbol, DimBinding{size, size});
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

} // namespace tutti
