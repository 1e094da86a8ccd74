// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of quantization: integers that stand for (q - zero point) scale, per tensor, per place of an axis or per
// block.
#include "compiler/import/onnx/ops/Quantized.h"

#include <cmath>

using namespace mlir;

namespace tutti {
namespace {

/// The lowest and highest integer of a type.
std::pair<double, double> rangeOf(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger();
  return {isUnsigned ? 0 : -std::ldexp(1.0, width - 1), std::ldexp(1.0, isUnsigned ? width : width - 1) - 1};
}

bool isInteger(const Operand &x) { return isa<IntegerType>(x.element()) && !x.element().isInteger(1); }

/// The type that the attribute `output_dtype` names; nothing if it is 0 or absent.
Type outputType(Node &n) { return n.intAttr("output_dtype", 0) == 0 ? Type() : n.elementAttr("output_dtype", Type()); }

/// How a node's scales and zero points relate to the tensor that they are for.
class Parameters {
public:
  Parameters(Node &n, const Operand &x) : n(n), x(x), axis(n.intAttr("axis", 1)), block(n.intAttr("block_size", 0)) {}

  /// A parameter shaped to broadcast to x.
  Operand beside(const Operand &parameter) {
    Emit &e = n.emit;
    if (!x || !parameter || parameter.rank() == 0)
      return parameter;
    if (parameter.rank() == 1 && parameter.sizes()[0] == Size(1) && block == 0)
      return e.reshape(parameter, {});
    std::optional<int64_t> along = n.axis(axis, x.rank());
    if (!along)
      return Operand();
    if (block == 0) {
      std::string both =
          "scales or zero points " + parameter.str() + " and axis " + std::to_string(*along) + " of " + x.str();
      if (parameter.rank() != 1)
        return e.malformed(both);
      if (!e.same(parameter.sizes()[0], x.sizes()[*along]))
        return e.misfit(parameter.sizes()[0], x.sizes()[*along], both, "fit");
      Sizes sizes(x.rank() - *along, Size(1));
      sizes[0] = parameter.sizes()[0];
      return e.reshape(parameter, sizes);
    }
    return repeated(parameter, *along);
  }

  bool areOfBlocks() const { return block != 0; }

private:
  /// A parameter with each place along the axis repeated to a block's length.
  Operand repeated(const Operand &parameter, int64_t along) {
    Emit &e = n.emit;
    if (!e.isKnown(x, along, "has blocks along"))
      return Operand();
    int64_t length = x.sizes()[along].getFixed();
    Sizes sizes = parameter.sizes(), expected = x.sizes();
    if (block > 0)
      expected[along] = Size(llvm::divideCeil(length, block));
    if (block < 0 || sizes != expected)
      return e.malformed("scales or zero points " + parameter.str() + " for blocks of " + Twine(block) +
                         " along axis " + Twine(along) + " of " + x.str());
    int64_t blocks = sizes[along].getFixed();
    sizes.insert(sizes.begin() + along + 1, Size(1));
    Operand apart = e.reshape(parameter, sizes);
    sizes[along + 1] = Size(block);
    apart = e.broadcast(apart, sizes);
    sizes.erase(sizes.begin() + along + 1);
    sizes[along] = Size(blocks * block);
    return e.part(e.reshape(apart, sizes), along, 0, length);
  }

