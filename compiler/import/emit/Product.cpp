// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of elements, in their normal form, and of matrices.
#include "compiler/import/emit/Emit.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace tutti {

/// Whether x is a power of two with an exact inverse: dividing by x then equals multiplying by the inverse, bit for
/// bit.
static bool hasExactInverse(double x) {
  int exponent;
  return std::fabs(std::frexp(x, &exponent)) == 0.5 && exponent > -30 && exponent < 30;
}

/// Whether the type's range is wide enough for that.
static bool isWide(Type element) { return element.isF32() || element.isF64(); }

/// Whether a constant is this number, to float32 precision.
static bool isNumber(const Emit &e, const Operand &x, double number) {
  std::optional<double> given = e.numberOf(x);
  return given && std::fabs(*given - number) <= 1e-7 * number; // a float32's unit
}

/// Whether a value is 1 + erf(x / sqrt 2); the program then depends on its numbers.
static bool isGateOf(const Emit &e, Value x, Value gate) {
  auto inOrders = [](auto op) {
    return std::array{std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())};
  };
  // The factor or divisor of x, if it amounts to 1 / sqrt 2.
  auto scaleOf = [&](Value value) -> Operand {
    if (auto quotient = value.getDefiningOp<DivOp>())
      if (quotient.getLhs() == x && isNumber(e, quotient.getRhs(), M_SQRT2))
        return quotient.getRhs();
    if (auto scaled = value.getDefiningOp<MulOp>())
      for (auto [other, scale] : inOrders(scaled))
        if (other == x && isNumber(e, scale, M_SQRT1_2))
          return scale;
    return Operand();
  };
  auto sum = gate.getDefiningOp<AddOp>();
  return sum && llvm::any_of(inOrders(sum), [&](auto parts) {
           auto erf = parts.first.template getDefiningOp<ErfOp>();
           Operand scale = erf && isNumber(e, parts.second, 1) ? scaleOf(erf.getX()) : Operand();
           if (!scale)
             return false;
           e.setRead(scale);
           e.setRead(parts.second);
           return true;
         });
}

/// x, if a product is x (1 + erf(x / sqrt 2)) / 2, on whose numbers the program then depends; else null.
static Value geluOf(const Emit &e, const Operand &a, const Operand &b) {
  std::optional<Sizes> sizes = tutti::broadcast(a.sizes(), b.sizes());
  for (auto [outer, inner] : {std::pair(a, b), std::pair(b, a)}) {
    auto product = inner.isValue() ? inner.value().getDefiningOp<MulOp>() : MulOp();
    if (!product)
      continue;
    std::array<Operand, 3> factors{outer, Operand(product.getLhs()), Operand(product.getRhs())};
    for (unsigned half = 0; half < 3; ++half)
      if (e.numberOf(factors[half]) == std::optional<double>(0.5))
        for (auto [x, gate] : {std::pair(factors[(half + 1) % 3], factors[(half + 2) % 3]),
                               std::pair(factors[(half + 2) % 3], factors[(half + 1) % 3])})
          if (x.isValue() && gate.isValue() && sizes && *sizes == x.sizes() && isGateOf(e, x.value(), gate.value())) {
            e.setRead(factors[half]);
            return x.value();
          }
  }
  return nullptr;
}

/// Whether x times y, or x / y, is x: one exporter writes factors of 1 that another omits.
static bool isUnchangedBy(const Operand &x, const Operand &y) {
  if (!x || !y || x.isConstant() || x.element() != y.element() || y.scalar() != std::optional<double>(1))
    return false;
  std::optional<Sizes> sizes = broadcast(x.sizes(), y.sizes());
  return sizes && *sizes == x.sizes();
}

/// Whether a number is a parameter that must stay, as other members may have another.
static bool mayDiffer(const Emit &e, const Operand &x) {
  if (!e.keepsNumbers() || !x || !x.isConstant())
    return false;
  return !x.constant().name.empty() || (e.kept == Kept::constants && x.constant().isNode);
}

