// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family on tensor cores, by itself: every product near the exact sums, the same bits from every tile and
// ring, and no wait too many.
#include "Harness.h"

#include "runtime/schema/Layout.h"

#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace tutti::rt;

namespace {

struct Shape {
  std::string math;
  int64_t K, N, rows;
};
struct Way {
  int rowTiles, warpRows, warpColumns, slices, depth; ///< of the ring, or stages whose slices' sums meet at a time
  std::string ring;                                   ///< "Slices": there is none
  int warpPanels = 1, pairs = 1;
  int panelParts = 1;
  bool asksInTurn = false;      ///< warps of a ring in bulk, instead of a producer
  std::string left = "ofInput"; ///< of Lefts
  bool wide = false;            ///< of warpgroups
};

std::string number(int64_t value) { return std::to_string(value); }

int taskThreadsOf(const Way &w) { return 32 * w.warpRows * w.warpColumns * w.panelParts * w.slices; }
/// Two warpgroups have a third for a producer, as the compiler has it; one has a warp.
int producerWarps(const Way &w) {
  return w.ring != "Bulk" || w.asksInTurn ? 0 : w.wide && taskThreadsOf(w) >= 256 ? 4 : 1;
}
int threadsOf(const Way &w) { return taskThreadsOf(w) + 32 * producerWarps(w); }

/// The products of the widths that a warpgroup has, as the emitter prints them. Of registers the host knows nothing.
std::string wideProducts(const Shape &s, const Way &w) {
  std::vector<int64_t> panels;
  for (int64_t left = (s.N + 7) / 8; left > 0; left -= panels.back())
    panels.push_back(left >= 4 ? 4 : left >= 2 ? 2 : 1);
  std::map<int64_t, std::string> products;
  bool chunks = s.math == "Tf32x3"; // of whole panels alone
  if (chunks)
    panels.assign(w.warpPanels, 4);
  for (size_t first = 0; first < panels.size(); first += w.warpPanels) {
    int64_t width = 0;
    std::string sums;
    for (size_t i = first; i < panels.size() && i < first + w.warpPanels; width += panels[i++])
      for (int64_t tile = 0; tile < panels[i]; ++tile)
        sums += ", TUTTI_TILE(" + number(i - first) + ", " + number(tile) + ")";
    std::string size = number(width) + ", " + number(width * 8);
    products[width] = chunks ? "  TUTTI_WARPGROUP_CHUNK(" + size + ", \"\", \"\", \"\", \"\"" + sums + ")\n"
                             : "  TUTTI_WARPGROUP_PRODUCT(" + size + ", \"" + (s.math == "Bf16" ? "bf16" : "f16") +
                                   "\", \"\", \"\", \"\"" + sums + ")\n";
  }
  std::string widths, text;
  for (const auto &[width, product] : products)
    widths += (widths.empty() ? "" : ", ") + number(width), text += product;
  return "struct WideProducts {\n  template <class Rows> static Numbers<" + widths +
         "> widthsOf(Rows);\n  static constexpr bool hasRest = true;\n" + text + "};\n";
}

unsigned ringBytes(const Shape &s, const Way &w) {
  int wordBytes = s.math == "Bf16" || s.math == "F16" ? 2 : 4;
  if (w.slices > 1)
    return w.depth * w.warpColumns * w.slices * w.rowTiles * 4 * 144 * 4;
  int stageK = 32 * w.pairs;
  int stage = w.warpColumns * w.warpPanels * stageK * 32 * wordBytes + 16 * w.rowTiles * w.warpRows * (stageK + 16) * 4;
  int exchange = w.wide && s.math == "Tf32x3" ? 2 * w.warpColumns * w.warpPanels * 4096 : 0;
  return 128 + w.depth * stage + exchange;
}
unsigned sharedBytes(const Shape &s, const Way &w) {
  return ringBytes(s, w) + (w.left == "floats" ? unsigned(16 * w.rowTiles * w.warpRows * s.K) * 4 : 0);
}

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
)" + (w.wide ? wideProducts(s, w) : "") +
         R"(extern "C" __global__ void __launch_bounds__(512) kernel(const __grid_constant__ Params p) {
  using T = Tile<)" +
         number(w.rowTiles) + ", " + number(w.warpRows) + ", " + number(w.warpColumns) + ", " + number(w.slices) +
         ", 1, " + number(w.warpPanels) + ", " + number(w.pairs) + ", " + number(w.warpColumns * w.warpPanels * 4) +
         ", " + number(w.panelParts) + (w.wide ? ", true" : "") + R"(>;
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
         s.math + ", T, " + w.left +
         ", (P::tiles >= 4 ? 4 : 0) | P::tiles % 4, P::K % 16 == 0 ? 16 : P::K % 4 == 0 ? 4 : 1, " +
         (w.slices > 1 ? "0, " + stages
                       : "128 + " + stages + " * (T::weightBytes<P::Math> + T::rows * rowPitch(T::stageK) * 4), 0") +
         (w.wide ? ", WideProducts" : "") +
         R"(>;
  const Shared<float> inShared = shared<float>()" +
         number(ringBytes(s, w)) + ", " + (w.left == "floats" ? "T::rows * P::K" : "0") + R"();
  const auto layerOf = [&](int, int) { return layerOfProduct(P::K, P::N, weights, )" +
         (w.left == "floats"     ? "floats, " + number(ringBytes(s, w)) + ", P::K"
          : w.left == "inGlobal" ? "Global<float>(p.args[0] + first * P::K * 4, int64_t(rows) * P::K)"
                                 : "x.slice(first * P::K, int64_t(rows) * P::K)") +
         R"(); };
  constexpr int stageBytes = T::weightBytes<P::Math> + T::rows * rowPitch(T::stageK) * 4;
)" +
         (w.left == "floats" ? "  for (int i = threadIdx.x; i < rows * P::K; i += blockDim.x)\n    inShared[i] = "
                               "x[first * P::K + i];\n"
                               "  __syncthreads();\n"
                             : "") +
         (w.slices > 1 ? "  SliceWords<L, "
                       : "  " + w.ring + "Ring<P::Math, T, " + stages + ", stageBytes, 128, " +
                             (w.ring == "Bulk" ? "128, " + number(w.left == "ofInput" ? std::gcd(s.K, 4) : 0) + ", " +
                                                     number(producerWarps(w)) + ", 0, "
                                               : number(std::gcd(s.K, 4)) + ", ") +
                             "OneMember, ") +
         "decltype(layerOf)> ring(OneMember(), 1, rows, layerOf);\n" +
         (w.slices > 1 ? "" : "  if (ring.isProducer())\n    return ring.produce();\n") +
         R"(  ring.fill();
  const Layer layer = layerOf(0, 0);
  for (int pass = 0; pass < layer.passes<T>(); ++pass) {
    const L::Share share = shareOf<L>(layer, pass, rows);
    L::Sums sums;
    clear<L>(sums);
    const auto ahead = readAhead<L>(layer, pass, [](int) { return 0; }, [](int) {});
    multiply<L>(layer, pass, ring, share, sums);
    storeSums<L, 4, ~0u>(sums, layer, pass, ahead, [&](int row, int column, const auto &sums, const auto &) {
      if (row < rows)
        storeNeighbours<)" +
         (s.N % 4 ? "false" : "true") + R"(>(y, (first + row) * )" + N +
         R"( + column, sums, [&](int i) { return sums.sum[i]; });
    });
  }
}
)";
}

