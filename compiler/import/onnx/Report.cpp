// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of unsupported ops.
#include "compiler/import/onnx/Report.h"
#include "compiler/support/Error.h"

#include "llvm/Support/JSON.h"

namespace tutti {

std::string describe(llvm::StringRef file, llvm::ArrayRef<UnsupportedOp> ops) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << quote(file) << " needs what is not supported:";
  for (const UnsupportedOp &op : ops) {
    os << "\n  " << shown(op.op) << " (opset " << op.opset << "), " << op.count << (op.count == 1 ? " node" : " nodes")
       << ", first " << quote(op.node);
    if (!op.types.empty())
      os << " of " << op.types;
    os << ": " << op.reason;
    if (!op.advice.empty())
      os << "; " << op.advice;
  }
  return text;
}

std::string toJson(llvm::ArrayRef<UnsupportedOp> ops) {
  llvm::json::Array array;
  // A file's names are bytes; JSON wants UTF-8.
  auto text = [](const std::string &s) { return llvm::json::fixUTF8(s); };
  for (const UnsupportedOp &op : ops)
    array.push_back(llvm::json::Object{{"op", text(op.op)},
                                       {"opset", op.opset},
                                       {"count", op.count},
                                       {"node", text(op.node)},
                                       {"types", text(op.types)},
                                       {"reason", text(op.reason)},
                                       {"advice", text(op.advice)}});
  std::string result;
  llvm::raw_string_ostream(result) << llvm::json::Value(std::move(array));
  return result;
}

} // namespace tutti
