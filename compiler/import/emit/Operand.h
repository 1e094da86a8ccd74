// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a name of an ONNX graph stands for while it is imported.
#ifndef TUTTI_COMPILER_IMPORT_EMIT_OPERAND_H
#define TUTTI_COMPILER_IMPORT_EMIT_OPERAND_H

#include "compiler/import/Weights.h"
#include "dialects/tutti/Sizes.h"

#include "mlir/IR/Value.h"

#include <variant>

namespace tutti {

/// Integers that the graph computes from shapes: known but for the call's sizes. A scalar or a vector.
struct ShapeValue {
  Sizes elements;
  bool vector = true;
  mlir::Type element;
};

struct SequenceValue;

/// Nothing (an input left out, or the result of a node that failed), a tensor, which is a value of the module, a
/// constant, or numbers that come from shapes; or a sequence of tensors.
class Operand {
public:
  Operand() = default;
  Operand(mlir::Value value) : held(value) {}
  Operand(WeightSource source) : held(std::make_shared<const WeightSource>(std::move(source))) {}
  Operand(ShapeValue shape) : held(std::make_shared<const ShapeValue>(std::move(shape))) {}
  Operand(SequenceValue sequence);

  explicit operator bool() const { return !std::holds_alternative<std::monostate>(held); }
  bool isValue() const { return std::holds_alternative<mlir::Value>(held); }
  bool isConstant() const { return std::holds_alternative<std::shared_ptr<const WeightSource>>(held); }
  bool isShape() const { return std::holds_alternative<std::shared_ptr<const ShapeValue>>(held); }
  bool isSequence() const { return std::holds_alternative<std::shared_ptr<const SequenceValue>>(held); }

  mlir::Value value() const { return std::get<mlir::Value>(held); }
  const WeightSource &constant() const { return *std::get<std::shared_ptr<const WeightSource>>(held); }
  const ShapeValue &shape() const { return *std::get<std::shared_ptr<const ShapeValue>>(held); }
  const SequenceValue &sequence() const { return *std::get<std::shared_ptr<const SequenceValue>>(held); }

  // Of a tensor.
  Sizes sizes() const;
  int64_t rank() const { return sizes().size(); }
  mlir::Type element() const;
  bool isFloat() const { return llvm::isa<mlir::FloatType>(element()); }
  /// "float32 (batch, 784)", "sequence of 3 tensors of float32", for messages.
  std::string str() const;

  /// The elements, if they are integers of a constant or of a shape, at most 4096, in a scalar or a vector.
  std::optional<ShapeValue> asShape() const;
  /// The number, if it is a constant with one element.
  std::optional<double> scalar() const;

private:
  std::variant<std::monostate, mlir::Value, std::shared_ptr<const WeightSource>, std::shared_ptr<const ShapeValue>,
               std::shared_ptr<const SequenceValue>>
      held;
};

/// Tensors of one element type in an order. How many there are is known while importing, so whoever reads one reads the
/// tensor: no module has a sequence in it.
struct SequenceValue {
  std::vector<Operand> elements;
  mlir::Type element;
};

/// "float32", "int64", "bool": element types as users know them.
std::string elementName(mlir::Type element);

} // namespace tutti

#endif
