// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host twins of device functions: copies, tensor-core products, atomics across blocks, conversions.
#include "Harness.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

static const std::string head = R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[4];
  int64_t sizes[1];
};
)";

class Twins : public EmulatedDevice, public testing::WithParamInterface<int> {
  void SetUp() override {
    EmulatedDevice::SetUp();
    tuttiEmulatedSetSeed(GetParam());
  }
};

// c[16x8] = a[16xK] b[Kx8], the tiles brought by a pipeline of two stages.
static std::string product(const std::string &loads, const std::string &instruction) {
  return head + R"(
constexpr int K = 32, STEP = 16;
extern "C" __global__ void __launch_bounds__(32) kernel(const __grid_constant__ Params p) {
  Global<const TYPE> a(p.args[0], 16 * K), b(p.args[1], K * 8);
  Global<float> c(p.args[2], 16 * 8);
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  auto stage = [&](int i) {
    Shared<TYPE> as = shared<TYPE>(i % 2 * 2048, 16 * STEP), bs = shared<TYPE>(i % 2 * 2048 + 1024, STEP * 8);
    for (int e = lane * 4; e < 16 * STEP; e += 128)
      __pipeline_memcpy_async(&as[e], &a[e / STEP * K + i * STEP + e % STEP], 4 * int(sizeof(TYPE)));
    for (int e = lane * 4; e < STEP * 8; e += 128)
      __pipeline_memcpy_async(&bs[e], &b[i * STEP * 8 + e], 4 * int(sizeof(TYPE)));
    __pipeline_commit();
  };
  float d[4] = {};
  stage(0);
  for (int i = 0; i < K / STEP; ++i) {
    if (i + 1 < K / STEP)
      stage(i + 1);
    else
      __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    Shared<TYPE> as = shared<TYPE>(i % 2 * 2048, 16 * STEP), bs = shared<TYPE>(i % 2 * 2048 + 1024, STEP * 8);
)" + loads +
         "    " + instruction + R"(
    __syncwarp();
  }
  c.store2(g * 8 + 2 * t, make_float2(d[0], d[1]));
  c.store2((g + 8) * 8 + 2 * t, make_float2(d[2], d[3]));
}
)";
}

static std::string withType(std::string text, const std::string &type) {
  for (size_t at; (at = text.find("TYPE")) != text.npos;)
    text.replace(at, 4, type);
  return text;
}

/// Small integers: every product and sum is exact in all three types.
static float element(int i) { return float(i * 7 % 13 - 6); }

/// The factors of the product that is expected below.
template <class T, class F> static void makeFactors(std::vector<T> &a, std::vector<T> &b, F convert) {
  for (int i = 0; i < 16 * 32; ++i)
    a.push_back(convert(element(i)));
  for (int i = 0; i < 32 * 8; ++i)
    b.push_back(convert(element(i + 5)));
}

static std::vector<float> expectedProduct() {
  std::vector<float> c(16 * 8);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 32; ++k)
        c[i * 8 + j] += element(i * 32 + k) * element(k * 8 + j + 5);
  return c;
}

static const std::string tf32 = withType(product(R"(
    for (int k = 0; k < STEP; k += 8) {
      uint32_t fa[4], fb[2];
      for (int r = 0; r < 4; ++r)
        fa[r] = __float_as_uint(as[(g + r % 2 * 8) * STEP + k + t + r / 2 * 4]);
      for (int r = 0; r < 2; ++r)
        fb[r] = __float_as_uint(bs[(k + t + r * 4) * 8 + g]);
)",
                                                 "mmaTf32(d, fa, fb);\n    }"),
                                         "float");

static const std::string bits16 = R"(
    uint32_t fa[4], fb[2];
    ldmatrix4(fa, &as[(lane % 16) * STEP + lane / 16 * 8]);
    auto bits = [&](int k) { return uint32_t(TYPE(bs[k * 8 + g]).bits); };
    for (int r = 0; r < 2; ++r)
      fb[r] = bits(2 * t + r * 8) | bits(2 * t + r * 8 + 1) << 16;
)";
static const std::string bf16 = withType(product(bits16, "mmaBf16(d, fa, fb);"), "__nv_bfloat16");
static const std::string f16 = withType(product(bits16, "mmaF16(d, fa, fb);"), "__half");

