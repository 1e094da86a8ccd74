// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of constants and of shapes, which are constants except for the call's sizes.
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

template <typename Numbers> static Operand constantOf(Type element, ArrayRef<int64_t> dims, const Numbers &numbers) {
  HostTensor tensor = HostTensor::zeros(element, dims);
  if (tensor.isFloat())
    tensor.floats.assign(numbers.begin(), numbers.end());
  else
    tensor.ints.assign(numbers.begin(), numbers.end());
  return Operand(computedSource(tensor));
}

/// The numbers that a Constant node holds.
static Operand heldBy(Node &n) {
  MLIRContext *context = &n.emit.context;
  Type real = Float32Type::get(context), integer = IntegerType::get(context, 64);
  if (n.hasAttr("value"))
    return n.tensorAttr("value");
  if (n.hasAttr("value_float"))
    return constantOf(real, {}, SmallVector<double>{n.floatAttr("value_float", 0)});
  if (n.hasAttr("value_int"))
    return constantOf(integer, {}, SmallVector<int64_t>{n.intAttr("value_int", 0)});
  if (auto floats = n.floatsAttr("value_floats"))
    return constantOf(real, {int64_t(floats->size())}, *floats);
  if (auto ints = n.intsAttr("value_ints"))
    return constantOf(integer, {int64_t(ints->size())}, *ints);
  return n.emit.unsupported("a constant that is sparse or holds strings");
}

void importConstant(Node &n) {
  Operand held = heldBy(n);
  if (!held)
    return;
  WeightSource source = held.constant();
  source.isNode = true;
  n.set(0, Operand(source));
}

void importConstantOfShape(Node &n) {
  std::optional<Sizes> sizes = n.lengthsIn(0);
  if (!sizes)
    return;
  Operand value = constantOf(Float32Type::get(&n.emit.context), {}, SmallVector<double>{0});
  if (n.hasAttr("value"))
    value = n.tensorAttr("value");
  if (!value)
    return;
  if (value.constant().count() != 1) {
    n.emit.malformed("attribute 'value' has " + Twine(value.constant().count()) + " elements");
    return;
  }
  n.set(0, n.emit.broadcast(n.emit.reshape(value, {}), *sizes));
}

/// The sizes of axes [start, end), both given from opset 15 on; negative ones count from the end, and both are clamped.
void importShape(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  Sizes sizes = x.sizes();
  auto rank = static_cast<int64_t>(sizes.size());
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = clamp(n.intAttr("start", 0)), end = clamp(n.intAttr("end", rank));
  ShapeValue shape{{}, true, IntegerType::get(&n.emit.context, 64)};
  for (int64_t i = start; i < end; ++i)
    shape.elements.push_back(sizes[i]);
  n.set(0, n.emit.shape(std::move(shape)));
}

void importSize(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  if (std::optional<Size> count = product(x.sizes()))
    n.set(0, n.emit.shape({{*count}, false, IntegerType::get(&n.emit.context, 64)}));
  else
    n.emit.malformed("more elements than there are numbers");
}

} // namespace tutti
