// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How weights lie in an artifact: panels for sums by fma, core matrices for tensor cores; shared by the writer and by
// weight swapping.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tutti::rt {

/// One run of columns of a [K, N] matrix. A panel is stored [K][width], row after row, columns from `cols` to `width`
/// zero; a lanes block (width == cols) is stored [cols][K], each column contiguous.
struct PanelBlock {
  int64_t col;    ///< first column
  int64_t cols;   ///< columns of the matrix in it
  int64_t width;  ///< columns as stored: 32, 16, 12, 8, 4, or cols of a lanes block
  int64_t offset; ///< first element, a multiple of 16
  bool lanes;

  constexpr int64_t elements(int64_t K) const { return K * width; }
};

/// A row of a whole panel.
constexpr int64_t panelBytes = 128;
/// Columns of a whole panel of elements of so many bytes: 32 floats, 16 doubles.
constexpr int64_t panelColumns(int64_t bytes = sizeof(float)) { return panelBytes / bytes; }

/// The most terms that the last `columns` (8 or fewer) of a matrix sum one after the other. Where there are more, lanes
/// that share the terms are sooner done, though the tree of their sums takes as long as some twenty terms for 8
/// columns, and rows that are windows of an image have to be put together first: of 5x5 windows of one channel that is
/// dearer.
constexpr int64_t mostTerms(int64_t columns) { return columns > 4 ? 28 : columns > 2 ? 10 : 6; }

/// The block that starts at column `col` of a [K, N] matrix: a whole panel while at most 4 of its columns are missing,
/// then of floats at most one of 16, then for 1 to 11 columns a panel of 4, 8 or 12; but 1 to 8 columns of floats of
/// many terms are a lanes block. So no width is padded by more than 4 elements.
constexpr PanelBlock panelAt(int64_t col, int64_t K, int64_t N, int64_t offset, int64_t bytes) {
  int64_t left = N - col, whole = panelColumns(bytes);
  if (left >= whole - 4)
    return {col, std::min(left, whole), whole, offset, false};
  if (left >= 12)
    return {col, std::min<int64_t>(left, 16), 16, offset, false};
  if (left > 8 || K <= mostTerms(left) || bytes != sizeof(float))
    return {col, left, (left + 3) / 4 * 4, offset, false};
  return {col, left, left, offset, true};
}

/// Calls fn(block) for each block of a [K, N] matrix of elements of so many bytes, in storage order; returns the
/// elements of all, a multiple of 16.
template <typename Fn> constexpr int64_t forEachPanel(int64_t K, int64_t N, int64_t bytes, Fn &&fn) {
  int64_t offset = 0;
  for (int64_t col = 0; col < N;) {
    PanelBlock block = panelAt(col, K, N, offset, bytes);
    fn(block);
    offset += (block.elements(K) + 15) / 16 * 16;
    col += block.cols;
  }
  return offset;
}

/// The blocks of a [K, N] matrix in storage order.
inline std::vector<PanelBlock> planPanels(int64_t K, int64_t N, int64_t bytes = sizeof(float)) {
  std::vector<PanelBlock> blocks;
  forEachPanel(K, N, bytes, [&](const PanelBlock &block) { blocks.push_back(block); });
  return blocks;
}

/// Elements that a packed [K, N] matrix takes, a multiple of 16. In no time that grows with N, which may be anybody's.
constexpr int64_t panelElements(int64_t K, int64_t N, int64_t bytes = sizeof(float)) {
  int64_t each = panelColumns(bytes), whole = N < each - 4 ? 0 : (N - (each - 4)) / each + 1; // which are alike
  int64_t elements = whole * each * K;
  for (int64_t col = whole * each; col < N;) {
    PanelBlock block = panelAt(col, K, N, elements, bytes);
    elements += (block.elements(K) + 15) / 16 * 16;
    col += block.cols;
  }
  return elements;
}

/// The layouts of a float32 matrix [K, N], by the names that slots have. Only how it lies is rounded to 16 bits, not
/// what the weight is. In panels a matrix of 32-bit words lies in the same way, whatever is in them, and one of float64
/// in panels of its own.
///   raw             dense row-major
///   panels          forEachPanel
///   matrices.f32    forEachFragment, a word of a float's bits and 0x1000 more: its upper 19 bits are the float rounded
///                   to TF32, to nearest, ties away from zero, and all of it tells the float
///   matrices.tf32   the same of a float that is rounded so, infinities and NaN as they are
///   matrices.bf16   forEachFragment, a word of two bfloat16, the lower k in the lower half
///   matrices.f16    the same of float16
enum class Layout : uint8_t { raw, panels, matricesF32, matricesTf32, matricesBf16, matricesF16, unknown };

constexpr Layout parseLayout(std::string_view name) {
  return name == "raw"             ? Layout::raw
         : name == "panels"        ? Layout::panels
         : name == "matrices.f32"  ? Layout::matricesF32
         : name == "matrices.tf32" ? Layout::matricesTf32
         : name == "matrices.bf16" ? Layout::matricesBf16
         : name == "matrices.f16"  ? Layout::matricesF16
                                   : Layout::unknown;
}

