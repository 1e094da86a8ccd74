// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What random graphs are made of. Half of the ops move elements, slices often from the first on, since the passes that
// see through moves have the most cases; sizes are small and odd, and what is narrow stays narrow.
#include "RandomGenerator.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tutti::laws {

// Elements of a row of a wide graph.
constexpr int64_t mostWide = 16'000;

//===------------------------------------------------------------------------------------------------------------===//
// Values
//===------------------------------------------------------------------------------------------------------------===//

/// Mostly what was made last, and no value whose elements may be larger.
Generator::Node Generator::pick(double most) {
  for (int tries = 0; tries < 20; ++tries) {
    const Node &node = chance(newest) ? nodes[nodes.size() - 1 - below(std::min<int64_t>(100 / newest, nodes.size()))]
                                      : nodes[below(nodes.size())];
    if (node.most <= most)
      return node;
  }
  return nodes[0];
}

SmallVector<int64_t> Generator::fixedAxes(const Node &x) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!x.type().isDynamicDim(axis))
      axes.push_back(axis);
  return axes;
}

/// An axis whose length is known, and at least so; -1 where there is none.
int64_t Generator::fixedAxis(const Node &x, int64_t least) {
  SmallVector<int64_t> axes = fixedAxes(x);
  llvm::erase_if(axes, [&](int64_t axis) { return x.dims()[axis] < least; });
  return axes.empty() ? -1 : axes[below(axes.size())];
}

Value Generator::parameter(ArrayRef<int64_t> dims, Type type) {
  std::string name = "p" + std::to_string(made.model.params.size());
  auto of = RankedTensorType::get(dims, type);
  std::vector<HostTensor> &values = made.model.params[name];
  bool same = shared || chance(20);
  for (int64_t m = 0; m < (same ? 1 : made.model.members); ++m) {
    values.push_back(laws::random(random, type, dims));
    for (double &value : values.back().floats)
      value = static_cast<float>(value / 3); // all bits of the fraction in use
  }
  llvm::raw_string_ostream(made.model.text) << "tutti.param @" << name << " : " << of << "\n";
  return GetOp::create(builder, loc, of, name);
}

Value Generator::constant(ArrayRef<int64_t> dims, double value) {
  auto type = RankedTensorType::get(dims, element);
  Attribute number = isa<FloatType>(element) ? Attribute(builder.getFloatAttr(element, value))
                                             : builder.getIntegerAttr(element, static_cast<int64_t>(value));
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, number));
}

Value Generator::pointwise(StringRef name, ValueRange operands, Type result) {
  Sizes sizes;
  for (Value operand : operands) {
    std::optional<Sizes> both = broadcast(sizes, getSizes(cast<RankedTensorType>(operand.getType())));
    if (!both)
      return nullptr;
    sizes = *both;
  }
  OperationState state(loc, ("tutti." + name).str());
  state.addOperands(operands);
  state.addTypes(getTensorType(sizes, result ? result : getElementTypeOrSelf(operands.back())));
  return builder.create(state)->getResult(0);
}

Generator::Node Generator::take(const Node &x, int64_t axis, int64_t start, int64_t count, int64_t step) {
  SmallVector<int64_t> starts(x.rank(), 0), counts, steps(x.rank(), 1);
  for (int64_t length : x.dims())
    counts.push_back(ShapedType::isDynamic(length) ? -1 : length);
  starts[axis] = start, counts[axis] = count, steps[axis] = step;
  return {SliceOp::create(builder, loc, x.value, builder.getDenseI64ArrayAttr(starts),
                          builder.getDenseI64ArrayAttr(counts), builder.getDenseI64ArrayAttr(steps)),
          x.most};
}

//===------------------------------------------------------------------------------------------------------------===//
// Graphs
//===------------------------------------------------------------------------------------------------------------===//

Generator::Made Generator::op() {
  using Maker = Made (Generator::*)(const Node &);
  struct Entry {
    Maker make;
    int weight;
    double most; ///< of the operand's elements
  };
  static const Entry table[] = {
      {&Generator::slice, 34, 1e9},        {&Generator::transpose, 14, 1e9},  {&Generator::reshape, 12, 1e9},
      {&Generator::expand, 3, 1e9},        {&Generator::concat, 5, 1e9},      {&Generator::pad, 4, 1e9},
      {&Generator::gather, 4, 1e9},        {&Generator::unary, 9, 1e9},       {&Generator::binary, 10, 1e3},
      {&Generator::withParameter, 8, 1e3}, {&Generator::choice, 3, 1e3},      {&Generator::reduce, 12, 1e3},
      {&Generator::scan, 3, 1e3},          {&Generator::product, 9, 1e2},     {&Generator::productOfValues, 4, 1e2},
      {&Generator::softmax, 4, 64},        {&Generator::norm, 4, 64},         {&Generator::chosen, 2, 1e3},
      {&Generator::tied, 3, 1e2},          {&Generator::scatter, 1, 8},       {&Generator::chain, 16, 64},
      {&Generator::beside, 8, 16},         {&Generator::withoutSign, 6, 1e9},
  };
  int64_t all = 0;
  for (const Entry &entry : table)
    all += entry.weight;
  int64_t drawn = below(all);
  const Entry *entry = table;
  for (; drawn >= entry->weight; ++entry)
    drawn -= entry->weight;
  Node x = pick(entry->most);
  if (x.rank() == 0 || x.most > entry->most)
    return std::nullopt;
  Made node = (this->*entry->make)(x);
  // Of more elements a row than this, nothing new is learnt.
  int64_t count = 1;
  if (node)
    for (int64_t length : node->dims())
      count *= ShapedType::isDynamic(length) ? 1 : length;
  if (node && (count > (wide ? mostWide : 600) || node->rank() > 5))
    return std::nullopt;
  return node;
}

