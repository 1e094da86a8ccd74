// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ops on quantized operands and results: products of bytes by their integers, other ops by the numbers that
// the bytes stand for. https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "compiler/import/onnx/ops/Quantized.h"

using namespace mlir;

namespace tutti {

namespace {

/// Reports a problem unless x, input i, has an integer type that products take.
bool isByte(Node &n, const Operand &x, size_t i) {
  bool is = x && isa<IntegerType>(x.element()) && x.element().getIntOrFloatBitWidth() == 8;
  if (x && !is)
    n.emit.malformed("input " + Twine(i) + " is " + x.str() + ", expected int8 or uint8");
  return is;
}

/// Input i as one number for the whole tensor; nothing and a problem if there are several.
Operand single(Node &n, const Operand &parameter, size_t i) {
  if (!parameter || parameter.rank() == 0)
    return parameter;
  if (parameter.rank() > 1 || parameter.sizes()[0] != Size(1))
    return n.emit.unsupported("input " + Twine(i) + " is " + parameter.str() + ", not one number");
  return n.emit.reshape(parameter, {});
}
Operand scaleIn(Node &n, size_t i) { return floatOf(n.emit, single(n, scalesIn(n, i), i)); }
Operand zeroIn(Node &n, size_t i, const Operand &q) { return single(n, zeroPointsIn(n, i, q), i); }

/// Bytes, input i, with their scale and zero point behind them.
struct Bytes {
  Operand numbers, scale, zero;
  explicit operator bool() const { return numbers && scale; }
};
Bytes bytesIn(Node &n, size_t i) {
  Operand x = n.in(i);
  if (!isByte(n, x, i))
    return {};
  return {x, scaleIn(n, i + 1), zeroIn(n, i + 2, x)};
}
/// The numbers that input i stands for.
Operand valueIn(Node &n, size_t i) {
  Bytes x = bytesIn(n, i);
  return x ? n.emit.mul(shifted(n.emit, x.numbers, x.zero), x.scale) : Operand();
}

/// Sets the output: x factor / scale, quantized with the scale of input i and the zero point behind it, or of `like`'s
/// type if there is none.
void setBytes(Node &n, const Operand &x, Operand factor, size_t i, const Operand &like) {
  Emit &e = n.emit;
  Operand scale = scaleIn(n, i), zero = n.has(i + 1) ? single(n, n.in(i + 1), i + 1) : Operand();
  if (!x || !scale || (n.has(i + 1) && !isByte(n, zero, i + 1)))
    return;
  Operand quotient = factor ? e.mul(x, e.div(factor, scale)) : e.div(x, scale);
  n.set(0, saturated(e, quotient, zero, zero ? zero.element() : like.element()));
}

/// Applies an ONNX op to what the first input stands for.
void onValue(Node &n, void (*import)(Node &), int64_t opset) {
  if (Operand x = valueIn(n, 0))
    setBytes(n, n.importAs(import, opset, {x}), Operand(), 3, n.in(0));
}

/// Applies an op to what the first two inputs stand for.
void onValues(Node &n, Operand (Emit::*op)(const Operand &, const Operand &)) {
  Operand a = valueIn(n, 0), b = valueIn(n, 3);
  if (a && b)
    setBytes(n, (n.emit.*op)(a, b), Operand(), 6, n.in(0));
}

/// What a parameter of each channel broadcasts to.
enum class Beside : bool { weights, result };

/// Scales or zero points, one for all of a convolution's weights or one per output channel, shaped to broadcast to the
/// weights or to the result.
Operand besideChannels(Node &n, const Operand &parameter, const Operand &w, size_t i, Beside beside) {
  if (!parameter || parameter.rank() != 1 || parameter.sizes()[0] == Size(1))
    return single(n, parameter, i);
  if (w.rank() == 0 || parameter.sizes()[0] != w.sizes()[0])
    return n.emit.malformed("input " + Twine(i) + " is " + parameter.str() + ", the weights are " + w.str());
  Sizes sizes(w.rank() - (beside == Beside::result ? 1 : 0), Size(1));
  sizes[0] = w.sizes()[0];
  return n.emit.reshape(parameter, sizes);
}

} // namespace

void importMatMulInteger(Node &n) {
  Operand a = n.in(0), b = n.in(1);
  if (isByte(n, a, 0) && isByte(n, b, 1))
    n.set(0, multiplyBytes(n.emit, a, zeroIn(n, 2, a), b, zeroPointsIn(n, 3, b)));
}

void importQLinearMatMul(Node &n) {
  Emit &e = n.emit;
  Bytes a = bytesIn(n, 0);
  Operand b = n.in(3);
  if (!a || !isByte(n, b, 3))
    return;
  Operand sum = multiplyBytes(e, a.numbers, a.zero, b, zeroPointsIn(n, 5, b));
  setBytes(n, floatOf(e, sum), e.mul(a.scale, floatOf(e, scalesIn(n, 4))), 6, a.numbers);
}

/// Sets the output: a sum of products of bytes times the scales of both, and a bias, if input `bias` is there.
static void setFloat(Node &n, const Operand &sum, const Operand &scales, size_t bias) {
  Emit &e = n.emit;
  Operand y = e.mul(floatOf(e, sum), scales);
  n.set(0, n.has(bias) ? e.add(y, n.in(bias)) : y);
}

void importRuntimeMatMulIntegerToFloat(Node &n) {
  Emit &e = n.emit;
  Operand a = n.in(0), b = n.in(1);
  if (!isByte(n, a, 0) || !isByte(n, b, 1))
    return;
  Operand sum = multiplyBytes(e, a, zeroIn(n, 4, a), b, zeroPointsIn(n, 5, b));
  setFloat(n, sum, e.mul(scaleIn(n, 2), floatOf(e, scalesIn(n, 3))), 6);
}

void importRuntimeDynamicQuantizeMatMul(Node &n) {
  Emit &e = n.emit;
  DynamicallyQuantized a = quantizedDynamically(e, n.in(0));
  Operand b = n.in(1);
  if (!a.numbers || !isByte(n, b, 1))
    return;
  Operand sum = multiplyBytes(e, a.numbers, a.zero, b, zeroPointsIn(n, 3, b));
  setFloat(n, sum, e.mul(a.scale, floatOf(e, scalesIn(n, 2))), 4);
}

/// alpha a b + c, where c stands for its numbers times alpha and both scales; in float32 if there is no output scale.
void importRuntimeQGemm(Node &n) {
  Emit &e = n.emit;
  Bytes a = bytesIn(n, 0);
  Operand b = n.in(3), scaleB = scalesIn(n, 4), zeroB = zeroPointsIn(n, 5, b);
  bool turnsA = n.intAttr("transA", 0), turnsB = n.intAttr("transB", 0);
  double alpha = n.floatAttr("alpha", 1);
  if (!a || !isByte(n, b, 3) || !scaleB)
    return;
  if (a.numbers.rank() != 2 || b.rank() != 2)
    return (void)e.malformed("operands of ranks " + Twine(a.numbers.rank()) + " and " + Twine(b.rank()) +
                             " where matrices are due");
  Operand sum = multiplyBytes(e, turnsA ? e.transpose(a.numbers, {1, 0}) : a.numbers, a.zero,
                              turnsB ? e.transpose(b, {1, 0}) : b, zeroB);
  if (n.has(6)) { // each member has its own, even a single number
    Operand bias = n.in(6);
    sum = e.add(sum, bias && bias.isConstant() ? Operand(e.parameter(bias.constant())) : bias);
  }
  Operand factor = e.mul(a.scale, floatOf(e, scaleB));
  if (alpha != 1)
    factor = e.mul(factor, e.scalar(alpha, factor));
  if (n.has(7))
    setBytes(n, floatOf(e, sum), factor, 7, a.numbers);
  else
    n.set(0, e.mul(floatOf(e, sum), factor));
}

/// Sums up to 2^24 are exact in float32, and larger ones are rounded to 8 bits soon.
void importQLinearConv(Node &n) {
  Emit &e = n.emit;
  Bytes x = bytesIn(n, 0);
  Operand w = n.in(3), scaleW = scalesIn(n, 4), zeroW = zeroPointsIn(n, 5, w);
  if (!x || !isByte(n, w, 3) || !scaleW)
    return;
  SmallVector<Operand> operands{shifted(e, x.numbers, x.zero),
                                shifted(e, w, besideChannels(n, zeroW, w, 5, Beside::weights))};
  if (n.has(8))
    operands.push_back(floatOf(e, n.in(8)));
  Operand sum = n.importAs(importConv, 11, operands);
  setBytes(n, sum, e.mul(x.scale, floatOf(e, besideChannels(n, scaleW, w, 4, Beside::result))), 6, x.numbers);
}

/// Computed in float64 if float32 would round a sum of so many products of two bytes.
void importConvInteger(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), w = n.in(1);
  if (!isByte(n, x, 0) || !isByte(n, w, 1))
    return;
  std::optional<Size> terms = Size(1); // of a filter
  for (const Size &size : llvm::drop_begin(w.sizes()))
    terms = terms ? terms->times(size) : terms;
  bool isExact = terms && terms->isFixed() && terms->getFixed() <= exactProducts;
  Type real = isExact ? Type(Float32Type::get(&e.context)) : Type(Float64Type::get(&e.context));
  Operand left = shifted(e, x, zeroIn(n, 2, x)),
          right = shifted(e, w, besideChannels(n, zeroPointsIn(n, 3, w), w, 3, Beside::weights));
  n.set(0, e.cast(n.importAs(importConv, 11, {e.cast(left, real), e.cast(right, real)}),
                  IntegerType::get(&e.context, 32)));
}