TEST_P(Twins, TensorCoreProducts) {
  std::vector<float> a, b;
  makeFactors(a, b, [](float v) { return v; });
  CUdeviceptr c = upload(std::vector<float>(128)), x = upload(a), y = upload(b);
  ASSERT_EQ(run(tf32, {1, 32, 4096}, {x, y, c, 0, 0}), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(c, 128), expectedProduct());

  std::vector<uint16_t> a16, b16;
  makeFactors(a16, b16, [](float v) { return uint16_t(__builtin_bit_cast(uint32_t, v) >> 16); });
  x = upload(a16), y = upload(b16);
  ASSERT_EQ(run(bf16, {1, 32, 4096}, {x, y, c, 0, 0}), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(c, 128), expectedProduct());

  a16.clear(), b16.clear();
  makeFactors(a16, b16, [](float v) { return __builtin_bit_cast(uint16_t, _Float16(v)); });
  x = upload(a16), y = upload(b16);
  ASSERT_EQ(run(f16, {1, 32, 4096}, {x, y, c, 0, 0}), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(c, 128), expectedProduct());
}

// What tensor cores are known to do to sums: TensorCores.cpp has the sources.
TEST_P(Twins, TensorCoresAddInFixedPoint) {
  // d[0][0] = c + the products of a[0][k] and 1.
  std::string text = head + R"(
extern "C" __global__ void __launch_bounds__(32) kernel(const __grid_constant__ Params p) {
  Global<const float> x(p.args[0], 9);
  Global<float> y(p.args[1], 1);
  int t = threadIdx.x % 4;
  bool first = threadIdx.x < 4;
  uint32_t one = __float_as_uint(1.0f), a[4] = {};
  if (first)
    a[0] = __float_as_uint(x[1 + t]), a[2] = __float_as_uint(x[5 + t]);
  uint32_t b[2] = {one, one};
  float d[4] = {x[0]};
  mmaTf32(d, a, b);
  if (threadIdx.x == 0)
    y[0] = d[0];
}
)";
  const float inf = std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::max();
  struct Case {
    std::vector<float> terms; // c, then a
    float ampere, hopper;
  };
  const std::vector<Case> cases = {
      {{1, 0x1p-24f}, 1, 1},                                          // cut, not rounded
      {{-1, -0x1p-24f}, -1, -1},                                      //
      {{1, 0x1.8p-24f}, 1, 1},                                        //
      {{1, 0x1p-24f, 0x1p-24f}, 1 + 0x1p-23f, 1 + 0x1p-23f},          // a bit more than a float is kept
      {{1, 0x1p-25f, 0x1p-25f, 0x1p-25f, 0x1p-25f}, 1, 1 + 0x1p-23f}, // and two more since Hopper
      {{1, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f}, 1, 1},
      {{0, 0x1p30f, -0x1p30f, 0, 0, 1}, 1, 0},                                // halves of k, and all of it
      {{1, 0x1p30f, -0x1p30f}, 0, 0},                                         //
      {{0, 0x1p30f, 0, 0, 0, -0x1p30f, 1}, 0, 0},                             //
      {{0, 0x1p-149f, 0, 0, 0}, 0, 0},                                        // what TF32 cuts off
      {{0x1p-149f, 0x1p-136f}, 0x1p-149f + 0x1p-136f, 0x1p-149f + 0x1p-136f}, // subnormals count
      {{most, 0x1p103f}, most, most},
      {{most, 0x1p104f}, inf, inf},
      {{1, inf}, inf, inf},
  };
  tuttiEmulatedSetHardwareSums(true);
  for (const Case &each : cases)
    for (int capability : {80, 90}) {
      std::vector<float> terms = each.terms;
      terms.resize(9);
      CUdeviceptr x = upload(terms), y = upload(std::vector<float>(1));
      ASSERT_EQ(run(text, {.grid = 1, .block = 32, .capability = capability}, {x, y, 0, 0, 0}), CUDA_SUCCESS);
      EXPECT_EQ(download<float>(y, 1)[0], capability == 80 ? each.ampere : each.hopper)
          << capability << ", case " << &each - cases.data();
    }
  CUdeviceptr x = upload(std::vector<float>{inf, -inf, 0, 0, 0, 0, 0, 0, 0}), y = upload(std::vector<float>(1));
  ASSERT_EQ(run(text, {1, 32}, {x, y, 0, 0, 0}), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(y, 1)[0], 0x7fffffffu);
  tuttiEmulatedSetHardwareSums(false);
  x = upload(std::vector<float>{1, 0x1.8p-24f, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_EQ(run(text, {1, 32}, {x, y, 0, 0, 0}), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(y, 1)[0], 1 + 0x1p-23f);
}

TEST_P(Twins, EveryWaitOfThePipelineIsNeeded) {
  std::vector<float> a, b;
  makeFactors(a, b, [](float v) { return v; });
  CUdeviceptr c = upload(std::vector<float>(128)), x = upload(a), y = upload(b);
  int which = GetParam() % 3;
  std::string text = which == 0 ? without(tf32, "wait_prior") : without(tf32, "__syncwarp", which - 1);
  // The barrier behind the product keeps the next stage out of the buffer; with two steps nobody comes back to it.
  std::string right = tf32;
  if (which == 2)
    for (std::string *each : {&right, &text})
      each->replace(each->find("K = 32"), 6, "K = 48");
  if (which == 2)
    x = upload(std::vector<float>(16 * 48)), y = upload(std::vector<float>(48 * 8));
  EXPECT_EQ(run(right, {1, 32, 4096}, {x, y, c, 0, 0}), CUDA_SUCCESS);
  EXPECT_EQ(run(text, {1, 32, 4096}, {x, y, c, 0, 0}), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_P(Twins, TheLastBlockOfAllFinishes) {
  // Integer ticket: whoever comes last adds up what the blocks have left, and puts the ticket back.
  std::string text = head + R"(
extern "C" __global__ void __launch_bounds__(32) kernel(const __grid_constant__ Params p) {
  int blocks = int(gridDim.x);
  Global<float> parts(p.args[0], blocks), sum(p.args[1], 1);
  Global<unsigned> ticket(p.args[2], 1);
  Shared<unsigned> mine = shared<unsigned>(0, 1);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = float(blockIdx.x + 1);
    __threadfence();
    mine[0] = atomicAdd(&ticket[0], 1);
  }
  __syncthreads();
  if (mine[0] + 1 != gridDim.x || threadIdx.x)
    return;
  __threadfence();
  float total = 0;
  for (int i = 0; i < blocks; ++i)
    total += parts[i];
  sum[0] = total;
  ticket[0] = 0;
}
)";
  CUdeviceptr parts = upload(std::vector<float>(10)), sum = upload(std::vector<float>(1)),
              ticket = upload(std::vector<unsigned>(1));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(run(text, {10, 32, 4}, {parts, sum, ticket, 0, 0}), CUDA_SUCCESS);
    EXPECT_EQ(download<float>(sum, 1)[0], 55.0f);
    EXPECT_EQ(download<unsigned>(ticket, 1)[0], 0u);
  }
}

