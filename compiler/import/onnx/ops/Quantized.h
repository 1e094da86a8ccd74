// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of ops on quantized tensors: integers q that stand for (q - zero point) scale.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_QUANTIZED_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_QUANTIZED_H

#include "compiler/import/onnx/ops/Ops.h"

namespace tutti {

Operand floatOf(Emit &emit, const Operand &x);
/// Input i as scales, which are floats.
Operand scalesIn(Node &node, size_t i);
/// Input i, the zero points of `q`, if there is one; nothing and a problem where they are of another type.
Operand zeroPointsIn(Node &node, size_t i, const Operand &q);

/// Integers minus their zero point, as floats, which represent every integer of up to 16 bits.
Operand shifted(Emit &emit, const Operand &q, const Operand &zeroPoint);
/// x, already divided by the scale, rounded (halves to even), plus the zero point, saturated to the integers of
/// `element`.
Operand saturated(Emit &emit, const Operand &x, const Operand &zeroPoint, mlir::Type element);

/// x in bytes: the lowest of its elements and zero becomes 0, the highest 255. If all are zero the scale is 1, as in
/// ONNX Runtime.
struct DynamicallyQuantized {
  Operand numbers, scale, zero;
};
DynamicallyQuantized quantizedDynamically(Emit &emit, const Operand &x);

/// a b in int32 for bytes minus their zero points, if there are any: one for all of a; one for all of b, or one per
/// column.
Operand multiplyBytes(Emit &emit, const Operand &a, const Operand &zeroA, const Operand &b, const Operand &zeroB);
/// a b in float32, for operands that DequantizeLinear made of bytes, b of a weight: each sum is rounded once.
/// `transposed`: b is [N, K]. Nothing for other operands.
std::optional<Operand> multiplyQuantized(Emit &emit, const Operand &a, const Operand &b, bool transposed = false);
/// The number of products of two bytes that float32 sums exactly: 258 * 255^2 < 2^24.
constexpr int64_t exactProducts = 258;

} // namespace tutti

#endif
