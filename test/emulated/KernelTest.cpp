// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels on the emulated device: correct ones run, in any order of threads; a barrier that is taken away is missed.
#include "Harness.h"

#include <cmath>
#include <numeric>

static const std::string blockSum = R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[2];
  int64_t sizes[1];
};
extern "C" __global__ void __launch_bounds__(128) kernel(const __grid_constant__ Params p) {
  Global<const float> x(p.args[0], p.sizes[0]);
  Global<float> y(p.args[1], gridDim.x);
  Shared<float> s = shared<float>(0, 128);
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = i < p.sizes[0] ? float(x[i]) : 0.0f;
  __syncthreads();
  for (unsigned n = 64; n > 0; n /= 2) {
    if (threadIdx.x < n)
      s[threadIdx.x] += s[threadIdx.x + n];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = s[0];
}
)";

static const std::string transpose = R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[2];
  int64_t sizes[1];
};
extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Params p) {
  int n = int(p.sizes[0]), tiles = n / 32, row = blockIdx.x / tiles * 32, column = blockIdx.x % tiles * 32;
  Global<const float> x(p.args[0], n * n);
  Global<float> y(p.args[1], n * n);
  Shared<float> tile = shared<float>(0, 32 * 36);
  int i = threadIdx.x / 8, j = threadIdx.x % 8 * 4;
  tile.store4(i * 36 + j, x.load4((row + i) * n + column + j));
  __syncthreads();
  float4 v = make_float4(tile[j * 36 + i], tile[(j + 1) * 36 + i], tile[(j + 2) * 36 + i], tile[(j + 3) * 36 + i]);
  y.store4((column + i) * n + row + j, v);
}
)";

static const std::string shuffleSum = R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[2];
  int64_t sizes[1];
};
extern "C" __global__ void __launch_bounds__(96) kernel(const __grid_constant__ Params p) {
  Global<const int> x(p.args[0], p.sizes[0]);
  Global<int> y(p.args[1], 5);
  Shared<int> s = shared<int>(0, 3);
  int v = x[threadIdx.x], lane = threadIdx.x % 32;
  for (int distance = 16; distance > 0; distance /= 2)
    v += __shfl_xor_sync(0xffffffff, v, distance);
  if (lane == 0)
    s[threadIdx.x / 32] = v;
  __syncthreads();
  int votes = __any_sync(0xffffffff, lane == 31) + 2 * __any_sync(0xffffffff, lane == 32);
  int prefix = lane;
  for (int distance = 1; distance < 32; distance *= 2) {
    int below = __shfl_up_sync(0xffffffff, prefix, distance);
    prefix += lane >= distance ? below : 0;
  }
  if (threadIdx.x == 31) {
    y[0] = s[0] + s[1] + s[2];
    y[1] = votes;
    y[2] = prefix;
  }
  int second = __shfl_sync(0xffffffff, lane, 9, 8), across = __shfl_xor_sync(0xffffffff, lane, 8, 8);
  if (lane == 15)
    y[3] = second;
  if (lane == 6)
    y[4] = across;
}
)";

class Kernels : public EmulatedDevice, public testing::WithParamInterface<int> {
  void SetUp() override {
    EmulatedDevice::SetUp();
    tuttiEmulatedSetSeed(GetParam());
  }
};

TEST_P(Kernels, BlockSum) {
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 1.0f);
  CUdeviceptr in = upload(x), out = upload(std::vector<float>(8));
  ASSERT_EQ(run(blockSum, {8, 128, 512}, {in, out, x.size()}), CUDA_SUCCESS);
  auto sums = download<float>(out, 8);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0), 500500.0);
}

TEST_P(Kernels, BlockSumMissesEachBarrier) {
  std::vector<float> x(128);
  CUdeviceptr in = upload(x), out = upload(std::vector<float>(1));
  std::string text = without(blockSum, "__syncthreads", GetParam() % 2);
  expectFailure(text, {1, 128, 512}, {in, out, x.size()}, CUDA_ERROR_LAUNCH_FAILED,
                lineOf(text, "s[threadIdx.x] += s[threadIdx.x + n]"), "");
}

TEST_P(Kernels, Transpose) {
  const int n = 96;
  std::vector<float> x(n * n);
  std::iota(x.begin(), x.end(), 0.0f);
  CUdeviceptr in = upload(x), out = upload(std::vector<float>(n * n));
  ASSERT_EQ(run(transpose, {9, 256, 32 * 36 * 4}, {in, out, n}), CUDA_SUCCESS);
  auto y = download<float>(out, n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      ASSERT_EQ(y[j * n + i], x[i * n + j]);
}

TEST_P(Kernels, TransposeMissesItsBarrier) {
  std::vector<float> x(32 * 32);
  CUdeviceptr in = upload(x), out = upload(x);
  std::string text = without(transpose, "__syncthreads");
  expectFailure(text, {1, 256, 32 * 36 * 4}, {in, out, 32}, CUDA_ERROR_LAUNCH_FAILED, lineOf(text, "make_float4"),
                "of shared memory");
}

TEST_P(Kernels, ShufflesAndVotes) {
  std::vector<int> x(96);
  std::iota(x.begin(), x.end(), 0);
  CUdeviceptr in = upload(x), out = upload(std::vector<int>(5));
  ASSERT_EQ(run(shuffleSum, {1, 96, 12}, {in, out, x.size()}), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(out, 5), (std::vector<int>{95 * 48, 1, 31 * 16, 9, 6}));
}

// Which text runs, and that it knows what it runs on.
TEST_P(Kernels, TextForTheDevicesCapabilityOrLess) {
  const std::string text = R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[1];
};
extern "C" __global__ void __launch_bounds__(32) kernel(const __grid_constant__ Params p) {
  Global<int> y(p.args[0], 32);
  Shared<int> s = shared<int>(0, 32);
  y[threadIdx.x] = TUTTI_CAPABILITY;
  __pipeline_memcpy_async(&s[threadIdx.x], &y[threadIdx.x], 4);
  __pipeline_commit();
#if TUTTI_CAPABILITY >= 80
  __pipeline_wait_prior(0);
#endif
  y[threadIdx.x] = int(s[threadIdx.x]) * 2;
}
)";
  CUdeviceptr out = upload(std::vector<int>(32));
  for (int device : {75, 80, 90}) {
    tuttiEmulatedSetCapability(device);
    for (int capability : {75, 80, 90}) {
      CUmodule module = nullptr;
      CUresult loaded = cuModuleLoadData(&module, imageOf(text, capability).data());
      ASSERT_EQ(loaded, capability <= device ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU);
      if (loaded)
        continue;
      modules.push_back(module);
      CUfunction kernel = nullptr;
      ASSERT_EQ(cuModuleGetFunction(&kernel, module, "kernel"), CUDA_SUCCESS);
      void *parameters[] = {&out};
      ASSERT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 128, nullptr, parameters, nullptr), CUDA_SUCCESS);
      EXPECT_EQ(download<int>(out, 1)[0], 2 * capability);
    }
  }
  tuttiEmulatedSetCapability(90);
}

// Ascending order, and three others.
INSTANTIATE_TEST_SUITE_P(Orders, Kernels, testing::Values(0, 1, 2, 3));
