// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVRTC: where it is found, what it makes, and what is said where it is missing or too old.
#include "Support.h"
#include "compiler/codegen/cuda/images/NvrtcSearch.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tutti;
namespace fs = std::filesystem;

namespace {

const Architecture &arch(const char *name) { return *findArchitecture(name); }
std::string fake(const char *name) { return std::string(TUTTI_TEST_FAKES) + "/" + name; }

/// Has a folder of its own, and nothing in the environment that leads to an NVRTC.
class NvrtcPlaces : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(root); }
  void TearDown() override { fs::remove_all(root); }

  /// Copies a fake's library to root/FOLDER/.
  void plant(const char *name, const std::string &folder) {
    fs::create_directories(root / folder);
    for (const auto &file : fs::directory_iterator(fake(name) + "/lib64"))
      fs::copy(file, root / folder);
  }
  /// The library that is found, below `root`; else the message.
  std::string found() {
    llvm::Expected<Nvrtc> nvrtc = Nvrtc::load();
    return nvrtc ? fs::path(nvrtc->path()).lexically_relative(root).string() : llvm::toString(nvrtc.takeError());
  }

  fs::path root = fs::path(testing::TempDir()) / ("tutti-nvrtc-" + std::to_string(getpid()));
  Environment named{"TUTTI_NVRTC", nullptr}, home{"CUDA_HOME", nullptr}, path{"CUDA_PATH", nullptr},
      environment{"VIRTUAL_ENV", nullptr};
};

TEST_F(NvrtcPlaces, TheVariableNamesAFileOrAFolder) {
  plant("middle", "here");
  for (const char *name : {"here", "here/libnvrtc.so.12"}) {
    Environment variable("TUTTI_NVRTC", (root / name).c_str());
    EXPECT_EQ(found(), "here/libnvrtc.so.12");
  }
  llvm::Expected<Nvrtc> nvrtc = Nvrtc::open((root / "here/libnvrtc.so.12").string());
  ASSERT_TRUE(bool(nvrtc));
  EXPECT_EQ(nvrtc->version(), 12040);
  EXPECT_EQ(nvrtc->describe(), "NVRTC 12.4 (" + (root / "here/libnvrtc.so.12").string() + ")");
}

TEST_F(NvrtcPlaces, ToolkitsThenWheelsAndTheNewestOfEach) {
  std::string wheels = "env/lib/python3.11/site-packages/nvidia/";
  plant("middle", wheels + "cuda_nvrtc/lib");
  plant("new", wheels + "cu15/lib");
  plant("middle", "toolkit/lib64");
  plant("old", "ancient/lib64");
  Environment environment("VIRTUAL_ENV", (root / "env").c_str());
  EXPECT_EQ(found(), wheels + "cu15/lib/libnvrtc.so.15");
  Environment home("CUDA_HOME", (root / "toolkit").c_str());
  EXPECT_EQ(found(), "toolkit/lib64/libnvrtc.so.12");
  {
    Environment home("CUDA_HOME", (root / "nothing").c_str()), path("CUDA_PATH", (root / "toolkit").c_str());
    EXPECT_EQ(found(), "toolkit/lib64/libnvrtc.so.12");
  }
  // One that is too old for all is passed over.
  Environment old("CUDA_HOME", (root / "ancient").c_str());
  EXPECT_EQ(found(), wheels + "cu15/lib/libnvrtc.so.15");
}

TEST_F(NvrtcPlaces, PythonIsAskedForItsFolders) {
  plant("middle", "packages/nvidia/cuda_nvrtc/lib");
  fs::create_directories(root / "bin");
  std::ofstream(root / "bin/python3") << "#!/bin/sh\nprintf '\\n/nowhere\\n"
                                      << (root / "packages").string() << "\\n'\n";
  fs::permissions(root / "bin/python3", fs::perms::owner_all);
  {
    Environment path("PATH", (root / "bin").c_str());
    EXPECT_EQ(nvrtcInPython(), std::vector{(root / "packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12").string()});
  }
  Environment path("PATH", root.c_str());
  EXPECT_TRUE(nvrtcInPython().empty());
}

TEST_F(NvrtcPlaces, MissingSaysWhatToInstall) {
  for (const std::string &place : {root.string(), (root / "libnvrtc.so").string(), std::string(__FILE__)}) {
    Environment variable("TUTTI_NVRTC", place.c_str());
    Failure failure = failureOf(Nvrtc::load());
    EXPECT_EQ(failure.code, ExitCode::device);
    EXPECT_TRUE(has(failure, "NVRTC")) << failure.message;
    EXPECT_TRUE(has(failure, place)) << failure.message;
    EXPECT_TRUE(has(failure, "pip install nvidia-cuda-nvrtc")) << failure.message;
    EXPECT_TRUE(has(failure, "--target cpu needs none")) << failure.message;
  }
}

