// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every header of kernel text compiles alone, by the host's compiler and by NVRTC for every kind of architecture.
#include "Harness.h"

#include "compiler/codegen/cuda/DeviceText.h"
#include "compiler/codegen/cuda/Emulated.h"

#include <dlfcn.h>

static std::string includeOf(const tutti::DeviceHeader &header) { return ("#include \"" + header.name + "\"\n").str(); }

static bool isForHosts(const tutti::DeviceHeader &header) { return header.name.contains("/host"); }

TEST(Headers, CompileAloneOnTheHost) {
  for (const tutti::DeviceHeader &header : tutti::deviceHeaders()) {
    std::string text = includeOf(header);
    auto image =
        tutti::compileEmulated(tutti::EmulatedUnit{"header.cu", text}, {.flags = {"-Wall", "-Wextra", "-Werror"}});
    EXPECT_TRUE(bool(image)) << header.name.str() << ": " << llvm::toString(image.takeError());
  }
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

namespace {
/// The little of NVRTC that this test needs.
struct Nvrtc {
  Nvrtc() {
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", TUTTI_NVRTC})
      if (!library && *name)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return;
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(compile, "nvrtcCompileProgram");
    find(logSize, "nvrtcGetProgramLogSize");
    find(getLog, "nvrtcGetProgramLog");
  }
  template <class F> void find(F &function, const char *name) { function = reinterpret_cast<F>(dlsym(library, name)); }

  /// What the compiler says; empty where it says nothing.
  std::string messages(const std::string &text, const std::string &architecture) {
    std::vector<const char *> texts, names;
    for (const tutti::DeviceHeader &header : tutti::deviceHeaders()) {
      texts.push_back(header.text.data());
      names.push_back(header.name.data());
    }
    void *program = nullptr;
    if (create(&program, text.c_str(), "test.cu", int(texts.size()), texts.data(), names.data()))
      return "no program";
    std::string arch = "--gpu-architecture=" + architecture;
    const char *options[] = {"-std=c++20", "--fmad=false", arch.c_str()};
    int result = compile(program, 3, options);
    size_t size = 0;
    logSize(program, &size);
    std::string log(size, 0);
    getLog(program, log.data());
    destroy(&program);
    log.resize(log.find_last_not_of(std::string("\0 \n", 3)) + 1);
    return result && log.empty() ? "error " + std::to_string(result) : log;
  }

  void *library = nullptr;
  int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
  int (*destroy)(void **);
  int (*compile)(void *, int, const char *const *);
  int (*logSize)(void *, size_t *);
  int (*getLog)(void *, char *);
};
} // namespace

class NvrtcHeaders : public testing::TestWithParam<const char *> {};

TEST_P(NvrtcHeaders, CompileAlone) {
  Nvrtc nvrtc;
  if (!nvrtc.library)
    GTEST_SKIP() << "no NVRTC on this machine: " << dlerror();
  for (const tutti::DeviceHeader &header : tutti::deviceHeaders())
    if (!isForHosts(header))
      EXPECT_EQ(nvrtc.messages(includeOf(header), GetParam()), "") << header.name.str();
}

TEST_P(NvrtcHeaders, CompileWhereTheyAreUsed) {
  Nvrtc nvrtc;
  if (!nvrtc.library)
    GTEST_SKIP() << "no NVRTC on this machine: " << dlerror();
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
  barrierArrive(2, 64);
  if (atomicAdd(&ticket[0], 1) == 0)
    y[i] = __ldcg(&x[i]) + __bfloat162float(__float2bfloat16_rn(v)) + __half2float(__float2half_rn(v));
#if !TUTTI_ON_DEVICE || __CUDA_ARCH__ >= 800
  float d[4] = {};
  uint32_t a[4] = {toTf32(v), packHalf(v, v), packBfloat16(v, v)}, b[2] = {};
  mmaTf32(d, a, b);
  ldmatrix4(a, &s[0]);
  mmaBf16(d, a, b);
  ldmatrix4Transposed(a, &s[0]);
  mmaF16(d, a, b);
  y[i] += d[0];
#endif
}
)";
  EXPECT_EQ(nvrtc.messages(text, GetParam()), "");
  EXPECT_NE(nvrtc.messages("int a = b;", GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(Architectures, NvrtcHeaders, testing::Values("sm_75", "sm_80", "sm_90a", "sm_100", "sm_120"));
