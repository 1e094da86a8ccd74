// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What random graphs are made of. Half of the ops move elements, slices often from the first on, since the passes that
// see through moves have the most cases; sizes are small and odd, and what is narrow stays narrow.
#include "RandomGraphs.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;

namespace tutti::laws {

namespace {

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed), builder(&context()) {}

  RandomGraph graph();

private:
  /// A value of the graph, and what its elements are at most.
  struct Node {
    Value value;
    double most = 0;
    ArrayRef<int64_t> dims() const { return type().getShape(); }
    RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }
    int64_t rank() const { return type().getRank(); }
  };
  using Made = std::optional<Node>;

  // Numbers. (The distributions of the standard library differ from library to library.)
  int64_t below(int64_t count) { return static_cast<int64_t>(random() % count); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T> T oneOf(std::initializer_list<T> all) { return all.begin()[below(all.size())]; }

  // Values.
  Node pick(double most = 1e9);
  int64_t fixedAxis(const Node &x, int64_t least = 1);
  SmallVector<int64_t> fixedAxes(const Node &x);
  Value parameter(ArrayRef<int64_t> dims, Type type);
  Value constant(ArrayRef<int64_t> dims, double value);
  Node take(const Node &x, int64_t axis, int64_t start, int64_t count, int64_t step);
  /// An op whose operands are broadcast.
  Value pointwise(StringRef name, ValueRange operands, Type result = {});
  NamedAttribute named(StringRef name, Attribute value) { return {builder.getStringAttr(name), value}; }
  IntegerAttr number(int64_t value) { return builder.getI64IntegerAttr(value); }

  // Ops.
  Made op();
  void keep(const Node &node);
  Made slice(const Node &x), transpose(const Node &x), reshape(const Node &x), expand(const Node &x),
      concat(const Node &x), pad(const Node &x), gather(const Node &x), unary(const Node &x), binary(const Node &x),
      withParameter(const Node &x), choice(const Node &x), reduce(const Node &x), scan(const Node &x),
      product(const Node &x), productOfValues(const Node &x), softmax(const Node &x), norm(const Node &x),
      chosen(const Node &x), scatter(const Node &x);

  std::mt19937 random;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  Type element;
  bool shared = false;   ///< all weights are
  int64_t hidden = 0;    ///< so many of 100 values are no results, and
  int64_t newest = 50;   ///< so many are made of the last ones
  DenseSet<Value> rough; ///< floats that are off by more than the op before them may be: made of hidden ones
  std::vector<Node> nodes;
  SmallVector<Value> results;
  RandomGraph made;
};

} // namespace

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
// Moves
//===------------------------------------------------------------------------------------------------------------===//

Generator::Made Generator::slice(const Node &x) {
  int64_t axis = fixedAxis(x, 2);
  if (axis < 0)
    return std::nullopt;
  int64_t length = x.dims()[axis], step = oneOf<int64_t>({1, 1, 1, 1, 1, 2, 3, -1, -2});
  int64_t start = step < 0 ? length - 1 - below(length / 2) : chance(60) ? 0 : below(length - 1);
  int64_t room = step < 0 ? start / -step + 1 : (length - 1 - start) / step + 1;
  Node part = take(x, axis, start, between(1, room), step);
  // Of two axes at once, half of the time.
  int64_t other = chance(30) ? fixedAxis(part, 2) : -1;
  if (other >= 0 && other != axis) {
    Operation *first = part.value.getDefiningOp();
    auto op = cast<SliceOp>(first);
    SmallVector<int64_t> counts(op.getSizes());
    counts[other] = between(1, counts[other]);
    part.value = SliceOp::create(builder, loc, x.value, op.getStartsAttr(), builder.getDenseI64ArrayAttr(counts),
                                 op.getStepsAttr());
    first->erase();
  }
  return part;
}