TEST_P(Twins, Conversions) {
  std::string text = head + R"(
extern "C" __global__ void __launch_bounds__(32) kernel(const __grid_constant__ Params p) {
  int n = int(p.sizes[0]), i = threadIdx.x;
  if (i >= n)
    return;
  Global<const float> x(p.args[0], n);
  Global<int> y(p.args[1], n);
  Global<long long> z(p.args[2], n * 2);
  float v = x[i];
  y[i] = __float2bfloat16_rn(v).bits << 16 | __float2half_rn(v).bits;
  z[i * 2] = __float2ll_rz(v);
  z[i * 2 + 1] = __double2ll_rz(v);
}
)";
  // What PTX' cvt gives on a GPU.
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    float value;
    unsigned bfloat16, half;
    long long toLong;
  };
  const long long least = std::numeric_limits<long long>::min(), most = std::numeric_limits<long long>::max();
  const std::vector<Case> cases = {
      {1.5f, 0x3fc0, 0x3e00, 1},        {2.5f, 0x4020, 0x4100, 2},
      {-1.75f, 0xbfe0, 0xbf00, -1},     {3e9f, 0x4f33, 0x7c00, 3000000000ll},
      {0x1p63f, 0x5f00, 0x7c00, most},  {-infinity, 0xff80, 0xfc00, least},
      {nan, 0x7fff, 0x7e00, least},     {1.00390625f, 0x3f80, 0x3c04, 1}, // a tie of bfloat16, to even
      {1.01171875f, 0x3f82, 0x3c0c, 1},                                   // the other one
  };
  std::vector<float> values;
  for (const Case &each : cases)
    values.push_back(each.value);
  CUdeviceptr x = upload(values), y = upload(std::vector<int>(cases.size())),
              z = upload(std::vector<long long>(cases.size() * 2));
  ASSERT_EQ(run(text, {1, 32, 0}, {x, y, z, 0, cases.size()}), CUDA_SUCCESS);
  auto ints = download<int>(y, cases.size());
  auto longs = download<long long>(z, cases.size() * 2);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].value);
    EXPECT_EQ(unsigned(ints[i]) >> 16, cases[i].bfloat16);
    if (cases[i].value == cases[i].value)
      EXPECT_EQ(unsigned(ints[i]) & 0xffff, cases[i].half);
    EXPECT_EQ(longs[i * 2], cases[i].toLong);
    EXPECT_EQ(longs[i * 2 + 1], cases[i].toLong);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Twins, testing::Values(0, 1, 2, 3));
