// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions over MLIR values: arithmetic written as in C builds arith and math ops on scalars or vectors.
#ifndef TUTTI_COMPILER_CODEGEN_MATH_VALUEEXPR_H
#define TUTTI_COMPILER_CODEGEN_MATH_VALUEEXPR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tutti {

/// A value that is a scalar or a vector of floats or signless integers. Operators take both sides of one type, or a
/// number on the right, which becomes a constant of the left side's type. Nothing is contracted or reassociated: an fma
/// is where `fma` is written.
class Expr {
public:
  Expr(mlir::ImplicitLocOpBuilder &builder, mlir::Value value) : b(&builder), v(value) {}
  operator mlir::Value() const { return v; }

  mlir::Type type() const { return v.getType(); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(v.getType()); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(element()); }
  unsigned width() const { return element().getIntOrFloatBitWidth(); }

  /// A constant of this value's type.
  Expr like(double number) const {
    mlir::TypedAttr attr = isFloat() ? mlir::TypedAttr(b->getFloatAttr(element(), number))
                                     : mlir::TypedAttr(b->getIntegerAttr(element(), int64_t(number)));
    return constant(attr);
  }
  Expr likeInt(uint64_t number) const {
    return constant(b->getIntegerAttr(element(), llvm::APInt(width(), number, false, true)));
  }

  /// This value's type with another element.
  mlir::Type withElement(mlir::Type to) const {
    if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type()))
      return shaped.clone(to);
    return to;
  }
  /// The bits of a float as an integer of its width, and back.
  Expr bits() const { return make<mlir::arith::BitcastOp>(withElement(b->getIntegerType(width()))); }
  Expr asFloat() const { return make<mlir::arith::BitcastOp>(withElement(floatOfWidth())); }
  /// A signed integer converted to the float of its width.
  Expr toFloat() const { return make<mlir::arith::SIToFPOp>(withElement(floatOfWidth())); }
  Expr toF64() const { return make<mlir::arith::ExtFOp>(withElement(b->getF64Type())); }
  Expr toF32() const { return make<mlir::arith::TruncFOp>(withElement(b->getF32Type())); }

  template <typename Op, typename... Args> Expr make(Args... args) const { return {*b, Op::create(*b, args..., v)}; }
  template <typename Op> Expr with(Expr rhs) const { return {*b, Op::create(*b, v, rhs.v)}; }
  Expr compare(mlir::arith::CmpFPredicate predicate, Expr rhs) const {
    return {*b, mlir::arith::CmpFOp::create(*b, predicate, v, rhs.v)};
  }
  mlir::ImplicitLocOpBuilder &builder() const { return *b; }

private:
  Expr constant(mlir::TypedAttr attr) const {
    if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type()))
      attr = mlir::DenseElementsAttr::get(shaped, llvm::ArrayRef<mlir::Attribute>(attr));
    return {*b, mlir::arith::ConstantOp::create(*b, attr)};
  }
  mlir::Type floatOfWidth() const { return width() == 64 ? mlir::Type(b->getF64Type()) : mlir::Type(b->getF32Type()); }

  mlir::ImplicitLocOpBuilder *b;
  mlir::Value v;
};

inline Expr operator+(Expr x, Expr y) {
  return x.isFloat() ? x.with<mlir::arith::AddFOp>(y) : x.with<mlir::arith::AddIOp>(y);
}
inline Expr operator-(Expr x, Expr y) {
  return x.isFloat() ? x.with<mlir::arith::SubFOp>(y) : x.with<mlir::arith::SubIOp>(y);
}
inline Expr operator*(Expr x, Expr y) { return x.with<mlir::arith::MulFOp>(y); }
inline Expr operator/(Expr x, Expr y) { return x.with<mlir::arith::DivFOp>(y); }
inline Expr operator&(Expr x, Expr y) { return x.with<mlir::arith::AndIOp>(y); }
inline Expr operator|(Expr x, Expr y) { return x.with<mlir::arith::OrIOp>(y); }
inline Expr operator^(Expr x, Expr y) { return x.with<mlir::arith::XOrIOp>(y); }
inline Expr operator+(Expr x, double y) { return x + x.like(y); }
inline Expr operator-(Expr x, double y) { return x - x.like(y); }
inline Expr operator*(Expr x, double y) { return x * x.like(y); }
inline Expr operator/(Expr x, double y) { return x / x.like(y); }
inline Expr operator<<(Expr x, unsigned n) { return x.with<mlir::arith::ShLIOp>(x.likeInt(n)); }
inline Expr operator>>(Expr x, unsigned n) { return x.with<mlir::arith::ShRUIOp>(x.likeInt(n)); }
inline Expr operator-(Expr x) { return x.make<mlir::arith::NegFOp>(); }

/// Comparisons are ordered: false when a side is NaN.
inline Expr operator<(Expr x, double y) { return x.compare(mlir::arith::CmpFPredicate::OLT, x.like(y)); }
inline Expr operator>(Expr x, double y) { return x.compare(mlir::arith::CmpFPredicate::OGT, x.like(y)); }
inline Expr operator>=(Expr x, double y) { return x.compare(mlir::arith::CmpFPredicate::OGE, x.like(y)); }
inline Expr equal(Expr x, Expr y) { return x.compare(mlir::arith::CmpFPredicate::OEQ, y); }
inline Expr equal(Expr x, double y) { return equal(x, x.like(y)); }

inline Expr fma(Expr x, Expr y, Expr z) { return {x.builder(), mlir::math::FmaOp::create(x.builder(), x, y, z)}; }
inline Expr fma(Expr x, double y, double z) { return fma(x, x.like(y), x.like(z)); }
inline Expr fma(Expr x, double y, Expr z) { return fma(x, x.like(y), z); }
inline Expr fma(Expr x, Expr y, double z) { return fma(x, y, x.like(z)); }
inline Expr select(Expr condition, Expr x, Expr y) {
  return {x.builder(), mlir::arith::SelectOp::create(x.builder(), condition, x, y)};
}
inline Expr abs(Expr x) { return x.make<mlir::math::AbsFOp>(); }
inline Expr roundEven(Expr x) { return x.make<mlir::math::RoundEvenOp>(); }
inline Expr copySign(Expr magnitude, Expr sign) { return magnitude.with<mlir::math::CopySignOp>(sign); }
/// The smaller (larger) of x and the bound; a NaN stays. It compiles to one instruction, as x86's min returns its
/// second operand for a NaN.
inline Expr clampAbove(Expr x, double bound) {
  Expr limit = x.like(bound);
  return select(limit.compare(mlir::arith::CmpFPredicate::OLT, x), limit, x);
}
inline Expr clampBelow(Expr x, double bound) {
  Expr limit = x.like(bound);
  return select(limit.compare(mlir::arith::CmpFPredicate::OGT, x), limit, x);
}
/// coefficients[0] + coefficients[1] x + ..., by Horner's rule from the highest power.
inline Expr horner(Expr x, llvm::ArrayRef<double> coefficients) {
  Expr sum = x.like(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, coefficient);
  return sum;
}

} // namespace tutti

#endif
