// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise ops, products and sums; folding.
#include "compiler/import/Emit.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;

namespace tutti {

/// Constants larger than this are not computed while compiling.
static constexpr int64_t foldBytes = 64 << 20, foldWork = 1 << 28;

Operand Emit::unsupported(const Twine &reason, const Twine &advice) {
  if (!problem && !restart)
    problem = Problem{ExitCode::unsupported, reason.str(), advice.str()};
  return Operand();
}

Operand Emit::malformed(const Twine &reason) {
  if (!problem && !restart)
    problem = Problem{ExitCode::malformed, reason.str(), ""};
  return Operand();
}

bool Emit::same(const Size &a, const Size &b) {
  if (a == b)
    return true;
  if (dims && dims->equate(a, b))
    restart = true;
  return false;
}

NamedAttribute Emit::numbers(StringRef name, ArrayRef<int64_t> values) {
  return {StringAttr::get(&context, name), DenseI64ArrayAttr::get(&context, values)};
}

NamedAttribute Emit::number(StringRef name, int64_t value) {
  return {StringAttr::get(&context, name), IntegerAttr::get(IntegerType::get(&context, 64), value)};
}

const WeightSource *Emit::sourceOf(Value value) const {
  auto get = value.getDefiningOp<GetOp>();
  size_t index;
  if (!get || get.getParam().drop_front(1).getAsInteger(10, index))
    return nullptr;
  return &params[index];
}

Value Emit::value(const Operand &x) {
  if (!x)
    return Value();
  if (x.isValue())
    return x.value();
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  if (x.isShape()) {
    unsupported("a size that is known at a call only is used as a number",
                "bind the dimension to one value with --dim");
    return Value();
  }
  const WeightSource &source = x.constant();
  if (!isa<FloatType>(source.element))
    return ConstantOp::create(builder, location, toAttr(source));
  params.push_back(source);
  return GetOp::create(builder, location, RankedTensorType::get(source.dims, source.element),
                       "p" + std::to_string(params.size() - 1));
}

std::optional<Operand> Emit::fold(StringRef name, RankedTensorType type, ArrayRef<Operand> xs,
                                  ArrayRef<NamedAttribute> attributes) {
  Block scratch;
  OperationState state(location, name);
  SmallVector<HostTensor> hosts;
  for (const Operand &x : xs) {
    hosts.push_back(toHost(x.constant()));
    state.operands.push_back(
        scratch.addArgument(RankedTensorType::get(x.constant().dims, x.constant().element), location));
  }
  state.addTypes(type);
  state.addAttributes(attributes);
  Operation *op = Operation::create(state);
  EvaluateContext evaluation;
  evaluation.plain = true; // in the dtype's own arithmetic
  FailureOr<HostTensor> result = cast<EvaluateOpInterface>(op).evaluate(evaluation, hosts);
  op->destroy();
  if (llvm::failed(result))
    return std::nullopt;
  return Operand(computedSource(*result));
}

Operand Emit::op(StringRef name, RankedTensorType type, ArrayRef<Operand> xs, ArrayRef<NamedAttribute> attributes,
                 int64_t work) {
  bool known = llvm::all_of(xs, [](const Operand &x) { return x.isConstant(); });
  if (known && !xs.empty() && type.hasStaticShape()) {
    std::optional<int64_t> count = countOf(type.getShape());
    bool small = count && *count <= foldBytes / bytesOf(type.getElementType()) && work <= foldWork;
    for (const Operand &x : xs)
      small &= x.constant().count() <= foldBytes / x.constant().elementBytes();
    if (small)
      if (std::optional<Operand> folded = fold(name, type, xs, attributes))
        return *folded;
  }
  OperationState state(location, name);
  for (const Operand &x : xs) {
    Value operand = value(x);
    if (!operand)
      return Operand();
    state.operands.push_back(operand);
  }
  state.addTypes(type);
  state.addAttributes(attributes);
  return OpBuilder::atBlockEnd(block).create(state)->getResult(0);
}

std::optional<Sizes> Emit::broadcastAll(ArrayRef<Operand> xs) {
  Sizes all = xs[0].sizes();
  for (const Operand &x : xs.drop_front()) {
    Sizes mine = x.sizes();
    std::optional<Sizes> both = tutti::broadcast(all, mine);
    if (!both) {
      // Where the model says nothing else, two symbolic sizes that meet are one.
      for (size_t i = 1; i <= std::min(all.size(), mine.size()); ++i) {
        const Size &a = all[all.size() - i], &b = mine[mine.size() - i];
        if (a != b && a != Size(1) && b != Size(1) && !same(a, b)) {
          if (restart)
            return std::nullopt;
          std::string shapes = tutti::str(all) + " and " + tutti::str(mine);
          if (a.isFixed() && b.isFixed())
            malformed("shapes " + shapes + " do not broadcast");
          else
            unsupported("shapes " + shapes + " broadcast only for some sizes of a call",
                        "bind the dimension to one value with --dim");
          return std::nullopt;
        }
      }
      return std::nullopt;
    }
    all = *both;
  }
  return all;
}

/// A constant without the axes that only repeat it.
static WeightSource unrepeated(WeightSource x) {
  SmallVector<int64_t> zeros(x.dims.size(), 0), ones(x.dims.size(), 1), sizes(x.dims);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (x.strides[i] == 0)
      sizes[i] = std::min<int64_t>(sizes[i], 1);
  bool whole = sizes == x.dims;
  x = whole ? x : sliceView(x, zeros, sizes, ones);
  size_t lead = 0;
  while (lead < sizes.size() && sizes[lead] == 1)
    ++lead;
  return lead ? reshapeView(x, ArrayRef(sizes).drop_front(lead)) : x;
}

Operand Emit::pointwise(StringRef name, ArrayRef<Operand> xs, Type element) {
  if (!llvm::all_of(xs, [](const Operand &x) { return bool(x); }))
    return Operand();
  std::optional<Sizes> sizes = broadcastAll(xs);
  if (!sizes)
    return Operand();
  // Broadcasting is implicit here: operands lose what it would give back, so that all spellings of it look alike.
  SmallVector<Operand> lean(xs);
  if (!llvm::all_of(xs, [](const Operand &x) { return x.isConstant(); }))
    for (size_t i = 0; i < lean.size(); ++i) {
      Operand before = lean[i];
      if (before.isConstant())
        lean[i] = unrepeated(before.constant());
      else if (before.isValue())
        if (auto repeat = before.value().getDefiningOp<BroadcastOp>())
          lean[i] = Operand(repeat.getX());
      std::optional<Sizes> now;
      if (lean[i].sizes() != before.sizes()) {
        now = lean[0].sizes();
        for (const Operand &x : lean)
          now = now ? tutti::broadcast(*now, x.sizes()) : now;
        if (now)
          now->insert(now->begin(), sizes->size() - now->size(), Size(1));
        if (!now || *now != *sizes)
          lean[i] = before;
      }
    }
  Sizes inner = lean[0].sizes();
  for (const Operand &x : lean)
    inner = *tutti::broadcast(inner, x.sizes());
  Operand result = op(name, getTensorType(inner, element), lean);
  return inner == *sizes ? result : reshape(result, *sizes);
}

Operand Emit::binary(StringRef name, const Operand &a, const Operand &b, bool comparison) {
  if (!a || !b)
    return Operand();
  if (a.isShape() || b.isShape())
    return shapeArithmetic(name, a, b);
  if (a.element() != b.element())
    return malformed("operands of types " + elementName(a.element()) + " and " + elementName(b.element()));
  return pointwise(name, {a, b}, comparison ? IntegerType::get(&context, 1) : a.element());
}

/// The value of a mask that is the same everywhere, and so chooses now.
static std::optional<bool> uniformMask(const Operand &condition) {
  std::optional<HostTensor> mask;
  if (condition.isConstant() && condition.constant().count() <= foldBytes) {
    mask = toHost(condition.constant());
  } else if (condition.isValue()) {
    auto repeat = condition.value().getDefiningOp<BroadcastOp>();
    if (auto constant = repeat ? repeat.getX().getDefiningOp<ConstantOp>() : ConstantOp())
      mask = HostTensor::fromAttr(constant.getValue());
  }
  if (!mask || mask->ints.empty() || !llvm::all_equal(mask->ints))
    return std::nullopt;
  return mask->ints[0] != 0;
}

Operand Emit::select(const Operand &condition, const Operand &a, const Operand &b) {
  if (!condition || !a || !b)
    return Operand();
  if (!condition.element().isInteger(1))
    return malformed("a condition of type " + elementName(condition.element()));
  if (a.element() != b.element())
    return malformed("branches of types " + elementName(a.element()) + " and " + elementName(b.element()));
  std::optional<ShapeValue> yes = a.asShape(), no = b.asShape();
  if ((a.isShape() || b.isShape()) && yes && no && condition.isConstant()) {
    HostTensor chosen = toHost(condition.constant());
    ShapeValue result{{}, yes->vector || no->vector || !chosen.dims.empty(), yes->element};
    size_t length = std::max({yes->elements.size(), no->elements.size(), chosen.ints.size()});
    auto at = [](const auto &list, size_t i) { return list.size() == 1 ? list[0] : list[i]; };
    for (size_t count : {yes->elements.size(), no->elements.size(), chosen.ints.size()})
      if (count != 1 && count != length)
        return malformed("lengths that do not broadcast");
    for (size_t i = 0; i < length; ++i)
      result.elements.push_back(at(chosen.ints, i) ? at(yes->elements, i) : at(no->elements, i));
    return shape(std::move(result));
  }
  if (std::optional<bool> mask = uniformMask(condition)) {
    const Operand &chosen = *mask ? a : b;
    std::optional<Sizes> sizes = broadcastAll({condition, a, b});
    if (sizes && *sizes == chosen.sizes())
      return chosen;
  }
  return pointwise(SelectOp::getOperationName(), {condition, a, b}, a.element());
}

Operand Emit::scalar(double value, const Operand &like) {
  return like ? Operand(scalarSource(like.element(), value)) : Operand();
}

/// Whether x is a power of two, or minus one, that a factor may be taken out by without rounding.
static bool isExactFactor(double x) {
  int exponent;
  double fraction = std::frexp(std::fabs(x), &exponent);
  return fraction == 0.5 && std::fabs(x) != 1.0 && exponent > -30 && exponent < 30;
}

Operand Emit::withoutFactor(const Operand &x, double &factor, SmallVectorImpl<Operand> &sources) {
  if (x.isConstant()) {
    std::optional<double> number = x.scalar();
    if (!number || !isExactFactor(*number))
      return x;
    factor *= *number;
    sources.push_back(x);
    return Operand();
  }
  auto product = x.isValue() ? x.value().getDefiningOp<MulOp>() : MulOp();
  const WeightSource *weight = product ? sourceOf(product.getRhs()) : nullptr;
  std::optional<double> number = weight ? scalarOf(*weight) : std::nullopt;
  if (!number || !isExactFactor(*number) || product.getLhs().getType() != product.getType())
    return x;
  factor *= *number;
  sources.push_back(Operand(*weight));
  return Operand(product.getLhs());
}

Operand Emit::product(const Operand &a, const Operand &b) {
  // x tanh(softplus(x)) is what exporters without Mish write for it.
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (x.isValue() && y.isValue())
      if (auto tanh = y.value().getDefiningOp<TanhOp>())
        if (auto softplus = tanh.getX().getDefiningOp<SoftplusOp>(); softplus && softplus.getX() == x.value())
          return unary<MishOp>(x);
  return binary<MulOp>(a, b);
}

Operand Emit::mul(const Operand &a, const Operand &b) {
  if (!a || !b || !a.isFloat() || a.element() != b.element() || (a.isConstant() && b.isConstant()))
    return product(a, b);
  std::optional<Sizes> sizes = broadcastAll({a, b});
  if (!sizes)
    return Operand();
  // Multiplying by a power of two is exact, so it may be done last: exporters differ in where they write GELU's half.
  double factor = 1;
  SmallVector<Operand, 2> sources;
  Operand x = withoutFactor(a, factor, sources), y = withoutFactor(b, factor, sources);
  if (sources.empty() || (factor != 1 && !isExactFactor(factor)))
    return product(a, b);
  Operand result = x && y ? product(x, y) : x ? x : y;
  // One factor keeps its name; the product of two is a number of ours.
  if (factor != 1)
    result = binary<MulOp>(result, sources.size() == 1 ? sources[0] : scalar(factor, result));
  return result && result.sizes() != *sizes ? reshape(result, *sizes) : result;
}

Operand Emit::div(const Operand &a, const Operand &b) {
  if (a && b && a.isFloat() && a.element() == b.element() && !a.isConstant())
    if (std::optional<double> number = b.scalar(); number && isExactFactor(*number)) {
      WeightSource inverse = scalarSource(b.element(), 1 / *number);
      return mul(a, Operand(broadcastView(inverse, b.constant().dims)));
    }
  return binary<DivOp>(a, b);
}

Operand Emit::pow(const Operand &a, const Operand &b) {
  if (!a || !b)
    return Operand();
  std::optional<double> exponent = b.scalar();
  if (exponent && a.isFloat() && !a.isConstant() && b.rank() <= a.rank()) {
    if (*exponent == 1)
      return a;
    if (*exponent == 2)
      return mul(a, a);
    if (*exponent == 3)
      return mul(mul(a, a), a);
    if (*exponent == 0.5)
      return unary<SqrtOp>(a);
    if (*exponent == -1)
      return unary<ReciprocalOp>(a);
    if (*exponent == -0.5)
      return unary<ReciprocalOp>(unary<SqrtOp>(a));
  }
  return binary<PowOp>(a, cast(b, a.element()));
}

Operand Emit::contract(const Operand &a, const Operand &b, StringRef spec) {
  if (!a || !b)
    return Operand();
  std::optional<ContractSpec> labels = ContractSpec::parse(spec);
  if (a.element() != b.element())
    return malformed("operands of types " + elementName(a.element()) + " and " + elementName(b.element()));
  if (!a.isFloat())
    return unsupported("a product of matrices of " + elementName(a.element()));
  std::map<char, Size> sizeOf;
  for (auto [text, sizes] : {std::pair(labels->lhs, a.sizes()), std::pair(labels->rhs, b.sizes())})
    for (auto [label, size] : llvm::zip_equal(text, sizes)) {
      auto [place, fresh] = sizeOf.try_emplace(label, size);
      if (!fresh && place->second != size && !same(place->second, size)) {
        if (restart)
          return Operand();
        std::string shapes = tutti::str(a.sizes()) + " by " + tutti::str(b.sizes());
        if (place->second.isFixed() && size.isFixed())
          return malformed("shapes " + shapes + " cannot be multiplied");
        return unsupported("shapes " + shapes + " multiply only for some sizes of a call");
      }
    }
  int64_t work = 1;
  for (auto &[label, size] : sizeOf) {
    if (!size.isFixed() && labels->result.find(label) == std::string::npos)
      return unsupported("sums over dimension '" + size.str() + "', which is known at a call only",
                         "bind it to one value with --dim " + Twine(size.getSymbols()[0]) + "=VALUE");
    if (size.isFixed() && llvm::MulOverflow(work, std::max<int64_t>(size.getFixed(), 1), work))
      work = INT64_MAX;
  }
  Sizes result;
  for (char label : labels->result)
    result.push_back(sizeOf[label]);
  return op(ContractOp::getOperationName(), getTensorType(result, a.element()), {a, b},
            {{StringAttr::get(&context, "spec"), StringAttr::get(&context, spec)}}, work);
}

Operand Emit::reduce(ReduceKind kind, const Operand &x, ArrayRef<int64_t> axes, bool keep) {
  if (!x)
    return Operand();
  if (axes.empty())
    return x;
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  Sizes sizes = x.sizes(), kept;
  for (int64_t axis : sorted) {
    if (!sizes[axis].isFixed())
      return unsupported("reduces dimension '" + sizes[axis].str() + "', which is known at a call only",
                         "bind it to one value with --dim " + Twine(sizes[axis].getSymbols()[0]) + "=VALUE");
    if (sizes[axis] == Size(0))
      return unsupported("reduces an axis of length 0");
    sizes[axis] = Size(1);
  }
  Operand result = op(ReduceOp::getOperationName(), getTensorType(sizes, x.element()), {x},
                      {{StringAttr::get(&context, "kind"), ReduceKindAttr::get(&context, kind)},
                       numbers("axes", sorted)});
  if (keep)
    return result;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(sorted, int64_t(i)))
      kept.push_back(size);
  return reshape(result, kept);
}

} // namespace tutti
