// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every header of kernel text compiles alone, by the host's compiler and by NVRTC for every kind of architecture.
#include "Harness.h"

#include "compiler/codegen/cuda/images/DeviceText.h"
#include "compiler/codegen/cuda/images/Emulated.h"
#include "compiler/codegen/cuda/images/Nvrtc.h"

#include <optional>

static std::string includeOf(const tutti::DeviceHeader &header) { return ("#include \"" + header.name + "\"\n").str(); }

static bool isForHosts(const tutti::DeviceHeader &header) { return header.name.contains("/host"); }

TEST(Headers, CompileAloneOnTheHost) {
  for (int capability : {75, 90})
    for (const tutti::DeviceHeader &header : tutti::deviceHeaders()) {
      std::string text = includeOf(header);
      auto image = tutti::compileEmulated(tutti::EmulatedUnit{"header.cu", text},
                                          {.flags = {"-Wall", "-Wextra", "-Werror"}, .capability = capability});
      EXPECT_TRUE(bool(image)) << header.name.str() << ": " << llvm::toString(image.takeError());
    }
}

TEST(Headers, WhatAnArchitectureLacksIsNotDeclared) {
  std::string text = "#include \"tutti/prelude.cuh\"\nvoid f(float (&d)[4], const uint32_t (&a)[4], const uint32_t "
                     "(&b)[2]) { tutti::mmaTf32(d, a, b); }\n";
  tutti::EmulatedUnit unit{"header.cu", text};
  EXPECT_TRUE(bool(tutti::compileEmulated(unit, {.capability = 80})));
  auto image = tutti::compileEmulated(unit, {.capability = 75});
  ASSERT_FALSE(image);
  EXPECT_NE(llvm::toString(image.takeError()).find("no member named 'mmaTf32'"), std::string::npos);
}

TEST(Headers, TheSameTextGivesTheSameImage) {
  std::string text =
      "#include \"tutti/prelude.cuh\"\nextern \"C\" __global__ void k(int a) { int b[2] = {}; b[a] = 1 / a; }\n";
  std::string other = "#include \"tutti/prelude.cuh\"\nextern \"C\" __global__ void l(int a) { }\n";
  const tutti::EmulatedUnit units[] = {{"k.cu", text}, {"l.cu", other}};
  auto once = tutti::compileEmulated(units), again = tutti::compileEmulated(units);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(*once, *again);
}

TEST(Headers, TextThatIsWrongIsRefusedWithItsLine) {
  const tutti::EmulatedUnit units[] = {{"fine.cu", "#include \"tutti/prelude.cuh\"\nint a;\n"},
                                       {"kernel.cu", "#include \"tutti/prelude.cuh\"\nint a = b;\n"}};
  auto image = tutti::compileEmulated(units);
  ASSERT_FALSE(image);
  EXPECT_NE(llvm::toString(image.takeError()).find("kernel.cu:2:9: error: use of undeclared identifier 'b'"),
            std::string::npos);
}

class NvrtcHeaders : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto loaded = tutti::Nvrtc::load();
    if (!loaded)
      GTEST_SKIP() << llvm::toString(loaded.takeError());
    nvrtc.emplace(*loaded);
  }
  /// What NVRTC says of the text; nothing, where all is well.
  std::string messages(const std::string &text) {
    std::string log;
    auto code = nvrtc->compile(text, "test.cu", *tutti::findArchitecture(GetParam()), {.log = &log});
    return code ? log : llvm::toString(code.takeError());
  }
  std::optional<tutti::Nvrtc> nvrtc;
};

TEST_P(NvrtcHeaders, CompileAlone) {
  for (const tutti::DeviceHeader &header : tutti::deviceHeaders())
    if (!isForHosts(header))
      EXPECT_EQ(messages(includeOf(header)), "") << header.name.str();
}

TEST_P(NvrtcHeaders, CompileWhereTheyAreUsed) {
  std::string text = R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[3];
  int64_t sizes[1];
};
extern "C" __global__ void __launch_bounds__(64) kernel(const __grid_constant__ Params p) {
  Global<const float> x(p.args[0], 64);
  Global<float> y(p.args[1], 64);
  Global<unsigned> ticket(p.args[2], 1);
  Shared<float> s = shared<float>(0, 64);
  int i = threadIdx.x;
  __pipeline_memcpy_async(&s[i], &x[i], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  float v = __shfl_xor_sync(0xffffffff, float(s[i]), 1) + x.slice(4, 4).load4(0).w;
  y.store4(0, x.load4(4));
  y.store2(2, s.load2(2));
  s[i] += v;
  barrierSync(1, 64);
  if (atomicAdd(&ticket[0], 1) == 0)
    y[i] = x[i] + __bfloat162float(__float2bfloat16_rn(v)) + __half2float(__float2half_rn(v));
#if TUTTI_CAPABILITY >= 80
  float d[4] = {};
  uint32_t a[4] = {__float_as_uint(v), packHalf(v, v), packBfloat16(v, v)}, b[2] = {};
  mmaTf32(d, a, b);
  ldmatrix4(a, &s[0]);
  mmaBf16(d, a, b);
  mmaF16(d, a, b);
  y[i] += d[0];
#endif
#if TUTTI_CAPABILITY >= 90
  Shared<uint64_t> m = shared<uint64_t>(256, 1);
  if (i == 0) {
    mbarrierInit(&m[0], 3);
    mbarrierInitFence();
  }
  __syncthreads();
  if (i == 0) {
    bulkFence();
    mbarrierExpect(&m[0], 256);
    bulkCopy(&s[0], &x[0], 256, &m[0]);
    copyAsyncArrive(&m[0]);
    mbarrierArrive(&m[0]);
  }
  mbarrierWait(&m[0], 0);
  y[i] += s[i];
  clusterSync();
  y[i] += peer(s, (clusterRank() + 1) % clusterSize())[i];
  atomicAdd(&peer(shared<int>(0, 1), 0)[0], 1);
  clusterArrive();
  clusterWait();
#endif
}
)";
  EXPECT_EQ(messages(text), "");
  EXPECT_NE(messages("int a = b;"), "");
}

INSTANTIATE_TEST_SUITE_P(Architectures, NvrtcHeaders,
                         testing::Values("sm_75", "sm_80", "sm_90a", "sm_100", "sm_110", "sm_120"));
