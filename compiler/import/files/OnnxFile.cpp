// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens ONNX files.
#include "compiler/import/files/OnnxFile.h"
#include "compiler/import/files/WireScan.h"
#include "compiler/support/Error.h"
#include "runtime/schema/Digest.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tutti {

/// What a file is that is no ONNX model, if its first bytes tell, and what to do with it.
static llvm::StringRef otherKind(llvm::StringRef bytes) {
  if (bytes.starts_with("TUTT"))
    return "an artifact, which tutti-run runs";
  if (bytes.starts_with("\x93NUMPY"))
    return "a NumPy array, which --bind takes";
  if (bytes.starts_with("PK\x03\x04"))
    return "a zip archive, as torch.save and Keras write them; export the model to ONNX";
  if (bytes.starts_with("\x89HDF"))
    return "an HDF5 file; export the model to ONNX";
  return "";
}

/// The same error with the file's name in front.
static llvm::Error inFile(llvm::StringRef path, llvm::Error error) {
  return llvm::handleErrors(std::move(error), [&](const CompileError &e) {
    return fail(e.code, quote(path) + " is no ONNX model: " + e.message);
  });
}

llvm::Expected<std::unique_ptr<OnnxFile>> OnnxFile::open(llvm::StringRef path) {
  auto file = std::make_unique<OnnxFile>();
  llvm::Expected<std::shared_ptr<MappedFile>> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.takeError();
  file->mapped = *mapped;
  file->modelPath = path.str();
  file->folder = llvm::sys::path::parent_path(path).str();
  if (file->folder.empty())
    file->folder = ".";
  llvm::Expected<std::string> stripped = stripWeights({file->mapped->data(), size_t(file->mapped->size())});
  if (!stripped) {
    llvm::StringRef other = otherKind({file->mapped->data(), size_t(file->mapped->size())});
    if (other.empty())
      return inFile(path, stripped.takeError());
    llvm::consumeError(stripped.takeError());
    return fail(ExitCode::malformed, quote(path) + " is no ONNX model: it is " + other);
  }
  if (!file->message.ParseFromString(*stripped))
    return fail(ExitCode::malformed, quote(path) + " is no ONNX model: a message in it does not parse");
  if (!file->message.has_graph())
    return fail(ExitCode::malformed, quote(path) + " is no ONNX model: there is no graph in it");
  return file;
}

llvm::Error OnnxFile::checkNotRead(llvm::StringRef output) const {
  for (const auto &[path, file] : externals)
    if (bool same = false; !output.empty() && !llvm::sys::fs::equivalent(path, output, same) && same)
      return fail(ExitCode::usage,
                  quote(output) + " has tensors of a model: it would be written over; name another file");
  return llvm::Error::success();
}

std::string dataTypeName(int64_t dataType) {
  static constexpr const char *names[] = {
      "undefined", "float32",    "uint8",      "int8",         "uint16",         "int16",      "int32",
      "int64",     "string",     "bool",       "float16",      "float64",        "uint32",     "uint64",
      "complex64", "complex128", "bfloat16",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",     "int4",       "float4e2m1", "float8e8m0",   "uint2",          "int2"};
  if (dataType >= 0 && size_t(dataType) < std::size(names))
    return names[dataType];
  return "data type " + std::to_string(dataType);
}

Type elementOf(MLIRContext &context, int64_t dataType) {
  auto unsignedOf = [&](unsigned width) { return IntegerType::get(&context, width, IntegerType::Unsigned); };
  switch (dataType) {
  case onnx::TensorProto::FLOAT:
    return Float32Type::get(&context);
  case onnx::TensorProto::UINT8:
    return unsignedOf(8);
  case onnx::TensorProto::UINT16:
    return unsignedOf(16);
  case onnx::TensorProto::UINT32:
    return unsignedOf(32);
  case onnx::TensorProto::UINT64:
    return unsignedOf(64);
  case onnx::TensorProto::INT8:
    return IntegerType::get(&context, 8);
  case onnx::TensorProto::INT16:
    return IntegerType::get(&context, 16);
  case onnx::TensorProto::INT32:
    return IntegerType::get(&context, 32);
  case onnx::TensorProto::INT64:
    return IntegerType::get(&context, 64);
  case onnx::TensorProto::BOOL:
    return IntegerType::get(&context, 1);
  case onnx::TensorProto::FLOAT16:
    return Float16Type::get(&context);
  case onnx::TensorProto::DOUBLE:
    return Float64Type::get(&context);
  case onnx::TensorProto::BFLOAT16:
    return BFloat16Type::get(&context);
  default:
    return Type();
  }
}

int32_t dataTypeOf(Type element) {
  for (int32_t dataType = onnx::TensorProto::DataType_MIN; dataType <= onnx::TensorProto::DataType_MAX; ++dataType)
    if (elementOf(*element.getContext(), dataType) == element)
      return dataType;
  return onnx::TensorProto::UNDEFINED;
}

} // namespace tutti