Generator::Made Generator::transpose(const Node &x) {
  if (x.rank() < 2)
    return std::nullopt;
  auto order = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  for (int64_t i = x.rank() - 1; i > 0; --i)
    std::swap(order[i], order[below(i + 1)]);
  return Node{TransposeOp::create(builder, loc, x.value, builder.getDenseI64ArrayAttr(order)), x.most};
}

/// Two axes become one, or one two.
Generator::Made Generator::reshape(const Node &x) {
  Sizes from = getSizes(x.type()), to = from;
  if (x.rank() > 1 && chance(50)) {
    int64_t axis = below(x.rank() - 1);
    std::optional<Size> both = from[axis].times(from[axis + 1]);
    to[axis] = *both;
    to.erase(to.begin() + axis + 1);
  } else if (x.rank() < 5) {
    int64_t axis = below(x.rank()), factor = from[axis].getFactor();
    SmallVector<int64_t> parts;
    for (int64_t part = 1; part <= factor; ++part)
      if (factor % part == 0)
        parts.push_back(part);
    Size inner = Size(parts[below(parts.size())]);
    to[axis] = *from[axis].dividedBy(inner);
    to.insert(to.begin() + axis + 1, inner);
  } else {
    return std::nullopt;
  }
  if (mixedByReshape(from, to))
    return std::nullopt;
  return Node{ReshapeOp::create(builder, loc, getTensorType(to, element), x.value), x.most};
}

Generator::Made Generator::expand(const Node &x) {
  Sizes sizes = getSizes(x.type());
  bool any = false;
  for (Size &size : sizes)
    if (size == Size(1) && chance(70))
      size = Size(between(2, 5)), any = true;
  if (x.rank() < 4 && (!any || chance(20)))
    sizes.insert(sizes.begin(), Size(between(1, 3)));
  return Node{BroadcastOp::create(builder, loc, getTensorType(sizes, element), x.value), x.most};
}

Generator::Made Generator::concat(const Node &x) {
  int64_t axis = fixedAxis(x);
  if (axis < 0)
    return std::nullopt;
  SmallVector<Value> parts{x.value};
  double most = x.most;
  for (int tries = 0; tries < 12 && parts.size() < 3; ++tries) {
    Node other = pick();
    Sizes a = getSizes(x.type()), b = getSizes(other.type());
    if (a.size() != b.size() || !b[axis].isFixed())
      continue;
    a[axis] = b[axis];
    if (a != b)
      continue;
    parts.insert(chance(50) ? parts.begin() : parts.end(), other.value);
    most = std::max(most, other.most);
  }
  return Node{ConcatOp::create(builder, loc, parts, number(axis)), most};
}

Generator::Made Generator::pad(const Node &x) {
  int64_t axis = fixedAxis(x);
  if (axis < 0)
    return std::nullopt;
  SmallVector<Value> parts{x.value};
  for (int side : {0, 1})
    if (int64_t width = between(1 - side, 2)) {
      Sizes sizes = getSizes(x.type());
      sizes[axis] = Size(width);
      Value filled = BroadcastOp::create(builder, loc, getTensorType(sizes, element), constant({}, oneOf({0., 2.})));
      parts.insert(side ? parts.end() : parts.begin(), filled);
    }
  return Node{ConcatOp::create(builder, loc, parts, number(axis)), std::max(x.most, 2.)};
}

Generator::Made Generator::gather(const Node &x) {
  int64_t axis = fixedAxis(x);
  if (axis < 0)
    return std::nullopt;
  Value places = parameter(oneOf<int64_t>({0, 1}) || x.rank() > 3 ? SmallVector<int64_t>{between(1, 5)}
                                                                  : SmallVector<int64_t>{2, between(1, 3)},
                           builder.getI64Type());
  return Node{GatherOp::create(builder, loc, x.value, places, number(axis), IntegerAttr()), x.most};
}

//===------------------------------------------------------------------------------------------------------------===//
// Element by element
//===------------------------------------------------------------------------------------------------------------===//

