// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops on quantized tensors share: integers q that stand for (q - zero point) scale.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_QUANTIZED_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_QUANTIZED_H

#include "compiler/import/onnx/ops/Ops.h"

namespace tutti {

Operand floatOf(Emit &emit, const Operand &x);
/// Input i as scales, which are floats.
Operand scalesIn(Node &node, size_t i);
/// Input i, the zero points of `q`, if there is one; nothing and a problem where they are of another type.
Operand zeroPointsIn(Node &node, size_t i, const Operand &q);

/// Integers less their zero point, as floats, which hold every one of up to 16 bits.
Operand shifted(Emit &emit, const Operand &q, const Operand &zeroPoint);
/// Numbers that stand for themselves, rounded, halves to even, and brought into the integers of `element`.
Operand saturated(Emit &emit, const Operand &x, const Operand &zeroPoint, mlir::Type element);

/// x in bytes: the lowest of its elements and zero becomes 0, the highest 255. Where all are zero the scale is 1, as
/// ONNX Runtime has it.
struct DynamicallyQuantized {
  Operand numbers, scale, zero;
};
DynamicallyQuantized quantizedDynamically(Emit &emit, const Operand &x);

/// a b in int32, of bytes less their zero points, if they have any: one for all of a, and one for all of b, or one a
/// column.
Operand multiplyBytes(Emit &emit, const Operand &a, const Operand &zeroA, const Operand &b, const Operand &zeroB);
/// a b in float32, of what DequantizeLinear made of bytes, b's a weight's: one rounding for all of a sum. `transposed`:
/// b is [N, K]. Nothing where a and b are something else.
std::optional<Operand> multiplyQuantized(Emit &emit, const Operand &a, const Operand &b, bool transposed = false);
/// So many products of two bytes float32 sums exactly: 258 * 255^2 < 2^24.
constexpr int64_t exactProducts = 258;

} // namespace tutti

#endif
