// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of everything unsupported in a model, all at once.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_REPORT_H
#define TUTTI_COMPILER_IMPORT_ONNX_REPORT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tutti {

/// An op that is not imported, and why; nodes for which all of this but the name agrees are one entry.
struct UnsupportedOp {
  std::string op;     ///< "GRU", "com.microsoft::Attention"
  int64_t opset;      ///< the version of its domain that the file imports
  int64_t count;      ///< nodes
  std::string node;   ///< the first one's name
  std::string types;  ///< the first one's input types, where they are known
  std::string reason; ///< what is not supported
  std::string advice; ///< what to do
};

/// One line an entry, for people.
std::string describe(llvm::StringRef file, llvm::ArrayRef<UnsupportedOp> ops);
/// A JSON array with one object an entry.
std::string toJson(llvm::ArrayRef<UnsupportedOp> ops);

} // namespace tutti

#endif
