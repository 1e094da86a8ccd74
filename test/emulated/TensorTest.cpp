// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family on tensor cores, by itself: every product near the exact sums, the same bits from every tile and
// ring, and no wait too many.
#include "Harness.h"

#include "runtime/schema/Layout.h"

#include <cmath>
#include <random>

using namespace tutti::rt;

namespace {

struct Shape {
  std::string math;
  int64_t K, N, rows;
};
struct Way {
  int rowTiles, warpRows, warpColumns, slices, depth;
  std::string ring;
  int warpPanels = 1, pairs = 1;
};

std::string number(int64_t value) { return std::to_string(value); }

bool hasProducer(const Way &w) { return w.ring == "Bulk" && w.slices == 1; }

/// y = x w, a block a tile of rows. In the text, a word of args each: x, w, y.
std::string textOf(const Shape &s, const Way &w) {
  std::string K = number(s.K), N = number(s.N), stages = number(w.depth);
  return R"(#include "tutti/prelude.cuh"
#include "tutti/tensor.cuh"
#include "tutti/)" +
         std::string(w.ring == "Bulk" ? "bulk_ring" : "ring") + R"(.cuh"
using namespace tutti;
struct Params {
  uint64_t args[3];
  int64_t sizes[1];
};
extern "C" __global__ void __launch_bounds__(288) kernel(const __grid_constant__ Params p) {
  using T = Tile<)" +
         number(w.rowTiles) + ", " + number(w.warpRows) + ", " + number(w.warpColumns) + ", " + number(w.slices) +
         ", 1, " + number(w.warpPanels) + ", " + number(w.pairs) + R"(>;
  using P = Product<)" +
         s.math + ", " + K + ", " + N + R"(>;
  const int64_t total = p.sizes[0], first = int64_t(blockIdx.x) * T::rows;
  const int rows = int(total - first < T::rows ? total - first : T::rows);
  const Global<const float> x(p.args[0], total * )" +
         K + R"();
  const Global<const uint32_t> weights(p.args[1], wordsOf<P::Math>(P::K, P::N));
  const Global<float> y(p.args[2], total * )" +
         N + R"();
  using L = Layers<)" +
         s.math +
         ", T, streamed, (P::tiles >= 4 ? 4 : 0) | P::tiles % 4, P::K % 16 == 0 ? 16 : P::K % 4 == 0 ? 4 : 1, 128 + " +
         stages +
         R"( * (T::weightBytes<P::Math> + T::rows * rowPitch(T::stageK) * 4)>;
  const auto layerOf = [&](int) { return layerOfProduct(P::K, P::N, weights, x.slice(first * P::K, int64_t(rows) * P::K)); };
  constexpr int stageBytes = T::weightBytes<P::Math> + T::rows * rowPitch(T::stageK) * 4;
  )" + w.ring +
         "Ring<P::Math, T, " + stages + ", stageBytes, 128, " +
         (w.ring == "Bulk" ? hasProducer(w) ? "true, true, " : "true, false, "
          : s.K % 4        ? "1, "
                           : "4, ") +
         R"(decltype(layerOf)> ring(1, rows, layerOf);
  if (ring.isProducer())
    return ring.produce();
  ring.fill();
  const Layer layer = layerOf(0);
  for (int pass = 0; pass < layer.passes<T>(); ++pass) {
    const L::Share share = shareOf<L>(layer, pass, rows);
    L::Sums sums;
    clear<L>(sums);
    const auto ahead = readAhead<L>(layer, pass, [](int) { return 0; });
    multiply<L>(layer, pass, ring, share, sums);
    storeSums<L>(sums, layer, pass, ahead, [&](int row, int column, const auto &sums, const auto &) {
      if (row < rows)
        storeNeighbours<)" +
         (s.N % 4 ? "false" : "true") + R"(>(y, (first + row) * )" + N +
         R"( + column, sums, [&](int i) { return sums.sum[i]; });
    });
  }
}
)";
}

unsigned sharedBytes(const Shape &s, const Way &w) {
  int wordBytes = s.math == "Bf16" || s.math == "F16" ? 2 : 4;
  int stageK = 32 * w.slices * w.pairs;
  int stage = w.warpColumns * w.warpPanels * stageK * 32 * wordBytes + 16 * w.rowTiles * w.warpRows * (stageK + 16) * 4;
  return 128 + w.depth * stage + (w.slices > 1 ? 256 * w.rowTiles * 64 : 0);
}

class Tensor : public EmulatedDevice, public testing::WithParamInterface<int> {
protected:
  void SetUp() override {
    EmulatedDevice::SetUp();
    tuttiEmulatedSetSeed(GetParam());
  }

  std::vector<float> x, weights;

