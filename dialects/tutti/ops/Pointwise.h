// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the blocks of pointwise ops are written in: scalar code, and the reference on host tensors.
#ifndef TUTTI_DIALECTS_TUTTI_OPS_POINTWISE_H
#define TUTTI_DIALECTS_TUTTI_OPS_POINTWISE_H

#include "Family.h"

#include <cmath>

namespace tutti {

using Operands = llvm::ArrayRef<HostTensor>;
using Reference = llvm::FailureOr<HostTensor>;

/// Arith and math ops on values of one element type.
struct Scalars {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type;
  bool isUnsigned = false;

  bool isFloat() const { return llvm::isa<mlir::FloatType>(type); }

  mlir::Value number(double value) {
    mlir::TypedAttr attr = isFloat() ? mlir::TypedAttr(builder.getFloatAttr(type, value))
                                     : mlir::TypedAttr(builder.getIntegerAttr(type, static_cast<int64_t>(value)));
    return mlir::arith::ConstantOp::create(builder, loc, attr);
  }
  /// The float op where the elements are floats, else the integer op.
  template <typename Float, typename Int> mlir::Value either(mlir::ValueRange operands) {
    if (isFloat())
      return Float::create(builder, loc, operands);
    return Int::create(builder, loc, operands);
  }
  template <typename Op> mlir::Value make(mlir::ValueRange operands) { return Op::create(builder, loc, operands); }

  mlir::Value add(mlir::Value a, mlir::Value b) { return either<mlir::arith::AddFOp, mlir::arith::AddIOp>({a, b}); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return either<mlir::arith::SubFOp, mlir::arith::SubIOp>({a, b}); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return either<mlir::arith::MulFOp, mlir::arith::MulIOp>({a, b}); }
  /// The float op, the integer op, or the unsigned one where integers are unsigned.
  template <typename Float, typename Int, typename Unsigned> mlir::Value oneOf(mlir::ValueRange operands) {
    return isUnsigned ? make<Unsigned>(operands) : either<Float, Int>(operands);
  }
  mlir::Value max(mlir::Value a, mlir::Value b) {
    return oneOf<mlir::arith::MaximumFOp, mlir::arith::MaxSIOp, mlir::arith::MaxUIOp>({a, b});
  }
  mlir::Value min(mlir::Value a, mlir::Value b) {
    return oneOf<mlir::arith::MinimumFOp, mlir::arith::MinSIOp, mlir::arith::MinUIOp>({a, b});
  }
  mlir::Value divide(mlir::Value a, mlir::Value b) { return make<mlir::arith::DivFOp>({a, b}); }
  mlir::Value neg(mlir::Value x) { return isFloat() ? make<mlir::arith::NegFOp>({x}) : sub(number(0), x); }
  mlir::Value abs(mlir::Value x) { return isUnsigned ? x : either<mlir::math::AbsFOp, mlir::math::AbsIOp>({x}); }
  mlir::Value both(mlir::Value a, mlir::Value b) { return make<mlir::arith::AndIOp>({a, b}); }
  mlir::Value exp(mlir::Value x) { return make<mlir::math::ExpOp>({x}); }
  mlir::Value choose(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return make<mlir::arith::SelectOp>({condition, a, b});
  }
  mlir::Value compare(mlir::arith::CmpFPredicate f, mlir::arith::CmpIPredicate i, mlir::Value a, mlir::Value b) {
    if (isFloat())
      return mlir::arith::CmpFOp::create(builder, loc, f, a, b);
    return mlir::arith::CmpIOp::create(builder, loc, i, a, b);
  }
  mlir::Value equal(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpFPredicate::OEQ, mlir::arith::CmpIPredicate::eq, a, b);
  }
  // i1 is compared as unsigned: 1 is the larger.
  bool above() const { return isUnsigned || isTruth(type); }
  mlir::Value greater(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpFPredicate::OGT,
                   above() ? mlir::arith::CmpIPredicate::ugt : mlir::arith::CmpIPredicate::sgt, a, b);
  }
  mlir::Value greaterEqual(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpFPredicate::OGE,
                   above() ? mlir::arith::CmpIPredicate::uge : mlir::arith::CmpIPredicate::sge, a, b);
  }
};

inline Scalars on(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x) { return {builder, loc, x.getType()}; }
/// Scalars on the elements of the op's operands.
inline Scalars on(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op, mlir::Value x) {
  return {builder, loc, x.getType(), mlir::getElementTypeOrSelf(op->getOperand(0)).isUnsignedInteger()};
}

/// y = f(x) on floats, rounded to the element type when plain float32 is evaluated.
template <typename F> HostTensor onFloats(EvaluateContext &context, llvm::ArrayRef<HostTensor> x, F f) {
  HostTensor y = HostTensor::zeros(x[0].element, broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, llvm::ArrayRef<int64_t> source) {
    if constexpr (std::is_invocable_v<F, double>)
      y.floats[place] = context.round(f(x[0].floats[source[0]]), y.element);
    else
      y.floats[place] = context.round(f(x[0].floats[source[0]], x[1].floats[source[1]]), y.element);
  });
  return y;
}

/// Calls f with the integers at these places, unsigned ones as unsigned.
template <typename F> auto withInts(llvm::ArrayRef<HostTensor> x, llvm::ArrayRef<int64_t> source, F f) {
  bool isUnsigned = x[0].element.isUnsignedInteger();
  if constexpr (std::is_invocable_v<F, int64_t>) {
    int64_t a = x[0].ints[source[0]];
    return static_cast<uint64_t>(isUnsigned ? f(static_cast<uint64_t>(a)) : f(a));
  } else {
    int64_t a = x[0].ints[source[0]], b = x[1].ints[source[1]];
    return static_cast<uint64_t>(isUnsigned ? f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)) : f(a, b));
  }
}

/// y = f(x) on integers, the low bits of it.
template <typename F> HostTensor onInts(llvm::ArrayRef<HostTensor> x, F f) {
  HostTensor y = HostTensor::zeros(x[0].element, broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, llvm::ArrayRef<int64_t> source) {
    y.ints[place] = wrapped(withInts(x, source, f), y.element);
  });
  return y;
}

/// y = whether f(a, b); a choice, so floats are compared as the declared type has them.
template <typename F> HostTensor compared(llvm::ArrayRef<HostTensor> x, F f) {
  HostTensor y = HostTensor::zeros(mlir::IntegerType::get(x[0].element.getContext(), 1), broadcastDims(x));
  forEachPlace(y.dims, x, [&](int64_t place, llvm::ArrayRef<int64_t> source) {
    if (x[0].isFloat())
      y.ints[place] = f(nearest(x[0].floats[source[0]], x[0].element), nearest(x[1].floats[source[1]], x[1].element));
    else
      y.ints[place] = withInts(x, source, f);
  });
  return y;
}

} // namespace tutti

#endif
