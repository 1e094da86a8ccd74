// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes that contain graphs: branches with a known condition, and loops of known length, which are unrolled.
#include "compiler/import/Limits.h"
#include "compiler/import/onnx/GraphPorts.h"
#include "compiler/import/onnx/Walk.h"
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

llvm::Expected<Walk::Results> Walk::inside(Emit &emit, Scope &scope, Node &n, StringRef attribute,
                                           const std::string &prefix, ArrayRef<Operand> given, size_t count) {
  std::string what = "node " + quote(nameOf(scope, n.proto)) + " (" + n.proto.op_type() + ")";
  const onnx::GraphProto *graph = n.graphAttr(attribute);
  if (!graph || size_t(graph->output_size()) != count || size_t(graph->input_size()) != given.size())
    return wrong(what + ": attribute " + quote(attribute) + " is no graph of " +
                 (given.empty() ? "" : llvm::Twine(given.size()).str() + " inputs and ") + llvm::Twine(count) +
                 " outputs");
  Scope inner{scope.opsets, &scope, prefix, {}, {}, {}, {}};
  llvm::StringSet<> taken;
  for (auto [input, operand] : llvm::zip_equal(graph->input(), given)) {
    if (!taken.insert(input.name()).second)
      return wrong(what + ": there are two inputs " + quote(input.name()) + " of its graph");
    inner.values[input.name()] = operand;
  }
  if (llvm::Error error = findInitializers(path, *graph, inner.initializers))
    return error;
  for (const onnx::TensorProto &tensor : graph->initializer())
    if (!taken.insert(tensor.name()).second)
      return wrong(what + ": " + quote(tensor.name()) + " of its graph is an input and an initializer");
  if (llvm::Error error = enter(inner, graph->node(), graph->ByteSizeLong(), taken))
    return error;
  SmallVector<std::string> outputs;
  for (const onnx::ValueInfoProto &output : graph->output())
    outputs.push_back(output.name());
  if (llvm::Error error = run(emit, inner, graph->node(), outputs))
    return error;
  Results results;
  for (const std::string &output : outputs) {
    if (emit.restart)
      break;
    llvm::Expected<Operand> value = lookup(inner, output, what);
    if (!value)
      return value.takeError();
    results.push_back(*value);
  }
  return results;
}

/// Selects between the results of two branches, if they have the same shape.
static Operand eitherOf(Emit &emit, const Operand &condition, const Operand &a, const Operand &b) {
  if (!a || !b)
    return Operand();
  if (a.isSequence() || b.isSequence() || a.sizes() != b.sizes())
    return emit.unsupported("its condition is not known when compiling, and its branches give " + a.str() + " and " +
                                b.str(),
                            "export the model without control flow");
  return emit.select(condition, a, b);
}

llvm::Expected<Walk::Results> Walk::branch(Emit &emit, Scope &scope, Node &n) {
  Operand given = n.in(0);
  if (!given)
    return Results();
  std::string prefix = nameOf(scope, n.proto) + "/";
  size_t outputs = n.proto.output_size();
  if (std::optional<double> condition = given.scalarForProgram())
    return inside(emit, scope, n, *condition != 0 ? "then_branch" : "else_branch", prefix, {}, outputs);
  if (product(given.sizes()) != Size(1)) {
    emit.malformed("its condition is " + given.str() + ", expected one element");
    return Results();
  }
  // The branches only compute values: both are computed, and each call selects.
  auto then = inside(emit, scope, n, "then_branch", prefix + "then/", {}, outputs);
  if (!then || emit.failed() || emit.restart)
    return then;
  auto other = inside(emit, scope, n, "else_branch", prefix + "else/", {}, outputs);
  if (!other || emit.failed() || emit.restart)
    return other;
  locate(emit, scope, n.proto);
  Operand condition = emit.reshape(given, {});
  Results results;
  for (auto [a, b] : llvm::zip_equal(*then, *other))
    results.push_back(eitherOf(emit, condition, a, b));
  return results;
}

llvm::Expected<bool> Walk::runStep(Emit &emit, Scope &scope, Node &n, int64_t step, ArrayRef<Operand> given,
                                   Unrolled &unrolled) {
  std::string prefix = nameOf(scope, n.proto) + "/" + std::to_string(step) + "/";
  size_t carried = unrolled.state.size();
  auto results = inside(emit, scope, n, "body", prefix, given, carried + unrolled.shown.size());
  if (!results)
    return results.takeError();
  if (emit.restart || !llvm::all_of(*results, [](const Operand &each) { return bool(each); }))
    return false;
  unrolled.state.assign(results->begin(), results->begin() + carried);
  for (auto [all, one] : llvm::zip_equal(unrolled.shown, ArrayRef(*results).drop_front(carried)))
    all.push_back(one);
  return true;
}

