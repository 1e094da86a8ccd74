// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random ops that compute.
#include "RandomGenerator.h"

#include <cmath>

using namespace mlir;

namespace tutti::laws {

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

/// A weight that is multiplied by and looked up in, as an embedding that is a network's head, too.
Generator::Made Generator::tied(const Node &x) {
  if (x.type().isDynamicDim(x.rank() - 1) || rough.contains(x.value))
    return std::nullopt;
  int64_t last = x.rank() - 1, length = x.dims()[last];
  Value weight = parameter({length, between(1, 40)}, element);
  std::string rows = std::string("abcd").substr(0, last);
  Value product = ContractOp::create(builder, loc, x.value, weight, builder.getStringAttr(rows + "k,kn->" + rows + "n"),
                                     NumericsAttr());
  Value place = ArgOp::create(builder, loc, ArgKindAttr::get(&context(), ArgKind::max), x.value, number(last),
                              UnitAttr(), NumericsAttr());
  Sizes outer(ArrayRef(getSizes(x.type())).drop_back());
  Value places = ReshapeOp::create(builder, loc, getTensorType(outer, builder.getI64Type()), place);
  Value row = GatherOp::create(builder, loc, weight, places, number(0), IntegerAttr());
  results.append({product, place});
  double most = isa<FloatType>(element) ? 1 : 7;
  return Node{pointwise("add", {product, row}), x.most * double(length) * most + most};
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
// Together
//===------------------------------------------------------------------------------------------------------------===//

void Generator::noteRough(Value value) {
  Operation *op = value.getDefiningOp();
  bool isMove = isa<LayoutOpInterface, ConcatOp, GatherOp>(op);
  bool ofRough = llvm::any_of(op->getOperands(), [&](Value operand) { return rough.contains(operand); });
  if (isa<FloatType>(element) && (ofRough || !isMove))
    rough.insert(value);
}

/// Something computed, moved, computed with again and maybe moved once more; only the last of it is a result.
Generator::Made Generator::chain(const Node &x) {
  Node at = x;
  auto go = [&](std::initializer_list<Made (Generator::*)(const Node &)> makers) {
    if (Made next = at.most > 1e2 ? Made() : (this->*oneOf(makers))(at)) {
      noteRough(next->value);
      at = *next;
    }
  };
  if (chance(70))
    go({&Generator::product, &Generator::withParameter, &Generator::unary});
  for (int64_t moves = between(1, 3); moves > 0; --moves)
    go({&Generator::transpose, &Generator::reshape, &Generator::slice, &Generator::slice});
  go({&Generator::reduce, &Generator::withParameter, &Generator::product});
  if (chance(60))
    go({&Generator::transpose});
  rough.erase(at.value);
  return at.value == x.value ? Made() : at;
}

/// Something computed, and with it what is computed of it at other places of the same shape, both hidden, moved or
/// reduced at the end. Passes see through moves to one maker that is read in two ways.
Generator::Made Generator::beside(const Node &x) {
  auto noted = [&](Node node) {
    noteRough(node.value);
    return node;
  };
  Node one = noted(*(chance(50) ? withParameter(x) : unary(x)));
  Made elsewhere = acrossItself(one);
  if (!elsewhere || one.most > 64)
    return std::nullopt;
  Node other = noted(*unary(noted(*elsewhere)));
  SmallVector<Value> both{one.value, other.value};
  if (chance(50))
    std::swap(both[0], both[1]);
  Node at = noted({pointwise(oneOf<const char *>({"add", "sub", "max"}), both), one.most + other.most});
  using Maker = Made (Generator::*)(const Node &);
  for (Maker next : {oneOf<Maker>({&Generator::reshape, &Generator::transpose, &Generator::slice}),
                     oneOf<Maker>({&Generator::reduce, &Generator::withParameter, &Generator::product})})
    if (Made made = chance(70) ? (this->*next)(at) : Made())
      at = noted(*made);
  rough.erase(at.value);
  return at;
}

} // namespace tutti::laws
