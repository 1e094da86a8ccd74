// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes .npy (numpy.lib.format, NEP 1).
#include "Npy.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sys/stat.h>

namespace tutti::tool {

namespace {
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 1 << 20;
constexpr size_t kMaxDims = 64; ///< of NumPy

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> dims;
};

/// A parser for the one Python literal that stands in the header: {'descr': '<f4', 'fortran_order': False, 'shape': (2,
/// 3), }
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  bool parse(Header &header) {
    bool seen[3] = {};
    if (!eat('{'))
      return false;
    while (!eat('}')) {
      std::string key;
      if (!string(key) || !eat(':'))
        return false;
      int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || std::exchange(seen[which], true))
        return false;
      bool good = which == 0 ? type(header.descr) : which == 1 ? boolean(header.fortran) : shape(header.dims);
      if (!good || (!eat(',') && !peek('}')))
        return false;
    }
    skip();
    return rest.empty() && seen[0] && seen[1] && seen[2];
  }

private:
  void skip() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\n' || rest.front() == '\t'))
      rest.remove_prefix(1);
  }
  bool peek(char c) {
    skip();
    return !rest.empty() && rest.front() == c;
  }
  bool eat(char c) {
    if (!peek(c))
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool word(std::string_view text) {
    skip();
    if (rest.substr(0, text.size()) != text)
      return false;
    rest.remove_prefix(text.size());
    return true;
  }
  /// A name, or the list of a record's fields, which is kept as it is.
  bool type(std::string &value) {
    if (!peek('['))
      return string(value);
    size_t depth = 0, end = 0;
    for (char quote = 0; end < rest.size(); ++end) {
      char c = rest[end];
      if (quote || c == '\'' || c == '"')
        quote = !quote ? c : c == quote ? 0 : quote;
      else if (c == '[')
        ++depth;
      else if (c == ']' && --depth == 0)
        break;
    }
    if (end == rest.size())
      return false;
    value = rest.substr(0, ++end);
    rest.remove_prefix(end);
    return true;
  }
  bool string(std::string &value) {
    char quote = peek('\'') ? '\'' : '"';
    if (!eat(quote))
      return false;
    size_t end = rest.find(quote);
    if (end == std::string_view::npos || end > 64)
      return false;
    value = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return true;
  }
  bool boolean(bool &value) {
    value = word("True");
    return value || word("False");
  }
  bool shape(std::vector<int64_t> &dims) {
    if (!eat('('))
      return false;
    while (!eat(')')) {
      int64_t dim;
      skip();
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), dim);
      if (error != std::errc() || dim < 0 || dims.size() == kMaxDims)
        return false;
      rest.remove_prefix(size_t(end - rest.data()));
      dims.push_back(dim);
      if (!eat(',') && !peek(')'))
        return false;
    }
    return true;
  }

  std::string_view rest;
};

struct Descr {
  char kind;
  uint32_t cell; ///< bytes
  bool swapped;
};

bool parseDescr(std::string_view text, Descr &descr) {
  if (text.size() < 2)
    return false;
  if (text.front() == '[') { // a record
    descr = {'[', 0, false};
    return true;
  }
  char order = text.front();
  if (order == '<' || order == '>' || order == '|' || order == '=')
    text.remove_prefix(1);
  else
    order = '=';
  descr.kind = text.front();
  text.remove_prefix(1);
  descr.cell = 0;
  if (descr.kind == 'O' || descr.kind == 'M' || descr.kind == 'm') // Python objects, dates: of no cells that we know
    return true;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), descr.cell);
  descr.swapped = order == '>';
  return error == std::errc() && end == text.data() + text.size();
}

tutti_dtype_t dtypeOf(const Descr &descr, tutti_dtype_t expected) {
  auto sized = [&](std::initializer_list<std::pair<uint32_t, tutti_dtype_t>> types) {
    for (auto [cell, dtype] : types)
      if (cell == descr.cell)
        return dtype;
    return TUTTI_NONE;
  };
  switch (descr.kind) {
  case 'b':
    return sized({{1, TUTTI_BOOL}});
  case 'i':
    return sized({{1, TUTTI_I8}, {2, TUTTI_I16}, {4, TUTTI_I32}, {8, TUTTI_I64}});
  case 'u':
    return sized({{1, TUTTI_U8}, {2, TUTTI_U16}, {4, TUTTI_U32}, {8, TUTTI_U64}});
  case 'f':
    return sized({{2, TUTTI_F16}, {4, TUTTI_F32}, {8, TUTTI_F64}});
  case 'c':
    return sized({{8, TUTTI_COMPLEX64}, {16, TUTTI_COMPLEX128}});
  case 'V': {
    uint32_t bits = tutti_dtype_bits(expected);
    return bits && std::max(bits / 8, 1u) == descr.cell ? expected : TUTTI_NONE;
  }
  default:
    return TUTTI_NONE;
  }
}

/// Packs cells of a byte into elements of `bits` bits.
void packBits(std::vector<char> &data, uint32_t bits, size_t elements) {
  std::vector<char> packed((elements * bits + 7) / 8);
  for (size_t i = 0; i < elements; ++i)
    packed[i * bits / 8] |= char((data[i] & ((1 << bits) - 1)) << (i * bits % 8));
  data = std::move(packed);
}

