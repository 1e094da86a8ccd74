// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of an ONNX file as views of bytes.
#include "compiler/import/Limits.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/support/Error.h"
#include "runtime/schema/Digest.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace mlir;

namespace tutti {

static std::string nameOf(const onnx::TensorProto &proto) {
  return proto.name().empty() ? "a constant" : "tensor " + quote(proto.name());
}

/// Decodes elements from one of the message's number fields, each narrowed to `To`.
template <typename To, typename Field>
static std::shared_ptr<std::vector<char>> decode(const Field &field, int64_t count) {
  if (field.size() != count)
    return nullptr;
  auto buffer = std::make_shared<std::vector<char>>(count * sizeof(To));
  for (int64_t i = 0; i < count; ++i) {
    To value = static_cast<To>(field.Get(i));
    std::memcpy(buffer->data() + i * sizeof(To), &value, sizeof(To));
  }
  return buffer;
}

static std::shared_ptr<std::vector<char>> decodeFields(const onnx::TensorProto &proto, int64_t count) {
  switch (proto.data_type()) {
  case onnx::TensorProto::FLOAT:
    return decode<float>(proto.float_data(), count);
  case onnx::TensorProto::INT32:
    return decode<int32_t>(proto.int32_data(), count);
  case onnx::TensorProto::UINT8:
    return decode<uint8_t>(proto.int32_data(), count);
  case onnx::TensorProto::INT8:
    return decode<int8_t>(proto.int32_data(), count);
  case onnx::TensorProto::BOOL: // any nonzero number is true
    return decode<bool>(proto.int32_data(), count);
  case onnx::TensorProto::UINT16:
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::FLOAT16: // as the 16 bits of their pattern
  case onnx::TensorProto::BFLOAT16:
    return decode<uint16_t>(proto.int32_data(), count);
  case onnx::TensorProto::INT64:
    return decode<int64_t>(proto.int64_data(), count);
  case onnx::TensorProto::UINT32:
    return decode<uint32_t>(proto.uint64_data(), count);
  case onnx::TensorProto::UINT64:
    return decode<uint64_t>(proto.uint64_data(), count);
  case onnx::TensorProto::DOUBLE:
    return decode<double>(proto.double_data(), count);
  default:
    return nullptr;
  }
}

llvm::Expected<WeightSource> OnnxFile::tensor(MLIRContext &context, const onnx::TensorProto &proto) {
  Type element = elementOf(context, proto.data_type());
  if (!element)
    return fail(ExitCode::unsupported,
                nameOf(proto) + " is of type " + dataTypeName(proto.data_type()) + ", which is not supported yet");
  if (proto.has_segment())
    return fail(ExitCode::unsupported, nameOf(proto) + " is stored in segments, which is not supported");
  SmallVector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  if (dims.size() > mostRank)
    return fail(ExitCode::unsupported, nameOf(proto) + " is of rank " + llvm::Twine(dims.size()));
  std::optional<int64_t> count = countOf(dims);
  int64_t bytes;
  if (!count || llvm::MulOverflow(*count, storageBytes(element), bytes))
    return fail(ExitCode::malformed, nameOf(proto) + " has dims that no memory holds");

  WeightSource view;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    llvm::Expected<WeightSource> outside = external(proto, element, bytes);
    if (!outside)
      return outside.takeError();
    view = *outside;
  } else if (proto.has_raw_bytes()) {
    if (proto.raw_bytes() != uint64_t(bytes))
      return fail(ExitCode::malformed, nameOf(proto) + " has " + llvm::Twine(proto.raw_bytes()) +
                                           " bytes of data where its dims ask for " + llvm::Twine(bytes));
    view = denseView(mapped, mapped->data() + proto.raw_offset(), element, dims);
  } else if (auto buffer = decodeFields(proto, *count)) {
    view = denseView(buffer, buffer->data(), element, dims);
  } else {
    return fail(ExitCode::malformed,
                nameOf(proto) + " does not have the " + llvm::Twine(*count) + " elements that its dims ask for");
  }
  return asInitializer(std::move(view), proto.name());
}

