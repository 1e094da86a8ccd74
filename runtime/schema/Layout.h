// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How weights lie in an artifact: the "panels" layout of a float32 matrix, shared by the writer and by weight swapping.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tutti::rt {

/// One run of columns of a [K, N] matrix. A panel is stored [K][width], row after row, columns from `cols` to `width`
/// zero; a lanes block (width == cols) is stored [cols][K], each column contiguous.
struct PanelBlock {
  int64_t col;    ///< first column
  int64_t cols;   ///< columns of the matrix in it
  int64_t width;  ///< columns as stored: 32, 16, 12, or cols of a lanes block
  int64_t offset; ///< first float, a multiple of 16
  bool lanes;

  constexpr int64_t floats(int64_t K) const { return K * width; }
};

/// The block that starts at column `col`: 32 wide while 28 or more columns remain, then at most one of 16, then a masked
/// panel of 12 for 9 to 11 columns or a lanes block for 1 to 8. So no width is padded by more than 4 elements.
constexpr PanelBlock panelAt(int64_t col, int64_t N, int64_t offset) {
  int64_t left = N - col;
  if (left >= 28)
    return {col, std::min<int64_t>(left, 32), 32, offset, false};
  if (left >= 12)
    return {col, std::min<int64_t>(left, 16), 16, offset, false};
  if (left >= 9)
    return {col, left, 12, offset, false};
  return {col, left, left, offset, true};
}

/// Calls fn(block) for each block of a [K, N] matrix, in storage order; returns the floats of all, a multiple of 16.
template <typename Fn> constexpr int64_t forEachPanel(int64_t K, int64_t N, Fn &&fn) {
  int64_t offset = 0;
  for (int64_t col = 0; col < N;) {
    PanelBlock block = panelAt(col, N, offset);
    fn(block);
    offset += (block.floats(K) + 15) / 16 * 16;
    col += block.cols;
  }
  return offset;
}

/// The blocks of a [K, N] matrix in storage order.
inline std::vector<PanelBlock> planPanels(int64_t K, int64_t N) {
  std::vector<PanelBlock> blocks;
  forEachPanel(K, N, [&](const PanelBlock &block) { blocks.push_back(block); });
  return blocks;
}

/// Floats that a packed [K, N] matrix takes, a multiple of 16.
constexpr int64_t panelFloats(int64_t K, int64_t N) {
  return forEachPanel(K, N, [](const PanelBlock &) {});
}

/// Packs a matrix whose element (k, n) is src[k * strideK + n * strideN] into dst[0 .. panelFloats(K, N)); padding is zero.
inline void packPanels(float *dst, const float *src, int64_t K, int64_t N, int64_t strideK, int64_t strideN) {
  // 16 rows are one cache line of a column: both a row-major and a column-major source are read line by line.
  constexpr int64_t kRows = 16;
  int64_t total = forEachPanel(K, N, [&](const PanelBlock &block) {
    float *out = dst + block.offset;
    const float *in = src + block.col * strideN;
    for (int64_t k0 = 0; k0 < K; k0 += kRows) {
      int64_t k1 = std::min(K, k0 + kRows);
      if (block.lanes) {
        for (int64_t n = 0; n < block.cols; ++n)
          for (int64_t k = k0; k < k1; ++k)
            out[n * K + k] = in[k * strideK + n * strideN];
        continue;
      }
      if (strideN == 1) {
        for (int64_t k = k0; k < k1; ++k)
          std::memcpy(out + k * block.width, in + k * strideK, block.cols * sizeof(float));
      } else {
        for (int64_t n = 0; n < block.cols; ++n)
          for (int64_t k = k0; k < k1; ++k)
            out[k * block.width + n] = in[k * strideK + n * strideN];
      }
      if (block.cols < block.width)
        for (int64_t k = k0; k < k1; ++k)
          std::fill(out + k * block.width + block.cols, out + (k + 1) * block.width, 0.0f);
    }
    std::fill(out + block.floats(K), out + (block.floats(K) + 15) / 16 * 16, 0.0f);
  });
  (void)total;
}

} // namespace tutti::rt
