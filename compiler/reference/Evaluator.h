// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference: a model function computed op by op on host tensors.
#ifndef TUTTI_COMPILER_REFERENCE_EVALUATOR_H
#define TUTTI_COMPILER_REFERENCE_EVALUATOR_H

#include "dialects/tutti/Tutti.h"

#include "llvm/Support/Error.h"

namespace tutti {

/// Called after each op with its operands and its result. A returned tensor replaces the result, so that an op-by-op
/// comparison can continue from its own values.
using EvaluateHook = std::function<std::optional<HostTensor>(mlir::Operation &op, llvm::ArrayRef<HostTensor> operands,
                                                             const HostTensor &result)>;

/// The results of `function`, whose body is one block of tutti ops, for these inputs. The sizes that its arguments name
/// are read from the inputs and added to `context.sizes`; those that only the weights or the results have must be
/// there. Errors: a count, type or shape of inputs that does not fit, an op that has no reference.
llvm::Expected<std::vector<HostTensor>> evaluate(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs,
                                                 EvaluateContext &context, const EvaluateHook &hook = {});

} // namespace tutti

#endif
