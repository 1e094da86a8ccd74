// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ONNX's pointwise ops.
#include "compiler/import/onnx/Ops.h"

using namespace mlir;

namespace tutti {

template <typename Op> static void unary(Node &n) { n.set(0, n.emit.unary<Op>(n.in(0))); }

void importAbs(Node &n) { unary<AbsOp>(n); }
void importCos(Node &n) { unary<CosOp>(n); }
void importErf(Node &n) { unary<ErfOp>(n); }
void importExp(Node &n) { unary<ExpOp>(n); }
void importLog(Node &n) { unary<LogOp>(n); }
void importMish(Node &n) { unary<MishOp>(n); }
void importNeg(Node &n) { unary<NegOp>(n); }
void importNot(Node &n) { unary<NotOp>(n); }
void importReciprocal(Node &n) { unary<ReciprocalOp>(n); }
void importRelu(Node &n) { unary<ReluOp>(n); }
void importSigmoid(Node &n) { unary<SigmoidOp>(n); }
void importSign(Node &n) { unary<SignOp>(n); }
void importSin(Node &n) { unary<SinOp>(n); }
void importSoftplus(Node &n) { unary<SoftplusOp>(n); }
void importSqrt(Node &n) { unary<SqrtOp>(n); }
void importTanh(Node &n) { unary<TanhOp>(n); }

void importAdd(Node &n) { n.set(0, n.emit.add(n.in(0), n.in(1))); }
void importSub(Node &n) { n.set(0, n.emit.sub(n.in(0), n.in(1))); }
void importMul(Node &n) { n.set(0, n.emit.mul(n.in(0), n.in(1))); }
void importDiv(Node &n) { n.set(0, n.emit.div(n.in(0), n.in(1))); }
void importPow(Node &n) { n.set(0, n.emit.pow(n.in(0), n.in(1))); }
void importAnd(Node &n) { n.set(0, n.emit.binary<AndOp>(n.in(0), n.in(1))); }
void importOr(Node &n) { n.set(0, n.emit.binary<OrOp>(n.in(0), n.in(1))); }

void importEqual(Node &n) { n.set(0, n.emit.compare<EqualOp>(n.in(0), n.in(1))); }
void importGreater(Node &n) { n.set(0, n.emit.compare<GreaterOp>(n.in(0), n.in(1))); }
void importGreaterOrEqual(Node &n) { n.set(0, n.emit.compare<GreaterEqualOp>(n.in(0), n.in(1))); }
// a < b is b > a, so that members may spell it either way.
void importLess(Node &n) { n.set(0, n.emit.compare<GreaterOp>(n.in(1), n.in(0))); }
void importLessOrEqual(Node &n) { n.set(0, n.emit.compare<GreaterEqualOp>(n.in(1), n.in(0))); }

void importWhere(Node &n) { n.set(0, n.emit.select(n.in(0), n.in(1), n.in(2))); }

/// min, max and sum of any number of inputs, from left to right.
template <typename Op> static void chain(Node &n) {
  Operand all = n.in(0);
  for (size_t i = 1; i < n.inputs(); ++i)
    all = n.emit.binary<Op>(all, n.in(i));
  n.set(0, all);
}

void importMax(Node &n) { chain<MaxOp>(n); }
void importMin(Node &n) { chain<MinOp>(n); }
void importSum(Node &n) { chain<AddOp>(n); }

/// y = min(max(x, low), high); bounds are attributes before opset 11, inputs that may be left out from then on.
void importClip(Node &n) {
  Operand x = n.in(0), low, high;
  if (n.opset < 11) {
    if (n.hasAttr("min"))
      low = n.emit.scalar(n.floatAttr("min", 0), x);
    if (n.hasAttr("max"))
      high = n.emit.scalar(n.floatAttr("max", 0), x);
  } else {
    low = n.has(1) ? n.in(1) : Operand();
    high = n.has(2) ? n.in(2) : Operand();
  }
  if (low)
    x = n.emit.binary<MaxOp>(x, low);
  if (high)
    x = n.emit.binary<MinOp>(x, high);
  n.set(0, x);
}

/// none: y = x (1 + erf(x / sqrt 2)) 0.5; tanh: y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) 0.5
void importGelu(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), inner;
  std::string approximate = n.stringAttr("approximate", "none");
  if (approximate == "none") {
    inner = e.unary<ErfOp>(e.div(x, e.scalar(1.4142135623730951, x)));
  } else if (approximate == "tanh") {
    Operand cube = e.mul(e.mul(x, x), x);
    Operand sum = e.add(x, e.mul(cube, e.scalar(0.044715, x)));
    inner = e.unary<TanhOp>(e.mul(sum, e.scalar(0.7978845608028654, x)));
  } else {
    e.malformed("attribute 'approximate' is '" + approximate + "'");
  }
  n.set(0, e.mul(e.mul(x, e.add(inner, e.scalar(1, x))), e.scalar(0.5, x)));
}

/// y = x sigmoid(alpha x)
void importSwish(Node &n) {
  Operand x = n.in(0);
  double alpha = n.floatAttr("alpha", 1);
  Operand inner = alpha == 1 ? x : n.emit.mul(x, n.emit.scalar(alpha, x));
  n.set(0, n.emit.mul(x, n.emit.unary<SigmoidOp>(inner)));
}

static void castTo(Node &n, Type element) {
  // Only casts to float8 saturate, which we do not hold.
  n.intAttr("saturate", 1);
  n.stringAttr("round_mode", "up");
  n.set(0, n.emit.cast(n.in(0), element));
}

void importCast(Node &n) {
  int64_t to = n.intAttr("to", 0);
  Type element = elementOf(n.emit.context, static_cast<int32_t>(to));
  if (!element || to != static_cast<int32_t>(to))
    n.emit.unsupported("a cast to " + dataTypeName(static_cast<int32_t>(to)));
  else
    castTo(n, element);
}

void importCastLike(Node &n) {
  if (Operand like = n.in(1))
    castTo(n, like.element());
}

/// At inference the identity; a mask that somebody reads is all true.
void importDropout(Node &n) {
  n.floatAttr("ratio", 0.5);
  n.intAttr("seed", 0);
  Operand x = n.in(0);
  if (n.has(2)) {
    std::optional<double> training = n.in(2).scalar();
    if (!training || *training != 0) {
      n.emit.unsupported("training mode", "export the model for inference");
      return;
    }
  }
  n.set(0, x);
  if (x && n.wants(1)) {
    WeightSource yes = scalarSource(IntegerType::get(&n.emit.context, 1), 1);
    n.set(1, n.emit.broadcast(Operand(yes), x.sizes()));
  }
}

void importIdentity(Node &n) { n.set(0, n.in(0)); }

} // namespace tutti
