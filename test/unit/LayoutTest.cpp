// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Panels: every column once, bounded padding, the same bytes from any strides; and the digest.
#include "Digest.h"
#include "Layout.h"

#include <gtest/gtest.h>

#include <string_view>

using namespace tutti::rt;

TEST(Layout, blocksCoverEveryColumnOnce) {
  for (int64_t n = 1; n <= 200; ++n) {
    int64_t next = 0, stored = 0, offset = 0;
    for (const PanelBlock &block : planPanels(7, n)) {
      EXPECT_EQ(block.col, next);
      EXPECT_EQ(block.offset, offset);
      EXPECT_EQ(block.offset % 16, 0);
      EXPECT_LE(block.cols, block.width);
      next += block.cols;
      stored += block.width;
      offset += (block.floats(7) + 15) / 16 * 16;
    }
    EXPECT_EQ(next, n);
    EXPECT_LE(stored, n + 4) << "of " << n << " columns";
    EXPECT_EQ(panelFloats(7, n), offset);
  }
}

TEST(Layout, packedFromRowsAndFromColumnsAreEqual) {
  for (int64_t k : {1, 5, 16, 33})
    for (int64_t n : {1, 8, 9, 11, 12, 27, 28, 45, 59, 75, 128}) {
      std::vector<float> rows(k * n), columns(k * n);
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < n; ++j)
          rows[i * n + j] = columns[j * k + i] = float(i * 1000 + j + 1);
      std::vector<float> a(panelFloats(k, n), -1), b(panelFloats(k, n), -2);
      packPanels(a.data(), rows.data(), k, n, n, 1);
      packPanels(b.data(), columns.data(), k, n, 1, k);
      EXPECT_EQ(a, b);
      double sum = 0;
      for (const PanelBlock &block : planPanels(k, n))
        for (int64_t i = 0; i < k; ++i)
          for (int64_t j = 0; j < block.cols; ++j) {
            int64_t at = block.lanes ? j * k + i : i * block.width + j;
            EXPECT_EQ(a[block.offset + at], float(i * 1000 + block.col + j + 1));
            sum += a[block.offset + at];
          }
      for (float value : a)
        sum -= value;
      EXPECT_EQ(sum, 0) << "padding is zero";
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
