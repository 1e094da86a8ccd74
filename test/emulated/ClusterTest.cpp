// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters: blocks that meet at a barrier and reach each other's shared memory, and what goes wrong without it.
#include "Harness.h"

/// A kernel over x and y (64 floats a block), with s (64 floats) of the block's own and t the next block's.
static std::string kernel(const std::string &body) {
  return R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[2];
};
extern "C" __global__ void __launch_bounds__(64) kernel(const __grid_constant__ Params p) {
  Global<const float> x(p.args[0], 64 * gridDim.x);
  Global<float> y(p.args[1], 64 * gridDim.x);
  Shared<float> s = shared<float>(0, 64), t = peer(s, (clusterRank() + 1) % clusterSize());
  Shared<uint64_t> b = shared<uint64_t>(256, 1);
  int i = threadIdx.x, g = int(blockIdx.x) * 64 + i;
)" + body +
         "}\n";
}

class Clusters : public EmulatedDevice, public testing::WithParamInterface<int> {
protected:
  static constexpr unsigned blocks = 8;
  void SetUp() override {
    EmulatedDevice::SetUp();
    tuttiEmulatedSetSeed(GetParam());
    for (unsigned i = 0; i < blocks * 64; ++i)
      values.push_back(float(i));
    place();
  }
  void place() {
    in = upload(values);
    out = upload(std::vector<float>(blocks * 64));
  }
  CUresult runClusters(const std::string &body, unsigned cluster) {
    if (renew())
      place();
    return run(kernel(body), {blocks, 64, 264, cluster}, {in, out});
  }
  /// y[g] = x[64 next + 63 - i], in clusters of this many.
  void expectExchanged(const std::string &body, unsigned cluster) {
    ASSERT_EQ(runClusters(body, cluster), CUDA_SUCCESS) << tuttiEmulatedReport();
    auto y = download<float>(out, blocks * 64);
    for (unsigned block = 0; block < blocks; ++block)
      for (unsigned i = 0; i < 64; ++i)
        ASSERT_EQ(y[block * 64 + i], float((block / cluster * cluster + (block + 1) % cluster) * 64 + 63 - i));
  }
  /// `body` fails at its line that holds `at` (empty: where that depends on the order).
  void expectFails(const std::string &body, CUresult result, const std::string &at, const std::string &part) {
    if (renew())
      place();
    std::string text = kernel(body);
    expectFailure(text, {blocks, 64, 264, 4}, {in, out}, result, at.empty() ? 0 : lineOf(text, at), part);
  }
  std::vector<float> values;
  CUdeviceptr in = 0, out = 0;
};

static const std::string pull = R"(
s[i] = x[g];
clusterSync(); // written
y[g] = t[63 - i];
clusterSync(); // read
)";
static const std::string push = R"(
clusterSync(); // begun
int before = (clusterRank() + clusterSize() - 1) % clusterSize();
peer(s, before)[i] = x[g];
clusterSync(); // written
y[g] = s[63 - i];
)";
// While others may read s, the block does something else.
static const std::string split = R"(
s[i] = x[g];
clusterArrive();
float v = x[i];
clusterWait();
y[g] = t[63 - i];
clusterArrive();
y[g] += v - v;
clusterWait();
)";

TEST_P(Clusters, Exchange) {
  for (unsigned cluster : {2, 4, 8, 1})
    for (const std::string &body : {pull, push, split})
      expectExchanged(body, cluster);
}

TEST_P(Clusters, WithoutBarrierBehindWrites) {
  expectFails(without(pull, "written"), CUDA_ERROR_ILLEGAL_ADDRESS, "t[63 - i]",
              "which may not have begun: no barrier of the cluster lies before");
  expectFails(without("clusterSync();\n" + pull, "written"), CUDA_ERROR_LAUNCH_FAILED, "", "of shared memory");
  expectFails(without(push, "written"), CUDA_ERROR_LAUNCH_FAILED, "", "of shared memory");
}

TEST_P(Clusters, WithoutBarrierBeforeTheEnd) {
  expectFails(without(pull, "// read"), CUDA_ERROR_ILLEGAL_ADDRESS, "t[63 - i]", "shared memory of block (");
}

TEST_P(Clusters, WithoutBarrierBeforeTheFirstAccess) {
  expectFails(without(push, "begun"), CUDA_ERROR_ILLEGAL_ADDRESS, "before)[i]", "which may not have begun");
}

