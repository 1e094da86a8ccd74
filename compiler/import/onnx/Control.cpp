// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes with graphs in them: branches whose condition is known, and loops whose length is, step by step.
#include "compiler/import/onnx/Walk.h"

using namespace mlir;

namespace tutti {

/// Steps of one loop that are put into a model one behind the other.
constexpr int64_t maxSteps = 4096;

llvm::Expected<Walk::Results> Walk::inside(Emit &emit, Scope &scope, const onnx::NodeProto &proto, StringRef attribute,
                                           const std::string &prefix, ArrayRef<Operand> given, size_t count) {
  std::string what = "node " + quote(nameOf(scope, proto)) + " (" + proto.op_type() + ")";
  const onnx::GraphProto *graph = nullptr;
  for (const onnx::AttributeProto &each : proto.attribute())
    if (each.name() == attribute && each.has_g())
      graph = &each.g();
  if (!graph || size_t(graph->output_size()) != count || size_t(graph->input_size()) != given.size())
    return wrong(what + ": attribute " + quote(attribute) + " is no graph of " +
                 (given.empty() ? "" : llvm::Twine(given.size()).str() + " inputs and ") + llvm::Twine(count) +
                 " outputs");
  Scope inner{scope.opsets, &scope, prefix, {}, {}, {}};
  llvm::StringSet<> taken;
  for (auto [input, operand] : llvm::zip_equal(graph->input(), given)) {
    taken.insert(input.name());
    inner.values[input.name()] = operand;
  }
  for (const onnx::TensorProto &tensor : graph->initializer()) {
    taken.insert(tensor.name());
    inner.initializers[tensor.name()] = &tensor;
  }
  if (llvm::Error error = enter(graph->node(), taken))
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

llvm::Expected<Walk::Results> Walk::branch(Emit &emit, Scope &scope, Node &n) {
  Operand given = n.in(0);
  std::optional<double> condition = given ? given.scalar() : std::nullopt;
  if (condition)
    return inside(emit, scope, n.proto, *condition != 0 ? "then_branch" : "else_branch", nameOf(scope, n.proto) + "/",
                  {}, n.proto.output_size());
  if (given)
    emit.unsupported("its condition is not known when compiling",
                     "export the model without control flow, or choose between two results with Where");
  return Results();
}

llvm::Expected<Walk::Results> Walk::loop(Emit &emit, Scope &scope, Node &n) {
  const std::string unroll = "give the loop a constant number of steps, or unroll it when exporting";
  std::optional<double> most, go = 1;
  if (n.has(0) && !(most = n.in(0).scalar())) {
    emit.unsupported("how often it runs is not known when compiling",
                     n.in(0).isShape() ? "bind the dimension to one value with --dim" : unroll);
    return Results();
  }
  if (n.has(1))
    go = n.in(1).scalar();
  if (!n.has(0) && !n.has(1))
    emit.unsupported("it runs without end", unroll);
  size_t carried = n.inputs() < 2 ? 0 : n.inputs() - 2, outputs = n.proto.output_size();
  if (carried > outputs || n.inputs() < 2)
    emit.malformed(Twine(n.inputs()) + " inputs and " + Twine(outputs) + " outputs");
  Results state;
  for (size_t i = 0; i < carried; ++i)
    state.push_back(n.eitherIn(i + 2));
  std::vector<Results> shown(outputs - std::min(outputs, carried));
  Operand condition = n.has(1) ? n.in(1) : Operand(scalarSource(IntegerType::get(&emit.context, 1), 1));
  for (int64_t step = 0; !emit.failed(); ++step) {
    if (!go)
      emit.unsupported("whether it goes on is not known when compiling", unroll);
    if (emit.failed() || *go == 0 || (most && double(step) >= *most))
      break;
    if (step == maxSteps) {
      emit.unsupported("it runs more than " + Twine(maxSteps) + " times");
      break;
    }
    Results given = {Operand(scalarSource(IntegerType::get(&emit.context, 64), double(step))), condition};
    llvm::append_range(given, state);
    llvm::Expected<Results> results =
        inside(emit, scope, n.proto, "body", (nameOf(scope, n.proto) + "/" + llvm::Twine(step) + "/").str(), given,
               1 + outputs);
    if (!results)
      return results.takeError();
    // A restart, or a node inside that failed and was reported.
    if (emit.restart || !llvm::all_of(*results, [](const Operand &each) { return bool(each); }))
      return Results();
    condition = results->front();
    go = condition.scalar();
    state.assign(results->begin() + 1, results->begin() + 1 + carried);
    for (auto [all, one] : llvm::zip_equal(shown, ArrayRef(*results).drop_front(1 + carried)))
      all.push_back(one);
  }
  locate(emit, scope, n.proto);
  for (const Results &steps : shown) {
    if (!emit.failed() && steps.empty())
      emit.unsupported("it joins what its steps give, and has none");
    state.push_back(emit.failed() ? Operand() : emit.stack(steps, 0));
  }
  return state;
}

llvm::Expected<Walk::Results> Walk::scan(Emit &emit, Scope &scope, Node &n) {
  if (n.opset < 9) {
    emit.unsupported("its form before opset 9", "export the model for a newer opset");
    return Results();
  }
  int64_t scanned = n.intAttr("num_scan_inputs", 0), carried = int64_t(n.inputs()) - scanned;
  int64_t outputs = n.proto.output_size(), joins = outputs - carried, steps = -1;
  if (scanned < 1 || carried < 0 || joins < 0) {
    emit.malformed("attribute 'num_scan_inputs' is " + Twine(scanned) + " of " + Twine(n.inputs()) + " inputs, with " +
                   Twine(outputs) + " outputs");
    return Results();
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
  SmallVector<int64_t> axes = listed("scan_input_axes", scanned), backwards = listed("scan_input_directions", scanned);
  SmallVector<int64_t> joinAxes = listed("scan_output_axes", joins), prepends = listed("scan_output_directions", joins);
  Results state;
  for (int64_t i = 0; i < carried + scanned; ++i) {
    Operand x = n.in(i);
    if (!x)
      return Results();
    if (i < carried) {
      state.push_back(x);
      continue;
    }
    std::optional<int64_t> axis = n.axis(axes[i - carried], x.rank());
    if (!axis || !emit.isKnown(x, *axis, "runs along"))
      return Results();
    axes[i - carried] = *axis;
    int64_t length = x.sizes()[*axis].getFixed();
    if (steps >= 0 && length != steps)
      emit.malformed("it runs along axes of lengths " + Twine(steps) + " and " + Twine(length));
    steps = length;
  }
  if (steps > maxSteps || steps == 0)
    emit.unsupported(steps ? "it runs more than " + Twine(maxSteps) + " times" : "it has no step");
  std::vector<Results> shown(joins);
  for (int64_t step = 0; step < steps && !emit.failed(); ++step) {
    locate(emit, scope, n.proto);
    Results given = state;
    for (int64_t i = 0; i < scanned; ++i)
      given.push_back(
          emit.dropAxes(emit.part(n.in(carried + i), axes[i], backwards[i] ? steps - 1 - step : step, 1), {axes[i]}));
    if (emit.failed())
      break;
    llvm::Expected<Results> results = inside(
        emit, scope, n.proto, "body", (nameOf(scope, n.proto) + "/" + llvm::Twine(step) + "/").str(), given, outputs);
    if (!results)
      return results.takeError();
    if (emit.restart || !llvm::all_of(*results, [](const Operand &each) { return bool(each); }))
      return Results();
    state.assign(results->begin(), results->begin() + carried);
    for (int64_t i = 0; i < joins; ++i)
      shown[i].insert(prepends[i] ? shown[i].begin() : shown[i].end(), (*results)[carried + i]);
  }
  locate(emit, scope, n.proto);
  for (int64_t i = 0; i < joins && !emit.failed(); ++i) {
    std::optional<int64_t> axis = n.axis(joinAxes[i], shown[i][0].rank() + 1);
    state.push_back(axis ? emit.stack(shown[i], *axis) : Operand());
  }
  return state;
}

llvm::Error Walk::control(Emit &emit, Scope &scope, const onnx::NodeProto &proto, ArrayRef<Operand> operands) {
  locate(emit, scope, proto);
  Node node(emit, file, proto, scope.opsets.lookup(""), operands);
  StringRef op = proto.op_type();
  llvm::Expected<Results> results = op == "If"     ? branch(emit, scope, node)
                                    : op == "Loop" ? loop(emit, scope, node)
                                                   : scan(emit, scope, node);
  if (!results)
    return results.takeError();
  if (emit.restart)
    return llvm::Error::success();
  results->resize(proto.output_size());
  return settle(emit, scope, proto, operands, *results);
}

} // namespace tutti
