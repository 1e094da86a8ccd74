// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks over nodes and imports them.
#include "compiler/import/onnx/Walk.h"
#include "compiler/import/Limits.h"
#include "compiler/import/Supplied.h"
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

Opsets opsetsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports) {
  Opsets opsets;
  for (const onnx::OperatorSetIdProto &set : imports)
    opsets[set.domain() == "ai.onnx" ? "" : set.domain()] = set.version();
  return opsets;
}

static std::string domainOf(const onnx::NodeProto &proto) { return proto.domain() == "ai.onnx" ? "" : proto.domain(); }
std::string Walk::nameOf(const Scope &scope, const onnx::NodeProto &proto) {
  return scope.prefix + (!proto.name().empty() || proto.output_size() == 0 ? proto.name() : proto.output(0));
}

/// The key that identifies a function.
static std::string keyOf(StringRef domain, StringRef name, StringRef overload) {
  return ((domain == "ai.onnx" ? "" : domain) + "\n" + name + "\n" + overload).str();
}

/// Counts the initializers of each name in a graph, including the graphs in its nodes.
static void countInitializers(const onnx::GraphProto &graph, llvm::StringMap<unsigned> &counts) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    ++counts[tensor.name()];
  for (const onnx::NodeProto &node : graph.node())
    forEachGraph(node, [&](const onnx::GraphProto &inner) { countInitializers(inner, counts); });
}

Walk::Walk(MLIRContext &context, StringRef path, OnnxFile &file, const SafetensorsFile *weights)
    : context(context), path(path), file(file), weights(weights) {
  countInitializers(file.graph(), initializers);
}

llvm::Error Walk::findFunctions() {
  for (const onnx::FunctionProto &function : file.model().functions())
    if (!functions.try_emplace(keyOf(function.domain(), function.name(), function.overload()), &function).second)
      return wrong("there are two functions " + quote(function.name()) + " of domain " + quote(function.domain()));
  return llvm::Error::success();
}

llvm::Error Walk::check(const Nodes &nodes, const llvm::StringSet<> &given) {
  llvm::StringSet<> computed;
  for (const onnx::NodeProto &node : nodes)
    for (const std::string &output : node.output())
      if (given.contains(output))
        return wrong("a node computes " + quote(output) + ", which is an input or an initializer");
      else if (!output.empty() && !computed.insert(output).second)
        return wrong("two nodes compute " + quote(output));
  return llvm::Error::success();
}

llvm::Error Walk::enter(const Scope &scope, const Nodes &body, size_t size, const llvm::StringSet<> &given) {
  nodes += body.size();
  bytes += size + body.size() * scope.prefix.size();
  if (nodes > mostNodesCalled)
    return fail(ExitCode::unsupported, quote(path) + " has more than " + llvm::Twine(mostNodesCalled) +
                                           " nodes, those of its functions counted at each call");
  if (bytes > mostBytesCalled)
    return fail(ExitCode::unsupported, quote(path) + " has more than " + llvm::Twine(mostBytesCalled >> 20) +
                                           " MiB of functions and loops with the names in them, counted at each call " +
                                           "and step");
  return check(body, given);
}

void Walk::begin() {
  unsupported.clear();
  calls.clear();
  lookedUp.clear();
}

std::vector<std::string> Walk::computedWith() const {
  std::vector<std::string> names;
  for (const auto &[name, wasRead] : lookedUp)
    if (*wasRead)
      names.push_back(name);
  return names;
}

llvm::Error Walk::run(Emit &emit, Scope &scope, const Nodes &body, ArrayRef<std::string> outputs) {
  std::vector<const onnx::NodeProto *> order = orderFor(body, outputs);
  scope.readers = readersAmong(order, outputs);
  for (const onnx::NodeProto *each : order) {
    if (llvm::Error error = node(emit, scope, *each))
      return error;
    if (emit.restart)
      break;
  }
  return llvm::Error::success();
}

bool Scope::leavesOut(StringRef name) const {
  for (const Scope *at = this; at && !at->values.contains(name) && !at->initializers.contains(name); at = at->outer)
    if (at->absent.contains(name))
      return true;
  return false;
}

