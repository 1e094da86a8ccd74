// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ops that choose elements by index.
#include "compiler/import/onnx/Ops.h"

namespace tutti {

void importGather(Node &n) {
  Operand x = n.in(0), indices = n.in(1);
  if (!x || !indices)
    return;
  if (!llvm::isa<mlir::IntegerType>(indices.element()) || indices.element().isInteger(1)) {
    n.emit.malformed("indices of type " + elementName(indices.element()));
    return;
  }
  if (std::optional<int64_t> axis = n.axis(n.intAttr("axis", 0), x.rank()))
    n.set(0, n.emit.gather(x, indices, *axis));
}

} // namespace tutti
