// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling and launching for the tests of the emulated device.
#include "Harness.h"

#include "compiler/codegen/cuda/images/Emulated.h"

#include <map>

const std::string &imageOf(const std::string &text, int capability) {
  static std::map<std::pair<std::string, int>, std::string> images;
  auto known = images.find({text, capability});
  if (known != images.end())
    return known->second;
  auto image =
      tutti::compileEmulated(tutti::EmulatedUnit{"test.cu", text},
                             {.flags = {"-Wall", "-Werror", "-Wno-unused-variable"}, .capability = capability});
  if (!image) {
    ADD_FAILURE() << llvm::toString(image.takeError());
    return images[{text, capability}];
  }
  return images[{text, capability}] = *image;
}

static size_t find(const std::string &text, const std::string &part, int which) {
  size_t at = text.find(part);
  for (; which && at != text.npos; --which)
    at = text.find(part, at + 1);
  EXPECT_NE(at, text.npos) << part;
  return at;
}

std::string without(std::string text, const std::string &line, int which) {
  size_t at = find(text, line, which), first = text.rfind('\n', at) + 1, last = text.find('\n', at);
  return text.erase(first, last - first);
}

int lineOf(const std::string &text, const std::string &part, int which) {
  size_t at = find(text, part, which);
  return 1 + std::count(text.begin(), text.begin() + at, '\n');
}

void EmulatedDevice::SetUp() {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
}

void EmulatedDevice::TearDown() {
  for (CUdeviceptr address : allocations)
    cuMemFree_v2(address);
  for (CUmodule module : modules)
    cuModuleUnload(module);
  cuCtxSetCurrent(nullptr);
  cuDevicePrimaryCtxReset_v2(0); // whatever a failure has left
  CUcontext context;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
}

bool EmulatedDevice::renew() {
  if (cuCtxSynchronize() == CUDA_SUCCESS)
    return false;
  EXPECT_EQ(cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  allocations.clear();
  modules.clear();
  EmulatedDevice::SetUp();
  return true;
}

CUfunction EmulatedDevice::function(const std::string &text, const std::string &kernel, int capability) {
  CUmodule module = nullptr;
  CUfunction found = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, imageOf(text, capability).data()), CUDA_SUCCESS);
  modules.push_back(module);
  EXPECT_EQ(cuModuleGetFunction(&found, module, kernel.c_str()), CUDA_SUCCESS);
  return found;
}

CUresult EmulatedDevice::run(const std::string &text, Launch launch, std::vector<uint64_t> words) {
  return run(function(text, "kernel", launch.capability), launch, std::move(words));
}

CUresult EmulatedDevice::run(CUfunction kernel, Launch launch, std::vector<uint64_t> words) {
  if (!kernel)
    return CUDA_ERROR_NOT_FOUND;
  size_t offset, bytes;
  EXPECT_EQ(cuFuncGetParamInfo(kernel, 0, &offset, &bytes), CUDA_SUCCESS);
  EXPECT_EQ(bytes, words.size() * sizeof(uint64_t)) << "the words do not fit the kernel's parameter";
  void *parameters[] = {words.data()};
  EXPECT_EQ(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.sharedBytes),
            CUDA_SUCCESS);
  CUlaunchAttribute cluster = {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, {}, {}};
  cluster.value.clusterDim = {launch.cluster, 1, 1};
  CUlaunchConfig config = {launch.grid,        1,       1,        launch.block,      1, 1,
                           launch.sharedBytes, nullptr, &cluster, launch.cluster > 1};
  CUresult result = cuLaunchKernelEx(&config, kernel, parameters, nullptr);
  return result ? result : cuCtxSynchronize();
}

void EmulatedDevice::expectFailure(const std::string &text, Launch launch, std::vector<uint64_t> words, CUresult result,
                                   int line, const std::string &part) {
  EXPECT_EQ(run(text, launch, words), result);
  std::string report = tuttiEmulatedReport();
  EXPECT_NE(report.find("kernel kernel, block ("), report.npos) << report;
  EXPECT_NE(report.find(", thread ("), report.npos) << report;
  EXPECT_NE(report.find(line ? "test.cu:" + std::to_string(line) + ":" : "test.cu:"), report.npos)
      << "line " << line << "? " << report;
  EXPECT_NE(report.find(part), report.npos) << report;
}
