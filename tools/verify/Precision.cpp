// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounded operands.
#include "Precision.h"

#include "dialects/tutti/Tutti.h"

#include <bit>
#include <cmath>

using namespace mlir;

namespace tutti {

double unitOf(Precision precision) {
  switch (precision) {
  case Precision::f32:
  case Precision::f32_ffma:
    return 0;
  case Precision::tf32:
  case Precision::f16:
    return 0x1p-11;
  case Precision::bf16:
    return 0x1p-8;
  }
  llvm_unreachable("every precision has its unit");
}

// These two rules stand in the compiler, too (passes/analysis/Numerics.h, runtime/schema/Layout.h): a reference that
// called what it judges would find nothing.

/// Rows times a weight matrix: [rows..., k] x [k, n] -> [rows..., n], the weight a parameter of the model.
static bool isRowsTimesWeight(Operation &op) {
  auto contract = dyn_cast<ContractOp>(op);
  if (!contract || !contract.getType().getElementType().isF32() || !contract.getRhs().getDefiningOp<GetOp>())
    return false;
  ContractSpec spec = contract.labels();
  StringRef left = spec.lhs, right = spec.rhs, result = spec.result;
  return right.size() == 2 && left.ends_with(right.take_front()) && result.ends_with(right.drop_front()) &&
         left.drop_back() == result.drop_back();
}

/// To nearest in 11 bits, ties away from zero.
static double nearestTf32(double value) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::isfinite(value) ? std::bit_cast<float>((bits + 0x1000) & 0xffffe000) : value;
}

bool roundOperands(Operation &op, Precision precision, MutableArrayRef<HostTensor> operands) {
  if (unitOf(precision) == 0 || !isRowsTimesWeight(op))
    return false;
  MLIRContext *context = op.getContext();
  Type type = precision == Precision::bf16 ? Type(BFloat16Type::get(context)) : Float16Type::get(context);
  for (HostTensor &operand : operands)
    for (double &value : operand.floats)
      value = precision == Precision::tf32 ? nearestTf32(value) : nearest(value, type);
  return true;
}

} // namespace tutti
