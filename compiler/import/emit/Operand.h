// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value of a name in an ONNX graph while it is imported.
#ifndef TUTTI_COMPILER_IMPORT_EMIT_OPERAND_H
#define TUTTI_COMPILER_IMPORT_EMIT_OPERAND_H

#include "compiler/import/WeightSource.h"
#include "dialects/tutti/Sizes.h"

#include "mlir/IR/Value.h"

#include <variant>

namespace tutti {

/// Integers that the graph computes from shapes, as expressions in the call's sizes. A scalar or a vector.
struct ShapeValue {
  Sizes elements;
  bool vector = true;
  mlir::Type element;
};

struct RowNumbers;
struct SequenceValue;

/// A tensor, a sequence of tensors, or nothing (an input left out, or the result of a node that failed). A tensor is a
/// value of the module, a constant, numbers computed from shapes, or row numbers.
class Operand {
public:
  Operand() = default;
  Operand(mlir::Value value) : held(value) {}
  Operand(WeightSource source) : held(std::make_shared<const WeightSource>(std::move(source))) {}
  Operand(ShapeValue shape) : held(std::make_shared<const ShapeValue>(std::move(shape))) {}
  Operand(RowNumbers numbers);
  Operand(SequenceValue sequence);

  explicit operator bool() const { return !std::holds_alternative<std::monostate>(held); }
  bool isValue() const { return std::holds_alternative<mlir::Value>(held); }
  bool isConstant() const { return std::holds_alternative<std::shared_ptr<const WeightSource>>(held); }
  bool isShape() const { return std::holds_alternative<std::shared_ptr<const ShapeValue>>(held); }
  bool isRowNumbers() const { return std::holds_alternative<std::shared_ptr<const RowNumbers>>(held); }
  bool isSequence() const { return std::holds_alternative<std::shared_ptr<const SequenceValue>>(held); }

  mlir::Value value() const { return std::get<mlir::Value>(held); }
  const WeightSource &constant() const { return *std::get<std::shared_ptr<const WeightSource>>(held); }
  const ShapeValue &shape() const { return *std::get<std::shared_ptr<const ShapeValue>>(held); }
  const RowNumbers &rowNumbers() const { return *std::get<std::shared_ptr<const RowNumbers>>(held); }
  const SequenceValue &sequence() const { return *std::get<std::shared_ptr<const SequenceValue>>(held); }

  // These are for tensors.
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
  /// The same, where the program depends on it.
  std::optional<double> scalarForProgram() const;

private:
  std::variant<std::monostate, mlir::Value, std::shared_ptr<const WeightSource>, std::shared_ptr<const ShapeValue>,
               std::shared_ptr<const RowNumbers>, std::shared_ptr<const SequenceValue>>
      held;
};

/// Integers made of the row numbers 0, 1, ... along an axis whose length a call decides. A row's result must not depend
/// on its place, so these are no values of the module. They may choose an element of each row, and their shape may be
/// read; every other use is refused when it would be computed. A part of a value without elements is represented like
/// this, too, with nothing known of its numbers.
struct RowNumbers {
  Sizes sizes;
  mlir::Type element;
  std::optional<int64_t> axis = std::nullopt; ///< along which rows are numbered; nothing: the numbers are unknown
  int64_t factor = 1;                         ///< an element is its row's number times this,
  Operand rest = {};                          ///< and this added, which broadcasts to the sizes; nothing: 0
  Operand behind = {}; ///< in a tuple, the last axis: what stands behind the row's number; nothing: no tuple
};

/// An ordered list of tensors of one element type. Its length is known while importing, so reading an element gives the
/// tensor itself, and no module contains a sequence.
struct SequenceValue {
  std::vector<Operand> elements;
  mlir::Type element;
};

/// "float32", "int64", "bool": element types as users know them.
std::string elementName(mlir::Type element);

} // namespace tutti

#endif
