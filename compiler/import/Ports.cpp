// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matches requests by name with the ports of an imported module.
#include "compiler/import/Ports.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Heads.h"
#include "dialects/tutti/Ports.h"
#include "runtime/support/FileName.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tutti {

func::FuncOp mainOf(ModuleOp module) { return cast<func::FuncOp>(SymbolTable::lookupSymbolIn(module, "main")); }

Ports portsOf(func::FuncOp main) {
  Ports ports;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    ports.inputs.push_back(inputName(main, i).str());
    ports.types.push_back(cast<RankedTensorType>(main.getArgumentTypes()[i]));
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    ports.outputs.push_back(outputName(main, i).str());
  ports.all = ports.inputs;
  ports.ranges = getSizeRanges(main->getParentOfType<ModuleOp>());
  return ports;
}

Ports portsOf(const MemberModel &model) {
  Ports ports = portsOf(mainOf(*model.module));
  ports.all = model.allInputs;
  return ports;
}

llvm::Expected<unsigned> placeOf(ArrayRef<std::string> names, StringRef what, StringRef name) {
  std::vector<size_t> found = rt::findByName(std::vector<std::string_view>(names.begin(), names.end()), name);
  if (found.size() == 1)
    return found.front();
  if (found.size() > 1)
    return fail(ExitCode::usage, quote(name) + " could be " + what + " " + quote(names[found[0]]) + " or " +
                                     quote(names[found[1]]) + "; write its name as it is");
  std::string known;
  for (const std::string &each : names)
    known += (known.empty() ? "" : ", ") + shown(each);
  return fail(ExitCode::usage, "no " + what + " is called " + quote(name) + "; the " + what + "s are: " + known);
}

/// Refuses outputs that would share a file: tutti-run writes one for each head of each output.
static llvm::Error checkFiles(func::FuncOp main, ArrayRef<std::string> outputs) {
  std::map<std::string, std::string> taken;
  for (auto [place, name] : llvm::enumerate(outputs)) {
    for (StringRef head : headsAsked(main, place)) {
      std::string port = head == membersHead ? quote(name) : quote(name) + " (" + head.str() + ")";
      std::string file = rt::outputFile(name, head);
      if (auto [other, fresh] = taken.try_emplace(file, port); !fresh)
        return fail(ExitCode::usage, "outputs " + other->second + " and " + port + " would both be written to " +
                                         quote(file) + ": rename one of them in the model");
    }
  }
  return llvm::Error::success();
}

llvm::Error askPorts(func::FuncOp main, const std::map<std::string, bool> &perMember,
                     const std::map<std::string, std::vector<std::string>> &heads) {
  Ports ports = portsOf(main);
  auto twice = [](StringRef flag, StringRef name) {
    return fail(ExitCode::usage, flag + " " + shown(name) + " is given twice, in two spellings");
  };
  llvm::SmallDenseSet<unsigned> asked;
  for (const auto &[name, hasAxis] : perMember) {
    llvm::Expected<unsigned> place = placeOf(ports.inputs, "input", name);
    if (!place)
      return place.takeError();
    if (!asked.insert(*place).second)
      return twice("--input", ports.inputs[*place]);
    if (hasAxis)
      setPerMember(main, *place);
  }
  asked.clear();
  for (const auto &[name, own] : heads) {
    llvm::Expected<unsigned> place = placeOf(ports.outputs, "output", name);
    if (!place)
      return place.takeError();
    if (!asked.insert(*place).second)
      return twice("--output", ports.outputs[*place]);
    auto type = cast<RankedTensorType>(main.getResultTypes()[*place]);
    if (llvm::is_contained(own, "vote") && isa<FloatType>(type.getElementType()) && type.getRank() > 0)
      if (Size last = getSizes(type).back(); !last.isFixed())
        return fail(ExitCode::unsupported, "--output " + shown(name) +
                                               "=vote: members vote for a class, a place along the output's last axis, "
                                               "but that is the dimension " +
                                               quote(last.str()) + ", whose length each call decides");
    askHeads(main, *place, SmallVector<StringRef>(own.begin(), own.end()));
  }
  return checkFiles(main, ports.outputs);
}

} // namespace tutti
