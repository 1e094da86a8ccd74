// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of quantization: integers that stand for (q - zero point) scale, of a tensor, a place of an axis or a block.
#include "compiler/import/onnx/ops/Ops.h"

#include <cmath>

using namespace mlir;

namespace tutti {
namespace {

/// The integers that a type holds, lowest and highest.
std::pair<double, double> rangeOf(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger();
  return {isUnsigned ? 0 : -std::ldexp(1.0, width - 1), std::ldexp(1.0, isUnsigned ? width : width - 1) - 1};
}

/// How a node's scales and zero points lie beside what they are for.
class Parameters {
public:
  Parameters(Node &n, const Operand &x) : n(n), x(x), axis(n.intAttr("axis", 1)), block(n.intAttr("block_size", 0)) {}

  /// One of them, so that it broadcasts to x.
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
      if (parameter.rank() != 1 || parameter.sizes()[0] != x.sizes()[*along])
        return e.malformed("scales or zero points " + parameter.str() + " for axis " + Twine(*along) + " of " +
                           x.str());
      Sizes sizes(x.rank() - *along, Size(1));
      sizes[0] = parameter.sizes()[0];
      return e.reshape(parameter, sizes);
    }
    return repeated(parameter, *along);
  }

private:
  /// Each place along the axis as often as a block is long.
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

Operand floatOf(Emit &e, const Operand &x) { return e.cast(x, Float32Type::get(&e.context)); }

/// Numbers that stand for themselves, rounded, halves to even, and brought into the integers of `element`.
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

/// Integers less their zero point, as floats, which hold every one of up to 16 bits.
Operand shifted(Emit &e, const Operand &q, const Operand &zeroPoint) {
  if (!q)
    return q;
  if (q.element().getIntOrFloatBitWidth() <= 16)
    return zeroPoint ? e.sub(floatOf(e, q), floatOf(e, zeroPoint)) : floatOf(e, q);
  return floatOf(e, zeroPoint ? e.sub(q, zeroPoint) : q);
}

bool isInteger(const Operand &x) { return isa<IntegerType>(x.element()) && !x.element().isInteger(1); }

/// A problem where x, input i, is not one of the integers that products take.
bool isByte(Node &n, const Operand &x, size_t i) {
  bool is = x && isInteger(x) && x.element().getIntOrFloatBitWidth() == 8;
  if (x && !is)
    n.emit.malformed("input " + Twine(i) + " is " + x.str() + ", expected int8 or uint8");
  return is;
}

/// Input i, the zero points of `q`, if there is one; nothing and a problem where they are of another type.
Operand zeroPointsIn(Node &n, size_t i, const Operand &q) {
  Operand zero = n.has(i) ? n.in(i) : Operand();
  if (zero && q && zero.element() != q.element())
    return n.emit.malformed("zero points " + zero.str() + " of " + q.str());
  return zero;
}

/// Input i as scales, which are floats.
Operand scalesIn(Node &n, size_t i) {
  Operand scale = n.in(i);
  if (scale && !scale.isFloat())
    return n.emit.malformed("input " + Twine(i) + " is " + scale.str() + ", expected floats");
  return scale;
}

/// The type that the attribute `output_dtype` names; nothing where it is 0, or is not there.
Type outputType(Node &n) { return n.intAttr("output_dtype", 0) == 0 ? Type() : n.elementAttr("output_dtype", Type()); }

/// One number for all of a tensor, input i; nothing and a problem where there are several.
Operand single(Node &n, const Operand &parameter, size_t i) {
  if (!parameter || parameter.rank() == 0)
    return parameter;
  if (parameter.rank() > 1 || parameter.sizes()[0] != Size(1))
    return n.emit.unsupported("input " + Twine(i) + " is " + parameter.str() + ", not one number");
  return n.emit.reshape(parameter, {});
}

/// a b in int32, of bytes less their zero points: one for all of a, and one for all of b, or one a column.
/// Products of two are at most 255^2, so that a float32 holds the sum of 258 of them exactly, in whatever order.
Operand multiplyBytes(Node &n, Operand a, const Operand &zeroA, Operand b, const Operand &zeroB) {
  constexpr int64_t exact = 258;
  Emit &e = n.emit;
  a = shifted(e, a, zeroA), b = shifted(e, b, zeroB);
  if (!a || !b)
    return Operand();
  if (a.rank() == 0 || b.rank() == 0)
    return e.malformed("a scalar operand");
  int64_t last = a.rank() - 1, first = std::max<int64_t>(b.rank() - 2, 0);
  if (!e.isKnown(a, last, "sums integers along") || !e.isKnown(b, first, "sums integers along"))
    return Operand();
  int64_t length = a.sizes()[last].getFixed();
  if (b.sizes()[first] != a.sizes()[last])
    return e.malformed("a product of " + a.str() + " and " + b.str());
  Operand sum;
  int64_t from = 0;
  do { // of no terms, too
    int64_t count = std::min(exact, length - from);
    Operand part = multiplyMatrices(e, e.part(a, last, from, count), e.part(b, first, from, count));
    part = e.cast(part, IntegerType::get(&e.context, 32));
    sum = sum ? e.add(sum, part) : part;
    from += exact;
  } while (from < length);
  return sum;
}

} // namespace