llvm::Expected<OnnxFile::Outside> OnnxFile::outsideOf(const onnx::TensorProto &proto) {
  namespace path = llvm::sys::path;
  Outside outside;
  std::string &location = outside.name;
  for (const onnx::StringStringEntryProto &entry : proto.external_data()) {
    llvm::StringRef value = entry.value();
    if (entry.key() == "location")
      location = value;
    else if ((entry.key() == "offset" && value.getAsInteger(10, outside.offset)) ||
             (entry.key() == "length" && value.getAsInteger(10, outside.length.emplace())))
      return fail(ExitCode::malformed,
                  nameOf(proto) + ": the " + entry.key() + " of its external data is no number: " + quote(value));
  }
  if (location.empty())
    return fail(ExitCode::malformed, nameOf(proto) + " lies outside of the file, which does not say where");
  auto leaves = [&] {
    return fail(ExitCode::trust, nameOf(proto) + " lies in " + quote(location) +
                                     ", which leaves the model's folder; only files in it are read");
  };
  if (path::is_absolute(location) || location.find('\0') != std::string::npos ||
      llvm::is_contained(llvm::make_range(path::begin(location), path::end(location)), ".."))
    return leaves();
  SmallString<256> full(folder), home, real;
  path::append(full, location);
  if (llvm::sys::fs::real_path(folder, home))
    return fail(ExitCode::usage, "cannot read the folder " + quote(folder));
  if (std::error_code error = llvm::sys::fs::real_path(full, real))
    return fail(ExitCode::usage,
                nameOf(proto) + " lies in " + quote(full.str()) + ", which cannot be opened: " + error.message());
  if (!home.ends_with("/"))
    home += "/";
  // Model caches keep files side by side elsewhere: if the model's file is a link, its target's folder is allowed, too.
  SmallString<256> model;
  if (!real.str().starts_with(home) &&
      (llvm::sys::fs::real_path(modelPath, model) || path::parent_path(real) != path::parent_path(model)))
    return leaves();

  std::shared_ptr<MappedFile> &file = externals[std::string(real)];
  if (!file) {
    llvm::Expected<std::shared_ptr<MappedFile>> opened = MappedFile::open(real);
    if (!opened)
      return opened.takeError();
    file = *opened;
  }
  outside.file = file;
  outside.path = real.str();
  return outside;
}

llvm::Expected<WeightSource> OnnxFile::external(const onnx::TensorProto &proto, Type element, uint64_t bytes) {
  llvm::Expected<Outside> outside = outsideOf(proto);
  if (!outside)
    return outside.takeError();
  uint64_t length = outside->length.value_or(bytes), offset = outside->offset, size = outside->file->size();
  if (length != bytes)
    return fail(ExitCode::malformed, nameOf(proto) + " has " + llvm::Twine(length) +
                                         " bytes of external data where its dims ask for " + llvm::Twine(bytes));
  if (offset > size || bytes > size - offset)
    return fail(ExitCode::malformed, quote(outside->path) + " is too short: " + nameOf(proto) + " needs bytes " +
                                         llvm::Twine(offset) + " to " + llvm::Twine(offset + bytes) + " of " +
                                         llvm::Twine(size));
  SmallVector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  return denseView(outside->file, outside->file->data() + offset, element, dims);
}

using TensorVisitor = llvm::function_ref<void(const onnx::TensorProto &)>;
static void forEachTensor(const onnx::GraphProto &graph, TensorVisitor visit);
static void forEachTensor(const onnx::NodeProto &node, TensorVisitor visit) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_t())
      visit(attribute.t());
    if (attribute.has_g())
      forEachTensor(attribute.g(), visit);
    for (const onnx::GraphProto &graph : attribute.graphs())
      forEachTensor(graph, visit);
  }
}
static void forEachTensor(const onnx::GraphProto &graph, TensorVisitor visit) {
  llvm::for_each(graph.initializer(), visit);
  for (const onnx::NodeProto &node : graph.node())
    forEachTensor(node, visit);
}

uint64_t OnnxFile::digest() {
  if (knownDigest)
    return *knownDigest;
  struct Parts {
    std::shared_ptr<MappedFile> file;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
  };
  std::map<std::string, Parts> outside;
  auto add = [&](const onnx::TensorProto &proto) {
    if (proto.data_location() != onnx::TensorProto::EXTERNAL)
      return;
    llvm::Expected<Outside> place = outsideOf(proto);
    if (!place)
      return llvm::consumeError(place.takeError());
    uint64_t size = place->file->size(), begin = std::min(place->offset, size);
    Parts &parts = outside[place->name];
    parts.file = place->file;
    parts.ranges.emplace_back(begin, begin + std::min(place->length.value_or(size), size - begin));
  };
  forEachTensor(graph(), add);
  for (const onnx::FunctionProto &function : message.functions())
    for (const onnx::NodeProto &node : function.node())
      forEachTensor(node, add);
  knownDigest = rt::xxh64(mapped->data(), mapped->size());
  if (outside.empty())
    return *knownDigest;
  rt::Digest all;
  all.update(&*knownDigest, sizeof(*knownDigest));
  for (auto &[name, parts] : outside) {
    llvm::sort(parts.ranges);
    uint64_t done = 0; // ranges may overlap
    for (auto [begin, end] : parts.ranges) {
      begin = std::max(begin, done);
      done = std::max(done, end);
      if (begin < end)
        all.update(parts.file->data() + begin, end - begin);
    }
  }
  knownDigest = all.finish();
  return *knownDigest;
}

} // namespace tutti
