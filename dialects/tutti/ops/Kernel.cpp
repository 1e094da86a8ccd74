// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The form that pointwise and layout ops take inside a kernel.
#include "Family.h"

using namespace mlir;

namespace tutti {

LogicalResult MapOp::verify() {
  auto type = tensorOf(getResult());
  Block &body = getBody().front();
  if (getMaps().size() != getInputs().size() || body.getNumArguments() != getInputs().size())
    return emitOpError("expected one map and one argument of the body for each of ")
           << getInputs().size() << " operands, got " << getMaps().size() << " and " << body.getNumArguments();
  for (auto [i, input, attr, argument] :
       llvm::enumerate(getInputs(), getMaps().getAsRange<AffineMapAttr>(), body.getArguments())) {
    AffineMap map = attr.getValue();
    auto from = tensorOf(input);
    if (map.getNumDims() != type.getRank() || map.getNumResults() != from.getRank() ||
        map.getNumSymbols() > type.getNumDynamicDims())
      return emitOpError("expected map ") << i << " to take " << type.getRank() << " indices and up to "
                                          << type.getNumDynamicDims() << " sizes to " << from.getRank()
                                          << " indices, got " << attr;
    if (argument.getType() != from.getElementType())
      return emitOpError("expected argument ") << i << " of the body to be " << from.getElementType() << ", got "
                                               << argument.getType();
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().getTypes() != ArrayRef<Type>(type.getElementType()))
    return emitOpError("expected the body to yield one ") << type.getElementType();
  return success();
}

} // namespace tutti

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Kernel.cpp.inc"
