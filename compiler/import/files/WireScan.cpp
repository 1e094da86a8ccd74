// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Protobuf's wire format, as far as it takes to step over weights.
#include "compiler/import/files/WireScan.h"
#include "compiler/import/Limits.h"
#include "compiler/support/Error.h"

#include <optional>

namespace tutti {
namespace {

/// The messages that are walked through; the others are copied as they are.
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

Message fieldOf(Message message, uint64_t field) {
  switch (message) {
  case Message::model:
    if (field == 7 || field == 25)
      return field == 7 ? Message::graph : Message::function;
    return field == 6 || field == 14 || field == 20 || field == 26 ? Message::dropped : Message::leaf;
  case Message::function:
    if (field == 7 || field == 11)
      return field == 7 ? Message::node : Message::attribute;
    return field == 8 || field == 12 || field == 14 ? Message::dropped : Message::leaf;
  case Message::graph:
    switch (field) {
    case 1:
      return Message::node;
    case 5:
      return Message::tensor;
    case 11:
    case 12:
      return Message::valueInfo;
    case 10: // documentation, shape hints, annotations, metadata
    case 13:
    case 14:
    case 16:
      return Message::dropped;
    default:
      return Message::leaf;
    }
  case Message::node:
    if (field == 5)
      return Message::attribute;
    return field == 6 || field == 9 || field == 10 ? Message::dropped : Message::leaf;
  case Message::attribute:
    if (field == 5 || field == 10)
      return Message::tensor;
    if (field == 6 || field == 11)
      return Message::graph;
    return field == 13 ? Message::dropped : Message::leaf;
  case Message::valueInfo:
    return field == 2 ? Message::type : Message::leaf;
  case Message::type:
    return field == 1 ? Message::tensorType : Message::leaf;
  case Message::tensorType:
    return field == 2 ? Message::shape : Message::leaf;
  default:
    return Message::leaf;
  }
}

constexpr uint64_t rawData = 9, rawOffset = 100001, rawBytes = 100002;

class Walk {
public:
  explicit Walk(llvm::StringRef file) : file(file) {}

  /// Copies the message in [at, end) to `out`; false: `error` says what is wrong.
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
        Message kindInside = fieldOf(kind, field);
        if (++fields > mostFields || (kindInside == Message::node && ++nodes > mostNodes))
          return wrong(start, "more than " + std::to_string(mostNodes) + " nodes or " + std::to_string(mostFields) +
                                  " fields");
        uint64_t inner = at;
        at += *length;
        if (kindInside == Message::dropped) // nobody reads it
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
      // A file's own fields of these numbers would be taken for places that we found.
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
  uint64_t fields = 0, nodes = 0;
};

} // namespace

llvm::Expected<std::string> stripWeights(llvm::StringRef file) {
  Walk walk(file);
  std::string copy;
  if (!walk.message(Message::model, 0, file.size(), copy))
    return fail(ExitCode::malformed, walk.error);
  if (copy.size() > INT32_MAX)
    return fail(ExitCode::unsupported, "the model without its weights is larger than 2 GiB");
  return copy;
}

} // namespace tutti