/// y = saturate(round(x / scale) + zero point)
void importQuantizeLinear(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), scale = scalesIn(n, 1), zeroPoint = n.has(2) ? n.in(2) : Operand();
  Parameters parameters(n, x);
  Type uint8 = IntegerType::get(&e.context, 8, IntegerType::Unsigned), asked = outputType(n);
  n.intAttr("saturate", 1); // of float8, which we do not hold
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
  n.set(0, e.cast(e.mul(y, floatOf(e, parameters.beside(scale))), element));
}

/// Of all of x, zero with them, the lowest becomes 0 and the highest 255: y, the scale and the zero point of that.
/// Where all are zero the scale is 1, as ONNX Runtime has it.
void importDynamicQuantizeLinear(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  if (!x)
    return;
  if (!x.element().isF32())
    return (void)e.malformed("input 0 is " + x.str() + ", expected float32");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq(x.rank()));
  Operand zero = e.scalar(0, x), low = e.binary<MinOp>(e.reduce(ReduceKind::min, x, axes, false), zero),
          high = e.binary<MaxOp>(e.reduce(ReduceKind::max, x, axes, false), zero), range = e.sub(high, low);
  Type uint8 = IntegerType::get(&e.context, 8, IntegerType::Unsigned);
  Operand scale = e.select(e.compare<EqualOp>(range, zero), e.scalar(1, x), e.div(range, e.scalar(255, x)));
  Operand zeroPoint = saturated(e, e.div(e.sub(zero, low), scale), Operand(), uint8);
  n.set(0, saturated(e, e.div(x, scale), zeroPoint, uint8));
  n.set(1, scale);
  n.set(2, zeroPoint);
}

void importMatMulInteger(Node &n) {
  Operand a = n.in(0), b = n.in(1);
  if (isByte(n, a, 0) && isByte(n, b, 1))
    n.set(0, multiplyBytes(n, a, single(n, zeroPointsIn(n, 2, a), 2), b, zeroPointsIn(n, 3, b)));
}

/// The product of what two tensors of integers stand for, quantized.
void importQLinearMatMul(Node &n) {
  Emit &e = n.emit;
  Operand a = n.in(0), b = n.in(3), zeroPoint = single(n, n.in(7), 7);
  if (!isByte(n, a, 0) || !isByte(n, b, 3) || !isByte(n, zeroPoint, 7))
    return;
  Operand scaleA = single(n, scalesIn(n, 1), 1), scaleB = scalesIn(n, 4), scale = single(n, scalesIn(n, 6), 6);
  Operand sum = multiplyBytes(n, a, single(n, zeroPointsIn(n, 2, a), 2), b, zeroPointsIn(n, 5, b));
  Operand factor = e.div(e.mul(floatOf(e, scaleA), floatOf(e, scaleB)), floatOf(e, scale));
  n.set(0, saturated(e, e.mul(floatOf(e, sum), factor), zeroPoint, zeroPoint.element()));
}

} // namespace tutti
