// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts ops of the dialect into a member's module, or computes them at once if their operands are constants.
#ifndef TUTTI_COMPILER_IMPORT_EMIT_MODULEBUILDER_H
#define TUTTI_COMPILER_IMPORT_EMIT_MODULEBUILDER_H

#include "compiler/import/emit/SizeFacts.h"
#include "dialects/tutti/Tutti.h"

namespace tutti {

class ModuleBuilder : public SizeFacts {
public:
  ModuleBuilder(mlir::MLIRContext &context, mlir::Block *block, Dims *dims, DiagnosticCapture &diagnostics)
      : SizeFacts(dims), context(context), block(block), diagnostics(diagnostics) {}

  mlir::MLIRContext &context;
  mlir::Location location = mlir::UnknownLoc::get(&context);

  /// A value of the module: a constant becomes `tutti.constant` (integers) or a parameter of its own (floats).
  mlir::Value value(const Operand &x);
  /// A constant as a parameter, whatever its type.
  mlir::Value parameter(const WeightSource &source);
  std::vector<WeightSource> params; ///< by number: @p0, @p1, ...
  /// The constant behind a `tutti.get` that `value` made.
  const WeightSource *sourceOf(mlir::Value value) const;
  /// The address of the member's list from which `value` made this constant; null for any other op.
  const void *listOf(mlir::Operation *constant) const { return lists.lookup(constant); }

  /// The elements of a constant; nothing and a problem if they are too many to look through.
  std::optional<HostTensor> elementsOf(const Operand &constant);
  /// The elements of an operand that may be a constant; nothing if it is none, or if the budget does not suffice. A
  /// caller that decides by them calls setRead.
  std::optional<HostTensor> known(const Operand &x);
  std::optional<HostTensor> known(ConstantOp op);
  /// The number that a scalar constant, or the value of one, is.
  std::optional<double> numberOf(const Operand &x) const;
  /// Calls setRead() for the source of a constant, or of a constant's value.
  void setRead(const Operand &x) const;

protected:
  /// Sets an op's attributes before it is made.
  using Fill = llvm::function_ref<void(mlir::OperationState &)>;
  /// Makes an op. `attributes` are the fields of the op's Properties, in alphabetical order; an optional one that is
  /// absent is null. `work`: the steps of computing the op now, of which 16 cost as much as an element.
  template <typename Op>
  Operand op(mlir::RankedTensorType type, llvm::ArrayRef<Operand> xs, typename Op::Properties attributes = {},
             int64_t work = 0) {
    auto fill = [&](mlir::OperationState &state) { state.useProperties(attributes); };
    return op(Op::getOperationName(), type, xs, fill, work);
  }
  /// Makes an op by its name, without attributes or with those that `fill` sets.
  Operand op(llvm::StringRef name, mlir::RankedTensorType type, llvm::ArrayRef<Operand> xs, Fill fill = nullptr,
             int64_t work = 0);
  mlir::DenseI64ArrayAttr numbers(llvm::ArrayRef<int64_t> values);
  mlir::IntegerAttr number(int64_t value);
  /// A unit attribute, or null if it is not set.
  mlir::UnitAttr flag(bool isSet);
  /// Whether a shape is small enough to be represented.
  bool fits(llvm::ArrayRef<Size> sizes);

private:
  /// Whether to compute the result now; takes its cost out of the budget.
  bool mayFold(mlir::RankedTensorType type, llvm::ArrayRef<Operand> xs, int64_t work);
  std::optional<Operand> fold(llvm::StringRef name, mlir::RankedTensorType type, llvm::ArrayRef<Operand> xs, Fill fill);
  /// The op, checked by its own verifier, in no block; null when it is wrong.
  mlir::Operation *make(const mlir::OperationState &state);

  mlir::Block *block;
  llvm::DenseMap<mlir::Operation *, const void *> lists;
  DiagnosticCapture &diagnostics;
};

} // namespace tutti

#endif
