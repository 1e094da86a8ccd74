// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads safetensors headers.
#include "compiler/import/files/Safetensors.h"
#include "compiler/import/Limits.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Sizes.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <nlohmann/json.hpp>

namespace tutti {

namespace {

struct Type {
  llvm::StringRef name;
  int32_t dataType;
  int64_t bytes;
};
constexpr Type types[] = {{"F32", onnx::TensorProto::FLOAT, 4},
                          {"F64", onnx::TensorProto::DOUBLE, 8},
                          {"F16", onnx::TensorProto::FLOAT16, 2},
                          {"BF16", onnx::TensorProto::BFLOAT16, 2},
                          {"I64", onnx::TensorProto::INT64, 8},
                          {"I32", onnx::TensorProto::INT32, 4},
                          {"I16", onnx::TensorProto::INT16, 2},
                          {"I8", onnx::TensorProto::INT8, 1},
                          {"U64", onnx::TensorProto::UINT64, 8},
                          {"U32", onnx::TensorProto::UINT32, 4},
                          {"U16", onnx::TensorProto::UINT16, 2},
                          {"U8", onnx::TensorProto::UINT8, 1},
                          {"BOOL", onnx::TensorProto::BOOL, 1},
                          {"C64", onnx::TensorProto::COMPLEX64, 8},
                          {"F8_E4M3", onnx::TensorProto::FLOAT8E4M3FN, 1},
                          {"F8_E5M2", onnx::TensorProto::FLOAT8E5M2, 1}};

/// A tensor as the header describes it.
struct Entry {
  std::string name, dtype;
  std::vector<int64_t> dims;
  uint64_t begin = 0, end = 0;
  enum : unsigned { hasDtype = 1, hasShape = 2, hasOffsets = 4, hasAll = 7 };
  unsigned seen = 0;
};

/// Parses the header event by event. Anything that has no place in a header ends the parsing, which bounds its depth
/// and memory.
class Header {
public:
  std::vector<Entry> entries;
  std::string problem;

  bool start_object(size_t) {
    if (place == Place::outside)
      return go(Place::names);
    if (place == Place::name)
      return go(tensor == "__metadata__" ? Place::metadata : Place::fields);
    return wrong("an object");
  }
  bool end_object() {
    if (place == Place::names)
      return go(Place::end);
    if (place == Place::fields && entries.back().seen != Entry::hasAll)
      return no("tensor " + quote(tensor) + " lacks its " +
                (entries.back().seen & Entry::hasDtype
                     ? entries.back().seen & Entry::hasShape ? "data_offsets" : "shape"
                     : "dtype"));
    return go(Place::names);
  }
  bool key(std::string &text) {
    switch (place) {
    case Place::names:
      if (!names.insert(text).second)
        return no("there are two tensors " + quote(text));
      tensor = text;
      if (tensor != "__metadata__")
        entries.emplace_back().name = text;
      return go(Place::name);
    case Place::metadata:
      return go(Place::note);
    default: {
      unsigned field = text == "dtype"          ? Entry::hasDtype
                       : text == "shape"        ? Entry::hasShape
                       : text == "data_offsets" ? Entry::hasOffsets
                                                : 0;
      if (!field)
        return no("tensor " + quote(tensor) + " has a " + quote(text) + ", expected dtype, shape and data_offsets");
      if (entries.back().seen & field)
        return no("tensor " + quote(tensor) + " has its " + text + " twice");
      entries.back().seen |= field;
      numbers.clear();
      return go(field == Entry::hasDtype ? Place::dtype : field == Entry::hasShape ? Place::shape : Place::offsets);
    }
    }
  }
  bool string(std::string &text) {
    if (place == Place::note)
      return go(Place::metadata);
    if (place != Place::dtype)
      return wrong("text");
    entries.back().dtype = text;
    return go(Place::fields);
  }
  bool start_array(size_t) {
    if (place != Place::shape && place != Place::offsets)
      return wrong("a list");
    return go(place == Place::shape ? Place::dims : Place::ends);
  }
  bool end_array() {
    if (place == Place::dims)
      entries.back().dims.assign(numbers.begin(), numbers.end());
    else if (numbers.size() != 2)
      return no("tensor " + quote(tensor) + " has data_offsets of " + std::to_string(numbers.size()) +
                " numbers, expected 2");
    else
      entries.back().begin = numbers[0], entries.back().end = numbers[1];
    return go(Place::fields);
  }
  bool number_unsigned(uint64_t value) {
    if (place != Place::dims && place != Place::ends)
      return wrong("a number");
    if (value > uint64_t(INT64_MAX) || numbers.size() == mostRank)
      return no("tensor " + quote(tensor) + " has " +
                (value > uint64_t(INT64_MAX) ? std::string("a number past 2^63")
                                             : "more than " + std::to_string(mostRank) + " dims"));
    numbers.push_back(value);
    return true;
  }
  bool null() { return wrong("null"); }
  bool boolean(bool) { return wrong("a truth value"); }
  bool number_integer(int64_t) { return wrong("a negative number"); }
  bool number_float(double, const std::string &) { return wrong("a fraction"); }
  bool binary(std::vector<uint8_t> &) { return wrong("bytes"); }
  bool parse_error(size_t at, const std::string &, const nlohmann::detail::exception &) {
    return no("the header is no JSON at byte " + std::to_string(at));
  }

private:
  enum class Place { outside, names, name, metadata, note, fields, dtype, shape, dims, offsets, ends, end };
  Place place = Place::outside;
  std::string tensor;
  std::vector<uint64_t> numbers;
  llvm::StringSet<> names;