TEST_P(Clusters, BarriersOfTheBlockAreNotEnough) {
  std::string wrong = without("clusterSync();\n" + pull, "written");
  expectFails(wrong.insert(wrong.find("y[g]"), "__syncthreads();\n"), CUDA_ERROR_LAUNCH_FAILED, "", "of shared memory");
}

TEST_P(Clusters, WhatTheArrivalDoesNotCover) {
  std::string wrong = split;
  wrong.replace(wrong.find("float v = x[i];"), 15, "float v = x[i]; s[i] = v; // late");
  expectFails(wrong, CUDA_ERROR_LAUNCH_FAILED, "", "a race: ");
  EXPECT_NE(std::string(tuttiEmulatedReport()).find(" of block ("), std::string::npos);
}

TEST_P(Clusters, TheBarrierOrdersTheBlockItself) {
  ASSERT_EQ(runClusters("s[i] = x[g];\nclusterSync();\ny[g] = s[63 - i];\n", 2), CUDA_SUCCESS);
  ASSERT_EQ(runClusters("s[i] = x[g];\nclusterArrive();\nclusterWait();\ny[g] = s[63 - i];\n", 1), CUDA_SUCCESS);
  expectFails("s[i] = x[g];\nclusterArrive();\ny[g] = s[63 - i];\nclusterWait();\n", CUDA_ERROR_LAUNCH_FAILED,
              "y[g] = s", "of shared memory");
}

TEST_P(Clusters, ArrivalsAndWaitsTakeTurns) {
  expectFails("clusterArrive();\nclusterArrive(); // again\nclusterWait();\n", CUDA_ERROR_LAUNCH_FAILED, "again",
              "a second arrival");
  expectFails("clusterSync();\nclusterWait();\n", CUDA_ERROR_LAUNCH_FAILED, "clusterWait", "without an arrival before");
  expectFails("if (i < 32)\n  clusterSync();\nelse\n  clusterSync();\n", CUDA_ERROR_LAUNCH_FAILED, "",
              "the block's threads part");
}

TEST_P(Clusters, WhoHasReturnedCountsAsThere) {
  ASSERT_EQ(runClusters("if (clusterRank() == 1)\n  return;\nclusterSync();\nclusterSync();\ny[g] = 1;\n", 4),
            CUDA_SUCCESS);
  expectFails("if (g == 70)\n  __syncthreads(); // alone\nclusterSync();\n", CUDA_ERROR_LAUNCH_TIMEOUT, "",
              "the cluster can not go on: ");
}

TEST_P(Clusters, ABlockThatHasEnded) {
  expectFails("s[i] = x[g];\nclusterSync();\nif (clusterRank() == 1)\n  return;\nclusterSync();\ny[g] = t[i];\n",
              CUDA_ERROR_ILLEGAL_ADDRESS, "t[i]", "has ended");
}

TEST_P(Clusters, Atomics) {
  std::string right = "Shared<int> n = shared<int>(0, 1);\nif (i == 0) n[0] = 0;\nclusterSync();\n"
                      "atomicAdd(&peer(n, 0)[0], 1);\nclusterSync(); // counted\nif (i == 0) y[g] = float(n[0]);\n";
  ASSERT_EQ(runClusters(right, 4), CUDA_SUCCESS) << tuttiEmulatedReport();
  auto y = download<float>(out, blocks * 64);
  EXPECT_EQ(y[0], 256.0f);
  EXPECT_EQ(y[64], 0.0f);
  EXPECT_EQ(y[256], 256.0f);
  expectFails(without(right, "counted"), CUDA_ERROR_LAUNCH_FAILED, "", "a race");
}

TEST_P(Clusters, OthersMemoryIsForLoadsAndStoresOnly) {
  std::string begin = "clusterSync();\n";
  expectFails(begin + "__pipeline_memcpy_async(&t[i], &x[g], 4);\n", CUDA_ERROR_ILLEGAL_ADDRESS, "memcpy_async",
              "only the block's own will do here");
  std::string bulk = "if (i == 0)\n  mbarrierInit(&b[0], 1), mbarrierInitFence();\n" + begin +
                     "if (i == 0)\n  mbarrierExpect(&b[0], 256), bulkCopy(&s[0], &x[0], 256, &b[0]);\n"
                     "mbarrierWait(&b[0], 0);\n";
  ASSERT_EQ(runClusters(bulk, 4), CUDA_SUCCESS) << tuttiEmulatedReport();
  bulk.replace(bulk.find("&s[0]"), 5, "&t[0]");
  expectFails(bulk, CUDA_ERROR_ILLEGAL_ADDRESS, "bulkCopy", "only the block's own will do here");
  expectFails("auto u = peer(s, 4);\n(void)u;\n", CUDA_ERROR_ILLEGAL_ADDRESS, "peer(s, 4)",
              "block 4 of a cluster of 4");
}

