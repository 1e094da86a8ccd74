// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Panels: every column once, bounded padding, the same bytes from any strides; 16-bit rounding; and the digest.
#include "runtime/schema/Layout.h"
#include "runtime/schema/Digest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string_view>

using namespace tutti::rt;

TEST(Layout, blocksCoverEveryColumnOnce) {
  for (auto [k, bytes] : {std::pair(7, 4), std::pair(40, 4), std::pair(7, 8), std::pair(40, 8)})
    for (int64_t n = 1; n <= 200; ++n) {
      int64_t next = 0, stored = 0, offset = 0;
      for (const PanelBlock &block : planPanels(k, n, bytes)) {
        EXPECT_LE(block.width * bytes, panelBytes);
        EXPECT_EQ(block.col, next);
        EXPECT_EQ(block.offset, offset);
        EXPECT_EQ(block.offset % 16, 0);
        EXPECT_LE(block.cols, block.width);
        EXPECT_TRUE(!block.lanes || block.cols <= 8);
        next += block.cols;
        stored += block.width;
        offset += (block.elements(k) + 15) / 16 * 16;
      }
      EXPECT_EQ(next, n);
      EXPECT_LE(stored, n + 4) << "of " << n << " columns";
      EXPECT_EQ(panelElements(k, n, bytes), offset);
    }
}

namespace {
template <typename T> void packFromRowsAndFromColumns() {
  for (int64_t k : {1, 5, 16, 33})
    for (int64_t n : {1, 8, 9, 11, 12, 27, 28, 45, 59, 75, 128}) {
      std::vector<T> rows(k * n), columns(k * n);
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < n; ++j)
          rows[i * n + j] = columns[j * k + i] = T(i * 1000 + j + 1);
      std::vector<T> a(panelElements(k, n, sizeof(T)), -1), b(a.size(), -2);
      packPanels(a.data(), rows.data(), k, n, n, 1);
      packPanels(b.data(), columns.data(), k, n, 1, k);
      EXPECT_EQ(a, b);
      double sum = 0;
      for (const PanelBlock &block : planPanels(k, n, sizeof(T)))
        for (int64_t i = 0; i < k; ++i)
          for (int64_t j = 0; j < block.cols; ++j) {
            int64_t at = block.lanes ? j * k + i : i * block.width + j;
            EXPECT_EQ(a[block.offset + at], T(i * 1000 + block.col + j + 1));
            sum += a[block.offset + at];
          }
      for (T value : a)
        sum -= value;
      EXPECT_EQ(sum, 0) << "padding is zero";
    }
}
} // namespace

TEST(Layout, packedFromRowsAndFromColumnsAreEqual) {
  packFromRowsAndFromColumns<float>();
  packFromRowsAndFromColumns<double>();
}

namespace {
double valueOfF16(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -size : size; // of 31, as if the numbers went on: 2^16
}
double valueOfBf16(uint16_t bits) {
  int exponent = bits >> 7 & 255, fraction = bits & 127;
  double size = exponent ? std::ldexp(128 + fraction, exponent - 134) : std::ldexp(fraction, -133);
  return bits & 0x8000 ? -size : size;
}

/// Between every two neighbours: each of them, the middle, and what lies beside the middle.
template <typename Round, typename Value> void roundsToNearest(uint16_t infinity, Round round, Value valueOf) {
  for (uint32_t bits = 0; bits < infinity; ++bits)
    for (uint16_t sign : {0, 0x8000}) {
      uint16_t down = uint16_t(bits | sign), up = uint16_t((bits + 1) | sign), even = bits & 1 ? up : down;
      auto middle = float((valueOf(down) + valueOf(up)) / 2), far = float(valueOf(up));
      ASSERT_EQ(round(float(valueOf(down))), down);
      ASSERT_EQ(round(middle), even) << middle;
      ASSERT_EQ(round(std::nextafter(middle, 0.0f)), down) << middle;
      ASSERT_EQ(round(std::nextafter(middle, far)), up) << middle;
    }
  float inf = std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::max();
  EXPECT_EQ(round(most), infinity);
  EXPECT_EQ(round(-inf), infinity | 0x8000);
  EXPECT_EQ(round(std::numeric_limits<float>::denorm_min()), 0);
  for (uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffc00000u})
    EXPECT_EQ(round(std::bit_cast<float>(bits)), 0x7fff) << "a NaN stays one";
}
} // namespace