  bool go(Place to) {
    place = to;
    return true;
  }
  bool no(std::string what) {
    if (problem.empty())
      problem = std::move(what);
    return false;
  }
  bool wrong(const char *what) {
    if (place == Place::outside)
      return no(std::string("the header is ") + what + ", expected an object");
    return no(std::string("the header has ") + what + " where tensor " + quote(tensor) + " has no place for it");
  }
};

} // namespace

std::string SafetensorsFile::Tensor::str() const {
  llvm::SmallVector<Size> sizes(dims.begin(), dims.end());
  return dataTypeName(dataType) + " " + tutti::str(sizes);
}

llvm::Expected<std::shared_ptr<SafetensorsFile>> SafetensorsFile::open(llvm::StringRef path) {
  auto mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.takeError();
  auto wrong = [&](const llvm::Twine &what) {
    return fail(ExitCode::malformed, quote(path) + " is no safetensors file: " + what);
  };
  uint64_t size = (*mapped)->size();
  if (size < 8)
    return wrong("it has " + llvm::Twine(size) + " bytes, too few for the length of a header");
  uint64_t length = llvm::support::endian::read64le((*mapped)->data());
  if (length > mostHeader || length > size - 8)
    return wrong("its header would have " + llvm::Twine(length) + " bytes, the file has " + llvm::Twine(size));
  const char *text = (*mapped)->data() + 8, *data = text + length;
  if (length == 0 || *text != '{')
    return wrong("its header does not begin with '{'");
  Header header;
  if (!nlohmann::json::sax_parse(text, data, &header))
    return wrong(header.problem);

  auto file = std::make_shared<SafetensorsFile>();
  file->mapped = *mapped;
  llvm::sort(header.entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0, bytes = size - 8 - length;
  for (Entry &entry : header.entries) {
    std::string name = quote(entry.name);
    const Type *type = llvm::find_if(types, [&](const Type &known) { return known.name == entry.dtype; });
    if (type == std::end(types))
      return fail(ExitCode::unsupported, quote(path) + ": tensor " + name + " is of the type " + quote(entry.dtype) +
                                             ", which is not supported");
    std::optional<int64_t> count = countOf(entry.dims);
    int64_t needed;
    if (!count || llvm::MulOverflow(*count, type->bytes, needed))
      return wrong("tensor " + name + " has a shape that no memory holds");
    if (entry.begin > entry.end || entry.end > bytes)
      return wrong("tensor " + name + " lies at bytes " + llvm::Twine(entry.begin) + " to " + llvm::Twine(entry.end) +
                   " of " + llvm::Twine(bytes));
    if (entry.end - entry.begin != uint64_t(needed))
      return wrong("tensor " + name + " has " + llvm::Twine(entry.end - entry.begin) +
                   " bytes where its shape asks for " + llvm::Twine(needed));
    if (entry.begin != at)
      return wrong("tensor " + name + " begins at byte " + llvm::Twine(entry.begin) + ", " +
                   (entry.begin < at ? "inside of another" : "behind a gap") + " that ends at byte " +
                   llvm::Twine(entry.begin < at ? at : entry.begin));
    at = entry.end;
    file->tensors[std::move(entry.name)] = {type->dataType, std::move(entry.dims), data + entry.begin,
                                            entry.end - entry.begin};
  }
  if (at != bytes)
    return wrong(llvm::Twine(bytes - at) + " bytes at its end belong to no tensor");
  return file;
}

} // namespace tutti