llvm::Expected<Operand> Walk::lookup(Scope &scope, const std::string &name, const llvm::Twine &reader) {
  for (Scope *at = &scope; at; at = at->outer) {
    if (auto known = at->values.find(name); known != at->values.end())
      return known->second;
    auto weight = at->initializers.find(name);
    if (weight == at->initializers.end())
      continue;
    const onnx::TensorProto &tensor = *weight->second;
    auto [place, step] = StringRef(at->prefix).rtrim('/').rsplit('/');
    if (weights && at->outer && tensor.dims_size() &&
        isa_and_nonnull<FloatType>(elementOf(context, tensor.data_type())))
      return fail(ExitCode::unsupported,
                  quote(path) + ": initializer " + quote(name) + " is in the body of node " +
                      quote(llvm::all_of(step, llvm::isDigit) ? place : StringRef(at->prefix).rtrim('/')) +
                      ", where --weights replaces none: move it to the model's own graph");
    std::optional<WeightSource> given;
    if (weights && !at->outer)
      given = suppliedTensor(context, *weights, name, weight->second->data_type());
    llvm::Expected<WeightSource> source = given ? std::move(*given) : file.tensor(context, *weight->second);
    if (!source)
      return llvm::handleErrors(source.takeError(), [&](const CompileError &error) {
        return fail(error.code, quote(path) + ": " + error.message);
      });
    if (initializers.lookup(name) > 1) // of several graphs: the name does not say which one it is
      source->name.clear();
    else
      lookedUp.emplace_back(name, source->wasRead);
    return at->values[name] = Operand(std::move(*source));
  }
  return wrong(reader + " reads " + quote(name) + ", which nothing before it gives");
}

void Walk::report(const Scope &scope, const onnx::NodeProto &proto, ArrayRef<Operand> operands, StringRef reason,
                  StringRef advice) {
  std::string domain = domainOf(proto), op = qualified(domain, proto.op_type());
  for (UnsupportedOp &known : unsupported)
    if (known.op == op && known.reason == reason) {
      ++known.count;
      return;
    }
  if (unsupported.size() == mostFindings)
    return;
  std::string types;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    // An omitted input, and one that comes from a node that failed itself.
    std::string unknown = proto.input(i).empty() ? "-" : "?";
    types += (types.empty() ? "" : ", ") + (operand ? operand.str() : unknown);
    if (i == 15)
      break;
  }
  unsupported.push_back({op, scope.opsets.lookup(domain), 1, nameOf(scope, proto), types, reason.str(), advice.str()});
}

const onnx::FunctionProto *Walk::functionOf(const onnx::NodeProto &proto) const {
  return functions.lookup(keyOf(proto.domain(), proto.op_type(), proto.overload()));
}

llvm::Expected<bool> Walk::isTaken(const Scope &scope, const onnx::NodeProto &proto, const OnnxOp &op,
                                   ArrayRef<Operand> operands) {
  std::string domain = domainOf(proto);
  int64_t opset = scope.opsets.lookup(domain), newest = newestOpsetOf(domain);
  if (!domain.empty() && opset > newest) {
    report(scope, proto, operands, "opsets 1 to " + std::to_string(newest) + " of its domain are supported",
           "export the model for one of those");
    return false;
  }
  if (!scope.opsets.contains(domain)) {
    report(scope, proto, operands, "the model does not import its domain", "add it to the model's opset_import");
    return false;
  }
  if (opset < op.since) {
    report(scope, proto, operands, "the op came with opset " + std::to_string(op.since),
           "export the model for that opset or a newer one");
    return false;
  }
  for (auto [what, given, most] : {std::tuple("inputs", proto.input_size(), op.inputs.at(opset)),
                                   std::tuple("outputs", proto.output_size(), op.outputs.at(opset))})
    if (given > most)
      return wrong("node " + quote(nameOf(scope, proto)) + " (" + proto.op_type() + ") has " + llvm::Twine(given) +
                   " " + what + ", expected at most " + llvm::Twine(most) + " at opset " + llvm::Twine(opset));
  if (std::max(proto.input_size(), proto.output_size()) <= mostOperands)
    return true;
  report(scope, proto, {}, "it has more than " + std::to_string(mostOperands) + " inputs or outputs",
         "write it as several nodes");
  return false;
}

/// The 16-bit float type that all float operands share; null if they have another type, or several.
static Type shortFloatOf(ArrayRef<Operand> operands) {
  Type all;
  for (const Operand &operand : operands)
    if (operand && operand.isFloat()) {
      if (!isShortFloat(operand.element()) || (all && all != operand.element()))
        return Type();
      all = operand.element();
    }
  return all;
}

