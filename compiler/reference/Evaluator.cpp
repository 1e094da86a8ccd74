// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's driver: each op's own `evaluate`, in the order of the function.
#include "compiler/reference/Evaluator.h"

#include "compiler/support/Error.h"

using namespace mlir;

namespace tutti {

/// Checks an input against its argument's type, and learns the sizes that the type names.
static llvm::Error bindInput(unsigned index, RankedTensorType type, const HostTensor &input, EvaluateContext &context) {
  std::string expected = str(getSizes(type));
  auto wrong = [&](const Twine &given) {
    return fail(ExitCode::usage, "input " + Twine(index) + ": expected " + expected + ", got " + given);
  };
  if (input.element != type.getElementType())
    return wrong("another element type");
  if (static_cast<int64_t>(input.dims.size()) != type.getRank())
    return wrong(Twine(input.dims.size()) + " axes");
  for (auto [axis, size] : llvm::enumerate(getSizes(type)))
    if (size.getFactor() == 1 && size.getSymbols().size() == 1)
      context.sizes.try_emplace(size.getSymbols()[0], input.dims[axis]);
  SmallVector<int64_t> dims = context.dimsOf(type);
  for (auto [axis, length] : llvm::enumerate(dims))
    if (length != input.dims[axis])
      return wrong("length " + Twine(input.dims[axis]) + " of axis " + Twine(axis) + ", which is " + Twine(length));
  return llvm::Error::success();
}

llvm::Expected<std::vector<HostTensor>> evaluate(func::FuncOp function, ArrayRef<HostTensor> inputs,
                                                 EvaluateContext &context, const EvaluateHook &hook) {
  if (inputs.size() != function.getNumArguments())
    return fail(ExitCode::usage,
                "expected " + Twine(function.getNumArguments()) + " inputs, got " + Twine(inputs.size()));
  llvm::DenseMap<Value, HostTensor> values;
  llvm::DenseMap<Value, unsigned> usesLeft;
  auto define = [&](Value value, HostTensor tensor) {
    usesLeft[value] = std::distance(value.use_begin(), value.use_end());
    values[value] = std::move(tensor);
  };
  // A value goes with its last use: a model's intermediates would not all fit at once.
  auto take = [&](Value value) { return --usesLeft[value] == 0 ? std::move(values[value]) : values[value]; };
  for (auto [index, argument, input] : llvm::enumerate(function.getArguments(), inputs)) {
    if (llvm::Error error = bindInput(index, typeOf(argument), input, context))
      return error;
    define(argument, input);
  }

  DiagnosticCapture diagnostics(function.getContext());
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator()) {
    auto evaluable = dyn_cast<EvaluateOpInterface>(op);
    if (!evaluable)
      return fail(ExitCode::unsupported, quote(op.getName().getStringRef()) + " has no reference");
    std::vector<HostTensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(take(operand));
    FailureOr<HostTensor> result = evaluable.evaluate(context, operands);
    if (failed(result))
      return fail(ExitCode::unsupported, quote(op.getName().getStringRef()) + " " + diagnostics.take());
    if (hook)
      if (std::optional<HostTensor> other = hook(op, operands, *result))
        result = std::move(*other);
    define(op.getResult(0), std::move(*result));
  }
  std::vector<HostTensor> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(take(value));
  return results;
}

} // namespace tutti
