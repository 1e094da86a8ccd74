// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is read from a cubin, beside what the assembler says of the same kernels; and the gate.
#include "Support.h"
#include "compiler/codegen/cuda/images/Image.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <regex>

using namespace tutti;

namespace {

// Each kernel has one thing that the others have not.
const std::string kernels = R"(#include "tutti/prelude.cuh"
using namespace tutti;
extern "C" __global__ void plain(float *x) { x[threadIdx.x] += 1.0f; }
extern "C" __global__ void __launch_bounds__(256) fixed(float *x) {
  __shared__ float s[512];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[255 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(128) dynamic(float *x) {
  Shared<float> s = shared<float>(0, 128);
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[127 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(64) named(float *x) {
  asm volatile("bar.sync 5, 64;" ::: "memory");
  x[threadIdx.x] = 1.0f;
}
// 96 values that all stay alive do not fit in the 64 registers that 1024 threads have each.
extern "C" __global__ void __launch_bounds__(1024) spills(float *x) {
  float v[96];
#pragma unroll
  for (int j = 0; j < 96; ++j)
    v[j] = x[threadIdx.x + j * 1024];
  for (int r = 0; r < 10; ++r)
#pragma unroll
    for (int j = 0; j < 96; ++j)
      v[j] = fmaf(v[j], v[(j * 7 + 3) % 96], v[(j + 5) % 96]);
#pragma unroll
  for (int j = 0; j < 96; ++j)
    x[threadIdx.x + j * 1024] = v[j];
}
// The index is not known before the kernel runs, so the array is no registers.
extern "C" __global__ void __launch_bounds__(64) indexed(float *x, const int *i) {
  float v[16];
  for (int j = 0; j < 16; ++j)
    v[i[j] & 15] = x[j];
  x[threadIdx.x] = v[i[16] & 15];
}
)";

/// What ptxas tells in its log (-v), by kernel.
std::map<std::string, KernelResources> told(const std::string &log) {
  std::map<std::string, KernelResources> result;
  KernelResources *now = nullptr;
  for (llvm::StringRef line : llvm::split(log, '\n')) {
    std::cmatch match;
    std::string text = line.str();
    auto number = [&](const char *pattern, unsigned &value) {
      if (std::regex_search(text.c_str(), match, std::regex(pattern)))
        value = unsigned(std::stoul(match[1]));
    };
    if (std::regex_search(text.c_str(), match, std::regex("Compiling entry function '(\\w+)'"))) {
      now = &result[match[1]];
      now->name = match[1];
    }
    if (!now)
      continue;
    number("(\\d+) bytes stack frame", now->stack);
    number("(\\d+) bytes cumulative stack size", now->stack);
    number("Used (\\d+) registers", now->registers);
    number("used (\\d+) barriers", now->barriers);
    number("(\\d+) bytes smem", now->staticShared);
  }
  return result;
}

std::map<std::string, KernelResources> byName(const std::string &cubin) {
  std::map<std::string, KernelResources> result;
  for (KernelResources &kernel : take(readCubin(cubin)))
    result[kernel.name] = kernel;
  return result;
}

TEST(Cubin, SaysWhatTheAssemblerSaid) {
  TUTTI_NEED_NVRTC(nvrtc);
  std::map<std::string, unsigned> threads = {{"plain", 0},  {"fixed", 256},   {"dynamic", 128},
                                             {"named", 64}, {"spills", 1024}, {"indexed", 64}};
  for (const Architecture &architecture : architectures()) {
    if (architecture.code != Architecture::Code::cubin || !nvrtc.supports(architecture))
      continue;
    SCOPED_TRACE(architecture.name.str());
    std::string log,
        cubin =
            take(nvrtc.compile(kernels, "kernels.cu", architecture, {.flags = {"--ptxas-options=-v"}, .log = &log}));
    auto read = byName(cubin), expected = told(log);
    ASSERT_EQ(read.size(), threads.size());
    ASSERT_EQ(expected.size(), threads.size()) << log;
    for (const auto &[name, kernel] : read) {
      SCOPED_TRACE(name);
      EXPECT_EQ(kernel.registers, expected[name].registers) << log;
      EXPECT_EQ(kernel.stack, expected[name].stack) << log;
      if (log.find(" barriers") != log.npos) // since CUDA 12.6 or so
        EXPECT_EQ(kernel.barriers, expected[name].barriers) << log;
      EXPECT_EQ(kernel.staticShared, expected[name].staticShared) << log;
      EXPECT_EQ(kernel.maxThreads, threads[name]);
    }
    EXPECT_EQ(read["fixed"].staticShared, 2048u);
    EXPECT_EQ(read["plain"].barriers, 0u);
    EXPECT_EQ(read["fixed"].barriers, 1u);
    EXPECT_EQ(read["named"].barriers, 6u); // up to the one of the highest number
    EXPECT_EQ(read["dynamic"].staticShared, 0u);
    EXPECT_EQ(read["plain"].stack, 0u);
    EXPECT_GT(read["spills"].stack, 0u);
    EXPECT_LE(read["spills"].registers, 64u);
    EXPECT_GE(read["indexed"].stack, 64u);
  }
}

TEST(Cubin, TheGateRefusesAStackFrame) {
  TUTTI_NEED_NVRTC(nvrtc);
  const Architecture &architecture = *findArchitecture("sm_90a");
  auto read = byName(take(nvrtc.compile(kernels, "kernels.cu", architecture)));
  for (const char *good : {"plain", "fixed", "dynamic"})
    EXPECT_EQ(failureOf(checkResources(read[good], architecture)).message, "");
  for (const char *bad : {"spills", "indexed"}) {
    Failure failure = failureOf(checkResources(read[bad], architecture));
    EXPECT_EQ(failure.code, ExitCode::internal);
    EXPECT_TRUE(has(failure, "kernel '" + std::string(bad) + "' for sm_90a has a stack frame of " +
                                 std::to_string(read[bad].stack)))
        << failure.message;
  }
}

/// The kernel `spills` of those above, with these bounds.
static std::string spillsWith(llvm::StringRef bounds) {
  std::string all = kernels, from = "extern \"C\" __global__ void __launch_bounds__(1024) spills";
  std::string text = all.substr(all.find(from), all.find("// The index") - all.find(from));
  return text.replace(text.find("1024"), 4, bounds.str());
}

TEST(Cubin, WhatSpillsIsCompiledOnceMore) {
  TUTTI_NEED_NVRTC(nvrtc);
  const Architecture &architecture = *findArchitecture("sm_90a");
  if (!nvrtc.supports(architecture))
    GTEST_SKIP() << "this NVRTC knows no sm_90a";
  auto builtOf = [&](std::vector<const char *> bounds) {
    CudaText text{"spills", {}};
    for (const char *each : bounds)
      text.versions.push_back({spillsWith(each), {}});
    return take(buildCudaImages({{&architecture, {&text}}}, 1)).front().kernels.front();
  };
  CudaImage::Kernel kernel = builtOf({"1024, 1"});
  EXPECT_GT(kernel.resources.stack, 0u);
  EXPECT_EQ(kernel.version, 0u);
  kernel = builtOf({"1024, 1", "1024, 1", "256, 1", "128, 1"});
  EXPECT_EQ(kernel.resources.stack, 0u);
  EXPECT_EQ(kernel.version, 2u);
  EXPECT_EQ(kernel.resources.maxThreads, 256u);
  kernel = builtOf({"1024, 1", "512, 2"});
  EXPECT_GT(kernel.resources.stack, 0u);
  EXPECT_EQ(kernel.version, 1u);
}

// A launch has blocks of one size on all architectures of a program, whichever of them the last version is for.
TEST(Cubin, VersionsHaveAsManyThreadsOnAllArchitectures) {
  TUTTI_NEED_NVRTC(nvrtc);
  const Architecture &older = *findArchitecture("sm_80"), &newer = *findArchitecture("sm_90a");
  if (!nvrtc.supports(older) || !nvrtc.supports(newer))
    GTEST_SKIP() << "this NVRTC knows no sm_80 or no sm_90a";
  std::string small = "extern \"C\" __global__ void spills(float *x) { *x = 1; }\n";
  std::string onlyNewer = "#if __CUDA_ARCH__ >= 900\n" + spillsWith("1024") + "\n#else\n" + small + "#endif\n";
  for (bool newerFirst : {false, true}) {
    CudaText text{"spills", {{onlyNewer, {1024, 0}}, {spillsWith("256"), {256, 0}}}};
    auto built =
        take(buildCudaImages({{newerFirst ? &newer : &older, {&text}}, {newerFirst ? &older : &newer, {&text}}}, 1));
    for (const CudaImage &image : built)
      EXPECT_EQ(image.kernels.front().version, 1u) << image.architecture->name.str();
    // Of as many threads each architecture keeps the best.
    text.versions.back().needs.threads = 1024;
    built = take(buildCudaImages({{&older, {&text}}, {&newer, {&text}}}, 1));
    EXPECT_EQ(built[0].kernels.front().version, 0u);
    EXPECT_EQ(built[1].kernels.front().version, 1u);
  }
}

TEST(Cubin, PtxHasTheVersionOfTheCubins) {
  TUTTI_NEED_NVRTC(nvrtc);
  const Architecture &cubin = *findArchitecture("sm_90a"), &ptx = *findArchitecture("compute_120");
  if (!nvrtc.supports(cubin) || !nvrtc.supports(ptx))
    GTEST_SKIP() << "this NVRTC knows no sm_90a or no compute_120";
  CudaText text{"spills", {{spillsWith("1024"), {}}, {spillsWith("256"), {}}}};
  auto built = take(buildCudaImages({{&ptx, {&text}}, {&cubin, {&text}}}, 1));
  EXPECT_EQ(built[0].kernels.front().version, 1u);
  EXPECT_NE(built[0].bytes.find(".maxntid 256"), std::string::npos) << built[0].bytes;
  EXPECT_EQ(built[1].kernels.front().version, 1u);
  built = take(buildCudaImages({{&ptx, {&text}}}, 1)); // nobody says that it spills
  EXPECT_EQ(built[0].kernels.front().version, 0u);
}

TEST(Cubin, AWayThatSpillsStaysWhereThereIsNoOther) {
  std::vector<std::vector<unsigned>> launched = {{0}, {0}, {1, 2}, {1, 2}, {1}};
  using Ways = std::vector<bool>;
  EXPECT_EQ(waysThatStay(launched, {false, false, false, false, false}), Ways({true, true, true, true, true}));
  EXPECT_EQ(waysThatStay(launched, {true, false, false, true, false}), Ways({false, true, true, false, true}));
  EXPECT_EQ(waysThatStay(launched, {true, true, true, false, true}), Ways({true, true, false, true, true}));
}

TEST(Cubin, TheGateKnowsWhatABlockCanHave) {
  KernelResources kernel{"k", 64, 0, 1024, 1, 1024};
  auto refused = [&](const char *name, LaunchNeeds needs) {
    return failureOf(checkResources(kernel, *findArchitecture(name), needs)).message;
  };
  EXPECT_EQ(refused("sm_75", {1024, 63 << 10}), "");
  EXPECT_EQ(refused("sm_75", {1024, (63 << 10) + 1}),
            "internal error: kernel 'k' for sm_75 has 65537 bytes of shared memory a block, expected at most 65536");
  EXPECT_EQ(refused("sm_80", {1024, (63 << 10) + 1}), "");
  EXPECT_EQ(refused("sm_80", {1025, 0}),
            "internal error: kernel 'k' for sm_80 has blocks of 1025 threads, expected at most 1024");
  kernel.registers = 65; // 72 in units of 256 a warp
  EXPECT_EQ(refused("sm_80", {896, 0}), "");
  EXPECT_NE(refused("sm_80", {928, 0}), "");
  kernel.maxThreads = 256;
  EXPECT_EQ(refused("sm_80", {288, 0}),
            "internal error: kernel 'k' for sm_80 has blocks of 288 threads, expected at most 256");
  kernel.barriers = 17;
  EXPECT_EQ(refused("sm_80", {}), "internal error: kernel 'k' for sm_80 has 17 barriers, expected at most 16");
}

TEST(Cubin, DamageIsAnErrorAndNoCrash) {
  for (std::string bytes : {std::string(), std::string("ELF"), std::string(64, '\0'),
                            std::string("\x7f"
                                        "ELF") +
                                std::string(60, '\xff')}) {
    Failure failure = failureOf(readCubin(bytes));
    EXPECT_EQ(failure.code, ExitCode::malformed);
    EXPECT_TRUE(has(failure, "damaged cubin")) << failure.message;
  }
  TUTTI_NEED_NVRTC(nvrtc);
  std::string cubin = take(nvrtc.compile(kernels, "kernels.cu", *findArchitecture("sm_90a")));
  // An exact allocation each, so that a sanitizer sees a read past the end.
  auto read = [](const std::string &bytes) { llvm::consumeError(readCubin(bytes).takeError()); };
  for (size_t size = 0; size < cubin.size(); size += 61)
    read(std::string(cubin.data(), size));
  // Everything but code, byte by byte; code is not looked at.
  for (size_t i = 0; i < cubin.size(); i += i < 4096 || cubin.size() - i < 4096 ? 1 : 37)
    for (char flip : {'\x01', '\x80', '\xff'}) {
      std::string changed = cubin;
      changed[i] ^= flip;
      read(changed);
    }
}

} // namespace
