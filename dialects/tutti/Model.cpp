// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every pass takes for granted of a module.
#include "Model.h"
#include "Module.h"
#include "Sizes.h"
#include "Tutti.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tutti {

bool isElement(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return false;
  return llvm::is_contained({8, 16, 32, 64}, integer.getWidth()) || integer.isSignlessInteger(1);
}

std::string textOf(Type type) {
  constexpr size_t most = 200;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

std::optional<TypeFault> faultOf(Type given) {
  auto type = dyn_cast<RankedTensorType>(given);
  auto text = [&] { return textOf(given); };
  if (!type)
    return TypeFault{"a value of type " + text() + ", expected a ranked tensor"};
  if (!isElement(type.getElementType()))
    return TypeFault{"elements of type " + text() + " are not supported", true};
  auto names = dyn_cast_or_null<ArrayAttr>(type.getEncoding());
  if (type.getEncoding() && (!names || names.empty()))
    return TypeFault{text() + " has an encoding that does not list sizes"};
  if ((names ? names.size() : 0) != size_t(type.getNumDynamicDims()))
    return TypeFault{text() + ": the encoding names the size of each '?', expected " +
                     std::to_string(type.getNumDynamicDims()) + " names"};
  for (Attribute name : names ? names.getValue() : ArrayRef<Attribute>()) {
    auto written = dyn_cast<StringAttr>(name);
    std::optional<Size> size = written ? Size::parse(written.getValue()) : std::nullopt;
    if (!size || size->isFixed() || size->getFactor() < 1)
      return TypeFault{text() + ": an encoding lists sizes such as \"batch\" or \"4*batch\""};
    // Types are equal where their texts are.
    if (size->str() != written.getValue())
      return TypeFault{text() + ": an encoding writes \"" + written.str() + "\" as \"" + size->str() + "\""};
  }
  // Others are counted where memory is given to them; of these the product says nothing of the strides.
  if (Sizes sizes = getSizes(type); llvm::is_contained(sizes, Size(0))) {
    llvm::erase(sizes, Size(0));
    if (!product(sizes))
      return TypeFault{text() + " has no elements, and axes whose product leaves 63 bits"};
  }
  return std::nullopt;
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitError("expected function @" + function.getName() + " to have a body of one block");
  Block &body = function.getBody().front();
  if (!isa<func::ReturnOp>(body.getTerminator()))
    return body.getTerminator()->emitOpError("expected the body of function @" + function.getName() +
                                             " to end in a func.return");
  for (Type type : function.getArgumentTypes())
    if (std::optional<TypeFault> fault = faultOf(type))
      return function.emitError("an argument of function @" + function.getName() + ": " + fault->what);
  for (Operation &op : body.without_terminator()) {
    StringRef dialect = op.getName().getDialectNamespace();
    if (op.getNumResults() == 0 || !llvm::is_contained({"tutti", "plan", "func"}, dialect))
      return op.emitOpError("is no op that a model is made of");
    for (Type type : op.getResultTypes())
      if (std::optional<TypeFault> fault = faultOf(type))
        return op.emitOpError(fault->what);
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
  llvm::DenseSet<Type> known;
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    if (!isa<TensorType>(type) || !known.insert(type).second)
      return success();
    std::optional<TypeFault> fault = faultOf(type);
    return fault ? op->emitOpError(fault->what) : success();
  };
  WalkResult walked = module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          if (failed(check(op, type)))
            return WalkResult::interrupt();
    auto param = dyn_cast<ParamOp>(op);
    return param && failed(check(op, param.getType())) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
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
