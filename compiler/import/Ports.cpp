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

/// Places of inputs or outputs by name.
using Places = std::map<std::string, unsigned>;

static Places placesOf(unsigned count, llvm::function_ref<StringAttr(unsigned)> nameAt) {
  Places places;
  for (unsigned i = 0; i < count; ++i)
    places[nameAt(i) ? nameAt(i).str() : ""] = i;
  return places;
}

/// The place of a name; an error that lists those there are.
static llvm::Expected<unsigned> find(const Places &places, StringRef what, const std::string &name) {
  if (auto found = places.find(name); found != places.end())
    return found->second;
  std::string known;
  for (const auto &[each, place] : places)
    known += (known.empty() ? "" : ", ") + shown(each);
  return fail(ExitCode::usage, "no " + what + " is called " + quote(name) + "; the " + what + "s are: " + known);
}

llvm::Error askPorts(func::FuncOp main, const std::map<std::string, bool> &perMember,
                     const std::map<std::string, std::vector<std::string>> &heads) {
  Places inputs =
      placesOf(main.getNumArguments(), [&](unsigned i) { return main.getArgAttrOfType<StringAttr>(i, "tutti.name"); });
  Places outputs =
      placesOf(main.getNumResults(), [&](unsigned i) { return main.getResultAttrOfType<StringAttr>(i, "tutti.name"); });
  Builder b(main.getContext());
  for (const auto &[name, hasAxis] : perMember) {
    llvm::Expected<unsigned> place = find(inputs, "input", name);
    if (!place)
      return place.takeError();
    if (hasAxis)
      main.setArgAttr(*place, "tutti.per_member", b.getUnitAttr());
  }
  for (const auto &[name, own] : heads) {
    llvm::Expected<unsigned> place = find(outputs, "output", name);
    if (!place)
      return place.takeError();
    SmallVector<StringRef> refs(own.begin(), own.end());
    main.setResultAttr(*place, "tutti.heads", b.getStrArrayAttr(refs));
  }
  return llvm::Error::success();
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
