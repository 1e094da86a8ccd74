// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over a mapped ONNX file that finds where its tensors' bytes lie.
#ifndef TUTTI_COMPILER_IMPORT_FILES_WIRESCAN_H
#define TUTTI_COMPILER_IMPORT_FILES_WIRESCAN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tutti {

/// A copy of a serialised ModelProto in which every `raw_data` of an initializer and of a tensor attribute is
/// replaced by its place in `file` (raw_offset, raw_bytes), so that parsing the copy touches no weight. Documentation
/// and shape hints are left out. Bytes that are no such message: exit code `malformed`.
llvm::Expected<std::string> stripWeights(llvm::StringRef file);

} // namespace tutti

#endif