Generator::Made Generator::unary(const Node &x) {
  if (!isa<FloatType>(element))
    return Node{pointwise(oneOf<const char *>({"neg", "abs", "relu"}), x.value), x.most};
  StringRef op = x.most > 8 ? oneOf<const char *>({"tanh", "sigmoid", "neg", "sin", "floor"})
                            : oneOf<const char *>({"tanh", "relu", "exp", "abs", "neg", "gelu", "sigmoid", "round"});
  if (rough.contains(x.value) && (op == "floor" || op == "round")) // float32 cannot decide
    op = "tanh";
  bool small = op == "tanh" || op == "sigmoid" || op == "sin";
  return Node{pointwise(op, x.value), small ? 1 : op == "exp" ? std::exp(x.most) : x.most + 1};
}

Generator::Made Generator::binary(const Node &x) {
  for (int tries = 0; tries < 12; ++tries) {
    Node other = pick(1e3);
    StringRef op = oneOf<const char *>({"add", "sub", "mul", "max", "min"});
    std::optional<Sizes> sizes = broadcast(getSizes(x.type()), getSizes(other.type()));
    if (!sizes || x.most * other.most > 1e4 || (other.value == x.value && chance(80)))
      continue;
    return Node{pointwise(op, {x.value, other.value}), op == "mul" ? x.most * other.most : x.most + other.most};
  }
  return std::nullopt;
}

/// With a weight of some of its axes.
Generator::Made Generator::withParameter(const Node &x) {
  SmallVector<int64_t> dims(x.dims());
  for (int64_t &length : dims)
    if (ShapedType::isDynamic(length) || chance(40))
      length = 1;
  Value weight = parameter(ArrayRef(dims).drop_front(below(x.rank() + 1)), element);
  StringRef op = oneOf<const char *>({"add", "sub", "mul", "mul", "max"});
  double most = isa<FloatType>(element) ? 1 : 7;
  bool swapped = chance(30);
  return Node{pointwise(op, {swapped ? weight : x.value, swapped ? x.value : weight}),
              op == "mul" ? most * x.most : most + x.most};
}

Generator::Made Generator::choice(const Node &x) {
  if (rough.contains(x.value))
    return std::nullopt;
  Value limit =
      chance(50) ? constant({}, 0) : parameter({x.type().isDynamicDim(x.rank() - 1) ? 1 : x.dims().back()}, element);
  Value above = pointwise("greater", {x.value, limit}, builder.getI1Type());
  results.push_back(above);
  Node other = pick(1e3);
  Value picked = pointwise("select", {above, x.value, other.value});
  if (!picked)
    other = x, picked = pointwise("select", {above, x.value, constant({}, 1)});
  return Node{picked, std::max({x.most, other.most, 1.})};
}

//===------------------------------------------------------------------------------------------------------------===//
// Of several elements
//===------------------------------------------------------------------------------------------------------------===//

Generator::Made Generator::reduce(const Node &x) {
  SmallVector<int64_t> axes = fixedAxes(x);
  llvm::erase_if(axes, [&](int64_t) { return chance(40); });
  if (axes.empty())
    return std::nullopt;
  auto kind = oneOf({ReduceKind::sum, ReduceKind::max, ReduceKind::min, ReduceKind::mean});
  if (kind == ReduceKind::mean && !isa<FloatType>(element))
    kind = ReduceKind::sum;
  double count = 1;
  for (int64_t axis : axes)
    count *= x.dims()[axis];
  return Node{ReduceOp::create(builder, loc, ReduceKindAttr::get(&context(), kind), x.value,
                               builder.getDenseI64ArrayAttr(axes), NumericsAttr()),
              kind == ReduceKind::sum ? count * x.most : x.most};
}

Generator::Made Generator::scan(const Node &x) {
  if (x.type().isDynamicDim(x.rank() - 1))
    return std::nullopt;
  UnitAttr yes = builder.getUnitAttr();
  return Node{ScanOp::create(builder, loc, ScanKindAttr::get(&context(), ScanKind::sum), x.value, IntegerAttr(),
                             chance(30) ? yes : UnitAttr(), chance(30) ? yes : UnitAttr()),
              x.most * double(x.dims().back())};
}

