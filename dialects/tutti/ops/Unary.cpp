// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise ops of one operand, each with its scalar code and its reference. Scalar code has no branches: the same ops
// on vectors are the same function. Tensors know whether their integers have a sign; scalars do not, so the op chooses
// the instruction.
#include "Pointwise.h"

using namespace mlir;

namespace tutti {

// Functions that math has an op for.
#define TUTTI_FUNCTION(op, instruction, function)                                                                      \
  Value op::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {                                              \
    return instruction::create(builder, loc, x[0]);                                                                    \
  }                                                                                                                    \
  Reference op::evaluate(EvaluateContext &context, Operands x) {                                                       \
    return onFloats(context, x, [](double x) { return std::function(x); });                                            \
  }
TUTTI_FUNCTION(SqrtOp, math::SqrtOp, sqrt)
TUTTI_FUNCTION(ExpOp, math::ExpOp, exp)
TUTTI_FUNCTION(Expm1Op, math::ExpM1Op, expm1)
TUTTI_FUNCTION(LogOp, math::LogOp, log)
TUTTI_FUNCTION(ErfOp, math::ErfOp, erf)
TUTTI_FUNCTION(SinOp, math::SinOp, sin)
TUTTI_FUNCTION(CosOp, math::CosOp, cos)
TUTTI_FUNCTION(TanOp, math::TanOp, tan)
TUTTI_FUNCTION(AsinOp, math::AsinOp, asin)
TUTTI_FUNCTION(AcosOp, math::AcosOp, acos)
TUTTI_FUNCTION(AtanOp, math::AtanOp, atan)
TUTTI_FUNCTION(SinhOp, math::SinhOp, sinh)
TUTTI_FUNCTION(CoshOp, math::CoshOp, cosh)
TUTTI_FUNCTION(TanhOp, math::TanhOp, tanh)
TUTTI_FUNCTION(AsinhOp, math::AsinhOp, asinh)
TUTTI_FUNCTION(AcoshOp, math::AcoshOp, acosh)
TUTTI_FUNCTION(AtanhOp, math::AtanhOp, atanh)
#undef TUTTI_FUNCTION

// Choices: of the number that the declared type has.
#define TUTTI_WHOLE(op, instruction, function)                                                                         \
  Value op::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {                                              \
    return instruction::create(builder, loc, x[0]);                                                                    \
  }                                                                                                                    \
  Reference op::evaluate(EvaluateContext &context, Operands x) {                                                       \
    return onFloats(context, x, [type = x[0].element](double x) { return std::function(nearest(x, type)); });          \
  }
TUTTI_WHOLE(FloorOp, math::FloorOp, floor)
TUTTI_WHOLE(CeilOp, math::CeilOp, ceil)
TUTTI_WHOLE(RoundOp, math::RoundEvenOp, nearbyint)
#undef TUTTI_WHOLE

Value ReciprocalOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  return s.divide(s.number(1), x[0]);
}
Reference ReciprocalOp::evaluate(EvaluateContext &context, Operands x) {
  return onFloats(context, x, [](double x) { return 1 / x; });
}

// Compositions, of which plain float32 rounds every step.

Value SigmoidOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return LogisticOp::create(builder, loc, x[0], getGates());
}
Reference SigmoidOp::evaluate(EvaluateContext &context, Operands x) {
  auto round = [&, type = x[0].element](double value) { return context.round(value, type); };
  return onFloats(context, x, [&](double x) { return 1 / round(1 + round(std::exp(-x))); });
}

static double softplus(double x, llvm::function_ref<double(double)> round) {
  return round(std::fmax(x, 0) + round(std::log1p(round(std::exp(-std::fabs(x))))));
}
Value SoftplusOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return Log1pExpOp::create(builder, loc, x[0]);
}
Reference SoftplusOp::evaluate(EvaluateContext &context, Operands x) {
  auto round = [&, type = x[0].element](double value) { return context.round(value, type); };
  return onFloats(context, x, [&](double x) { return softplus(x, round); });
}

Value MishOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).mul(x[0], MishGateOp::create(builder, loc, x[0]));
}
Reference MishOp::evaluate(EvaluateContext &context, Operands x) {
  auto round = [&, type = x[0].element](double value) { return context.round(value, type); };
  return onFloats(context, x, [&](double x) { return x * round(std::tanh(softplus(x, round))); });
}

Value GeluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).mul(x[0], NormalCdfOp::create(builder, loc, x[0]));
}
Reference GeluOp::evaluate(EvaluateContext &context, Operands x) {
  auto round = [&, type = x[0].element](double value) { return context.round(value, type); };
  if (!context.plain) // without the cancellation
    return onFloats(context, x, [](double x) { return x * (std::erfc(-x * M_SQRT1_2) / 2); });
  return onFloats(context, x, [&](double x) { return round(x * round(1 + round(std::erf(round(x / M_SQRT2))))) / 2; });
}

Value NegOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).neg(x[0]);
}
Reference NegOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return -x; });
  return onInts(x, [](auto x) { return -static_cast<uint64_t>(x); });
}

Value AbsOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  return on(builder, loc, *this, x[0]).abs(x[0]);
}
Reference AbsOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return std::fabs(x); });
  return onInts(x, [](auto x) { return x < 0 ? -static_cast<uint64_t>(x) : x; });
}

Value SignOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  Value zero = s.number(0);
  if (s.isUnsigned)
    return s.min(x[0], s.number(1));
  // NaN and both zeros are neither larger nor smaller than 0 and stay.
  Value notPositive = s.choose(s.greater(zero, x[0]), s.number(-1), x[0]);
  return s.choose(s.greater(x[0], zero), s.number(1), notPositive);
}
Reference SignOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return x > 0 ? 1 : x < 0 ? -1 : x; });
  return onInts(x, [](auto x) { return x > 0 ? 1 : x < 0 ? -1 : 0; });
}

Value ReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Scalars s = on(builder, loc, *this, x[0]);
  return s.max(x[0], s.number(0));
}
Reference ReluOp::evaluate(EvaluateContext &context, Operands x) {
  if (x[0].isFloat())
    return onFloats(context, x, [](double x) { return x > 0 || std::isnan(x) ? x : 0; });
  return onInts(x, [](auto x) { return x > 0 ? x : 0; });
}

Value NotOp::buildScalar(OpBuilder &builder, Location loc, ValueRange x) {
  Type type = x[0].getType();
  APInt ones = APInt::getAllOnes(type.getIntOrFloatBitWidth());
  return arith::XOrIOp::create(builder, loc, x[0],
                               arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, ones)));
}
Reference NotOp::evaluate(EvaluateContext &, Operands x) {
  return onInts(x, [](auto x) { return ~x; });
}

} // namespace tutti
