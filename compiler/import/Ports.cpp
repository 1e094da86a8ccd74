// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be asked of an imported module.
#include "compiler/import/Ports.h"
#include "compiler/Error.h"

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

std::string describe(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  auto op = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  auto name = fused && !fused.getLocations().empty() ? dyn_cast<NameLoc>(fused.getLocations()[0]) : NameLoc();
  if (!op || !name)
    return "an op without a node";
  return "node " + quote(name.getName().str()) + " (" + op.str() + ")";
}

} // namespace tutti
