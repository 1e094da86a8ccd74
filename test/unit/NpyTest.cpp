// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing .npy: every type, both byte orders, both index orders, and headers that nobody should trust.
#include "common/Npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace tutti::tool;

namespace {
/// A version 1 file with this header text and data, padded as numpy does.
std::string npy(std::string header, std::string_view data, char version = 1) {
  size_t lengthBytes = version == 1 ? 2 : 4;
  header.append(63 - (8 + lengthBytes + header.size()) % 64, ' ');
  header += '\n';
  std::string file("\x93NUMPY", 6);
  file += version;
  file += '\0';
  uint32_t length = uint32_t(header.size());
  file.append(reinterpret_cast<const char *>(&length), lengthBytes);
  return file + header + std::string(data);
}
std::string header(std::string_view descr, std::string_view shape, bool fortran = false) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}
template <typename T> std::string_view bytes(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}
Failure parse(std::string_view file, Tensor &tensor, tutti_dtype_t expected = TUTTI_F32) {
  return parseNpy(file, "x.npy", expected, tensor);
}
} // namespace

TEST(Npy, readsWhatItWrites) {
  for (int type = TUTTI_BOOL; type <= TUTTI_COMPLEX128; ++type) {
    if (type == TUTTI_STRING)
      continue;
    auto dtype = tutti_dtype_t(type);
    for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {2, 1, 5}}) {
      Tensor in{dtype, dims, {}}, out;
      in.data.resize((size_t(in.size()) * tutti_dtype_bits(dtype) + 7) / 8);
      for (size_t i = 0; i < in.data.size(); ++i)
        in.data[i] = char(i * 5 + 1);
      if (uint32_t used = uint32_t(in.size()) * tutti_dtype_bits(dtype) % 8)
        in.data.back() &= char((1 << used) - 1); // bits past the last element
      std::string cells, file = npyHeader(dtype, dims);
      EXPECT_EQ(file.size() % 64, 0u);
      file += npyCells(dtype, dims, in.data.data(), cells);
      auto failure = parse(file, out, dtype);
      ASSERT_FALSE(failure) << tutti_dtype_name(dtype) << ": " << failure.message;
      EXPECT_EQ(out.dtype, dtype);
      EXPECT_EQ(out.dims, dims);
      EXPECT_EQ(out.data, in.data) << tutti_dtype_name(dtype);
    }
  }
}

TEST(Npy, readsBothByteOrders) {
  Tensor tensor;
  std::vector<uint32_t> big{0x0000803f, 0x000000c0}; // 1, -2 with the first byte highest
  ASSERT_FALSE(parse(npy(header(">f4", "(2,)"), bytes(big)), tensor));
  float values[2];
  std::memcpy(values, tensor.data.data(), 8);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);
}

TEST(Npy, readsFortranOrder) {
  Tensor tensor;
  std::vector<float> columns{0, 10, 1, 11, 2, 12}, rows{0, 1, 2, 10, 11, 12};
  ASSERT_FALSE(parse(npy(header("<f4", "(2, 3)", true), bytes(columns)), tensor));
  EXPECT_EQ(std::string_view(tensor.data.data(), tensor.data.size()), bytes(rows));
  std::vector<int16_t> cube(24), expected;
  for (int i = 0; i < 24; ++i)
    cube[i] = int16_t(i);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 4; ++c)
        expected.push_back(int16_t(a + 2 * b + 6 * c));
  ASSERT_FALSE(parse(npy(header("<i2", "(2, 3, 4)", true), bytes(cube)), tensor));
  EXPECT_EQ(std::string_view(tensor.data.data(), tensor.data.size()), bytes(expected));
}

TEST(Npy, readsVersions2And3AndRawCells) {
  Tensor tensor;
  std::vector<uint16_t> cells{0x3f80, 0x4000};
  for (char version : {1, 2, 3}) {
    ASSERT_FALSE(parse(npy(header("|V2", "(2,)"), bytes(cells), version), tensor, TUTTI_BF16));
    EXPECT_EQ(tensor.dtype, TUTTI_BF16);
  }
  EXPECT_EQ(parse(npy(header("|V2", "(2,)"), bytes(cells)), tensor, TUTTI_F32).code, ExitCode::usage);
}

TEST(Npy, refusesDamagedFiles) {
  std::vector<float> two{1, 2};
  Tensor tensor;
  auto code = [&](const std::string &file) { return parse(file, tensor).code; };
  std::string good = npy(header("<f4", "(2,)"), bytes(two));
  ASSERT_EQ(code(good), ExitCode::ok);
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(code(good.substr(0, n)), ExitCode::malformed) << n << " bytes";
  EXPECT_EQ(code(good + "x"), ExitCode::malformed);
  for (const char *text :
       {"", "{}", "{'descr': '<f4', 'shape': (2,), }", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + 1",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "{'descr': [('a', '<f4')], 'shape': (2,)}",
        "{'descr': '<f99999999999', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '', 'fortran_order': False, 'shape': (2,)}"})
    EXPECT_EQ(code(npy(text, bytes(two))), ExitCode::malformed) << text;
  EXPECT_EQ(code(npy(header("<U4", "(2,)"), std::string(32, 'x'))), ExitCode::usage);
  EXPECT_EQ(code(npy(header("|O", "(2,)"), bytes(two))), ExitCode::usage);
}

TEST(Npy, survivesRandomHeaders) {
  std::vector<float> two{1, 2};
  std::string good = npy(header("<f4", "(2,)"), bytes(two));
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string file = good;
    for (int i = 0; i < 3; ++i)
      file[random() % 80] = char(random());
    Tensor tensor;
    Failure failure = parse(file, tensor);
    EXPECT_TRUE(!failure || failure.code == ExitCode::malformed || failure.code == ExitCode::usage);
  }
}

TEST(Arguments, areSplitAtTheLastEqualsSign) {
  EXPECT_EQ(splitAtLast("a=b=c.npy")->first, "a=b");
  EXPECT_EQ(splitAtLast("a=b=c.npy")->second, "c.npy");
  EXPECT_FALSE(splitAtLast("a"));
  EXPECT_FALSE(splitAtLast("=b"));
  EXPECT_FALSE(splitAtLast("a="));
  EXPECT_EQ(*parseList("0,3,7"), (std::vector<int64_t>{0, 3, 7}));
  for (const char *bad : {"", ",", "1,", "1,,2", "a", "1 ,2", "1;2", "99999999999999999999"})
    EXPECT_FALSE(parseList(bad)) << bad;
  EXPECT_EQ(fileNameOf("y.quantile:0.25"), "y.quantile_0.25");
  EXPECT_EQ(fileNameOf("model/out put:0"), "model_out_put_0");
  EXPECT_EQ(fileNameOf("h\xc3\xb6he"), "h_he");
  const std::string_view names[] = {"a/b", "a_b", "a:b", "c/d"};
  EXPECT_EQ(findByName(names, "a_b"), (std::vector<size_t>{1})); // as it is
  EXPECT_EQ(findByName(std::span(names).subspan(2), "c_d"), (std::vector<size_t>{1}));
  EXPECT_EQ(findByName(std::span(names).first(1), "a_b"), (std::vector<size_t>{0}));
  const std::string_view alike[] = {"a/b", "c", "a:b"};
  EXPECT_EQ(findByName(alike, "a_b"), (std::vector<size_t>{0, 2}));
  EXPECT_TRUE(findByName(alike, "d").empty());
}
