// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands.
#include "compiler/import/emit/Operand.h"

using namespace mlir;

namespace tutti {

Operand::Operand(RowNumbers numbers) : held(std::make_shared<const RowNumbers>(std::move(numbers))) {}

Operand::Operand(SequenceValue sequence) : held(std::make_shared<const SequenceValue>(std::move(sequence))) {}

Sizes Operand::sizes() const {
  if (isValue())
    return getSizes(cast<RankedTensorType>(value().getType()));
  if (isConstant())
    return Sizes(constant().dims.begin(), constant().dims.end());
  if (isRowNumbers())
    return rowNumbers().sizes;
  Sizes sizes;
  if (isShape() && shape().vector)
    sizes.push_back(Size(shape().elements.size()));
  return sizes;
}

Type Operand::element() const {
  if (isValue())
    return cast<RankedTensorType>(value().getType()).getElementType();
  if (isConstant())
    return constant().element;
  if (isRowNumbers())
    return rowNumbers().element;
  return isShape() ? shape().element : Type();
}

std::string elementName(Type element) {
  if (!element)
    return "nothing";
  if (element.isBF16())
    return "bfloat16";
  if (isa<FloatType>(element))
    return "float" + std::to_string(element.getIntOrFloatBitWidth());
  return element.isInteger(1)
             ? "bool"
             : (element.isUnsignedInteger() ? "uint" : "int") + std::to_string(element.getIntOrFloatBitWidth());
}

std::string Operand::str() const {
  if (!isSequence())
    return elementName(element()) + " " + tutti::str(sizes());
  size_t count = sequence().elements.size();
  return "sequence of " + std::to_string(count) + (count == 1 ? " tensor of " : " tensors of ") +
         elementName(sequence().element);
}

std::optional<ShapeValue> Operand::asShape() const {
  if (isShape())
    return shape();
  if (!isConstant() || constant().dims.size() > 1 || constant().count() > 4096 || !isa<IntegerType>(element()))
    return std::nullopt;
  ShapeValue result{{}, constant().dims.size() == 1, element()};
  for (int64_t number : readForProgram(constant()).ints)
    result.elements.push_back(Size(number));
  return result;
}

std::optional<double> Operand::scalar() const { return isConstant() ? scalarOf(constant()) : std::nullopt; }
std::optional<double> Operand::scalarForProgram() const {
  return isConstant() ? tutti::scalarForProgram(constant()) : std::nullopt;
}

} // namespace tutti
