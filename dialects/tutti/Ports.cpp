// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attributes of inputs and outputs as values.
#include "Ports.h"
#include "Heads.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tutti {

StringAttr inputName(func::FuncOp main, unsigned input) { return main.getArgAttrOfType<StringAttr>(input, portName); }
void setInputName(func::FuncOp main, unsigned input, const Twine &name) {
  main.setArgAttr(input, portName, StringAttr::get(main.getContext(), name));
}
StringAttr outputName(func::FuncOp main, unsigned output) {
  return main.getResultAttrOfType<StringAttr>(output, portName);
}
void setOutputName(func::FuncOp main, unsigned output, const Twine &name) {
  main.setResultAttr(output, portName, StringAttr::get(main.getContext(), name));
}

bool isPerMember(func::FuncOp main, unsigned input) { return bool(main.getArgAttr(input, perMemberName)); }
void setPerMember(func::FuncOp main, unsigned input) {
  main.setArgAttr(input, perMemberName, UnitAttr::get(main.getContext()));
}

SmallVector<StringRef> headsAsked(func::FuncOp main, unsigned output) {
  if (auto asked = main.getResultAttrOfType<ArrayAttr>(output, headsName))
    return llvm::to_vector(asked.getAsValueRange<StringAttr>());
  return {membersHead};
}
void askHeads(func::FuncOp main, unsigned output, ArrayRef<StringRef> heads) {
  main.setResultAttr(output, headsName, Builder(main.getContext()).getStrArrayAttr(heads));
}

StringAttr headOf(func::FuncOp main, unsigned output) { return main.getResultAttrOfType<StringAttr>(output, headName); }
DictionaryAttr withHead(func::FuncOp main, unsigned output, StringRef head) {
  NamedAttrList port(main.getResultAttrDict(output));
  port.erase(headsName);
  port.set(headName, StringAttr::get(main.getContext(), head));
  return port.getDictionary(main.getContext());
}

void eraseWhatIsAsked(func::FuncOp main) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.removeArgAttr(i, perMemberName);
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    main.removeResultAttr(i, headsName);
}

} // namespace tutti
