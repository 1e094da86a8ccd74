// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every pass takes for granted of a module.
#include "Model.h"
#include "Module.h"
#include "Tutti.h"

using namespace mlir;

namespace tutti {

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitError("expected function @" + function.getName() + " to have a body of one block");
  Block &body = function.getBody().front();
  if (!isa<func::ReturnOp>(body.getTerminator()))
    return body.getTerminator()->emitOpError("expected the body of function @" + function.getName() +
                                             " to end in a func.return");
  for (Type type : function.getArgumentTypes())
    if (std::optional<std::string> fault = faultOf(type))
      return function.emitError("an argument of function @" + function.getName() + ": " + *fault);
  for (Operation &op : body.without_terminator()) {
    if (op.getNumResults() == 0 || !llvm::is_contained({"tutti", "plan"}, op.getName().getDialectNamespace()))
      return op.emitOpError("is no op that a model is made of");
    for (Type type : op.getResultTypes())
      if (std::optional<std::string> fault = faultOf(type))
        return op.emitOpError("has " + *fault);
  }
  return success();
}

LogicalResult checkModel(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    if (!isa<SymbolOpInterface>(op) || isa<ModuleOp>(op))
      return op.emitOpError("is none that a model's module has, expected functions, parameters and kernels");
    if (auto function = dyn_cast<func::FuncOp>(op))
      if (failed(checkFunction(function)))
        return failure();
  }
  return success();
}

FailureOr<func::FuncOp> modelOf(ModuleOp module) {
  if (failed(checkModel(module)))
    return failure();
  if (auto function = module.lookupSymbol<func::FuncOp>("main"))
    return function;
  return module.emitError("expected a function @main, the model");
}

FailureOr<SmallVector<func::FuncOp>> groupFunctions(ModuleOp module) {
  FailureOr<func::FuncOp> first = modelOf(module);
  if (failed(first))
    return failure();
  SmallVector<func::FuncOp> groups{*first};
  for (size_t group = 1; group < getGroups(module).size(); ++group) {
    std::string name = "main." + std::to_string(group);
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function)
      return module.emitError("expected a function @" + name + ", the model of group ") << group;
    if (function.getFunctionType() != first->getFunctionType())
      return function.emitError("expected @" + name + " to take and give what @main does, ")
             << first->getFunctionType() << ", got " << function.getFunctionType();
    groups.push_back(function);
  }
  return groups;
}

} // namespace tutti