/// Whether x times or over a unit is x alone; the program then depends on that unit being 1.
static bool dropsUnit(const Emit &e, const Operand &x, const Operand &unit) {
  if (!isUnchangedBy(x, unit) || mayDiffer(e, unit))
    return false;
  e.setRead(unit);
  return true;
}

Operand Emit::mul(const Operand &a, const Operand &b) {
  if (dropsUnit(*this, a, b))
    return a;
  if (dropsUnit(*this, b, a))
    return b;
  if (!a || !b)
    return Operand();
  // Exporters without Gelu write x (1 + erf(x / sqrt 2)) / 2, with the half in any place.
  if (Value x = geluOf(*this, a, b)) {
    compositions.push_back(Composition::gelu);
    return unary<GeluOp>(Operand(x));
  }
  // Exporters without Mish write x tanh(softplus(x)).
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (x.isValue() && y.isValue())
      if (auto tanh = y.value().getDefiningOp<TanhOp>())
        if (auto softplus = tanh.getX().getDefiningOp<SoftplusOp>(); softplus && softplus.getX() == x.value()) {
          compositions.push_back(Composition::mish);
          return unary<MishOp>(x);
        }
  // x (1 / y) with one y per row, as norms are spelled, becomes x / y, which rounds once less.
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (x.isValue() && y.isValue() && isWide(x.element()) && x.rank() >= y.rank() && y.rank() > 0 &&
        y.sizes().back() == Size(1) && x.sizes().back() != Size(1))
      if (auto reciprocal = y.value().getDefiningOp<ReciprocalOp>()) {
        compositions.push_back(Composition::division);
        return binary<DivOp>(x, Operand(reciprocal.getX()));
      }
  return binary<MulOp>(a, b);
}

/// Whether x contains 1 + erf, so that a half may belong to a GELU.
static bool hasGate(const Operand &x) {
  auto isGate = [](Value value) {
    auto sum = value.getDefiningOp<AddOp>();
    return sum && (sum.getLhs().getDefiningOp<ErfOp>() || sum.getRhs().getDefiningOp<ErfOp>());
  };
  auto product = x.isValue() ? x.value().getDefiningOp<MulOp>() : MulOp();
  return x.isValue() && (isGate(x.value()) || (product && (isGate(product.getLhs()) || isGate(product.getRhs()))));
}

Operand Emit::div(const Operand &a, const Operand &b) {
  if (dropsUnit(*this, a, b))
    return a;
  if (a && b && isWide(a.element()) && a.element() == b.element() && !a.isConstant())
    if (std::optional<double> number = b.scalar();
        number && hasExactInverse(*number) && (!mayDiffer(*this, b) || (*number == 2 && hasGate(a)))) {
      setRead(b);
      WeightSource inverse = scalarSource(b.element(), 1 / *number);
      return mul(a, Operand(broadcastView(inverse, b.constant().dims)));
    }
  // 1 / x has only one spelling.
  if (a && b && b.isFloat() && !b.isConstant() && a.element() == b.element() && a.rank() <= b.rank() &&
      a.scalar() == std::optional<double>(1) && !mayDiffer(*this, a)) {
    setRead(a);
    return unary<ReciprocalOp>(b);
  }
  return binary<DivOp>(a, b);
}

Operand Emit::pow(const Operand &a, const Operand &b) {
  if (!a || !b)
    return Operand();
  if (!isa<FloatType, IntegerType>(b.element()) || b.element().isInteger(1))
    return malformed("an exponent of type " + elementName(b.element()));
  std::optional<double> exponent = b.scalar();
  constexpr double spelled[] = {1, 2, 3, 0.5, -1, -0.5};
  if (exponent && a.isFloat() && !a.isConstant() && b.rank() <= a.rank() && llvm::is_contained(spelled, *exponent)) {
    setRead(b);
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
    return unary<ReciprocalOp>(unary<SqrtOp>(a));
  }
  if (!a.isFloat() && isa<FloatType>(b.element())) {
    // An integer to a float's power is computed in float64 and then becomes an integer.
    Type wide = Float64Type::get(&context);
    return cast(binary<PowOp>(cast(a, wide), cast(b, wide)), a.element());
  }
  // An integer exponent that the base's type cannot represent would become another, perhaps odd instead of even.
  if (a.isFloat() && !isa<FloatType>(b.element()) && !isHeld(b, a.element())) {
    Type wide = Float64Type::get(&context);
    return cast(binary<PowOp>(cast(a, wide), cast(b, wide)), a.element());
  }
  // An integer's power is taken modulo 2^n of its own type.
  if (!a.isFloat() && a.element().getIntOrFloatBitWidth() < b.element().getIntOrFloatBitWidth())
    return cast(binary<PowOp>(cast(a, b.element()), b), a.element());
  return binary<PowOp>(a, cast(b, a.element()));
}

