// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of ONNX ops.
#include "compiler/import/onnx/ops/Ops.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace tutti {

static constexpr int64_t any = std::numeric_limits<int64_t>::max();
static constexpr OnnxOp ops[] = {
#define ONNX_OP(name, since, inputs, outputs) {#name, since, inputs, outputs, import##name},
#include "compiler/import/onnx/ops/Ops.def"
};

const OnnxOp *findOp(llvm::StringRef name) {
  const OnnxOp *found = llvm::find_if(ops, [&](const OnnxOp &op) { return op.name == name; });
  return found == std::end(ops) ? nullptr : found;
}

} // namespace tutti
