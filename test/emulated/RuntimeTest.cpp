// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's sessions on the emulated device: the kernels of test/unit's hand-built artifacts as kernel text.
#include "Fixture.h"
#include "Harness.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

using namespace tutti::rt::test;

// A block has 4 rows; W lies in panels (runtime/schema/Layout.h): 32 columns, then 13 in 16.
static const std::string kernels = R"(#include "tutti/prelude.cuh"
using namespace tutti;
constexpr int K = 6, N = 45, ROWS = 4;
struct Params {
  uint64_t args[4];
  int64_t sizes[2];
};
extern "C" __global__ void __launch_bounds__(32) dense(const __grid_constant__ Params p) {
  int member = blockIdx.y, batch = int(p.sizes[1]);
  Global<const float> x(p.args[0], batch * K);
  Global<const uint64_t> ws(p.args[1], p.sizes[0]), bs(p.args[2], p.sizes[0]);
  Global<const float> w(ws[member], K * 48), b(bs[member], N);
  Global<float> h(p.args[3], p.sizes[0] * batch * N);
  for (int i = threadIdx.x; i < ROWS * N; i += 32) {
    int row = blockIdx.x * ROWS + i / N, n = i % N;
    if (row >= batch)
      continue;
    float sum = b[n];
    for (int k = 0; k < K; ++k)
      sum += x[row * K + k] * w[n < 32 ? k * 32 + n : K * 32 + k * 16 + n - 32];
    h[(member * batch + row) * N + n] = sum > 0 ? sum : 0.0f;
  }
}
extern "C" __global__ void __launch_bounds__(32) finish(const __grid_constant__ Params p) {
  int members = int(p.sizes[0]), batch = int(p.sizes[1]);
  Global<const float> h(p.args[0], members * batch * N);
  Global<float> y(p.args[1], members * batch * N), mean(p.args[2], batch * N);
  Global<unsigned long long> calls(p.args[3], 1);
  if (threadIdx.x == 0)
    atomicAdd(&calls[0], 1);
  for (int i = threadIdx.x; i < ROWS * N; i += 32) {
    int row = blockIdx.x * ROWS + i / N, n = i % N;
    if (row >= batch)
      continue;
    float sum = 0;
    for (int m = 0; m < members; ++m) {
      float value = h[(m * batch + row) * N + n];
      y[(m * batch + row) * N + n] = value;
      sum += value;
    }
    mean[row * N + n] = sum / float(members);
  }
}
)";

namespace {
const std::vector<uint32_t> kAll{0, 1, 2};

/// Sessions on the emulated device; the parameter is the seed of its thread order.
class EmulatedRuntime : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    setenv("TUTTI_CUDA_DRIVER", TUTTI_EMULATED_DRIVER, 1);
    tuttiEmulatedSetSeed(uint64_t(GetParam()));
    before = tuttiEmulatedCounters();
  }
  void TearDown() override {
    EXPECT_EQ(tuttiEmulatedCounters().liveAllocations, before.liveAllocations);
    EXPECT_EQ(tuttiEmulatedCounters().leaks, before.leaks);
  }
  static Spec specOf(const std::string &text, bool oneLaunch = false) {
    const std::string &image = imageOf(text);
    Spec spec;
    spec.target = "";
    spec.cudaTargets = {"emulated"};
    spec.module.assign(image.begin(), image.end());
    spec.oneLaunch = oneLaunch;
    return spec;
  }
  static tutti_session_options_t options() {
    tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
    options.device = TUTTI_DEVICE_EMULATED;
    return options;
  }
  TuttiEmulatedCounters before;
};
} // namespace

TEST_P(EmulatedRuntime, computesForEveryBatchAndActiveSet) {
  for (bool oneLaunch : {false, true}) {
    Fixture f(specOf(kernels, oneLaunch), options());
    EXPECT_EQ(f.session.device().device, TUTTI_DEVICE_EMULATED);
    for (int64_t batch : {1, 5, 17})
      for (const std::vector<uint32_t> &active : {kAll, {2, 0}}) {
        auto x = inputOf(batch);
        ASSERT_FALSE(f.bind(x));
        ASSERT_FALSE(f.session.setActive(active));
        auto error = f.session.run();
        ASSERT_FALSE(error) << error.message() << ": " << tuttiEmulatedReport();
        Answer answer = answerOf(x, active);
        EXPECT_EQ(f.get("members"), answer.members);
        if (!oneLaunch) {
          EXPECT_EQ(f.get("mean"), answer.mean);
        }
      }
  }
}

