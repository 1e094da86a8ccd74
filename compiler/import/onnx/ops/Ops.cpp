// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of ONNX ops.
#include "compiler/import/onnx/ops/Ops.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace tutti {

static constexpr int64_t any = std::numeric_limits<int64_t>::max();
static constexpr OnnxOp ops[] = {
#define ONNX_OP(name, since, inputs, outputs) {#name, since, inputs, outputs, import##name},
#define ONNX_ML_OP(name, since, inputs, outputs) {"ai.onnx.ml::" #name, since, inputs, outputs, import##name},
#define ONNX_RUNTIME_OP(name, inputs, outputs) {"com.microsoft::" #name, 1, inputs, outputs, importRuntime##name},
#define ONNX_SEQUENCE_OP(name, since, inputs, outputs) {#name, since, inputs, outputs, import##name, true},
#define ONNX_WIDE_OP(name, since, inputs, outputs) {#name, since, inputs, outputs, import##name, false, true},
#define ONNX_RUNTIME_WIDE_OP(name, inputs, outputs)                                                                    \
  {"com.microsoft::" #name, 1, inputs, outputs, importRuntime##name, false, true},
#include "compiler/import/onnx/ops/Ops.def"
};

std::string qualified(llvm::StringRef domain, llvm::StringRef name) {
  return domain.empty() ? name.str() : (domain + "::" + name).str();
}

const OnnxOp *findOp(llvm::StringRef qualified) {
  const OnnxOp *found = llvm::find_if(ops, [&](const OnnxOp &op) { return op.name == qualified; });
  return found == std::end(ops) ? nullptr : found;
}

} // namespace tutti
