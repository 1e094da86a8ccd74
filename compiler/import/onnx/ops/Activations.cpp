// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of activations that consist of several pointwise ops.
#include "compiler/import/onnx/ops/Ops.h"

#include <limits>

using namespace mlir;

namespace tutti {

/// x where x > 0, else f; a NaN goes to f.
static Operand abovePositive(Emit &e, const Operand &x, const Operand &f) {
  return e.select(e.compare<GreaterOp>(x, e.scalar(0, x)), x, f);
}

Operand leakyRelu(Emit &e, const Operand &x, const Operand &slope) {
  return e.select(e.compare<GreaterEqualOp>(x, e.scalar(0, x)), x, e.mul(x, slope));
}
void importLeakyRelu(Node &n) {
  Operand x = n.in(0);
  n.set(0, leakyRelu(n.emit, x, n.emit.scalar(n.floatAttr("alpha", 0.01f), x)));
}
void importPRelu(Node &n) {
  Operand x = n.in(0), slope = n.in(1);
  std::optional<Sizes> both = x && slope ? broadcast(x.sizes(), slope.sizes()) : std::nullopt;
  if (both && *both != x.sizes())
    n.emit.malformed("a slope of shape " + str(slope.sizes()) + " for an input of shape " + str(x.sizes()));
  n.set(0, leakyRelu(n.emit, x, slope));
}

Operand elu(Emit &e, const Operand &x, double alpha) {
  return abovePositive(e, x, e.mul(e.unary<Expm1Op>(x), e.scalar(alpha, x)));
}
void importElu(Node &n) { n.set(0, elu(n.emit, n.in(0), n.floatAttr("alpha", 1))); }

/// y = x, below 0 alpha (e^(x / alpha) - 1)
void importCelu(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), alpha = e.scalar(n.floatAttr("alpha", 1), x);
  n.set(0, abovePositive(e, x, e.mul(e.unary<Expm1Op>(e.div(x, alpha)), alpha)));
}

/// y = gamma x, below 0 gamma alpha (e^x - 1)
static Operand selu(Emit &e, const Operand &x, double alpha, double gamma) {
  return e.mul(elu(e, x, alpha), e.scalar(gamma, x));
}
static constexpr float seluAlpha = 1.67326319217681884765625f, seluGamma = 1.05070102214813232421875f;
void importSelu(Node &n) {
  double alpha = n.floatAttr("alpha", seluAlpha);
  n.set(0, selu(n.emit, n.in(0), alpha, n.floatAttr("gamma", seluGamma)));
}

Operand hardSigmoid(Emit &e, const Operand &x, double alpha, double beta) {
  Operand line = e.add(e.mul(x, e.scalar(alpha, x)), e.scalar(beta, x));
  return e.binary<MaxOp>(e.binary<MinOp>(line, e.scalar(1, x)), e.scalar(0, x));
}
void importHardSigmoid(Node &n) {
  n.set(0, hardSigmoid(n.emit, n.in(0), n.floatAttr("alpha", 0.2f), n.floatAttr("beta", 0.5f)));
}
/// y = x hardsigmoid(x), with the line x / 6 + 1/2
void importHardSwish(Node &n) {
  Operand x = n.in(0);
  n.set(0, n.emit.mul(x, hardSigmoid(n.emit, x, 1.0f / 6, 0.5)));
}

Operand softsign(Emit &e, const Operand &x) { return e.div(x, e.add(e.unary<AbsOp>(x), e.scalar(1, x))); }
void importSoftsign(Node &n) { n.set(0, softsign(n.emit, n.in(0))); }

Operand thresholdedRelu(Emit &e, const Operand &x, double alpha) {
  return e.select(e.compare<GreaterOp>(x, e.scalar(alpha, x)), x, e.scalar(0, x));
}
void importThresholdedRelu(Node &n) { n.set(0, thresholdedRelu(n.emit, n.in(0), n.floatAttr("alpha", 1))); }