class Tensor : public EmulatedDevice {
protected:
  std::vector<float> x, weights;

  void draw(const Shape &s) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    x.resize(s.rows * s.K);
    weights.resize(s.K * s.N);
    for (float &value : x)
      value = normal(random);
    for (float &value : weights)
      value = normal(random);
  }
  std::vector<float> compute(const Shape &s, const Way &w) {
    draw(s);
    return product(s, w);
  }
  /// The same from three orders of threads.
  std::vector<float> product(const Shape &s, const Way &w) {
    Layout layout = s.math == "Bf16"   ? Layout::matricesBf16
                    : s.math == "F16"  ? Layout::matricesF16
                    : s.math == "Tf32" ? Layout::matricesTf32
                                       : Layout::matricesF32;
    std::vector<uint32_t> words(layoutBytes(layout, s.K, s.N) / 4);
    packMatrix(layout, words.data(), weights.data(), s.K, s.N, s.N, 1);
    int tile = 16 * w.rowTiles * w.warpRows;
    CUdeviceptr in = upload(x), packed = upload(words);
    Launch launch{unsigned((s.rows + tile - 1) / tile), unsigned(threadsOf(w)), sharedBytes(s, w)};
    CUfunction kernel = function(textOf(s, w));
    std::vector<float> y;
    for (int seed : {0, 1, 2}) {
      tuttiEmulatedSetSeed(seed);
      CUdeviceptr out = upload(std::vector<float>(s.rows * s.N, NAN));
      EXPECT_EQ(run(kernel, launch, {in, packed, out, uint64_t(s.rows)}), CUDA_SUCCESS) << tuttiEmulatedReport();
      std::vector<float> one = download<float>(out, s.rows * s.N);
      if (!y.empty())
        EXPECT_EQ(memcmp(y.data(), one.data(), y.size() * 4), 0) << s.K << " x " << s.N << ", seed " << seed;
      y = std::move(one);
    }
    return y;
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

const Way ways[] = {{2, 1, 2, 8, 1, "Slices"},
                    {1, 1, 2, 1, 2, "Async"},
                    {2, 2, 2, 1, 3, "Async"},
                    {1, 1, 4, 1, 2, "Async"},
                    {1, 1, 2, 4, 1, "Slices"},
                    {2, 1, 1, 8, 2, "Slices"},
                    {2, 2, 2, 1, 2, "Bulk"},
                    {1, 1, 4, 4, 2, "Slices"},
                    {1, 2, 2, 1, 3, "Bulk", 1, 2},
                    {2, 1, 2, 1, 2, "Async", 1, 2},
                    {1, 1, 4, 1, 3, "Bulk", 1, 2, 2},
                    {2, 2, 1, 1, 2, "Async", 1, 1, 4},
                    {2, 2, 2, 1, 4, "Bulk", 1, 1, 1, true},
                    {1, 2, 2, 1, 2, "Bulk", 1, 1, 2, true},
                    {1, 4, 2, 1, 3, "Bulk", 1, 1, 1, false, "ofInput", true},
                    {1, 4, 1, 1, 3, "Bulk", 2, 1, 1, true, "ofInput", true}};

} // namespace