TEST_F(NvrtcPlaces, ALibraryThatIsNoNvrtc) {
  Failure failure = failureOf(Nvrtc::open("libc.so.6"));
  EXPECT_EQ(failure.code, ExitCode::device);
  EXPECT_TRUE(has(failure, "is no NVRTC")) << failure.message;
}

TEST_F(NvrtcPlaces, ALibraryThatIsCutShort) {
  fs::path whole = fs::path(fake("middle")) / "lib64/libnvrtc.so.12", cut = root / "libnvrtc.so.12";
  fs::copy(whole, cut);
  fs::resize_file(cut, fs::file_size(whole) / 4);
  for (Failure failure : {failureOf(Nvrtc::open(cut.string())), [&] {
                            Environment variable("TUTTI_NVRTC", root.c_str());
                            return failureOf(Nvrtc::load());
                          }()}) {
    EXPECT_EQ(failure.code, ExitCode::device);
    EXPECT_TRUE(has(failure, "'" + cut.string() + "' is cut short")) << failure.message;
  }
}

TEST_F(NvrtcPlaces, TooOldForAnything) {
  Failure failure = failureOf(Nvrtc::open(fake("old") + "/lib64/libnvrtc.so.11"));
  EXPECT_EQ(failure.code, ExitCode::device);
  EXPECT_TRUE(has(failure, "NVRTC 11.8 (")) << failure.message;
  EXPECT_TRUE(has(failure, "12.0 or newer")) << failure.message;
}

TEST_F(NvrtcPlaces, TooOldForAnArchitectureNamesBothVersions) {
  llvm::Expected<Nvrtc> nvrtc = Nvrtc::open(fake("middle") + "/lib64/libnvrtc.so.12");
  ASSERT_TRUE(bool(nvrtc));
  EXPECT_TRUE(nvrtc->supports(arch("sm_90a")));
  EXPECT_FALSE(nvrtc->supports(arch("sm_100")));
  EXPECT_FALSE(nvrtc->supports(arch("emulated")));
  for (Failure failure :
       {failureOf(nvrtc->check(arch("compute_120"))), failureOf(nvrtc->compile("", "k.cu", arch("compute_120"))),
        failureOf(nvrtc->compile({{"k.cu", "", &arch("sm_90a")}, {"k.cu", "", &arch("compute_120")}}, 1))}) {
    EXPECT_EQ(failure.code, ExitCode::device);
    EXPECT_TRUE(has(failure, "NVRTC 12.4 (")) << failure.message;
    EXPECT_TRUE(has(failure, "is too old for compute_120, which needs 12.8 or newer")) << failure.message;
  }
}

TEST_F(NvrtcPlaces, TooNewForAnArchitecture) {
  llvm::Expected<Nvrtc> nvrtc = Nvrtc::open(fake("new") + "/lib64/libnvrtc.so.15");
  ASSERT_TRUE(bool(nvrtc));
  Failure failure = failureOf(nvrtc->check(arch("sm_75")));
  EXPECT_EQ(failure.code, ExitCode::device);
  EXPECT_TRUE(has(failure, "NVRTC 15.0 (")) << failure.message;
  EXPECT_TRUE(has(failure, "does not compile for sm_75 any more")) << failure.message;
}

TEST_F(NvrtcPlaces, DriversThatLoadTheCode) {
  llvm::Expected<Nvrtc> middle = Nvrtc::open(fake("middle") + "/lib64/libnvrtc.so.12");
  llvm::Expected<Nvrtc> fresh = Nvrtc::open(fake("new") + "/lib64/libnvrtc.so.15");
  ASSERT_TRUE(middle && fresh);
  EXPECT_EQ(middle->minDriver(arch("sm_80")), 12000);
  EXPECT_EQ(middle->minDriver(arch("compute_120")), 12040);
  EXPECT_EQ(fresh->minDriver(arch("sm_100")), 15000);
}

TEST_F(NvrtcPlaces, RefusedTextIsOurMistake) {
  llvm::Expected<Nvrtc> nvrtc = Nvrtc::open(fake("middle") + "/lib64/libnvrtc.so.12");
  ASSERT_TRUE(bool(nvrtc));
  auto compile = [&] { return failureOf(nvrtc->compile("int a;\nint b = c;\n", "kernel.cu", arch("sm_80"))); };
  Failure failure = compile();
  EXPECT_EQ(failure.code, ExitCode::internal);
  EXPECT_TRUE(has(failure, "'kernel.cu' for sm_80")) << failure.message;
  EXPECT_TRUE(has(failure, "kernel.cu(2): error: the fake compiles nothing")) << failure.message;
  EXPECT_FALSE(has(failure, "int b = c;")) << failure.message;
  Environment show("TUTTI_SHOW_KERNELS", "1");
  failure = compile();
  EXPECT_TRUE(has(failure, "2: int b = c;")) << failure.message;
}

