// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ONNX's pointwise ops.
#include "compiler/import/onnx/ops/Ops.h"

#include <limits>

using namespace mlir;

namespace tutti {

template <typename Op> static void unary(Node &n) { n.set(0, n.emit.unary<Op>(n.in(0))); }

/// Imports an op on one or two operands that are all bools, or all not: one op of the dialect is both ONNX's logic and
/// its bit operation.
template <typename Op> static void onBits(Node &n, bool bools) {
  for (size_t i = 0; i < n.inputs(); ++i)
    if (Operand x = n.in(i); x && (!isa<IntegerType>(x.element()) || x.element().isInteger(1) != bools))
      n.emit.malformed("an operand of type " + elementName(x.element()) + " where " + (bools ? "bools" : "integers") +
                       " are due");
  if (n.inputs() == 1)
    n.set(0, n.emit.unary<Op>(n.in(0)));
  else
    n.set(0, n.emit.binary<Op>(n.in(0), n.in(1)));
}
template <typename Op> static void logic(Node &n) { onBits<Op>(n, true); }
template <typename Op> static void bitwise(Node &n) { onBits<Op>(n, false); }

void importAbs(Node &n) { unary<AbsOp>(n); }
void importAcos(Node &n) { unary<AcosOp>(n); }
void importAcosh(Node &n) { unary<AcoshOp>(n); }
void importAsin(Node &n) { unary<AsinOp>(n); }
void importAsinh(Node &n) { unary<AsinhOp>(n); }
void importAtan(Node &n) { unary<AtanOp>(n); }
void importAtanh(Node &n) { unary<AtanhOp>(n); }
void importBitwiseNot(Node &n) { bitwise<NotOp>(n); }
void importCeil(Node &n) { unary<CeilOp>(n); }
void importCos(Node &n) { unary<CosOp>(n); }
void importCosh(Node &n) { unary<CoshOp>(n); }
void importErf(Node &n) { unary<ErfOp>(n); }
void importExp(Node &n) { unary<ExpOp>(n); }
void importFloor(Node &n) { unary<FloorOp>(n); }
void importLog(Node &n) { unary<LogOp>(n); }
void importMish(Node &n) { unary<MishOp>(n); }
void importNeg(Node &n) { unary<NegOp>(n); }
void importNot(Node &n) { logic<NotOp>(n); }
void importReciprocal(Node &n) { unary<ReciprocalOp>(n); }
void importRelu(Node &n) { unary<ReluOp>(n); }
void importRound(Node &n) { unary<RoundOp>(n); }
void importSigmoid(Node &n) { unary<SigmoidOp>(n); }
void importSign(Node &n) { unary<SignOp>(n); }
void importSin(Node &n) { unary<SinOp>(n); }
void importSinh(Node &n) { unary<SinhOp>(n); }
void importSoftplus(Node &n) { unary<SoftplusOp>(n); }
void importSqrt(Node &n) { unary<SqrtOp>(n); }
void importTan(Node &n) { unary<TanOp>(n); }
void importTanh(Node &n) { unary<TanhOp>(n); }

void importAdd(Node &n) { n.set(0, n.emit.add(n.in(0), n.in(1))); }
void importSub(Node &n) { n.set(0, n.emit.sub(n.in(0), n.in(1))); }
void importMul(Node &n) { n.set(0, n.emit.mul(n.in(0), n.in(1))); }
void importDiv(Node &n) { n.set(0, n.emit.div(n.in(0), n.in(1))); }
void importPow(Node &n) { n.set(0, n.emit.pow(n.in(0), n.in(1))); }
void importAnd(Node &n) { logic<AndOp>(n); }
void importOr(Node &n) { logic<OrOp>(n); }
void importXor(Node &n) { logic<XorOp>(n); }
void importBitwiseAnd(Node &n) { bitwise<AndOp>(n); }
void importBitwiseOr(Node &n) { bitwise<OrOp>(n); }
void importBitwiseXor(Node &n) { bitwise<XorOp>(n); }

/// Unsigned integers before opset 28; then signed ones, too, whose right shift copies the sign.
void importBitShift(Node &n) {
  std::string direction = n.stringAttr("direction", "");
  if (direction == "LEFT")
    bitwise<ShiftLeftOp>(n);
  else if (direction == "RIGHT")
    bitwise<ShiftRightOp>(n);
  else
    n.emit.malformed("attribute 'direction' is " + quote(direction));
}

/// fmod = 1: the remainder has the sign of a; else that of b, even if it is zero.
void importMod(Node &n) {
  Emit &e = n.emit;
  Operand a = n.in(0), b = n.in(1);
  bool truncates = n.intAttr("fmod", 0) != 0;
  if (a && a.isFloat() && !truncates && n.opset < 28) {
    e.malformed("attribute 'fmod' must be 1 for floats before opset 28");
    return;
  }
  Operand rest = e.binary<RemOp>(a, b);
  if (truncates || !rest) {
    n.set(0, rest);
    return;
  }
  Operand zero = e.scalar(0, rest), isZero = e.compare<EqualOp>(rest, zero);
  Operand apart = e.binary<XorOp>(e.compare<GreaterOp>(zero, rest), e.compare<GreaterOp>(zero, b));
  Operand y = e.select(e.binary<AndOp>(apart, e.unary<NotOp>(isZero)), e.add(rest, b), rest);
  if (rest.isFloat())
    y = e.select(isZero, e.select(e.compare<GreaterOp>(zero, b), e.scalar(-0.0, rest), zero), y);
  n.set(0, y);
}

/// Only a NaN is not itself.
void importIsNaN(Node &n) {
  Operand x = n.in(0);
  n.set(0, n.emit.unary<NotOp>(n.emit.compare<EqualOp>(x, x)));
}

void importIsInf(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  bool below = n.intAttr("detect_negative", 1), above = n.intAttr("detect_positive", 1);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!x)
    return;
  if (!below && !above)
    n.set(0, e.broadcast(Operand(scalarSource(IntegerType::get(&e.context, 1), 0)), x.sizes()));
  else
    n.set(0, e.compare<EqualOp>(below && above ? e.unary<AbsOp>(x) : x, e.scalar(above ? infinity : -infinity, x)));
}