TEST_F(Tensor, EveryWayGivesTheSameBits) {
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

TEST_F(Tensor, ProductsOfFewerBits) {
  const Way way{2, 2, 2, 1, 3, "Async"}, others[] = {{1, 1, 4, 1, 6, "Bulk"},
                                                     {1, 2, 2, 1, 2, "Bulk", 2},
                                                     {2, 1, 2, 1, 3, "Async", 4},
                                                     {1, 2, 2, 1, 4, "Bulk", 2, 2},
                                                     {1, 1, 2, 1, 3, "Bulk", 1, 1, 2}};
  const Way wide[] = {{1, 4, 1, 1, 3, "Bulk", 4, 1, 1, true, "ofInput", true},
                      {1, 8, 1, 1, 2, "Bulk", 8, 2, 1, false, "ofInput", true},
                      {1, 4, 2, 1, 3, "Bulk", 2, 2, 1, false, "inGlobal", true}};
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
    for (const Way &other : wide)
      if (std::string(math) != "Tf32") {
        std::vector<float> again = compute(s, other);
        EXPECT_EQ(memcmp(y.data(), again.data(), y.size() * 4), 0) << math << " by warpgroups " << other.warpPanels;
      }
  }
}

// Passes of several widths, of which the widest goes on while the next half of a stage is read; whole stages and a part
// of one.
TEST_F(Tensor, WidthsOfWarpgroups) {
  for (int64_t K : {48, 64, 200}) {
    Shape s{"Bf16", K, 100, 70}, floats{"Tf32x3", K, 184, 70};
    std::vector<float> y = compute(s, {2, 2, 2, 1, 3, "Async"}), exact = compute(floats, {2, 2, 2, 1, 3, "Async"});
    for (const Way &wide : {Way{1, 4, 2, 1, 3, "Bulk", 2, 1, 1, false, "floats", true},
                            {1, 4, 1, 1, 4, "Bulk", 2, 1, 1, true, "inGlobal", true}})
      EXPECT_EQ(memcmp(exact.data(), compute(floats, wide).data(), exact.size() * 4), 0)
          << K << ", " << wide.warpPanels;
    for (const Way &wide : {Way{1, 4, 1, 1, 3, "Bulk", 2, 1, 1, true, "ofInput", true},
                            {1, 4, 1, 1, 2, "Bulk", 2, 2, 1, false, "floats", true}})
      EXPECT_EQ(memcmp(y.data(), compute(s, wide).data(), y.size() * 4), 0) << K << " in stages of " << 32 * wide.pairs;
  }
}