bool Emit::isHeld(const Operand &integers, Type element) {
  unsigned digits = cast<FloatType>(element).getFPMantissaWidth();
  if (integers.element().getIntOrFloatBitWidth() <= digits)
    return true;
  std::optional<HostTensor> elements = known(integers);
  auto isSmall = [&](int64_t number) { return number >= -(int64_t(1) << digits) && number <= int64_t(1) << digits; };
  bool isHeld = elements && llvm::all_of(elements->ints, isSmall);
  if (isHeld)
    setRead(integers);
  return isHeld;
}

std::optional<std::string> Emit::rowLabels(size_t axes) {
  if (axes > batchLabels.size())
    return std::nullopt;
  if (axes < 2)
    return std::string(axes, 'b');
  return batchLabels.take_front(axes - 1).str() + "s";
}

Operand Emit::contract(const Operand &a, const Operand &b, StringRef spec, Factors factors) {
  if (!a || !b)
    return Operand();
  std::optional<ContractSpec> labels = ContractSpec::parse(spec);
  if (a.element() != b.element())
    return malformed("operands of types " + elementName(a.element()) + " and " + elementName(b.element()));
  if (a.element().isInteger(1))
    return malformed("a product of matrices of bools");
  // 16-bit floats are multiplied as float32, as the dialect also defines; here weights become float32 once and for all.
  if (a.isFloat() && a.element().getIntOrFloatBitWidth() < 32) {
    Type wide = Float32Type::get(&context);
    return cast(contract(cast(a, wide), cast(b, wide), spec), a.element());
  }
  if (std::optional<Operand> result = contractBelowReshape(a, b, *labels, factors))
    return *result;
  // Rows times a weight vector: a matrix of one column.
  char column = labels->freeLabel();
  if (column && !a.isConstant() && b.isConstant() && b.rank() == 1 && labels->lhs == labels->result + labels->rhs &&
      a.sizes().back() == b.sizes()[0]) {
    ContractSpec matrix{labels->lhs, labels->rhs + column, labels->result + column};
    return dropAxes(contract(a, reshape(b, {b.sizes()[0], Size(1)}), matrix.str()), a.rank() - 1);
  }
  std::map<char, Size> sizeOf;
  for (auto [text, sizes] : {std::pair(labels->lhs, a.sizes()), std::pair(labels->rhs, b.sizes())})
    for (auto [label, size] : llvm::zip_equal(text, sizes)) {
      auto [place, fresh] = sizeOf.try_emplace(label, size);
      if (!fresh && place->second != size && !same(place->second, size)) {
        return misfit(place->second, size, "shapes " + tutti::str(a.sizes()) + " and " + tutti::str(b.sizes()),
                      "multiply");
      }
    }
  int64_t work = 1;
  for (auto &[label, size] : sizeOf) {
    if (!size.isFixed() && labels->result.find(label) == std::string::npos)
      return unknownLength("sums over", size);
    if (size.isFixed() && llvm::MulOverflow(work, std::max<int64_t>(size.getFixed(), 1), work))
      work = INT64_MAX;
  }
  Sizes result;
  for (char label : labels->result)
    result.push_back(sizeOf[label]);
  return op<ContractOp>(
      getTensorType(result, a.element()), {a, b},
      {.bytes = flag(factors == Factors::bytes), .numerics = {}, .spec = StringAttr::get(&context, spec)}, work);
}

} // namespace tutti