void importRuntimeQLinearAdd(Node &n) { onValues(n, &Emit::add); }
void importRuntimeQLinearMul(Node &n) { onValues(n, &Emit::mul); }
void importRuntimeQLinearSigmoid(Node &n) { onValue(n, importSigmoid, 13); }
void importRuntimeQLinearLeakyRelu(Node &n) { onValue(n, importLeakyRelu, 16); }
/// The attribute `opset` selects the version that defines the axes.
void importRuntimeQLinearSoftmax(Node &n) { onValue(n, importSoftmax, n.intAttr("opset", 13)); }

/// Pools whose channels are in front of the image.
static void poolOf(Node &n, void (*import)(Node &), int64_t opset) {
  if (n.intAttr("channels_last", 0))
    return (void)n.emit.unsupported("channels that lie behind the image", "export it with them in front");
  if (n.intAttr("ceil_mode", 0) &&
      n.intAttr("count_include_pad", 0)) // for windows beyond the padding, which differ from AveragePool's
    return (void)n.emit.unsupported("ceil_mode with padding that counts", "pad the image before the pool");
  onValue(n, import, opset);
}
void importRuntimeQLinearAveragePool(Node &n) { poolOf(n, importAveragePool, 19); }
void importRuntimeQLinearGlobalAveragePool(Node &n) { poolOf(n, importGlobalAveragePool, 1); }

/// The output's scale and zero point are the first inputs.
void importRuntimeQLinearConcat(Node &n) {
  SmallVector<Operand> values;
  for (size_t i = 2; i < n.inputs(); i += 3)
    values.push_back(valueIn(n, i));
  if (values.empty())
    return (void)n.emit.malformed("no tensors to join");
  if (llvm::all_of(values, [](const Operand &value) { return bool(value); }))
    setBytes(n, n.importAs(importConcat, 13, values), Operand(), 0, n.in(2));
}

} // namespace tutti