TEST(Layout, roundsAsIeeeSays) {
  roundsToNearest(0x7c00, toF16, valueOfF16);
  roundsToNearest(0x7f80, toBf16, valueOfBf16);
}

TEST(Layout, fragmentsAreWhatLanesRead) {
  for (Layout layout : {Layout::matricesF32, Layout::matricesTf32, Layout::matricesBf16, Layout::matricesF16})
    for (int64_t k : {1, 2, 5, 16, 31, 33, 64})
      for (int64_t n : {1, 8, 9, 16, 17, 24, 27, 28, 32, 45, 59, 75, 128, 256, 257, 300, 520}) {
        std::vector<float> rows(k * n), columns(k * n);
        for (int64_t i = 0; i < k; ++i)
          for (int64_t j = 0; j < n; ++j)
            rows[i * n + j] = columns[j * k + i] = std::sin(float(i * 200 + j + 1)) * (j % 3 ? 1 : 1e-5f);
        int64_t words = layoutBytes(layout, k, n) / 4, each = elementsOfWord(layout), next = 0;
        uint32_t empty = layout == Layout::matricesF32 ? 0x1000 : 0;
        std::vector<uint32_t> a(words, 7), b(words, 8), expected(words, empty);
        packMatrix(layout, a.data(), rows.data(), k, n, n, 1);
        packMatrix(layout, b.data(), columns.data(), k, n, 1, k);
        for (const FragmentPanel &panel : planFragments(layout, k, n)) {
          EXPECT_EQ(panel.col, next);
          EXPECT_EQ(panel.offset % 64, 0);
          next += 8 * panel.tiles;
          for (int64_t i = 0; i < k; ++i)
            for (int64_t j = panel.col; j < std::min(next, n); ++j) {
              int64_t g = (j - panel.col) / panel.tiles, tile = (j - panel.col) % panel.tiles,
                      t = each == 1 ? i % 16 / 4 : i % 8 / 2;
              int64_t word =
                  i / 16 * panel.stride + tile * 128 / each + (each == 1 ? i % 4 : i % 16 / 8) * 32 + 4 * g + t;
              float value = rows[i * n + j];
              uint32_t bits = layout == Layout::matricesF32    ? std::bit_cast<uint32_t>(value) + 0x1000
                              : layout == Layout::matricesTf32 ? toTf32(value)
                              : layout == Layout::matricesF16  ? toF16(value)
                                                               : toBf16(value);
              uint32_t &place = expected.at(size_t(panel.offset + word));
              ASSERT_EQ(place >> i % each * 16, empty) << "one place each";
              place = i % each ? place | bits << 16 : bits;
            }
        }
        EXPECT_EQ(next, (n + 7) / 8 * 8);
        EXPECT_EQ(a, expected) << k << " x " << n;
        EXPECT_EQ(b, expected) << k << " x " << n << " by columns";
      }
}

TEST(Digest, isXxh64) {
  std::string_view text = "Nobody inspects the spammish repetition"; // the specification's own example
  EXPECT_EQ(xxh64("", 0), 0xEF46DB3751D8E999u);
  EXPECT_EQ(xxh64("a", 1), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(xxh64(text.data(), text.size()), 0xFBCEA83C8A378BF1u);
}

TEST(Digest, doesNotDependOnThePieces) {
  std::vector<char> data(1000);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = char(i * 7);
  for (size_t piece : {1, 7, 31, 32, 33, 400}) {
    Digest digest;
    for (size_t at = 0; at < data.size(); at += piece)
      digest.update(data.data() + at, std::min(piece, data.size() - at));
    EXPECT_EQ(digest.finish(), xxh64(data.data(), data.size()));
  }
}