/// With a weight, over any axis; the new one is often the last.
Generator::Made Generator::product(const Node &x) {
  int64_t axis = chance(70) && !x.type().isDynamicDim(x.rank() - 1) ? x.rank() - 1 : fixedAxis(x);
  if (axis < 0)
    return std::nullopt;
  int64_t length = x.dims()[axis], width = chance(50) ? between(1, 9) : oneOf<int64_t>({8, 12, 16, 19, 33});
  std::string labels = std::string("abcde").substr(0, x.rank()), result = labels;
  if (chance(70)) {
    result[axis] = 'n';
  } else {
    result.erase(axis, 1);
    result += "n";
  }
  bool turned = chance(20);
  Value weight = parameter(turned ? ArrayRef<int64_t>{width, length} : ArrayRef<int64_t>{length, width}, element);
  std::string k(1, labels[axis]), spec = labels + "," + (turned ? "n" + k : k + "n") + "->" + result;
  return Node{ContractOp::create(builder, loc, x.value, weight, builder.getStringAttr(spec), NumericsAttr()),
              x.most * double(length) * (isa<FloatType>(element) ? 1 : 7)};
}

/// Rows by rows of the same batch, over the last axis or that before it.
Generator::Made Generator::productOfValues(const Node &x) {
  if (x.rank() < 2 || x.type().isDynamicDim(x.rank() - 1))
    return std::nullopt;
  for (int tries = 0; tries < 12; ++tries) {
    Node other = pick(1e2);
    Sizes a = getSizes(x.type()), b = getSizes(other.type());
    if (a.size() != b.size() || x.most * other.most > 1e3 || !b.back().isFixed() || !a[a.size() - 2].isFixed() ||
        !b[b.size() - 2].isFixed() || ArrayRef(a).drop_back(2) != ArrayRef(b).drop_back(2))
      continue;
    std::string batch = std::string("abc").substr(0, a.size() - 2), spec;
    int64_t terms = a.back().getFixed();
    if (a.back() == b.back())
      spec = batch + "ik," + batch + "jk->" + batch + "ij";
    else if (a.back() == b[b.size() - 2])
      spec = batch + "ik," + batch + "kj->" + batch + "ij";
    else
      continue;
    return Node{ContractOp::create(builder, loc, x.value, other.value, builder.getStringAttr(spec), NumericsAttr()),
                x.most * other.most * double(terms)};
  }
  return std::nullopt;
}

/// Its parts are no results.
Generator::Made Generator::softmax(const Node &x) {
  int64_t axis = fixedAxis(x);
  if (axis < 0 || x.most > 64 || !isa<FloatType>(element))
    return std::nullopt;
  auto over = [&](ReduceKind kind, Value value) -> Value {
    return ReduceOp::create(builder, loc, ReduceKindAttr::get(&context(), kind), value,
                            builder.getDenseI64ArrayAttr(axis), NumericsAttr());
  };
  Value e = pointwise("exp", pointwise("sub", {x.value, over(ReduceKind::max, x.value)}));
  return Node{pointwise("div", {e, over(ReduceKind::sum, e)}), 1};
}

/// A layer norm over the last axis, or over some; its parts are no results.
Generator::Made Generator::norm(const Node &x) {
  if (x.type().isDynamicDim(x.rank() - 1) || x.most > 64 || !isa<FloatType>(element))
    return std::nullopt;
  SmallVector<int64_t> axes = fixedAxes(x);
  if (chance(60))
    axes = {x.rank() - 1};
  auto mean = [&](Value value) -> Value {
    return ReduceOp::create(builder, loc, ReduceKindAttr::get(&context(), ReduceKind::mean), value,
                            builder.getDenseI64ArrayAttr(axes), NumericsAttr());
  };
  Value centered = pointwise("sub", {x.value, mean(x.value)});
  Value variance = mean(pointwise("mul", {centered, centered}));
  Value root = pointwise("sqrt", pointwise("add", {variance, constant({}, 0.125)}));
  Value normal = pointwise("div", {centered, root}), scale = parameter(x.dims().back(), element);
  return Node{pointwise("add", {pointwise("mul", {normal, scale}), parameter(x.dims().back(), element)}), 16};
}

