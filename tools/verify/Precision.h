// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `tutti-compile --precision` takes from products with weights, for the reference (docs/numerics.md, section 9).
#ifndef TUTTI_TOOLS_VERIFY_PRECISION_H
#define TUTTI_TOOLS_VERIFY_PRECISION_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// Bits of float64 in the plain evaluation: 2^-43 is what a result's own rounding is allowed, and what its conditioning
/// makes of it is seen (EvaluateContext).
constexpr int plainFloat64Bits = 43;

/// Unit roundoff of the numbers that are multiplied at a precision ("tf32", "bf16", "f16"); 0 where they are float32.
double unitOf(Precision precision);

/// Rounds the operands of a float32 contraction of rows with a weight as the precision says; false, and nothing is
/// changed, of any other op, and where the precision takes nothing.
bool roundOperands(mlir::Operation &op, Precision precision, llvm::MutableArrayRef<HostTensor> operands);

} // namespace tutti

#endif