/// Joins the values of all steps along a new axis.
static Operand joined(Node &n, ArrayRef<Operand> shown, int64_t axis) {
  if (shown.empty())
    return n.emit.unsupported("it joins what its steps give, and has none");
  for (const Operand &each : shown)
    if (each.isSequence())
      return n.emit.malformed("its body gives a " + each.str() + ", expected tensors, which it joins");
  std::optional<int64_t> along = n.axis(axis, shown.front().rank() + 1);
  return along ? n.emit.stack(shown, *along) : Operand();
}

llvm::Expected<Walk::Results> Walk::loop(Emit &emit, Scope &scope, Node &n) {
  const std::string unroll = "give the loop a constant number of steps, or unroll it when exporting";
  std::optional<double> most;
  if (n.has(0) && !(most = n.in(0).scalarForProgram())) {
    emit.unsupported("how often it runs is not known when compiling",
                     n.in(0).isShape() ? "bind the dimension to one value with --dim" : unroll);
    return Results();
  }
  size_t carried = n.inputs() < 2 ? 0 : n.inputs() - 2, outputs = n.proto.output_size();
  if (carried > outputs || n.inputs() < 2)
    emit.malformed(Twine(n.inputs()) + " inputs and " + Twine(outputs) + " outputs");
  // The condition to go on is part of the state, as its first value.
  Unrolled unrolled;
  unrolled.state.push_back(n.has(1) ? n.in(1) : Operand(scalarSource(IntegerType::get(&emit.context, 1), 1)));
  for (size_t i = 0; i < carried; ++i)
    unrolled.state.push_back(n.eitherIn(i + 2));
  unrolled.shown.resize(outputs - std::min(outputs, carried));
  for (int64_t step = 0; !emit.failed(); ++step) {
    std::optional<double> go = unrolled.state.front().scalarForProgram();
    if (!go)
      emit.unsupported("whether it goes on is not known when compiling", unroll);
    if (emit.failed() || *go == 0 || (most && double(step) >= *most))
      break;
    if (step == mostSteps) {
      emit.unsupported("it runs more than " + Twine(mostSteps) + " times");
      break;
    }
    Results given = {Operand(scalarSource(IntegerType::get(&emit.context, 64), double(step)))};
    llvm::append_range(given, unrolled.state);
    llvm::Expected<bool> goesOn = runStep(emit, scope, n, step, given, unrolled);
    if (!goesOn)
      return goesOn.takeError();
    if (!*goesOn)
      return Results();
  }
  locate(emit, scope, n.proto);
  Results results(ArrayRef(unrolled.state).drop_front());
  for (const Results &shown : unrolled.shown)
    results.push_back(emit.failed() ? Operand() : joined(n, shown, 0));
  return results;
}

namespace {
/// The axes that a Scan runs along, and those along which it joins.
struct ScanForm {
  int64_t carried = 0, steps = 0;
  SmallVector<int64_t> axes, backwards;    ///< one per scanned input
  SmallVector<int64_t> joinAxes, prepends; ///< one per joined output
  static std::optional<ScanForm> of(Node &n);
};
} // namespace

/// Nothing, and a problem, if the node cannot be unrolled.
std::optional<ScanForm> ScanForm::of(Node &n) {
  Emit &emit = n.emit;
  if (n.opset < 9) {
    emit.unsupported("its form before opset 9", "export the model for a newer opset");
    return std::nullopt;
  }
  int64_t scanned = n.intAttr("num_scan_inputs", 0), inputs = n.inputs(), outputs = n.proto.output_size();
  if (scanned < 1 || scanned > inputs || outputs < inputs - scanned) {
    emit.malformed("attribute 'num_scan_inputs' is " + Twine(scanned) + " of " + Twine(n.inputs()) + " inputs, with " +
                   Twine(outputs) + " outputs");
    return std::nullopt;
  }
  auto listed = [&](StringRef name, int64_t count) {
    SmallVector<int64_t> values = n.intsAttr(name).value_or(SmallVector<int64_t>(count, 0));
    if (int64_t(values.size()) != count) {
      emit.malformed("attribute " + quote(name) + " has " + Twine(values.size()) + " numbers where " + Twine(count) +
                     " are due");
      values.assign(count, 0);
    }
    return values;
  };
  ScanForm form;
  form.carried = inputs - scanned;
  form.axes = listed("scan_input_axes", scanned);
  form.backwards = listed("scan_input_directions", scanned);
  form.joinAxes = listed("scan_output_axes", outputs - form.carried);
  form.prepends = listed("scan_output_directions", outputs - form.carried);
  for (auto [i, axis] : llvm::enumerate(form.axes)) {
    Operand x = n.in(form.carried + i);
    std::optional<int64_t> along = x ? n.axis(axis, x.rank()) : std::nullopt;
    if (!along || !emit.isKnown(x, *along, "runs along"))
      return std::nullopt;
    axis = *along;
    int64_t length = x.sizes()[axis].getFixed();
    if (i > 0 && length != form.steps)
      emit.malformed("it runs along axes of lengths " + Twine(form.steps) + " and " + Twine(length));
    form.steps = length;
  }
  if (form.steps > mostSteps || form.steps == 0)
    emit.unsupported(form.steps ? "it runs more than " + Twine(mostSteps) + " times" : "it has no step");
  return emit.failed() ? std::nullopt : std::optional(form);
}