void importEqual(Node &n) { n.set(0, n.emit.compare<EqualOp>(n.in(0), n.in(1))); }
void importGreater(Node &n) { n.set(0, n.emit.compare<GreaterOp>(n.in(0), n.in(1))); }
void importGreaterOrEqual(Node &n) { n.set(0, n.emit.compare<GreaterEqualOp>(n.in(0), n.in(1))); }
// a < b is b > a, so that members may spell it either way.
void importLess(Node &n) { n.set(0, n.emit.compare<GreaterOp>(n.in(1), n.in(0))); }
void importLessOrEqual(Node &n) { n.set(0, n.emit.compare<GreaterEqualOp>(n.in(1), n.in(0))); }

void importWhere(Node &n) { n.set(0, n.emit.select(n.in(0), n.in(1), n.in(2))); }

/// min, max and sum of any number of inputs, from left to right.
template <typename Op> static Operand chain(Node &n) {
  Operand all = n.in(0);
  for (size_t i = 1; i < n.inputs(); ++i)
    all = n.emit.binary<Op>(all, n.in(i));
  return all;
}

void importMax(Node &n) { n.set(0, chain<MaxOp>(n)); }
void importMin(Node &n) { n.set(0, chain<MinOp>(n)); }
void importSum(Node &n) { n.set(0, chain<AddOp>(n)); }
void importMean(Node &n) {
  Operand sum = chain<AddOp>(n);
  n.set(0, n.inputs() == 1 ? sum : n.emit.div(sum, n.emit.scalar(n.inputs(), sum)));
}

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
  for (Operand *each : {&low, &high})
    if (Operand &bound = *each; bound && bound.rank() > 0) {
      if (product(bound.sizes()) != Size(1))
        return (void)n.emit.malformed("a bound " + bound.str() + ", expected one number");
      bound = n.emit.reshape(bound, {});
    }
  if (low)
    x = n.emit.binary<MaxOp>(x, low);
  if (high)
    x = n.emit.binary<MinOp>(x, high);
  n.set(0, x);
}

static void castTo(Node &n, Type element) {
  // Only casts to float8 saturate, which is not supported.
  n.intAttr("saturate", 1);
  n.stringAttr("round_mode", "up");
  n.set(0, n.emit.cast(n.in(0), element));
}

void importCast(Node &n) {
  if (!n.hasAttr("to"))
    n.emit.malformed("attribute 'to' is missing");
  else if (Type element = n.elementAttr("to", Type()))
    castTo(n, element);
}

void importCastLike(Node &n) {
  if (Operand like = n.in(1))
    castTo(n, like.element());
}

/// The identity at inference. A mask output that is used is all true, before opset 10 in x's own type.
void importDropout(Node &n) {
  n.floatAttr("ratio", 0.5);
  n.intAttr("seed", 0);
  Operand x = n.in(0);
  if (n.has(2)) {
    std::optional<double> training = n.in(2).scalarForProgram();
    if (!training || *training != 0) {
      n.emit.unsupported("training mode", "export the model for inference");
      return;
    }
  }
  n.set(0, x);
  if (x && n.wants(1)) {
    WeightSource yes = scalarSource(n.opset < 10 ? x.element() : IntegerType::get(&n.emit.context, 1), 1);
    n.set(1, n.emit.broadcast(Operand(yes), x.sizes()));
  }
}

void importIdentity(Node &n) { n.set(0, n.eitherIn(0)); }

} // namespace tutti
