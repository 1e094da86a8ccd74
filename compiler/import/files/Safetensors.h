// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A safetensors file: named tensors, mapped and never copied.
#ifndef TUTTI_COMPILER_IMPORT_FILES_SAFETENSORS_H
#define TUTTI_COMPILER_IMPORT_FILES_SAFETENSORS_H

#include "compiler/import/files/MappedFile.h"

#include <map>
#include <string>
#include <vector>

namespace tutti {

/// github.com/huggingface/safetensors, "Format": 8 bytes with the length of a header, the header, a JSON object from
/// names to dtype, shape and place, and the tensors' bytes without gaps.
class SafetensorsFile {
public:
  struct Tensor {
    int32_t dataType = 0; ///< as ONNX numbers it
    std::vector<int64_t> dims;
    const char *data = nullptr; ///< aligned to nothing
    uint64_t bytes = 0;
    /// "float32 (6, 40)", for messages.
    std::string str() const;
  };

  /// Any other file, or an inconsistent or incomplete one, is an error with exit code `malformed`; a dtype that a later
  /// version of the format introduced is `unsupported`.
  static llvm::Expected<std::shared_ptr<SafetensorsFile>> open(llvm::StringRef path);

  std::map<std::string, Tensor> tensors;
  std::shared_ptr<MappedFile> mapped;
};

} // namespace tutti

#endif
