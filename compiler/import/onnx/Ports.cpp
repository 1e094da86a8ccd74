// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of a file before it is imported, and of an imported module.
#include "compiler/import/Dims.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/import/mlir/MlirFile.h"
#include "compiler/import/onnx/Importer.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tutti {

func::FuncOp mainOf(ModuleOp module) { return cast<func::FuncOp>(SymbolTable::lookupSymbolIn(module, "main")); }

Ports portsOf(func::FuncOp main) {
  Ports ports;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    ports.inputs.push_back(main.getArgAttrOfType<StringAttr>(i, "tutti.name").str());
    ports.types.push_back(cast<RankedTensorType>(main.getArgumentTypes()[i]));
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    ports.outputs.push_back(main.getResultAttrOfType<StringAttr>(i, "tutti.name").str());
  ports.all = ports.inputs;
  return ports;
}

Ports portsOf(const MemberModel &model) {
  Ports ports = portsOf(mainOf(*model.module));
  ports.all = model.allInputs;
  return ports;
}

llvm::Expected<std::map<std::string, std::vector<std::string>>> symbolsOf(StringRef path) {
  if (isMlir(path))
    return mlirSymbols(path);
  llvm::Expected<std::unique_ptr<OnnxFile>> file = OnnxFile::open(path);
  if (!file)
    return file.takeError();
  std::map<std::string, std::vector<std::string>> symbols;
  for (const onnx::ValueInfoProto &input : (*file)->graph().input()) {
    std::vector<std::string> &names = symbols[input.name()];
    for (auto [axis, dim] : llvm::enumerate(input.type().tensor_type().shape().dim())) {
      bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
      names.push_back(fixed ? "" : dimName(dim.dim_param(), input.name(), axis));
    }
  }
  return symbols;
}

std::string describe(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  auto op = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  auto name = fused && !fused.getLocations().empty() ? dyn_cast<NameLoc>(fused.getLocations()[0]) : NameLoc();
  if (!op || !name)
    return "an op without a node";
  return "node '" + name.getName().str() + "' (" + op.str() + ")";
}

} // namespace tutti
