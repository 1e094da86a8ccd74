// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of protobuf's wire format that is needed to skip weights.
#include "compiler/import/files/WireScan.h"
#include "compiler/import/Limits.h"
#include "compiler/support/Error.h"
#include "onnx.pb.h"

#include <optional>

namespace tutti {
namespace {

/// The messages that are walked; all others are copied unchanged.
enum class Message {
  model,
  function,
  graph,
  node,
  attribute,
  tensor,
  valueInfo,
  type,
  tensorType,
  shape,
  leaf,
  dropped
};

/// A field that is not copied unchanged: it contains a message to walk, or data that the import does not use
/// (documentation, hints, annotations, metadata) and onnx.proto does not list.
struct Field {
  Message message;
  uint64_t number;
  Message inside;
};
constexpr Field fields[] = {
    {Message::model, onnx::ModelProto::kGraphFieldNumber, Message::graph},
    {Message::model, onnx::ModelProto::kFunctionsFieldNumber, Message::function},
    {Message::model, /*doc_string*/ 6, Message::dropped},
    {Message::model, /*metadata_props*/ 14, Message::dropped},
    {Message::model, /*training_info*/ 20, Message::dropped},
    {Message::model, /*configuration*/ 26, Message::dropped},
    {Message::function, onnx::FunctionProto::kNodeFieldNumber, Message::node},
    {Message::function, onnx::FunctionProto::kAttributeProtoFieldNumber, Message::attribute},
    {Message::function, /*doc_string*/ 8, Message::dropped},
    {Message::function, /*value_info*/ 12, Message::dropped},
    {Message::function, /*metadata_props*/ 14, Message::dropped},
    {Message::graph, onnx::GraphProto::kNodeFieldNumber, Message::node},
    {Message::graph, onnx::GraphProto::kInitializerFieldNumber, Message::tensor},
    {Message::graph, onnx::GraphProto::kInputFieldNumber, Message::valueInfo},
    {Message::graph, onnx::GraphProto::kOutputFieldNumber, Message::valueInfo},
    {Message::graph, /*doc_string*/ 10, Message::dropped},
    {Message::graph, /*value_info*/ 13, Message::dropped},
    {Message::graph, /*quantization_annotation*/ 14, Message::dropped},
    {Message::graph, /*metadata_props*/ 16, Message::dropped},
    {Message::node, onnx::NodeProto::kAttributeFieldNumber, Message::attribute},
    {Message::node, /*doc_string*/ 6, Message::dropped},
    {Message::node, /*metadata_props*/ 9, Message::dropped},
    {Message::node, /*device_configurations*/ 10, Message::dropped},
    {Message::attribute, onnx::AttributeProto::kTFieldNumber, Message::tensor},
    {Message::attribute, /*tensors*/ 10, Message::tensor},
    {Message::attribute, onnx::AttributeProto::kGFieldNumber, Message::graph},
    {Message::attribute, onnx::AttributeProto::kGraphsFieldNumber, Message::graph},
    {Message::attribute, /*doc_string*/ 13, Message::dropped},
    {Message::valueInfo, onnx::ValueInfoProto::kTypeFieldNumber, Message::type},
    {Message::type, onnx::TypeProto::kTensorTypeFieldNumber, Message::tensorType},
    {Message::tensorType, onnx::TypeProto::Tensor::kShapeFieldNumber, Message::shape},
};

Message insideOf(Message message, uint64_t number) {
  for (const Field &field : fields)
    if (field.message == message && field.number == number)
      return field.inside;
  return Message::leaf;
}

constexpr uint64_t rawData = onnx::TensorProto::kRawDataFieldNumber,
                   rawOffset = onnx::TensorProto::kRawOffsetFieldNumber,
                   rawBytes = onnx::TensorProto::kRawBytesFieldNumber;

/// Copies a model's messages without unused data and without weights, for which it writes their places.
class Stripper {
public:
  explicit Stripper(llvm::StringRef file) : file(file) {}

  /// Copies the message in [at, end) to `out`; on false, `error` has the message.
  bool message(Message kind, uint64_t at, uint64_t end, std::string &out, unsigned depth = 0) {
    if (depth > mostMessageDepth)
      return wrong(at, "graphs nested more than " + std::to_string(mostMessageDepth) + " messages deep");
    while (at < end) {
      uint64_t start = at;
      std::optional<uint64_t> tag = varint(at, end);
      if (!tag)
        return false;
      uint64_t field = *tag >> 3;
      if (field == 0 || field > 0x1FFFFFFF)
        return wrong(start, "a field number that cannot be");
      switch (*tag & 7) {
      case 0:
        if (!varint(at, end))
          return false;
        break;
      case 1:
        if (end - at < 8)
          return wrong(start, "a number cut short");
        at += 8;
        break;
      case 5:
        if (end - at < 4)
          return wrong(start, "a number cut short");
        at += 4;
        break;
      case 2: {
        std::optional<uint64_t> length = varint(at, end);
        if (!length)
          return false;
        if (*length > end - at)
          return wrong(start, "a field of " + std::to_string(*length) + " bytes where " + std::to_string(end - at) +
                                  " are left");
        Message kindInside = insideOf(kind, field);
        if (++numFields > mostFields || (kindInside == Message::node && ++numNodes > mostNodes))
          return wrong(start, "more than " + std::to_string(mostNodes) + " nodes or " + std::to_string(mostFields) +
                                  " fields");
        uint64_t inner = at;
        at += *length;
        if (kindInside == Message::dropped) // the import does not use it
          continue;
        if (kind == Message::tensor && field == rawData) {
          put(out, rawOffset << 3);
          put(out, inner);
          put(out, rawBytes << 3);
          put(out, *length);
        } else if (kindInside != Message::leaf) {
          std::string copy;
          if (!message(kindInside, inner, at, copy, depth + 1))
            return false;
          put(out, *tag);
          put(out, copy.size());
          out += copy;
        } else {
          out.append(file.data() + start, at - start);
        }
        continue;
      }
      default:
        return wrong(start, "a wire type that ONNX does not use");
      }
      // The file's own fields with these numbers would be mistaken for places that were found here.
      if (kind == Message::tensor && (field == rawOffset || field == rawBytes))
        continue;
      out.append(file.data() + start, at - start);
    }
    return true;
  }

  std::string error;

private:
  std::optional<uint64_t> varint(uint64_t &at, uint64_t end) {
    uint64_t value = 0, start = at;
    for (int shift = 0; shift < 64 && at < end; shift += 7) {
      auto byte = static_cast<unsigned char>(file[at++]);
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
    wrong(start, "a number cut short");
    return std::nullopt;
  }

  static void put(std::string &out, uint64_t value) {
    for (; value >= 128; value >>= 7)
      out.push_back(static_cast<char>(value | 128));
    out.push_back(static_cast<char>(value));
  }

  bool wrong(uint64_t at, const std::string &what) {
    if (error.empty())
      error = "at byte " + std::to_string(at) + ": " + what;
    return false;
  }

  llvm::StringRef file;
  uint64_t numFields = 0, numNodes = 0;
};

} // namespace

llvm::Expected<std::string> stripWeights(llvm::StringRef file) {
  Stripper stripper(file);
  std::string copy;
  if (!stripper.message(Message::model, 0, file.size(), copy))
    return fail(ExitCode::malformed, stripper.error);
  if (copy.size() > INT32_MAX)
    return fail(ExitCode::unsupported, "the model without its weights is larger than 2 GiB");
  return copy;
}

} // namespace tutti