const std::string axpy = R"(
extern "C" __global__ void axpy(float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = sqrtf(a * x[i] + y[i]) / x[i];
}
)";

TEST(Nvrtc, IsFound) {
  TUTTI_NEED_NVRTC(nvrtc);
  EXPECT_GE(nvrtc.version(), Nvrtc::oldest);
  EXPECT_TRUE(fs::exists(nvrtc.path())) << nvrtc.path();
  RecordProperty("nvrtc", nvrtc.describe());
}

TEST(Nvrtc, CompilesForEveryArchitecture) {
  TUTTI_NEED_NVRTC(nvrtc);
  for (const Architecture &architecture : architectures()) {
    if (architecture.code == Architecture::Code::emulated)
      continue;
    if (!nvrtc.supports(architecture)) {
      EXPECT_LT(nvrtc.version(), architecture.toolkit) << architecture.name.str();
      continue;
    }
    std::string log, code = take(nvrtc.compile(axpy, "axpy.cu", architecture, {.log = &log}));
    EXPECT_EQ(log, "");
    if (architecture.code == Architecture::Code::cubin) {
      EXPECT_EQ(code.substr(0, 4), "\x7f"
                                   "ELF")
          << architecture.name.str();
      continue;
    }
    EXPECT_TRUE(code.ends_with('\0'));
    EXPECT_NE(code.find(".target sm_" + std::to_string(architecture.capability)), std::string::npos) << code;
  }
}

TEST(Nvrtc, FloatsAreIeee) {
  TUTTI_NEED_NVRTC(nvrtc);
  if (!nvrtc.supports(arch("compute_120")))
    GTEST_SKIP() << nvrtc.describe() << " has no compute_120";
  std::string ptx = take(nvrtc.compile(axpy, "axpy.cu", arch("compute_120")));
  for (const char *instruction : {"mul.rn.f32", "add.rn.f32", "sqrt.rn.f32", "div.rn.f32"})
    EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction << "\n" << ptx;
  for (const char *instruction : {"fma", ".ftz", ".approx"})
    EXPECT_EQ(ptx.find(instruction), std::string::npos) << instruction << "\n" << ptx;
}

TEST(Nvrtc, SameTextSameBytes) {
  TUTTI_NEED_NVRTC(nvrtc);
  std::vector<KernelUnit> units;
  for (const char *name : {"sm_75", "sm_90a", "sm_75"})
    for (const char *text : {"axpy", "other"}) {
      std::string changed = axpy;
      changed.replace(changed.find("axpy"), 4, text);
      units.push_back({std::string(text) + ".cu", changed, &arch(name)});
    }
  auto many = take(nvrtc.compile(units, 2)), again = take(nvrtc.compile(units, 1));
  ASSERT_EQ(many.size(), units.size());
  EXPECT_EQ(many, again);
  for (size_t i = 0; i < units.size(); ++i)
    EXPECT_EQ(many[i].code, take(nvrtc.compile(units[i].text, units[i].name, *units[i].architecture))) << i;
  EXPECT_EQ(many[0], many[4]);
  EXPECT_NE(many[0], many[1]);
  EXPECT_NE(many[0], many[2]);
}

// Of a sum that is touched between its products NVRTC has to wait for the first.
TEST(Nvrtc, ProductsThatWaitAreTold) {
  TUTTI_NEED_NVRTC(nvrtc);
  std::string text = R"(
#define PRODUCT                                                                                                        \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1;"   \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                        \
               : "r"(a), "l"(weights))
extern "C" __global__ void products(float *y, unsigned long long weights, unsigned a) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  PRODUCT;
  // between
  PRODUCT;
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  y[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
})";
  std::string touched = text;
  touched.replace(touched.find("// between"), 10, "d[0] += 1;");
  auto code = take(nvrtc.compile({{"one.cu", text, &arch("sm_90a")}, {"other.cu", touched, &arch("sm_90a")}}, 2));
  EXPECT_FALSE(code[0].waits);
  EXPECT_TRUE(code[1].waits);
}

TEST(Nvrtc, TheFirstErrorOfManyIsTold) {
  TUTTI_NEED_NVRTC(nvrtc);
  std::vector<KernelUnit> units = {{"good.cu", axpy, &arch("sm_80")},
                                   {"bad.cu", "int x = nothing;\n", &arch("sm_80")},
                                   {"worse.cu", "\n}\n", &arch("sm_80")}};
  for (unsigned jobs : {1, 2}) {
    Failure failure = failureOf(nvrtc.compile(units, jobs));
    EXPECT_EQ(failure.code, ExitCode::internal);
    EXPECT_TRUE(has(failure, "bad.cu(1): error")) << failure.message;
    EXPECT_TRUE(has(failure, "nothing")) << failure.message;
  }
}

} // namespace