TEST_P(Clusters, CopiesInBulkOverOthersReads) {
  // The owner refills what another block reads; only the cluster's barrier keeps them apart.
  std::string right = R"(
if (i == 0)
  mbarrierInit(&b[0], 1), mbarrierInitFence();
s[i] = x[g];
clusterSync();
y[g] = t[63 - i];
clusterSync(); // read
if (i == 0) {
  bulkFence();
  mbarrierExpect(&b[0], 256);
  bulkCopy(&s[0], &x[0], 256, &b[0]);
}
mbarrierWait(&b[0], 0);
)";
  ASSERT_EQ(runClusters(right, 4), CUDA_SUCCESS) << tuttiEmulatedReport();
  std::string wrong = right;
  expectFails(wrong.replace(wrong.find("clusterSync(); // read"), 22, "__syncthreads();"), CUDA_ERROR_LAUNCH_FAILED, "",
              "a race: ");
}

// Each block stores to the next one, whose mbarrier counts 256 bytes.
static const std::string handOver = R"(
if (i == 0) {
  mbarrierInit(&b[0], 1);
  mbarrierExpect(&b[0], 256);
  mbarrierInitFence();
}
s[i] = 0;
__syncthreads(); // over
clusterArriveRelaxed();
clusterWait();
int before = (clusterRank() + clusterSize() - 1) % clusterSize();
storeAsync(&s[i], x[g], &b[0], before);
mbarrierWaitForPeers(&b[0], 0); // there
y[g] = s[63 - i];
)";

TEST_P(Clusters, StoresThatDoNotWait) {
  for (unsigned cluster : {2, 4, 8, 1})
    expectExchanged(handOver, cluster);
  std::string wide = handOver;
  std::string narrow = "storeAsync(&s[i], x[g], &b[0], before);";
  wide.replace(wide.find(narrow), narrow.size(),
               "if (i < 16)\n  storeAsync(&s[i * 4], x.load4(g - i + i * 4), &b[0], before);");
  expectExchanged(wide, 4);
}

TEST_P(Clusters, StoresThatNobodyWaitsFor) {
  expectFails(without(handOver, "// there"), CUDA_ERROR_LAUNCH_FAILED, "", "a race: "); // whoever comes first
  std::string unread = without(handOver, "// there");
  expectFails(without(unread, "y[g] = s"), CUDA_ERROR_LAUNCH_FAILED, "storeAsync", "nobody has waited for");
}

TEST_P(Clusters, StoresBeforeTheirPlaceIsFree) {
  // What the block itself has written or read there, before a barrier of all its threads or behind it.
  expectFails(without(handOver, "// over"), CUDA_ERROR_LAUNCH_FAILED, "", "a race: ");
  std::string late = handOver;
  expectFails(late.insert(late.find("int before"), "s[i] = 1;\n"), CUDA_ERROR_LAUNCH_FAILED, "", "a race: ");
  // A third round needs no barrier of the cluster: who has all of the second one knows that the first one was read.
  std::string rounds = R"(
Shared<uint64_t> d = shared<uint64_t>(256, 3);
Shared<float> u = shared<float>(288, 64);
if (i == 0) {
  for (int k = 0; k < 3; ++k)
    mbarrierInit(&d[k], 1), mbarrierExpect(&d[k], 256);
  mbarrierInitFence();
}
clusterArriveRelaxed();
clusterWait();
int other = 1 - clusterRank();
storeAsync(&s[i], x[g], &d[0], other);
mbarrierWaitForPeers(&d[0], 0);
float v = s[63 - i];
__syncthreads(); // read
storeAsync(&u[i], v, &d[1], other);
mbarrierWaitForPeers(&d[1], 0); // known
storeAsync(&s[i], u[63 - i], &d[2], other);
mbarrierWaitForPeers(&d[2], 0);
y[g] = s[i];
)";
  if (renew())
    place();
  Launch launch = {blocks, 64, 544, 2};
  ASSERT_EQ(run(kernel(rounds), launch, {in, out}), CUDA_SUCCESS) << tuttiEmulatedReport();
  std::string unknown = rounds;
  unknown.replace(unknown.find("mbarrierWaitForPeers(&d[1], 0); // known"), 40, "");
  unknown.insert(unknown.find("y[g]"), "mbarrierWaitForPeers(&d[1], 0);\n");
  unknown.replace(unknown.find("u[63 - i]"), 9, "v");
  for (const std::string &wrong : {without(rounds, "// read"), unknown}) {
    if (renew())
      place();
    expectFailure(kernel(wrong), launch, {in, out}, CUDA_ERROR_LAUNCH_FAILED, 0, "a race: ");
  }
}

