// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops of the dialect put into a member's module, or computed at once where their operands are constants.
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
  /// What list of the member a constant that `value` made has: where its numbers lie; null for any other op.
  const void *listOf(mlir::Operation *constant) const { return lists.lookup(constant); }

  /// The elements of a constant; nothing and a problem where they are too many to look through.
  std::optional<HostTensor> elementsOf(const Operand &constant);
  /// The same of what may be a constant: nothing where it is none, or where there is no room to look. Whoever decides
  /// by it says so (setRead).
  std::optional<HostTensor> known(const Operand &x);
  std::optional<HostTensor> known(ConstantOp op);
  /// The number that a scalar constant, or the value of one, is.
  std::optional<double> numberOf(const Operand &x) const;
  /// As setRead() of what a constant, or the value of one, is of.
  void setRead(const Operand &x) const;

protected:
  /// Sets an op's attributes before it is made.
  using Fill = llvm::function_ref<void(mlir::OperationState &)>;
  /// Attributes are named by the fields of the op's Properties, in the order of the alphabet; one that it may lack is
  /// null where it has none. `work`: the steps of computing it now, of which 16 cost as much as an element.
  template <typename Op>
  Operand op(mlir::RankedTensorType type, llvm::ArrayRef<Operand> xs, typename Op::Properties attributes = {},
             int64_t work = 0) {
    auto fill = [&](mlir::OperationState &state) { state.useProperties(attributes); };
    return op(Op::getOperationName(), type, xs, fill, work);
  }
  /// An op that is known by name: without attributes, or with those that `fill` sets.
  Operand op(llvm::StringRef name, mlir::RankedTensorType type, llvm::ArrayRef<Operand> xs, Fill fill = nullptr,
             int64_t work = 0);
  mlir::DenseI64ArrayAttr numbers(llvm::ArrayRef<int64_t> values);
  mlir::IntegerAttr number(int64_t value);
  /// Null where it is not set.
  mlir::UnitAttr flag(bool isSet);
  /// Whether a shape is one that we can hold.
  bool fits(llvm::ArrayRef<Size> sizes);

private:
  /// Whether to compute the result now; takes it out of the budget.
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