/// From Fortran order (first index fastest) to row-major.
std::vector<char> transposed(const std::vector<char> &data, const std::vector<int64_t> &dims, size_t cell) {
  std::vector<char> out(data.size());
  std::vector<int64_t> index(dims.size(), 0), stride(dims.size(), 1);
  for (size_t d = 1; d < dims.size(); ++d)
    stride[d] = stride[d - 1] * dims[d - 1];
  int64_t from = 0;
  for (size_t to = 0; to < out.size(); to += cell) {
    std::memcpy(&out[to], &data[size_t(from) * cell], cell);
    for (size_t d = dims.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < dims[d])
        break;
      from -= stride[d] * dims[d];
      index[d] = 0;
    }
  }
  return out;
}
} // namespace

Failure parseNpy(std::string_view file, const std::string &name, tutti_dtype_t expected, Tensor &tensor) {
  auto bad = [&](const std::string &what) { return Failure(ExitCode::malformed, quote(name) + " " + what); };
  if (file.starts_with("PK\3\4"))
    return {ExitCode::usage,
            quote(name) + " is an archive, as .npz files are: unpack it, and give an array's .npy file"};
  if (file.substr(0, kMagic.size()) != kMagic || file.size() < 12)
    return bad("is no .npy file");
  int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    return bad("has .npy format " + std::to_string(version) + ", expected 1 to 3");
  uint32_t headerBytes = 0;
  size_t lengthBytes = version == 1 ? 2 : 4, start = 8 + lengthBytes;
  std::memcpy(&headerBytes, file.data() + 8, lengthBytes);
  if (headerBytes > kMaxHeader || headerBytes > file.size() - start)
    return bad("ends in its header");
  Header header;
  Descr descr;
  if (!HeaderParser(file.substr(start, headerBytes)).parse(header) || !parseDescr(header.descr, descr))
    return bad("has a header that cannot be read");
  std::string_view data = file.substr(start + headerBytes);

  tensor.dtype = dtypeOf(descr, expected);
  tensor.dims = header.dims;
  if (tensor.dtype == TUTTI_NONE)
    return {ExitCode::usage,
            quote(name) + " has elements of type " + quote(header.descr) + ", expected " + tutti_dtype_name(expected)};
  if (header.dims.size() > TUTTI_MAX_RANK)
    return {ExitCode::usage, quote(name) + " has " + std::to_string(header.dims.size()) + " dims, expected at most " +
                                 std::to_string(TUTTI_MAX_RANK)};
  uint64_t bytes = descr.cell;
  for (int64_t dim : header.dims)
    if (__builtin_mul_overflow(bytes, uint64_t(dim), &bytes))
      return bad("has more elements than can be counted");
  if (bytes != data.size())
    return bad("has " + std::to_string(data.size()) + " bytes of data, expected " + std::to_string(bytes));

  tensor.data.assign(data.begin(), data.end());
  if (descr.swapped) {
    size_t part = descr.kind == 'c' ? descr.cell / 2 : descr.cell;
    for (size_t i = 0; part > 1 && i < tensor.data.size(); i += part)
      std::reverse(tensor.data.begin() + i, tensor.data.begin() + i + part);
  }
  if (header.fortran && header.dims.size() > 1 && bytes)
    tensor.data = transposed(tensor.data, header.dims, descr.cell);
  if (uint32_t bits = tutti_dtype_bits(tensor.dtype); bits < 8)
    packBits(tensor.data, bits, size_t(tensor.size()));
  return {};
}

Failure readNpy(const std::string &path, tutti_dtype_t expected, Tensor &tensor) {
  auto cannot = [&](const char *why) { return Failure(ExitCode::usage, "cannot read " + quote(path) + ": " + why); };
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return cannot(std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return cannot("not a regular file");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return cannot(std::strerror(errno));
  std::string file(size_t(info.st_size), '\0');
  errno = 0; // a file that has become shorter is no error of the system's
  if (!in.read(file.data(), std::streamsize(file.size())))
    return cannot(std::strerror(errno ? errno : EIO));
  return parseNpy(file, path, expected, tensor);
}

std::string npyHeader(tutti_dtype_t dtype, std::span<const int64_t> dims) {
  static const char *const descrs[] = {"",    "|b1", "|V1", "|V1", "|V1", "|V1", "|i1", "|u1", "<i2",
                                       "<u2", "<i4", "<u4", "<i8", "<u8", "|V1", "|V1", "|V1", "|V1",
                                       "|V1", "|V1", "<f2", "<V2", "<f4", "<f8", "",    "<c8", "<c16"};
  static_assert(std::size(descrs) == TUTTI_COMPLEX128 + 1);
  std::string header = std::string("{'descr': '") + descrs[dtype] + "', 'fortran_order': False, 'shape': (";
  for (const int64_t &dim : dims)
    header += std::to_string(dim) + (dims.size() == 1 ? "," : &dim == &dims.back() ? "" : ", ");
  header += "), }";
  size_t prefix = kMagic.size() + 4; // data starts at a multiple of 64, as numpy has it
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  uint16_t length = uint16_t(header.size());
  std::string out(kMagic);
  out += '\x01';
  out += '\x00';
  out.append(reinterpret_cast<const char *>(&length), 2);
  return out + header;
}

std::string_view npyCells(tutti_dtype_t dtype, std::span<const int64_t> dims, const void *data, std::string &cells) {
  size_t elements = 1;
  for (int64_t dim : dims)
    elements *= size_t(dim);
  uint32_t bits = tutti_dtype_bits(dtype);
  const char *bytes = static_cast<const char *>(data);
  if (bits >= 8)
    return {bytes, elements * bits / 8};
  cells.resize(elements);
  for (size_t i = 0; i < elements; ++i)
    cells[i] = char(bytes[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1));
  return cells;
}

} // namespace tutti::tool
