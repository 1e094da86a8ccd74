// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Orders nodes, and finds their readers.
#include "compiler/import/onnx/NodeOrder.h"

#include "llvm/ADT/StringSet.h"

namespace tutti {

void forEachGraph(const onnx::NodeProto &proto, llvm::function_ref<void(const onnx::GraphProto &)> visit) {
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (attribute.has_g())
      visit(attribute.g());
    for (const onnx::GraphProto &graph : attribute.graphs())
      visit(graph);
  }
}

/// Visits the names that a node reads, including those that its branches take from outside. An omitted input has no
/// name; a name that a branch defines itself differs from the same name outside.
static void forEachRead(const onnx::NodeProto &proto, llvm::function_ref<void(const std::string &)> visit) {
  for (const std::string &input : proto.input())
    if (!input.empty())
      visit(input);
  forEachGraph(proto, [&](const onnx::GraphProto &graph) {
    llvm::StringSet<> own;
    for (const onnx::ValueInfoProto &input : graph.input())
      own.insert(input.name());
    for (const onnx::TensorProto &tensor : graph.initializer())
      own.insert(tensor.name());
    for (const onnx::NodeProto &inner : graph.node())
      own.insert(inner.output().begin(), inner.output().end());
    auto fromOutside = [&](const std::string &name) {
      if (!own.contains(name))
        visit(name);
    };
    for (const onnx::ValueInfoProto &output : graph.output())
      fromOutside(output.name());
    for (const onnx::NodeProto &inner : graph.node())
      forEachRead(inner, fromOutside);
  });
}

namespace {
class Order {
public:
  explicit Order(const Nodes &nodes) : nodes(nodes), state(nodes.size(), State::unneeded) {
    for (auto [i, node] : llvm::enumerate(nodes))
      for (const std::string &output : node.output())
        if (!output.empty())
          producers[output] = i;
  }

  /// Marks the nodes that the outputs need.
  void need(llvm::ArrayRef<std::string> outputs) {
    llvm::SmallVector<int> todo;
    auto mark = [&](const std::string &name) {
      auto at = producers.find(name);
      if (at == producers.end() || state[at->second] != State::unneeded)
        return;
      state[at->second] = State::needed;
      todo.push_back(at->second);
    };
    llvm::for_each(outputs, mark);
    while (!todo.empty())
      forEachRead(nodes[todo.pop_back_val()], mark);
  }

  std::vector<const onnx::NodeProto *> take() {
    for (int i = 0; i < nodes.size(); ++i)
      if (state[i] == State::needed)
        place(i);
    return std::move(order);
  }

private:
  enum class State : char { unneeded, needed, begun, placed };
  /// Places a node behind those that it reads, except in a cycle. There is no recursion, as chains may be long.
  void place(int first) {
    llvm::SmallVector<int> stack{first};
    while (!stack.empty()) {
      int at = stack.back();
      size_t below = stack.size();
      if (state[at] == State::needed) {
        state[at] = State::begun;
        forEachRead(nodes[at], [&](const std::string &name) {
          auto producer = producers.find(name);
          if (producer != producers.end() && state[producer->second] == State::needed)
            stack.push_back(producer->second);
        });
        std::reverse(stack.begin() + below, stack.end());
      }
      if (stack.size() > below)
        continue;
      stack.pop_back();
      if (std::exchange(state[at], State::placed) == State::begun)
        order.push_back(&nodes[at]);
    }
  }

  const Nodes &nodes;
  std::vector<State> state;
  llvm::StringMap<int> producers;
  std::vector<const onnx::NodeProto *> order;
};
} // namespace

std::vector<const onnx::NodeProto *> orderFor(const Nodes &nodes, llvm::ArrayRef<std::string> outputs) {
  Order order(nodes);
  order.need(outputs);
  return order.take();
}

Readers readersAmong(llvm::ArrayRef<const onnx::NodeProto *> nodes, llvm::ArrayRef<std::string> outputs) {
  Readers readers;
  for (const std::string &output : outputs)
    readers[output].push_back("");
  for (const onnx::NodeProto *node : nodes)
    forEachRead(*node, [&](const std::string &name) { readers[name].push_back(node->op_type()); });
  return readers;
}

} // namespace tutti
