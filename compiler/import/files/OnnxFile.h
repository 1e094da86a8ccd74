// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ONNX file: its graph as messages, its tensors as views of mapped bytes.
#ifndef TUTTI_COMPILER_IMPORT_FILES_ONNXFILE_H
#define TUTTI_COMPILER_IMPORT_FILES_ONNXFILE_H

#include "compiler/import/Model.h"
#include "compiler/import/files/MappedFile.h"
#include "onnx.pb.h"

namespace tutti {

/// Keeps the file mapped. Whatever an OnnxFile returns keeps its bytes alive by itself.
class OnnxFile {
public:
  /// Exit code `usage` where there is no such file, `malformed` where it is no ONNX model.
  static llvm::Expected<std::unique_ptr<OnnxFile>> open(llvm::StringRef path);

  const onnx::ModelProto &model() const { return message; }
  const onnx::GraphProto &graph() const { return message.graph(); }
  uint64_t size() const { return mapped->size(); }
  /// XXH64 of the file's bytes. If tensors lie in other files, it covers the parts of those files that the tensors
  /// name, too, ordered by file name and offset; a file that cannot be read contributes nothing.
  uint64_t digest();

  /// The tensor's elements: a view of the mapped file or of an external one where its bytes lie there, else a decoded
  /// copy. Checks that there are exactly as many bytes as the dims ask for.
  llvm::Expected<WeightSource> tensor(mlir::MLIRContext &context, const onnx::TensorProto &proto);

  /// An error with exit code `usage` if tensors have been read from the file `output`.
  llvm::Error checkNotRead(llvm::StringRef output) const;

private:
  /// The place of a tensor that lies in another file.
  struct Outside {
    std::shared_ptr<MappedFile> file;
    std::string name, path; ///< as in the model, and resolved
    uint64_t offset = 0;
    std::optional<uint64_t> length; ///< in bytes, if the model says so
  };
  llvm::Expected<Outside> outsideOf(const onnx::TensorProto &proto);
  llvm::Expected<WeightSource> external(const onnx::TensorProto &proto, mlir::Type element, uint64_t bytes);

  std::string modelPath, folder;
  std::shared_ptr<MappedFile> mapped;
  std::map<std::string, std::shared_ptr<MappedFile>> externals;
  std::optional<uint64_t> knownDigest;
  onnx::ModelProto message;
};

/// The element type of an ONNX data type, as wide as an attribute may be; null for unsupported ones.
mlir::Type elementOf(mlir::MLIRContext &context, int64_t dataType);
/// The ONNX data type of an element type; 0 for unsupported ones.
int32_t dataTypeOf(mlir::Type element);
/// "float32", "string": what every message calls an ONNX data type, NumPy's word where it has one.
std::string dataTypeName(int64_t dataType);
/// Whether a dimension is a number.
inline bool isFixed(const onnx::TensorShapeProto::Dimension &dim) {
  return dim.value_case() == onnx::TensorShapeProto::Dimension::kDimValue && dim.dim_value() >= 0;
}

} // namespace tutti

#endif
