// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of the reference evaluator: floats held as double, integers and bools exactly.
#ifndef TUTTI_DIALECTS_TUTTI_HOSTTENSOR_H
#define TUTTI_DIALECTS_TUTTI_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace tutti {

inline bool isTruth(mlir::Type element) { return element.isInteger(1); }
/// float16 and bfloat16, which are computed in float32.
inline bool isShortFloat(mlir::Type element) {
  return llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() == 16;
}

/// `value` in the range of the integer type: the low bits, sign extended; i1 is 0 or 1.
int64_t wrapped(uint64_t value, mlir::Type type);
/// `value` truncated towards zero and brought into the range of the integer type; NaN is 0.
int64_t saturated(double value, mlir::Type type);
/// `value` rounded to the nearest number of the float type.
double nearest(double value, mlir::Type type);

/// A dense row-major tensor. Exactly one of `floats` and `ints` is in use, by the element type: floats for float types,
/// ints for integers and i1 (0 or 1).
struct HostTensor {
  mlir::Type element;
  llvm::SmallVector<int64_t> dims;
  std::vector<double> floats;
  std::vector<int64_t> ints;

  static HostTensor zeros(mlir::Type element, llvm::ArrayRef<int64_t> dims);
  /// Makes a tensor of an attribute of the IR (splat or dense).
  static HostTensor fromAttr(mlir::ElementsAttr attr);
  /// Makes a tensor of dense row-major bytes of the element type (i1 as one byte).
  static HostTensor fromBytes(mlir::Type element, llvm::ArrayRef<int64_t> dims, const void *bytes);
  /// Writes the elements as dense row-major bytes of the element type, rounded to it. `bytes` must hold count()
  /// elements.
  void toBytes(void *bytes) const;

  bool isFloat() const { return llvm::isa<mlir::FloatType>(element); }
  int64_t count() const;
  llvm::SmallVector<int64_t> strides() const;
  /// Copies element `from` of x, which is of the same type, to element `to`.
  void take(int64_t to, const HostTensor &x, int64_t from);
};

/// Calls `visit` with each index of a tensor of this shape, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> dims, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);
/// Calls `visit(place, sources)` for each element of a result of this shape: its place and the places of the elements
/// of the operands that broadcast to it.
void forEachPlace(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<HostTensor> operands,
                  llvm::function_ref<void(int64_t, llvm::ArrayRef<int64_t>)> visit);
/// The shape that these operands broadcast to; they are known to fit.
llvm::SmallVector<int64_t> broadcastDims(llvm::ArrayRef<HostTensor> operands);
/// The result that takes element `source(i)` of `x` to place i.
HostTensor rearranged(const HostTensor &x, llvm::ArrayRef<int64_t> dims,
                      llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)> source);
/// Maps unsigned 64-bit integers to signed ones of the same order, and back, by flipping the top bit. Other tensors
/// stay: int64 has their order.
HostTensor inOrder(HostTensor x);

/// What evaluation needs beside the operands.
struct EvaluateContext {
  /// False: float64 throughout. True: plain float32, every op's result rounded to its element type and contractions one
  /// ascending fma chain in float32.
  bool plain = false;
  /// Significant bits of float64 in plain evaluation. There is no wider type to tell what rounding does to a result:
  /// with fewer bits in every step, the results of 53 tell it.
  int float64Bits = 53;
  /// The call's sizes by symbol name.
  llvm::StringMap<int64_t> sizes;
  /// A parameter's value by its symbol name: one member's copy.
  std::function<HostTensor(llvm::StringRef)> param;

  /// Rounds a value to the element type when plain evaluation is asked for.
  double round(double value, mlir::Type element) const;
  /// The sizes of the type with the symbols' values put in.
  llvm::SmallVector<int64_t> dimsOf(mlir::RankedTensorType type) const;
};

} // namespace tutti

#endif