/// The values at places that a row chooses, of itself or of another of as many rows.
Generator::Made Generator::chosen(const Node &x) {
  if (x.type().isDynamicDim(x.rank() - 1) || rough.contains(x.value))
    return std::nullopt;
  int64_t last = x.rank() - 1;
  Value places;
  if (chance(50))
    places = TopOp::create(builder, loc, x.value, number(between(1, x.dims()[last])),
                           chance(50) ? builder.getUnitAttr() : UnitAttr());
  else
    places = ArgOp::create(builder, loc, ArgKindAttr::get(&context(), oneOf({ArgKind::max, ArgKind::min})), x.value,
                           number(last), UnitAttr(), NumericsAttr());
  results.push_back(places);
  return Node{GatherOp::create(builder, loc, x.value, places, number(last), number(last)), x.most};
}

Generator::Made Generator::scatter(const Node &x) {
  Made updates = chosen(x);
  if (!updates)
    return std::nullopt;
  Value places = updates->value.getDefiningOp()->getOperand(1);
  results.push_back(updates->value);
  auto kind = oneOf({ScatterKind::set, ScatterKind::add, ScatterKind::max});
  Made into = unary(x);
  results.push_back(into->value);
  return Node{ScatterOp::create(builder, loc, ScatterKindAttr::get(&context(), kind), into->value, places,
                                updates->value, IntegerAttr()),
              into->most + x.most};
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
      {&Generator::slice, 26, 1e9},        {&Generator::transpose, 14, 1e9}, {&Generator::reshape, 12, 1e9},
      {&Generator::expand, 3, 1e9},        {&Generator::concat, 5, 1e9},     {&Generator::pad, 4, 1e9},
      {&Generator::gather, 4, 1e9},        {&Generator::unary, 9, 1e9},      {&Generator::binary, 10, 1e3},
      {&Generator::withParameter, 8, 1e3}, {&Generator::choice, 3, 1e3},     {&Generator::reduce, 12, 1e3},
      {&Generator::scan, 3, 1e3},          {&Generator::product, 9, 1e2},    {&Generator::productOfValues, 4, 1e2},
      {&Generator::softmax, 4, 64},        {&Generator::norm, 4, 64},        {&Generator::chosen, 2, 1e3},
      {&Generator::scatter, 1, 8},
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
  if (node && (count > 600 || node->rank() > 5))
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
  else if (!isMove || llvm::any_of(op->getOperands(), [&](Value value) { return rough.contains(value); }))
    rough.insert(node.value);
}

RandomGraph Generator::graph() {
  made.hasBatch = chance(75);
  made.model.members = chance(70) ? 3 : 2;
  made.model.ownInputs = chance(25);
  shared = chance(30);
  if (chance(40)) // chains of ops with one reader each
    hidden = 60, newest = 85;
  element = chance(75) ? Type(builder.getF32Type()) : chance(50) ? builder.getI32Type() : builder.getI64Type();

  SmallVector<Type> arguments;
  for (int64_t i = 0, count = chance(70) ? 1 : 2; i < count; ++i) {
    Sizes sizes{made.hasBatch ? Size::symbol("batch") : Size(between(1, 4))};
    int64_t left = 160;
    for (int64_t rank = between(1, 3); rank > 0; --rank) {
      sizes.push_back(Size(std::min(chance(70) ? between(1, 9) : oneOf<int64_t>({8, 12, 16, 20}), left)));
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
  int64_t wanted = between(5, chance(75) ? 12 : 30);
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