  std::vector<float> compute(const Shape &s, const Way &w) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    x.resize(s.rows * s.K);
    weights.resize(s.K * s.N);
    for (float &value : x)
      value = normal(random);
    for (float &value : weights)
      value = normal(random);
    Layout layout = s.math == "Bf16"  ? Layout::fragmentsBf16
                    : s.math == "F16" ? Layout::fragmentsF16
                                      : Layout::fragmentsF32;
    std::vector<uint32_t> words(layoutBytes(layout, s.K, s.N) / 4);
    packMatrix(layout, words.data(), weights.data(), s.K, s.N, s.N, 1);
    int tile = 16 * w.rowTiles * w.warpRows;
    CUdeviceptr out = upload(std::vector<float>(s.rows * s.N, NAN));
    Launch launch{unsigned((s.rows + tile - 1) / tile),
                  unsigned(32 * w.warpRows * w.warpColumns * w.slices + (hasProducer(w) ? 32 : 0)), sharedBytes(s, w)};
    EXPECT_EQ(run(textOf(s, w), launch, {upload(x), upload(words), out, uint64_t(s.rows)}), CUDA_SUCCESS)
        << tuttiEmulatedReport();
    return download<float>(out, s.rows * s.N);
  }

  /// Its distance from the exact products, in units of 2^-24 of their norm.
  double errorOf(const Shape &s, const std::vector<float> &y) {
    double off = 0, all = 0;
    for (int64_t r = 0; r < s.rows; ++r)
      for (int64_t n = 0; n < s.N; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < s.K; ++k)
          sum += double(x[r * s.K + k]) * weights[k * s.N + n];
        off += std::pow(y[r * s.N + n] - sum, 2);
        all += sum * sum;
      }
    return std::sqrt(off / all) * 0x1p24;
  }
};

const Way ways[] = {{2, 1, 2, 2, 4, "Bulk"},       {1, 1, 2, 1, 2, "Async"}, {2, 2, 2, 1, 3, "Async"},
                    {1, 1, 4, 1, 2, "Async"},      {1, 2, 1, 4, 2, "Async"}, {2, 1, 1, 4, 2, "Bulk"},
                    {2, 2, 2, 1, 2, "Bulk"},       {1, 2, 1, 4, 3, "Bulk"},  {1, 2, 2, 1, 3, "Bulk", 1, 2},
                    {2, 1, 2, 1, 2, "Async", 1, 2}};

} // namespace

TEST_P(Tensor, EveryWayGivesTheSameBits) {
  // Chunks and groups that end early, all kinds of panels, more panels than warps, a tile that is not full.
  for (Shape s : {Shape{"Tf32x3", 100, 76, 37}, Shape{"Tf32x3", 24, 10, 5}, Shape{"Tf32x3", 144, 40, 16}}) {
    std::vector<float> first;
    for (const Way &w : ways) {
      std::vector<float> y = compute(s, w);
      EXPECT_LT(errorOf(s, y), 2.5) << s.K << " x " << s.N;
      if (first.empty())
        first = y;
      EXPECT_EQ(memcmp(first.data(), y.data(), y.size() * 4), 0) << s.K << " x " << s.N << " by " << w.ring << w.slices;
    }
  }
}

TEST_P(Tensor, ProductsOfFewerBits) {
  const Way way{2, 2, 2, 1, 3, "Async"}, others[] = {{1, 1, 4, 1, 6, "Bulk"},
                                                     {1, 2, 2, 1, 2, "Bulk", 2},
                                                     {2, 1, 2, 1, 3, "Async", 4},
                                                     {1, 2, 2, 1, 4, "Bulk", 2, 2}};
  for (auto [math, bound] : {std::pair("Tf32", 5500.0), {"Bf16", 44000.0}, {"F16", 5500.0}}) {
    Shape s{math, 100, 76, 37};
    std::vector<float> y = compute(s, way);
    double error = errorOf(s, y);
    EXPECT_LT(error, bound) << math;
    EXPECT_GT(error, bound / 2) << math << ": more exact than its operands";
    for (const Way &other : others) {
      std::vector<float> again = compute(s, other);
      EXPECT_EQ(memcmp(y.data(), again.data(), y.size() * 4), 0) << math << " by " << other.ring << other.warpPanels;
    }
  }
}

TEST_P(Tensor, RowsThatAreNotAligned) {
  Shape s{"Tf32x3", 35, 12, 19};
  EXPECT_LT(errorOf(s, compute(s, {2, 2, 2, 1, 3, "Async"})), 2.5);
}

TEST_P(Tensor, NotFiniteNumbers) {
  Shape s{"Tf32x3", 32, 8, 3};
  compute(s, ways[1]);
  std::vector<uint32_t> words(layoutBytes(Layout::fragmentsF32, s.K, s.N) / 4);
  packMatrix(Layout::fragmentsF32, words.data(), weights.data(), s.K, s.N, s.N, 1);
  x[3] = INFINITY;
  x[s.K + 5] = NAN;
  CUdeviceptr out = upload(std::vector<float>(s.rows * s.N));
  ASSERT_EQ(
      run(textOf(s, ways[1]), {1, 128, sharedBytes(s, ways[1])}, {upload(x), upload(words), out, uint64_t(s.rows)}),
      CUDA_SUCCESS);
  std::vector<float> y = download<float>(out, s.rows * s.N);
  for (int64_t n = 0; n < s.N; ++n) {
    EXPECT_EQ(y[n], std::copysign(INFINITY, weights[3 * s.N + n]));
    EXPECT_TRUE(std::isnan(y[s.N + n]));
    EXPECT_TRUE(std::isfinite(y[2 * s.N + n]));
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Tensor, testing::Values(0, 1, 2));