llvm::Error Walk::node(Emit &emit, Scope &scope, const onnx::NodeProto &proto) {
  ++walked;
  std::string name = nameOf(scope, proto);
  SmallVector<Operand> operands;
  bool broken = false;
  for (const std::string &input : proto.input()) {
    if (input.empty() || scope.leavesOut(input)) {
      operands.push_back(Operand());
      continue;
    }
    llvm::Expected<Operand> operand = lookup(scope, input, "node " + quote(name) + " (" + shown(proto.op_type()) + ")");
    if (!operand)
      return operand.takeError();
    broken |= !*operand;
    operands.push_back(*operand);
  }
  for (const std::string &output : proto.output())
    if (!output.empty())
      scope.values[output] = Operand();

  llvm::StringSet<> attributes;
  for (const onnx::AttributeProto &each : proto.attribute())
    if (!attributes.insert(each.name()).second)
      return wrong("node " + quote(name) + " (" + proto.op_type() + ") has two attributes " + quote(each.name()));

  std::string domain = domainOf(proto), kind = qualified(domain, proto.op_type());
  const OnnxOp *op = findOp(kind);
  if (!op)
    if (const onnx::FunctionProto *function = functionOf(proto))
      return broken ? llvm::Error::success() : call(emit, scope, proto, *function, operands);
  if (domain.empty() && !scope.opsets.contains(""))
    return wrong("node " + quote(name) + " (" + proto.op_type() +
                 ") is of the default domain, of which no opset is named");
  if (!op && domain.empty() && isControl(proto.op_type()))
    return broken ? llvm::Error::success() : control(emit, scope, proto, operands);
  if (!op) {
    auto [reason, advice] = whyNot(kind);
    report(scope, proto, operands, reason, advice);
    return llvm::Error::success();
  }
  llvm::Expected<bool> taken = isTaken(scope, proto, *op, operands);
  return !taken || !*taken || broken ? taken.takeError() : importOp(emit, scope, proto, *op, operands);
}

llvm::Error Walk::importOp(Emit &emit, Scope &scope, const onnx::NodeProto &proto, const OnnxOp &op,
                           ArrayRef<Operand> operands) {
  std::string what = "node " + quote(nameOf(scope, proto)) + " (" + proto.op_type() + ")";
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand.isSequence() && !op.takesSequences)
      return wrong(what + ": " + notATensor(i, operand));
  locate(emit, scope, proto);
  Type narrow = op.isWide ? shortFloatOf(operands) : Type();
  SmallVector<Operand> given(operands);
  for (Operand &operand : given)
    operand = narrow ? emit.widened(operand) : operand;
  Node node(emit, file, proto, scope.opsets.lookup(domainOf(proto)), given, &scope.readers);
  op.import(node);
  if (emit.restart)
    return llvm::Error::success();
  node.refuseUnread();
  SmallVector<Operand> results = node.outputsSet();
  for (Operand &result : results)
    if (narrow && result && result.element().isF32())
      result = emit.cast(result, narrow);
  for (auto [output, value] : llvm::zip_equal(proto.output(), results))
    if (!emit.failed() && !value && scope.readers.contains(output))
      return fail(ExitCode::internal, quote(path) + ": " + what + " gives no " + quote(output));
  return settle(emit, scope, proto, operands, results);
}

void Walk::locate(Emit &emit, const Scope &scope, const onnx::NodeProto &proto) {
  auto text = [&](StringRef s) { return StringAttr::get(&context, s); };
  emit.location = FusedLoc::get(&context, {NameLoc::get(text(shown(nameOf(scope, proto))))}, text(proto.op_type()));
}

llvm::Error Walk::settle(Emit &emit, Scope &scope, const onnx::NodeProto &proto, ArrayRef<Operand> operands,
                         ArrayRef<Operand> results) {
  if (std::optional<Problem> problem = emit.takeProblem()) {
    if (problem->code == ExitCode::malformed)
      return wrong("node " + quote(nameOf(scope, proto)) + " (" + proto.op_type() + "): " + problem->reason);
    report(scope, proto, operands, problem->reason, problem->advice);
    return llvm::Error::success();
  }
  for (auto [output, value] : llvm::zip_equal(proto.output(), results))
    if (!output.empty())
      scope.values[output] = value;
  return llvm::Error::success();
}