TEST_F(Tensor, RowsThatAreNotAligned) {
  for (int64_t K : {35, 38, 86}) {
    Shape s{"Tf32x3", K, 12, 19};
    std::vector<float> y = compute(s, {2, 2, 2, 1, 3, "Async"});
    EXPECT_LT(errorOf(s, y), 2.5) << K;
    for (const Way &bulk : {Way{1, 2, 2, 1, 3, "Bulk"}, {1, 1, 2, 1, 3, "Bulk", 1, 2, 2}, ways[std::size(ways) - 1]})
      if (K % 2 == 0)
        EXPECT_EQ(memcmp(y.data(), compute(s, bulk).data(), y.size() * 4), 0)
            << K << " in stages of " << 32 * bulk.pairs;
  }
}

// What the quick split is not for: it is made again, whole tiles of it, and rows beside it keep their bits.
TEST_F(Tensor, NotFiniteNumbers) {
  for (Shape s : {Shape{"Tf32x3", 100, 44, 20}, Shape{"Tf32x3", 35, 8, 6}})
    for (Way w :
         {ways[0], ways[3], ways[4], ways[8], ways[10], ways[12], ways[std::size(ways) - 2], ways[std::size(ways) - 1]})
      for (std::string left : {"ofInput", "floats", "inGlobal"}) {
        if (s.K % 4 && (left == "floats" || w.ring == "Bulk"))
          continue; // rows in shared memory have strides of four, and copies in bulk are of four
        w.left = left;
        draw(s);
        std::vector<float> finite = product(s, w);
        x[3] = INFINITY;
        x[s.K + 5] = NAN;
        x[2 * s.K + 5] = 3e35f; // 8193 times it is infinite
        x[3 * s.K + 1] = std::numeric_limits<float>::max();
        std::vector<float> y = product(s, w);
        std::string where = left + " by " + w.ring + number(w.slices);
        for (int64_t n = 0; n < s.N; ++n) {
          EXPECT_EQ(y[n], std::copysign(INFINITY, weights[3 * s.N + n])) << where;
          EXPECT_TRUE(std::isnan(y[s.N + n])) << where;
          float large = 3e35f * weights[5 * s.N + n], largest = x[3 * s.K + 1] * weights[s.N + n];
          EXPECT_NEAR(y[2 * s.N + n], large, std::fabs(large) * 0x1p-20) << where;
          if (std::isfinite(largest))
            EXPECT_NEAR(y[3 * s.N + n], largest, std::fabs(largest) * 0x1p-10) << where; // all of it in the low part
          else
            EXPECT_EQ(y[3 * s.N + n], largest) << where;
        }
        EXPECT_EQ(memcmp(&finite[4 * s.N], &y[4 * s.N], (s.rows - 4) * s.N * 4), 0) << where;
        weights[7 * s.N + 2] = -INFINITY; // a column of it
        y = product(s, w);
        for (int64_t r = 4; r < s.rows; ++r)
          for (int64_t n = 0; n < s.N; ++n)
            EXPECT_EQ(y[r * s.N + n], n == 2 ? -std::copysign(INFINITY, x[r * s.K + 7]) : finite[r * s.N + n]) << where;
      }
}
