// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of softmax and layer normalisation, as the primitives that older exporters spell them with.
#include "compiler/import/onnx/Ops.h"

using namespace mlir;

namespace tutti {

/// The axes that softmax runs over: one from opset 13 on, before that all from `axis` on, as if they were one.
static std::optional<SmallVector<int64_t>> softmaxAxes(Node &n, const Operand &x) {
  if (!x)
    return std::nullopt;
  int64_t given = n.intAttr("axis", n.opset < 13 ? 1 : -1);
  std::optional<int64_t> axis = n.axis(given, x.rank());
  if (!axis)
    return std::nullopt;
  if (n.opset >= 13)
    return SmallVector<int64_t>{*axis};
  return llvm::to_vector(llvm::seq<int64_t>(*axis, x.rank()));
}

/// e^(x - max) / sum
void importSoftmax(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  if (auto axes = softmaxAxes(n, x)) {
    Operand power = e.unary<ExpOp>(e.sub(x, e.reduce(ReduceKind::max, x, *axes, true)));
    n.set(0, e.div(power, e.reduce(ReduceKind::sum, power, *axes, true)));
  }
}

/// x - max - ln sum e^(x - max)
void importLogSoftmax(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  if (auto axes = softmaxAxes(n, x)) {
    Operand below = e.sub(x, e.reduce(ReduceKind::max, x, *axes, true));
    Operand sum = e.reduce(ReduceKind::sum, e.unary<ExpOp>(below), *axes, true);
    n.set(0, e.sub(below, e.unary<LogOp>(sum)));
  }
}

/// d = x - mean; y = d / sqrt(mean(d d) + epsilon) scale + bias, over the axes from `axis` on.
void importLayerNormalization(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  if (!x)
    return;
  std::optional<int64_t> axis = n.axis(n.intAttr("axis", -1), x.rank());
  if (!axis)
    return;
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  int64_t stash = n.intAttr("stash_type", 1);
  Type given = x.element(), wide = elementOf(e.context, static_cast<int32_t>(stash));
  if (!wide || !isa<FloatType>(wide)) {
    e.malformed("attribute 'stash_type' is " + Twine(stash));
    return;
  }
  // Statistics in the wider type; a type that is wide enough already stays.
  if (given.getIntOrFloatBitWidth() < wide.getIntOrFloatBitWidth())
    x = e.cast(x, wide);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(*axis, x.rank()));
  Operand mean = e.reduce(ReduceKind::mean, x, axes, true);
  Operand d = e.sub(x, mean);
  Operand variance = e.reduce(ReduceKind::mean, e.mul(d, d), axes, true);
  Operand deviation = e.unary<SqrtOp>(e.add(variance, e.scalar(epsilon, x)));
  Operand y = e.cast(e.div(d, deviation), given);
  y = e.mul(y, n.in(1));
  if (n.has(2))
    y = e.add(y, n.in(2));
  n.set(0, y);
  if (n.wants(1))
    n.set(1, mean);
  if (n.wants(2))
    n.set(2, e.unary<ReciprocalOp>(deviation));
}

} // namespace tutti