/// Replaces references to a call's attributes in the function's nodes, and in the graphs in them; an attribute that
/// neither the caller nor the function gives is dropped.
static void resolve(onnx::NodeProto &node, const llvm::StringMap<const onnx::AttributeProto *> &given) {
  auto *attributes = node.mutable_attribute();
  for (int i = attributes->size(); i-- > 0;) {
    onnx::AttributeProto &each = *attributes->Mutable(i);
    if (each.ref_attr_name().empty()) {
      if (each.has_g())
        for (onnx::NodeProto &inner : *each.mutable_g()->mutable_node())
          resolve(inner, given);
      continue;
    }
    std::string name = each.name();
    const onnx::AttributeProto *found = given.lookup(each.ref_attr_name());
    if (!found) {
      attributes->DeleteSubrange(i, 1);
      continue;
    }
    each = *found;
    each.set_name(name);
  }
}

static bool refers(const onnx::NodeProto &node) {
  bool any =
      llvm::any_of(node.attribute(), [](const onnx::AttributeProto &each) { return !each.ref_attr_name().empty(); });
  forEachGraph(node, [&](const onnx::GraphProto &graph) { any |= llvm::any_of(graph.node(), refers); });
  return any;
}

llvm::Error Walk::call(Emit &emit, Scope &scope, const onnx::NodeProto &proto, const onnx::FunctionProto &function,
                       ArrayRef<Operand> operands) {
  std::string name = nameOf(scope, proto),
              what = "function " + quote(function.name()) + ", called by node " + quote(name) + ",";
  if (llvm::is_contained(calls, &function))
    return wrong(what + " calls itself");
  if (calls.size() == mostCalls)
    return fail(ExitCode::unsupported,
                quote(path) + ": " + what + " is called through more than " + llvm::Twine(mostCalls) + " others");
  if (proto.input_size() > function.input_size() || proto.output_size() > function.output_size())
    return wrong(what + " has " + llvm::Twine(function.input_size()) + " inputs and " +
                 llvm::Twine(function.output_size()) + " outputs, and is given " + llvm::Twine(proto.input_size()) +
                 " and " + llvm::Twine(proto.output_size()));
  Opsets opsets = opsetsOf(function.opset_import());
  for (const auto &inherited : scope.opsets)
    opsets.try_emplace(inherited.getKey(), inherited.getValue());
  if (auto own = opsets.find(""); own != opsets.end() && (own->second < oldestOpset || own->second > newestOpset))
    return fail(ExitCode::unsupported, quote(path) + ": " + what + " is of opset " + llvm::Twine(own->second) +
                                           "; opsets " + llvm::Twine(oldestOpset) + " to " + llvm::Twine(newestOpset) +
                                           " are supported");
  llvm::StringSet<> taken;
  for (const std::string &input : function.input())
    if (!taken.insert(input).second)
      return wrong(what + " has two inputs " + quote(input));
  Scope inner{opsets, nullptr, name + "/", {}, {}, {}, {}};
  if (llvm::Error error = enter(inner, function.node(), function.ByteSizeLong(), taken))
    return error;
  for (auto [i, input] : llvm::enumerate(function.input())) {
    if (i < operands.size() && operands[i])
      inner.values[input] = operands[i];
    else
      inner.absent.insert(input);
  }
  llvm::StringMap<const onnx::AttributeProto *> given;
  for (const onnx::AttributeProto &each : function.attribute_proto())
    given[each.name()] = &each;
  for (const onnx::AttributeProto &each : proto.attribute())
    given[each.name()] = &each;
  Nodes resolved(function.node());
  for (onnx::NodeProto &node : resolved)
    if (refers(node))
      resolve(node, given);

  calls.push_back(&function);
  SmallVector<std::string> outputs(function.output().begin(), function.output().end());
  outputs.truncate(proto.output_size());
  llvm::Error error = run(emit, inner, resolved, outputs);
  calls.pop_back();
  if (error || emit.restart)
    return error;
  for (auto [output, inside] : llvm::zip_equal(proto.output(), outputs)) {
    if (output.empty())
      continue;
    if (inner.absent.contains(inside))
      return wrong(what + " hands on " + quote(inside) + ", which it is not given");
    llvm::Expected<Operand> value = lookup(inner, inside, what);
    if (!value)
      return value.takeError();
    scope.values[output] = *value;
  }
  return llvm::Error::success();
}

} // namespace tutti