/// Elements of K in a 32-bit word of a fragment.
constexpr int64_t elementsOfWord(Layout layout) {
  return layout == Layout::matricesBf16 || layout == Layout::matricesF16 ? 2 : 1;
}

/// 8 `tiles` columns of a matrix, tile after tile: column col + tiles g + j is column g of tile j, so what a lane of
/// tensor cores has of a row in all tiles are neighbours. What is beyond K and N is zero.
///
/// Each 16 rows of a tile are core matrices (PTX ISA, "wgmma", shared memory without swizzling) of [8][4] words,
/// which ldmatrix gives a warp as fragments: lane 4 g + t has word (g, t) of each. Of floats there are four; word (i,
/// g, t) is of column g and of the row 16 group + 4 t + i, so that a lane of its four rows of an activation reads
/// neighbours. Of 16-bit elements there are two; word (i, g, t) is of column g and of the rows 16 group + 8 i + 2 t and
/// the next.
///
/// Panels of up to 256 columns, a band, lie side by side: of each group the first panel, the second and so on, then the
/// next group. So what a block multiplies at a time, some groups of a band, is one run of words.
struct FragmentPanel {
  int64_t col;    ///< first column
  int64_t tiles;  ///< 4, 2 or 1
  int64_t offset; ///< first word, a multiple of 64
  int64_t stride; ///< words from one group to the next

  static constexpr int64_t kGroup = 16, kTile = 8, kLanes = 32, kBandTiles = 32;
  static constexpr int64_t groups(int64_t K) { return (K + kGroup - 1) / kGroup; }
  static constexpr int64_t wordsOfLane(Layout layout) { return 4 / elementsOfWord(layout); }
};

/// Words that a matrix in fragments takes.
constexpr int64_t fragmentWords(Layout layout, int64_t K, int64_t N) {
  using P = FragmentPanel;
  return (N + P::kTile - 1) / P::kTile * P::groups(K) * P::wordsOfLane(layout) * P::kLanes;
}

/// Calls fn(panel) for each panel by columns: panels of four tiles of 8 columns while there are four, then of two, then
/// of one.
template <typename Fn> constexpr void forEachFragment(Layout layout, int64_t K, int64_t N, Fn &&fn) {
  using P = FragmentPanel;
  int64_t all = (N + P::kTile - 1) / P::kTile, groups = P::groups(K), words = P::wordsOfLane(layout) * P::kLanes;
  for (int64_t tile = 0; tile < all;) {
    int64_t band = tile / P::kBandTiles * P::kBandTiles, ofBand = std::min(P::kBandTiles, all - band),
            left = all - tile;
    P panel{tile * P::kTile, left >= 4 ? 4 : left >= 2 ? 2 : 1, (band * groups + tile - band) * words, ofBand * words};
    fn(panel);
    tile += panel.tiles;
  }
}

/// The panels of fragments by columns.
inline std::vector<FragmentPanel> planFragments(Layout layout, int64_t K, int64_t N) {
  std::vector<FragmentPanel> panels;
  forEachFragment(layout, K, N, [&](const FragmentPanel &panel) { panels.push_back(panel); });
  return panels;
}

/// Bytes that a matrix of elements of so many bytes takes, but for `raw` a multiple of 64.
constexpr int64_t layoutBytes(Layout layout, int64_t K, int64_t N, int64_t bytes = sizeof(float)) {
  return layout == Layout::raw      ? K * N * bytes
         : layout == Layout::panels ? panelElements(K, N, bytes) * bytes
                                    : fragmentWords(layout, K, N) * 4;
}

/// Rounds to nearest, ties to even; the largest floats become infinite, every NaN 0x7fff.
constexpr uint16_t toBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

/// The same for float16. Integers only, so that no rounding mode of the caller's matters.
constexpr uint16_t toF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  // Normal results: the exponent's bias changes from 127 to 15. A carry out of the fraction goes where it should.
  uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
  // Below 2^-14 results are multiples of 2^-24. What is shifted by more than 25 is less than half of that.
  uint32_t fraction = (size & 0x7fffff) | 0x800000, shift = std::clamp<int32_t>(126 - int32_t(size >> 23), 1, 31);
  uint32_t small = (fraction + (1u << (shift - 1)) - 1 + (fraction >> shift & 1)) >> shift;
  // From 65520 on, half a unit past the largest number, the result is infinite.
  uint32_t finite = size < 113u << 23 ? small : normal, any = size >= 0x477ff000 ? 0x7c00 : finite;
  return uint16_t(size > 0x7f800000 ? 0x7fff : any | sign);
}

/// Rounds to nearest, ties away from zero, to 11 bits; the largest floats become infinite.
constexpr uint32_t toTf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x7fffffff) < 0x7f800000 ? (bits + 0x1000) & 0xffffe000 : bits;
}