const NamedActivation *findActivation(StringRef name) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  using X = const Operand &;
  static constexpr NamedActivation all[] = {
      {"Affine",
       [](Emit &e, X x, double a, double b) { return e.add(e.mul(x, e.scalar(a, x)), e.scalar(b, x)); },
       {"alpha", "beta"},
       {none, none}},
      {"Elu", [](Emit &e, X x, double alpha, double) { return elu(e, x, alpha); }, {"alpha", ""}, {1}},
      {"HardSigmoid", hardSigmoid, {"alpha", "beta"}, {0.2f, 0.5}},
      {"LeakyRelu",
       [](Emit &e, X x, double alpha, double) { return leakyRelu(e, x, e.scalar(alpha, x)); },
       {"alpha", ""},
       {0.01f}},
      {"Relu", [](Emit &e, X x, double, double) { return e.unary<ReluOp>(x); }},
      {"ScaledTanh",
       [](Emit &e, X x, double a, double b) {
         return e.mul(e.unary<TanhOp>(e.mul(x, e.scalar(b, x))), e.scalar(a, x));
       },
       {"alpha", "beta"},
       {none, none}},
      {"Selu", selu, {"alpha", "gamma"}, {seluAlpha, seluGamma}},
      {"Sigmoid", [](Emit &e, X x, double, double) { return e.unary<SigmoidOp>(x); }},
      {"Softplus", [](Emit &e, X x, double, double) { return e.unary<SoftplusOp>(x); }},
      {"Softsign", [](Emit &e, X x, double, double) { return softsign(e, x); }},
      {"Tanh", [](Emit &e, X x, double, double) { return e.unary<TanhOp>(x); }},
      {"ThresholdedRelu",
       [](Emit &e, X x, double alpha, double) { return thresholdedRelu(e, x, alpha); },
       {"alpha", ""},
       {1}}};
  const NamedActivation *found =
      llvm::find_if(all, [&](const auto &each) { return name.equals_insensitive(each.name); });
  return found == std::end(all) ? nullptr : found;
}

/// y = x + bias below -lambd, x - bias above lambd, else 0. The numbers are floats, so integers go through float64.
void importShrink(Node &n) {
  Emit &e = n.emit;
  Operand given = n.in(0);
  if (!given)
    return;
  Operand x = given.isFloat() ? given : e.cast(given, Float64Type::get(&e.context));
  double lambd = n.floatAttr("lambd", 0.5);
  Operand bias = e.scalar(n.floatAttr("bias", 0), x);
  Operand above = e.select(e.compare<GreaterOp>(x, e.scalar(lambd, x)), e.sub(x, bias), e.scalar(0, x));
  Operand y = e.select(e.compare<GreaterOp>(e.scalar(-lambd, x), x), e.add(x, bias), above);
  n.set(0, e.cast(y, given.element()));
}

Operand geluByTanh(Emit &e, const Operand &x) {
  Operand cube = e.mul(e.mul(x, x), x);
  Operand sum = e.add(x, e.mul(cube, e.scalar(0.044715, x)));
  Operand inner = e.unary<TanhOp>(e.mul(sum, e.scalar(0.7978845608028654, x)));
  return e.mul(e.mul(x, e.add(inner, e.scalar(1, x))), e.scalar(0.5, x));
}

/// none: tutti.gelu
void importGelu(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  std::string approximate = n.stringAttr("approximate", "none");
  if (approximate == "none")
    return n.set(0, e.unary<GeluOp>(x));
  if (approximate != "tanh") {
    e.malformed("attribute 'approximate' is " + quote(approximate));
    return;
  }
  n.set(0, geluByTanh(e, x));
}

Operand swish(Emit &e, const Operand &x, double alpha) {
  Operand inner = alpha == 1 ? x : e.mul(x, e.scalar(alpha, x));
  return e.mul(x, e.unary<SigmoidOp>(inner));
}
/// y = a sigmoid(alpha a) b
void importSwiGLU(Node &n) {
  Operand a = n.in(0), b = n.in(1);
  if (!a || !b)
    return;
  std::string both = "a gate " + a.str() + " and " + b.str();
  if (a.rank() != b.rank())
    return (void)n.emit.malformed(both);
  for (auto [mine, theirs] : llvm::zip_equal(a.sizes(), b.sizes()))
    if (!n.emit.same(mine, theirs))
      return (void)n.emit.misfit(mine, theirs, both, "fit");
  n.set(0, n.emit.mul(swish(n.emit, a, n.floatAttr("alpha", 1)), b));
}

void importSwish(Node &n) { n.set(0, swish(n.emit, n.in(0), n.floatAttr("alpha", 1))); }

} // namespace tutti
