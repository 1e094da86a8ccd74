// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the op families share: messages, axes, and how values are chosen.
#ifndef TUTTI_DIALECTS_TUTTI_OPS_FAMILY_H
#define TUTTI_DIALECTS_TUTTI_OPS_FAMILY_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// Reports an op that does not fit: "'tutti.add' message". Nothing is printed without a location.
template <typename... Parts>
llvm::LogicalResult misfit(std::optional<mlir::Location> location, llvm::StringRef op, Parts &&...parts) {
  if (location) {
    mlir::InFlightDiagnostic diagnostic = mlir::emitError(*location);
    diagnostic << "'" << op << "' ";
    (diagnostic << ... << std::forward<Parts>(parts));
  }
  return mlir::failure();
}

/// Integers, i1 too: `i8` has a sign, `ui8` has none, and `si8` we do not write.
inline bool isInteger(mlir::Type type) { return type.isSignlessInteger() || type.isUnsignedInteger(); }
/// Whether arithmetic is done on elements of this type: floats and integers, but no i1.
inline bool isNumber(mlir::Type type) {
  return llvm::isa<mlir::FloatType>(type) || (isInteger(type) && !isTruth(type));
}

/// Whether the elements are numbers: floats, or integers that are no truth values.
inline llvm::LogicalResult expectNumbers(std::optional<mlir::Location> location, llvm::StringRef op,
                                         mlir::RankedTensorType type) {
  mlir::Type element = type.getElementType();
  if (isNumber(element))
    return llvm::success();
  return misfit(location, op, "expected elements of a float type or an integer wider than i1, got ", element);
}

/// 16-bit floats are computed in float32: such a number as a float32; and a float64 or float32
/// rounded once, to the nearest of a smaller float type. bfloat16 goes by integers, as no level of CPUs has all its
/// instructions.
mlir::Value widened(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
mlir::Value narrowed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, mlir::Type to);

/// The access with which an op whose result is of this type reads its operand, an expression for each axis of that.
inline mlir::AffineMap operandMapOf(mlir::RankedTensorType result, llvm::ArrayRef<mlir::AffineExpr> exprs) {
  return mlir::AffineMap::get(result.getRank(), result.getNumDynamicDims(), exprs, result.getContext());
}

/// The axes 0 .. rank-1.
llvm::SmallVector<int64_t> axesOf(int64_t rank);
/// `axes`, each increased by one: where they stand when the member axis is in front.
llvm::SmallVector<int64_t> shifted(llvm::ArrayRef<int64_t> axes);

/// minimum and maximum of IEEE 754-2019, 9.6: a NaN if one of them is, and -0 is below +0.
double minimum(double a, double b);
double maximum(double a, double b);
/// Whether a value takes the place of the one that was chosen so far: the first NaN, or else the first of the largest
/// (or the smallest).
template <typename T> bool isChosenBefore(T value, T sofar, bool largest) {
  bool isNan = value != value, wasNan = sofar != sofar;
  return isNan || wasNan ? isNan && !wasNan : largest ? value > sofar : value < sofar;
}

} // namespace tutti

#endif