/// Makes a value one of the graph, and mostly a result. In floats, no sum of many terms is hidden.
void Generator::keep(const Node &node) {
  Operation *op = node.value.getDefiningOp();
  nodes.push_back(node);
  bool isMove = isa<LayoutOpInterface, ConcatOp, GatherOp>(op);
  bool mayHide = isMove || !isa<FloatType>(element) || isa<ScalarOpInterface>(op);
  if (!mayHide || !chance(hidden))
    results.push_back(node.value);
  else
    noteRough(node.value);
}

RandomGraph Generator::graph() {
  made.hasBatch = chance(75);
  made.model.members = chance(70) ? 3 : 2;
  made.model.ownInputs = chance(25);
  shared = chance(30);
  if (chance(25)) // chains of ops with one reader each
    hidden = 60, newest = 85;
  element = chance(75) ? Type(builder.getF32Type()) : chance(50) ? builder.getI32Type() : builder.getI64Type();

  SmallVector<Type> arguments;
  for (int64_t i = 0, count = chance(70) ? 1 : 2; i < count; ++i) {
    Sizes sizes{made.hasBatch ? Size::symbol("batch") : Size(between(1, 4))};
    int64_t left = wide ? mostWide : 160;
    for (int64_t rank = between(1, 3); rank > 0; --rank) {
      int64_t length = chance(wide ? 20 : 70) ? between(1, 9)
                       : wide                 ? oneOf<int64_t>({60, 100, 128, 131})
                                              : oneOf<int64_t>({8, 12, 16, 20});
      sizes.push_back(Size(std::min(length, left)));
      left /= sizes.back().getFixed();
    }
    arguments.push_back(getTensorType(sizes, element));
    HostTensor x = laws::random(random, cast<RankedTensorType>(arguments.back()));
    if (made.model.ownInputs) {
      std::vector<HostTensor> each{x};
      for (int64_t m = 1; m < made.model.members; ++m)
        each.push_back(laws::random(random, cast<RankedTensorType>(arguments.back())));
      x = stack(each);
    }
    made.inputs.push_back(x);
  }
  OwningOpRef<func::FuncOp> main = func::FuncOp::create(loc, "main", builder.getFunctionType(arguments, {}));
  Block *body = main->addEntryBlock();
  builder.setInsertionPointToEnd(body);
  for (Value argument : body->getArguments())
    nodes.push_back({argument, isa<FloatType>(element) ? 3. : 7.});
  int64_t wanted = wide ? between(4, 8) : between(5, chance(60) ? 12 : 30);
  for (int64_t tries = 0; tries < 200 && static_cast<int64_t>(results.size()) < wanted; ++tries)
    if (Made node = op())
      keep(*node);
  func::ReturnOp::create(builder, loc, results);
  // What was tried and is in nobody's way goes.
  main->setType(builder.getFunctionType(arguments, ValueRange(results).getTypes()));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
  llvm::raw_string_ostream stream(made.model.text);
  main->print(stream);
  return std::move(made);
}

RandomGraph randomGraph(unsigned seed) { return Generator(seed).graph(); }

std::string replayable(const Model &model) {
  std::string text;
  SmallVector<StringRef> lines;
  StringRef(model.text).split(lines, '\n');
  for (StringRef line : lines) {
    text += line;
    if (line.consume_front("tutti.param @")) {
      auto [name, type] = line.split(" : ");
      const HostTensor &value = model.params.at(name.str())[0];
      std::vector<char> bytes(value.count() * (value.element.getIntOrFloatBitWidth() / 8));
      value.toBytes(bytes.data());
      text +=
          (" {values = dense<\"0x" + llvm::toHex(StringRef(bytes.data(), bytes.size())) + "\"> : " + type + "}").str();
    }
    text += "\n";
  }
  return text;
}

} // namespace tutti::laws