llvm::Expected<Walk::Results> Walk::scan(Emit &emit, Scope &scope, Node &n) {
  std::optional<ScanForm> form = ScanForm::of(n);
  Unrolled unrolled;
  for (int64_t i = 0; form && i < form->carried; ++i) {
    unrolled.state.push_back(n.in(i));
    if (!unrolled.state.back())
      form.reset();
  }
  if (!form)
    return Results();
  unrolled.shown.resize(form->joinAxes.size());
  for (int64_t step = 0; step < form->steps; ++step) {
    locate(emit, scope, n.proto);
    Results given = unrolled.state;
    for (auto [i, axis] : llvm::enumerate(form->axes)) {
      int64_t place = form->backwards[i] ? form->steps - 1 - step : step;
      given.push_back(emit.dropAxes(emit.part(n.in(form->carried + i), axis, place, 1), {axis}));
    }
    if (emit.failed())
      break;
    llvm::Expected<bool> goesOn = runStep(emit, scope, n, step, given, unrolled);
    if (!goesOn)
      return goesOn.takeError();
    if (!*goesOn)
      return Results();
  }
  locate(emit, scope, n.proto);
  Results results = unrolled.state;
  for (auto [shown, axis, prepends] : llvm::zip_equal(unrolled.shown, form->joinAxes, form->prepends)) {
    if (prepends)
      std::reverse(shown.begin(), shown.end());
    results.push_back(emit.failed() ? Operand() : joined(n, shown, axis));
  }
  return results;
}

llvm::Expected<Walk::Results> Walk::sequenceMap(Emit &emit, Scope &scope, Node &n) {
  const SequenceValue *first = n.sequenceIn(0);
  if (!first)
    return Results();
  size_t count = first->elements.size(), outputs = n.proto.output_size();
  if (count == 0)
    emit.unsupported("it runs over an empty sequence");
  for (size_t i = 1; i < n.inputs(); ++i)
    if (Operand x = n.eitherIn(i); x.isSequence() && x.sequence().elements.size() != count)
      emit.malformed("it runs over sequences of " + Twine(count) + " and " + Twine(x.sequence().elements.size()) +
                     " tensors");
  for (size_t i = 0; i < outputs && !emit.failed(); ++i)
    affordSequence(emit, count);
  Unrolled unrolled;
  unrolled.shown.resize(outputs);
  for (size_t step = 0; step < count && !emit.failed(); ++step) {
    Results given;
    for (size_t i = 0; i < n.inputs(); ++i) {
      Operand x = n.eitherIn(i);
      given.push_back(x.isSequence() ? x.sequence().elements[step] : x);
    }
    llvm::Expected<bool> goesOn = runStep(emit, scope, n, step, given, unrolled);
    if (!goesOn)
      return goesOn.takeError();
    if (!*goesOn)
      return Results();
  }
  locate(emit, scope, n.proto);
  Results results;
  for (Results &shown : unrolled.shown) {
    for (const Operand &each : shown)
      if (!emit.failed() && (each.isSequence() || each.element() != shown.front().element()))
        emit.malformed("its body gives " + each.str() + ", expected a tensor as the first, " + shown.front().str());
    results.push_back(emit.failed() ? Operand()
                                    : Operand(SequenceValue{{shown.begin(), shown.end()}, shown.front().element()}));
  }
  return results;
}

llvm::Error Walk::control(Emit &emit, Scope &scope, const onnx::NodeProto &proto, ArrayRef<Operand> operands) {
  locate(emit, scope, proto);
  Node node(emit, file, proto, scope.opsets.lookup(""), operands);
  StringRef op = proto.op_type();
  for (StringRef graph : {"then_branch", "else_branch", "body"})
    if ((graph == "body") == (op != "If"))
      node.graphAttr(graph); // checked, whether it runs or not
  if (op == "SequenceMap" && node.opset < 17)
    emit.unsupported("the op came with opset 17", "export the model for that opset or a newer one");
  else if (op == "If" && node.inputs() != 1)
    emit.malformed(Twine(node.inputs()) + " inputs, expected 1");
  if (emit.failed())
    return settle(emit, scope, proto, operands, Results(proto.output_size()));
  llvm::Expected<Results> results = op == "If"     ? branch(emit, scope, node)
                                    : op == "Loop" ? loop(emit, scope, node)
                                    : op == "Scan" ? scan(emit, scope, node)
                                                   : sequenceMap(emit, scope, node);
  if (!results)
    return results.takeError();
  if (emit.restart)
    return llvm::Error::success();
  node.refuseUnread();
  results->resize(proto.output_size());
  return settle(emit, scope, proto, operands, *results);
}

} // namespace tutti