TEST_P(EmulatedRuntime, worksInDeviceMemoryOnTheCallersStream) {
  CUcontext context;
  CUstream stream;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 1), CUDA_SUCCESS);
  auto x = inputOf(7);
  Answer answer = answerOf(x, kAll);
  CUdeviceptr in, out;
  ASSERT_EQ(cuMemAlloc_v2(&in, x.size() * 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc_v2(&out, answer.mean.size() * 4), CUDA_SUCCESS);
  {
    tutti_session_options_t asked = options();
    asked.stream = stream;
    Fixture f(specOf(kernels), asked);
    const int64_t ins[] = {7, kK}, outs[] = {7, kN};
    tutti_tensor_t from = {"x", TUTTI_F32, 2, ins, nullptr, reinterpret_cast<void *>(in), TUTTI_MEMORY_DEVICE};
    tutti_tensor_t to = {"y", TUTTI_F32, 2, outs, nullptr, reinterpret_cast<void *>(out), TUTTI_MEMORY_DEVICE};
    ASSERT_FALSE(f.session.bindInput(from));
    ASSERT_FALSE(f.session.bindOutput("mean", to));
    // What the caller puts on the stream before and after is in order with the run.
    ASSERT_EQ(cuMemcpyHtoDAsync_v2(in, x.data(), x.size() * 4, stream), CUDA_SUCCESS);
    ASSERT_FALSE(f.session.runAsync());
    std::vector<float> mean(answer.mean.size());
    ASSERT_EQ(cuMemcpyDtoHAsync_v2(mean.data(), out, mean.size() * 4, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(mean, answer.mean);
    ASSERT_FALSE(f.session.wait());
    CUcontext current;
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, context);
  }
  cuMemFree_v2(in);
  cuMemFree_v2(out);
  cuStreamDestroy_v2(stream);
  cuCtxSetCurrent(nullptr);
  cuDevicePrimaryCtxRelease_v2(0);
}

TEST_P(EmulatedRuntime, takesStreamsOfEveryKind) {
  // From a thread without a context, and the default stream, which has none of its own.
  CUcontext context;
  CUstream stream;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  auto x = inputOf(6);
  for (CUstream each : {stream, reinterpret_cast<CUstream>(uintptr_t(1))})
    for (bool named : {false, true}) {
      tutti_session_options_t asked = options();
      asked.stream = each;
      asked.context = named ? context : nullptr;
      Fixture f(specOf(kernels), asked);
      ASSERT_FALSE(f.bind(x));
      for (int i = 0; i < 2; ++i)
        ASSERT_FALSE(f.session.runAsync());
      ASSERT_FALSE(f.session.wait());
      EXPECT_EQ(f.get("members"), answerOf(x, kAll).members);
      EXPECT_EQ(f.get("mean"), answerOf(x, kAll).mean);
    }
  ASSERT_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
}

TEST_P(EmulatedRuntime, worksInMemoryOfWhichAPartIsPinned) {
  Fixture f(specOf(kernels), options());
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  auto x = inputOf(40);
  Answer answer = answerOf(x, kAll);
  std::vector<float> mean(answer.mean.size());
  const std::vector<int64_t> dims{40, kN};
  for (size_t part : {1, 2}) { // half of it, or all
    ASSERT_EQ(cuMemHostRegister_v2(x.data(), x.size() * 4 * part / 2, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemHostRegister_v2(mean.data(), mean.size() * 4 * part / 2, 0), CUDA_SUCCESS);
    ASSERT_FALSE(f.bind(x));
    ASSERT_FALSE(f.session.bindOutput<float>("y", "mean", mean, dims));
    auto error = f.session.run();
    ASSERT_FALSE(error) << error.message() << ": " << tuttiEmulatedReport();
    EXPECT_EQ(mean, answer.mean);
    std::fill(mean.begin(), mean.end(), 0);
    ASSERT_EQ(cuMemHostUnregister(x.data()), CUDA_SUCCESS);
    ASSERT_EQ(cuMemHostUnregister(mean.data()), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
}

TEST_P(EmulatedRuntime, launchesInClusters) {
  // Two blocks share a tile: one computes sums, the other takes them from its shared memory.
  std::string text = kernels;
  auto replace = [&](const std::string &part, const std::string &by) {
    text.replace(text.find(part), part.size(), by);
  };
  replace("  for (int i = threadIdx.x; i < ROWS * N; i += 32) {",
          "  Shared<float> sums = shared<float>(0, ROWS * N), all = peer(sums, 0);\n  int own = clusterRank();\n"
          "  if (own == 1)\n    clusterSync();\n  for (int i = threadIdx.x; i < ROWS * N; i += 32) {");
  replace("    float sum = b[n];",
          "    float sum = b[n];\n    if (own == 1) {\n      h[(member * batch + row) * N + n] = "
          "all[i] > 0 ? float(all[i]) : 0.0f;\n      continue;\n    }");
  replace("    h[(member * batch + row) * N + n] = sum > 0 ? sum : 0.0f;\n  }\n",
          "    sums[i] = sum;\n  }\n  if (own == 0)\n    clusterSync();\n  clusterSync();\n");
  replace("  if (threadIdx.x == 0)\n    atomicAdd",
          "  if (clusterRank() == 1)\n    return;\n  if (threadIdx.x == 0)\n    atomicAdd");
  for (bool oneLaunch : {false, true}) { // a graph, and a launch of its own
    Spec spec = specOf(text, oneLaunch);
    spec.gridZ = 2;
    spec.cluster = {1, 1, 2};
    spec.shared = 4 * 4 * kN;
    Fixture f(spec, options());
    for (int64_t batch : {1, 9}) {
      auto x = inputOf(batch);
      ASSERT_FALSE(f.bind(x));
      auto error = f.session.run();
      ASSERT_FALSE(error) << error.message() << ": " << tuttiEmulatedReport();
      EXPECT_EQ(f.get("members"), answerOf(x, kAll).members);
      if (!oneLaunch) {
        EXPECT_EQ(f.get("mean"), answerOf(x, kAll).mean);
      }
    }
  }
}

TEST_P(EmulatedRuntime, swapsWeights) {
  Fixture f(specOf(kernels), options());
  auto x = inputOf(5), w = weightOf(40);
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.run());
  const int64_t dims[] = {kK, kN};
  tutti_tensor_t tensor = {"W", TUTTI_F32, 2, dims, nullptr, w.data(), TUTTI_MEMORY_HOST};
  for (int i = 0; i < 2; ++i)
    ASSERT_FALSE(f.artifact.swapWeights(1, {&tensor, 1}));
  uint32_t active[] = {1};
  ASSERT_FALSE(f.session.setActive(active));
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(f.get("members"), expected(x, w, biasOf(1)));
}

// Weights and bias of one version belong together, on every device, whenever a swap comes.
TEST_P(EmulatedRuntime, aRunSeesOneVersion) {
  Fixture f(specOf(kernels), options());
  auto x = inputOf(4);
  std::vector<std::vector<float>> answers;
  for (uint32_t v = 0; v < 4; ++v)
    answers.push_back(expected(x, weightOf(50 + v), biasOf(50 + v)));
  auto swapTo = [&](uint32_t v) {
    auto w = weightOf(50 + v), b = biasOf(50 + v);
    const int64_t ws[] = {kK, kN}, bs[] = {kN};
    tutti_tensor_t tensors[] = {{"W", TUTTI_F32, 2, ws, nullptr, w.data(), TUTTI_MEMORY_HOST},
                                {"b", TUTTI_F32, 1, bs, nullptr, b.data(), TUTTI_MEMORY_HOST}};
    EXPECT_FALSE(f.artifact.swapWeights(2, tensors));
  };
  swapTo(0);
  std::atomic<bool> stop{false};
  std::atomic<int> runs{0};
  std::vector<std::thread> runners;
  for (int i = 0; i < 2; ++i)
    runners.emplace_back([&] {
      auto session = tutti::Session::create(f.artifact, options());
      ASSERT_TRUE(session.ok()) << session.error().message();
      uint32_t active[] = {2};
      ASSERT_FALSE(session->setActive(active));
      ASSERT_FALSE(session->bindInput<float>("x", std::span<const float>(x), {4, kK}));
      while (!stop || runs < 20) {
        ASSERT_FALSE(session->runAsync());
        ASSERT_FALSE(session->wait());
        auto got = session->output("y", "members")->as<float>();
        EXPECT_TRUE(std::any_of(answers.begin(), answers.end(), [&](const auto &answer) {
          return std::equal(answer.begin(), answer.end(), got.begin());
        }));
        ++runs;
      }
    });
  for (uint32_t i = 0; i < 60; ++i)
    swapTo(i % 4);
  stop = true;
  for (std::thread &runner : runners)
    runner.join();
}

TEST_P(EmulatedRuntime, modulesDoNotMixUp) {
  // Two artifacts of different code, loaded at a time.
  std::string other = kernels;
  other.replace(other.find("sum > 0 ? sum : 0.0f"), 20, "sum                 ");
  Fixture f(specOf(kernels), options()), g(specOf(other), options());
  auto x = inputOf(4);
  for (Fixture *fixture : {&f, &g}) {
    ASSERT_FALSE(fixture->bind(x));
    ASSERT_FALSE(fixture->session.run());
  }
  EXPECT_EQ(f.get("members"), answerOf(x, kAll).members);
  EXPECT_NE(g.get("members"), answerOf(x, kAll).members);
}

TEST_P(EmulatedRuntime, aFaultyKernelLosesTheDeviceForItsSession) {
  std::string faulty = kernels;
  faulty.replace(faulty.find("if (row >= batch)"), 17, "if (row > batch) ");
  Fixture f(specOf(faulty, true), options());
  auto x = inputOf(5);
  ASSERT_FALSE(f.bind(x));
  auto error = f.session.run();
  EXPECT_EQ(error.status(), TUTTI_DEVICE_LOST) << error.message();
  EXPECT_EQ(f.session.run().message(), error.message());
  EXPECT_NE(std::string(tuttiEmulatedReport()).find("dense"), std::string::npos) << tuttiEmulatedReport();
}

INSTANTIATE_TEST_SUITE_P(Orders, EmulatedRuntime, testing::Values(0, 1, 2));