  Node &n;
  Operand x;
  int64_t axis, block;
};

} // namespace

Operand floatOf(Emit &e, const Operand &x) { return e.cast(x, Float32Type::get(&e.context)); }

Operand saturated(Emit &e, const Operand &x, const Operand &zeroPoint, Type element) {
  Operand y = e.unary<RoundOp>(x);
  if (zeroPoint)
    y = e.add(y, floatOf(e, zeroPoint));
  if (!y)
    return y;
  auto [low, high] = rangeOf(element);
  y = e.binary<MinOp>(e.binary<MaxOp>(y, e.scalar(low, y)), e.scalar(high, y));
  return e.cast(y, element);
}

Operand shifted(Emit &e, const Operand &q, const Operand &zeroPoint) {
  if (!q)
    return q;
  if (q.element().getIntOrFloatBitWidth() <= 16)
    return zeroPoint ? e.sub(floatOf(e, q), floatOf(e, zeroPoint)) : floatOf(e, q);
  return floatOf(e, zeroPoint ? e.sub(q, zeroPoint) : q);
}

Operand zeroPointsIn(Node &n, size_t i, const Operand &q) {
  Operand zero = n.has(i) ? n.in(i) : Operand();
  if (zero && q && zero.element() != q.element())
    return n.emit.malformed("zero points " + zero.str() + " of " + q.str());
  return zero;
}

Operand scalesIn(Node &n, size_t i) {
  Operand scale = n.in(i);
  if (scale && !scale.isFloat())
    return n.emit.malformed("input " + Twine(i) + " is " + scale.str() + ", expected floats");
  return scale;
}

/// y = saturate(round(x / scale) + zero point)
void importQuantizeLinear(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), scale = scalesIn(n, 1), zeroPoint = n.has(2) ? n.in(2) : Operand();
  Parameters parameters(n, x);
  Type uint8 = IntegerType::get(&e.context, 8, IntegerType::Unsigned), asked = outputType(n);
  n.intAttr("saturate", 1); // for float8, which is not supported
  if (int64_t precision = n.intAttr("precision", 0); precision != 0 && precision != 1)
    return (void)e.unsupported("a division in " + dataTypeName(precision) + ", expected float32");
  Type element = zeroPoint ? zeroPoint.element() : asked ? asked : uint8;
  if (asked && asked != element)
    return (void)e.malformed("zero points " + zeroPoint.str() + ", and attribute 'output_dtype' is " +
                             dataTypeName(dataTypeOf(asked)));
  if (!isa<IntegerType>(element) || element.isInteger(1) || element.getIntOrFloatBitWidth() > 16)
    return (void)e.unsupported("numbers quantized as " + dataTypeName(dataTypeOf(element)));
  Operand quotient = e.div(floatOf(e, x), floatOf(e, parameters.beside(scale)));
  n.set(0, saturated(e, quotient, zeroPoint ? parameters.beside(zeroPoint) : zeroPoint, element));
}

/// y = (x - zero point) scale
void importDequantizeLinear(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), scale = scalesIn(n, 1);
  if (!x || !scale)
    return;
  Operand zeroPoint = zeroPointsIn(n, 2, x);
  Parameters parameters(n, x);
  Type asked = outputType(n), element = asked ? asked : scale.element();
  if (!isInteger(x) || !isa<FloatType>(element))
    return (void)e.malformed("input 0 is " + x.str() + ", expected integers, which become floats");
  Operand y = shifted(e, x, zeroPoint ? parameters.beside(zeroPoint) : zeroPoint);
  y = e.cast(e.mul(y, floatOf(e, parameters.beside(scale))), element);
  if (y && element.isF32() && !parameters.areOfBlocks())
    e.setQuantized(y, {x, scale, zeroPoint, n.intAttr("axis", 1)});
  n.set(0, y);
}

DynamicallyQuantized quantizedDynamically(Emit &e, const Operand &x) {
  if (!x)
    return {};
  if (!x.element().isF32())
    return {e.malformed("input 0 is " + x.str() + ", expected float32"), {}, {}};
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq(x.rank()));
  Operand zero = e.scalar(0, x), low = e.binary<MinOp>(e.reduce(ReduceKind::min, x, axes, Axes::drop), zero),
          high = e.binary<MaxOp>(e.reduce(ReduceKind::max, x, axes, Axes::drop), zero), range = e.sub(high, low);
  Type uint8 = IntegerType::get(&e.context, 8, IntegerType::Unsigned);
  Operand scale = e.select(e.compare<EqualOp>(range, zero), e.scalar(1, x), e.div(range, e.scalar(255, x)));
  Operand zeroPoint = saturated(e, e.div(e.sub(zero, low), scale), Operand(), uint8);
  return {saturated(e, e.div(x, scale), zeroPoint, uint8), scale, zeroPoint};
}

void importDynamicQuantizeLinear(Node &n) {
  DynamicallyQuantized x = quantizedDynamically(n.emit, n.in(0));
  n.set(0, x.numbers);
  n.set(1, x.scale);
  n.set(2, x.zero);
}

// ONNX' own ops take no 16-bit integers before opset 21; these do.
void importRuntimeQuantizeLinear(Node &n) { importQuantizeLinear(n); }
void importRuntimeDequantizeLinear(Node &n) { importDequantizeLinear(n); }

} // namespace tutti