/// Packs a matrix whose element (k, n) is src[k * strideK + n * strideN] into dst[0 .. panelElements(K, N)); padding is
/// zero.
template <typename T> void packPanels(T *dst, const T *src, int64_t K, int64_t N, int64_t strideK, int64_t strideN) {
  // 16 rows are a cache line of a column or two: a row-major and a column-major source are both read line by line.
  constexpr int64_t kRows = 16;
  forEachPanel(K, N, sizeof(T), [&](const PanelBlock &block) {
    T *out = dst + block.offset;
    const T *in = src + block.col * strideN;
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
          std::memcpy(out + k * block.width, in + k * strideK, block.cols * sizeof(T));
      } else {
        for (int64_t n = 0; n < block.cols; ++n)
          for (int64_t k = k0; k < k1; ++k)
            out[k * block.width + n] = in[k * strideK + n * strideN];
      }
      if (block.cols < block.width)
        for (int64_t k = k0; k < k1; ++k)
          std::fill(out + k * block.width + block.cols, out + (k + 1) * block.width, T(0));
    }
    std::fill(out + block.elements(K), out + (block.elements(K) + 15) / 16 * 16, T(0));
  });
}

/// packPanels for the layouts of tensor cores.
template <Layout layout>
void packFragments(uint32_t *dst, const float *src, int64_t K, int64_t N, int64_t strideK, int64_t strideN) {
  using P = FragmentPanel;
  constexpr int64_t I = P::wordsOfLane(layout), kColumns = 4 * P::kTile;
  forEachFragment(layout, K, N, [&](const P &panel) {
    int64_t width = P::kTile * panel.tiles, cols = std::min(N - panel.col, width);
    for (int64_t k0 = 0; k0 < K; k0 += P::kGroup) {
      // 16 rows are one cache line of a column: both a row-major and a column-major source are read line by line.
      const float *in = src + k0 * strideK + panel.col * strideN;
      int64_t rows = std::min(K - k0, P::kGroup);
      float group[P::kGroup][kColumns] = {};
      if (strideN == 1) {
        for (int64_t k = 0; k < rows; ++k)
          std::memcpy(group[k], in + k * strideK, size_t(cols) * sizeof(float));
      } else {
        for (int64_t n = 0; n < cols; ++n)
          for (int64_t k = 0; k < rows; ++k)
            group[k][n] = in[k * strideK + n * strideN];
      }
      uint32_t words[4 * I][kColumns];
      for (int64_t w = 0; w < 4 * I; ++w)
        for (int64_t n = 0; n < kColumns; ++n)
          if constexpr (layout == Layout::matricesF32)
            words[w][n] = std::bit_cast<uint32_t>(group[w][n]) + 0x1000;
          else if constexpr (layout == Layout::matricesTf32)
            words[w][n] = toTf32(group[w][n]);
          else if constexpr (layout == Layout::matricesBf16)
            words[w][n] = toBf16(group[2 * w][n]) | uint32_t(toBf16(group[2 * w + 1][n])) << 16;
          else
            words[w][n] = toF16(group[2 * w][n]) | uint32_t(toF16(group[2 * w + 1][n])) << 16;
      uint32_t *out = dst + panel.offset + k0 / P::kGroup * panel.stride;
      for (int64_t tile = 0; tile < panel.tiles; ++tile)
        for (int64_t i = 0; i < I; ++i)
          for (int64_t n = tile; n < width; n += panel.tiles)
            for (int64_t t = 0; t < 4; ++t)
              *out++ = words[elementsOfWord(layout) == 1 ? 4 * t + i : 4 * i + t][n];
    }
  });
}

/// Packs a matrix whose element (k, n) is src[k * strideK + n * strideN] in a layout other than `raw`: layoutBytes
/// bytes.
inline void packMatrix(Layout layout, void *dst, const float *src, int64_t K, int64_t N, int64_t strideK,
                       int64_t strideN) {
  auto *words = static_cast<uint32_t *>(dst);
  if (layout == Layout::panels)
    packPanels(static_cast<float *>(dst), src, K, N, strideK, strideN);
  else if (layout == Layout::matricesF32)
    packFragments<Layout::matricesF32>(words, src, K, N, strideK, strideN);
  else if (layout == Layout::matricesTf32)
    packFragments<Layout::matricesTf32>(words, src, K, N, strideK, strideN);
  else if (layout == Layout::matricesBf16)
    packFragments<Layout::matricesBf16>(words, src, K, N, strideK, strideN);
  else
    packFragments<Layout::matricesF16>(words, src, K, N, strideK, strideN);
}

/// The same of elements of so many bytes, 4 or, in panels alone, 8; all are aligned.
inline void packMatrix(Layout layout, void *dst, const char *src, int64_t bytes, int64_t K, int64_t N, int64_t strideK,
                       int64_t strideN) {
  if (bytes == sizeof(double))
    packPanels(static_cast<double *>(dst), reinterpret_cast<const double *>(src), K, N, strideK, strideN);
  else
    packMatrix(layout, dst, reinterpret_cast<const float *>(src), K, N, strideK, strideN);
}

} // namespace tutti::rt