TEST_P(Clusters, StoresToWhatIsNotThere) {
  expectFails(without(handOver, "mbarrierInitFence"), CUDA_ERROR_LAUNCH_FAILED, "storeAsync", "mbarrierInitFence()");
  std::string early = without(without(handOver, "clusterArriveRelaxed"), "clusterWait");
  expectFails(early, CUDA_ERROR_ILLEGAL_ADDRESS, "storeAsync", "which may not have begun");
  std::string ended = handOver;
  ended.insert(ended.find("int before"), "if (clusterRank() == 1)\n  return;\nclusterSync();\n");
  expectFails(ended, CUDA_ERROR_ILLEGAL_ADDRESS, "storeAsync", "has ended");
}

TEST_P(Clusters, StoresThatNobodyExpects) {
  std::string less = handOver, more = handOver;
  expectFails(less.replace(less.find("256"), 3, "0"), CUDA_ERROR_LAUNCH_FAILED, "", "of shared memory");
  expectFails(more.replace(more.find("256"), 3, "260"), CUDA_ERROR_LAUNCH_TIMEOUT, "",
              "lacks 0 of 1 arrivals and 4 bytes");
}

TEST_P(Clusters, RelaxedArrivalsOrderNothingElse) {
  std::string relaxed = "clusterSync();\n" + pull;
  relaxed.replace(relaxed.find("clusterSync(); // written"), 25, "clusterArriveRelaxed();\nclusterWait();");
  expectFails(relaxed, CUDA_ERROR_LAUNCH_FAILED, "t[63 - i]", "a race: ");
  expectFails("if (clusterRank() == 0)\n  clusterArriveRelaxed();\nelse\n  clusterArrive();\nclusterWait();\n",
              CUDA_ERROR_LAUNCH_FAILED, "", "some arrivals of a phase are relaxed");
}

TEST_P(Clusters, Launches) {
  CUfunction function = this->function(kernel(pull));
  CUlaunchAttribute cluster = {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, {}, {}};
  uint64_t words[] = {in, out};
  void *parameters[] = {words};
  auto launch = [&](unsigned grid, unsigned x) {
    cluster.value.clusterDim = {x, 1, 1};
    CUlaunchConfig config = {grid, 1, 1, 64, 1, 1, 264, nullptr, &cluster, 1};
    return cuLaunchKernelEx(&config, function, parameters, nullptr);
  };
  EXPECT_EQ(launch(8, 3), CUDA_ERROR_INVALID_VALUE); // does not divide the grid
  EXPECT_EQ(launch(16, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(32, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(8, 8), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  tuttiEmulatedSetCapability(80);
  EXPECT_EQ(launch(8, 2), CUDA_ERROR_NOT_SUPPORTED);
  tuttiEmulatedSetCapability(90);
}

TEST_P(Clusters, RanksCountXFirst) {
  std::string text =
      kernel("if (i == 0) {\n  Global<float> z(p.args[1], 32);\n  z[(blockIdx.z * gridDim.y + blockIdx.y) * "
             "gridDim.x + blockIdx.x] = float(clusterRank() * 100 + clusterSize());\n}\n");
  CUfunction function = this->function(text);
  CUlaunchAttribute cluster = {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, {}, {}};
  cluster.value.clusterDim = {2, 1, 3};
  uint64_t words[] = {in, out};
  void *parameters[] = {words};
  CUlaunchConfig config = {4, 2, 3, 64, 1, 1, 264, nullptr, &cluster, 1};
  ASSERT_EQ(cuLaunchKernelEx(&config, function, parameters, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  auto y = download<float>(out, 24);
  for (unsigned z = 0; z < 3; ++z)
    for (unsigned j = 0; j < 2; ++j)
      for (unsigned i = 0; i < 4; ++i)
        EXPECT_EQ(y[(z * 2 + j) * 4 + i], float((i % 2 + z * 2) * 100 + 6));
}

INSTANTIATE_TEST_SUITE_P(Orders, Clusters, testing::Values(0, 1, 2, 3));
