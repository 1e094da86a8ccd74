// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers and the copies that they count: correct use passes in any order of threads, and everything that is taken
// away from it is missed, by name of its line.
#include "Harness.h"

static const std::string head = R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[2];
  int64_t sizes[1];
};
)";

// y[i] = the sum over t of x[64 t + 63 - i]: a warp brings tiles into a ring, two others read them.
static std::string ring(const std::string &produce, const std::string &producers) {
  return head + R"(
constexpr int STAGES = 2, TILE = 64, PRODUCERS = )" +
         producers + R"(;
extern "C" __global__ void __launch_bounds__(96) kernel(const __grid_constant__ Params p) {
  int n = int(p.sizes[0]), i = threadIdx.x;
  Global<const float> x(p.args[0], n);
  Global<float> y(p.args[1], TILE);
  Shared<float> s = shared<float>(0, STAGES * TILE);
  Shared<uint64_t> full = shared<uint64_t>(512, STAGES), empty = shared<uint64_t>(528, STAGES);
  if (i == 0) {
    for (int k = 0; k < STAGES; ++k) {
      mbarrierInit(&full[k], PRODUCERS);
      mbarrierInit(&empty[k], TILE);
    }
    mbarrierInitFence();
  }
  __syncthreads();
  if (i >= 64) {
    for (int t = 0; t < n / TILE && i < 64 + PRODUCERS; ++t) {
      int k = t % STAGES, phase = t / STAGES % 2;
      mbarrierWait(&empty[k], phase ^ 1); // of the first round: over from the start
)" + produce +
         R"(
    }
    return;
  }
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    int k = t % STAGES, phase = t / STAGES % 2;
    mbarrierWait(&full[k], phase);
    sum += s[k * TILE + 63 - i];
    bulkFence();
    mbarrierArrive(&empty[k]);
  }
  y[i] = sum;
}
)";
}

static const std::string bulkRing = ring(R"(
      mbarrierExpect(&full[k], TILE * 4);
      bulkCopy(&s[k * TILE], &x[t * TILE], TILE * 4, &full[k]);
)",
                                         "1");
static const std::string asyncRing = ring(R"(
      __pipeline_memcpy_async(&s[k * TILE + (i - 64) * 2], &x[t * TILE + (i - 64) * 2], 8);
      copyAsyncArrive(&full[k]);
)",
                                          "32");

class Mbarriers : public EmulatedDevice, public testing::WithParamInterface<int> {
protected:
  static constexpr int tiles = 5;
  void SetUp() override {
    EmulatedDevice::SetUp();
    tuttiEmulatedSetSeed(GetParam());
    for (int i = 0; i < tiles * 64; ++i)
      values.push_back(float(i));
    place();
  }
  void place() {
    in = upload(values);
    out = upload(std::vector<float>(64));
  }

  void expectSums(const std::string &text) {
    ASSERT_EQ(run(text, {1, 96, 544}, {in, out, tiles * 64}), CUDA_SUCCESS);
    auto sums = download<float>(out, 64);
    for (int i = 0; i < 64; ++i) {
      float sum = 0;
      for (int t = 0; t < tiles; ++t)
        sum += values[t * 64 + 63 - i];
      ASSERT_EQ(sums[i], sum);
    }
  }
  /// The ring without what is wrong fails at this line (empty: where that depends on the order).
  void expectRingFails(const std::string &text, CUresult result, const std::string &at, const std::string &part) {
    if (renew())
      place();
    expectFailure(text, {1, 96, 544}, {in, out, tiles * 64}, result, at.empty() ? 0 : lineOf(text, at), part);
  }

  /// A kernel of two warps over x, y and s (64 floats each), and two mbarriers b, the first of one arrival.
  static std::string kernel(const std::string &body) {
    return head + R"(extern "C" __global__ void __launch_bounds__(64) kernel(const __grid_constant__ Params p) {
  Global<float> x(p.args[0], 64), y(p.args[1], 64);
  Shared<float> s = shared<float>(0, 64);
  Shared<uint64_t> b = shared<uint64_t>(256, 2);
  int i = threadIdx.x;
  if (i == 0)
    mbarrierInit(&b[0], 1), mbarrierInitFence();
  __syncthreads();
)" + body + "}\n";
  }
  /// `right` passes; `wrong` fails at its line that holds `at`.
  void expect(const std::string &right, const std::string &wrong, CUresult result, const std::string &at,
              const std::string &part) {
    if (renew())
      place();
    ASSERT_EQ(run(kernel(right), {1, 64, 272}, {in, out, 64}), CUDA_SUCCESS) << tuttiEmulatedReport();
    std::string text = kernel(wrong);
    expectFailure(text, {1, 64, 272}, {in, out, 64}, result, at.empty() ? 0 : lineOf(text, at), part);
  }

  std::vector<float> values;
  CUdeviceptr in = 0, out = 0;
};

static std::string replaced(std::string text, const std::string &part, const std::string &by, int which = 0) {
  size_t at = text.find(part);
  for (; which; --which)
    at = text.find(part, at + 1);
  return text.replace(at, part.size(), by);
}

static std::string waitsAt(const std::string &line) {
  return "wait at mbarrierWait() in test.cu:" + std::to_string(lineOf(bulkRing, line)) + " ";
}

TEST_P(Mbarriers, Rings) {
  for (int order = 0; order < 8; ++order) { // each launch has its own
    expectSums(bulkRing);
    expectSums(asyncRing);
  }
}

TEST_P(Mbarriers, WhoWaitsWithoutBeingWaitedForMissesPhases) {
  // Only one thread of the producers is counted: the others look at `empty` when it may be a phase further already.
  bool missed = false;
  std::string text = replaced(bulkRing, "i < 64 + PRODUCERS", "true");
  text = replaced(text, "mbarrierExpect", "if (i > 64)\n        continue;\n      mbarrierExpect");
  for (int order = 0; order < 64 && !missed; ++order)
    missed = run(text, {1, 96, 544}, {in, out, tiles * 64}) == CUDA_ERROR_LAUNCH_TIMEOUT;
  EXPECT_EQ(missed, GetParam() != 0);
}

TEST_P(Mbarriers, WithoutInitialisation) {
  expectRingFails(without(bulkRing, "mbarrierInit(&full"), CUDA_ERROR_LAUNCH_FAILED, "", "nobody has initialised");
}

TEST_P(Mbarriers, WithoutInitialisationOfTheOther) {
  expectRingFails(without(bulkRing, "mbarrierInit(&empty"), CUDA_ERROR_LAUNCH_FAILED, "", "nobody has initialised");
}

TEST_P(Mbarriers, WithoutFenceOfInitialisations) {
  expectRingFails(without(bulkRing, "mbarrierInitFence"), CUDA_ERROR_LAUNCH_FAILED, "bulkCopy",
                  "which no mbarrierInitFence() followed");
}

TEST_P(Mbarriers, WithoutBarrierBehindInitialisations) {
  expectRingFails(without(bulkRing, "__syncthreads"), CUDA_ERROR_LAUNCH_FAILED, "", "of an mbarrier that");
}

TEST_P(Mbarriers, WithoutWaitForReaders) {
  expectRingFails(without(bulkRing, "mbarrierWait(&empty"), CUDA_ERROR_LAUNCH_FAILED, "", "");
  expectRingFails(without(asyncRing, "mbarrierWait(&empty"), CUDA_ERROR_LAUNCH_FAILED, "", "");
}

TEST_P(Mbarriers, WithoutExpectation) {
  expectRingFails(without(bulkRing, "mbarrierExpect"), CUDA_ERROR_LAUNCH_TIMEOUT, "mbarrierWait(&full",
                  "lacks 1 of 1 arrivals and 0 bytes");
}

TEST_P(Mbarriers, WithoutExpectationButAnArrival) {
  expectRingFails(replaced(bulkRing, "mbarrierExpect(&full[k], TILE * 4)", "mbarrierArrive(&full[k])"),
                  CUDA_ERROR_LAUNCH_FAILED, "", "");
}

TEST_P(Mbarriers, ExpectationOfTooFewBytes) {
  expectRingFails(replaced(bulkRing, "TILE * 4)", "TILE * 2)"), CUDA_ERROR_LAUNCH_TIMEOUT, "mbarrierWait(&full",
                  "lacks 0 of 1 arrivals and -128 bytes");
}

TEST_P(Mbarriers, WithoutCopy) {
  expectRingFails(without(bulkRing, "bulkCopy"), CUDA_ERROR_LAUNCH_TIMEOUT, "mbarrierWait(&full",
                  "lacks 0 of 1 arrivals and 256 bytes");
}

TEST_P(Mbarriers, WithoutArrivalOfCopies) {
  expectRingFails(without(asyncRing, "copyAsyncArrive"), CUDA_ERROR_LAUNCH_TIMEOUT, "mbarrierWait(&full",
                  "lacks 32 of 32 arrivals and 0 bytes");
}

TEST_P(Mbarriers, ArrivalThatDoesNotWaitForCopies) {
  expectRingFails(replaced(asyncRing, "copyAsyncArrive", "mbarrierArrive"), CUDA_ERROR_LAUNCH_FAILED, "sum += s",
                  "copies asynchronously at test.cu:");
}

TEST_P(Mbarriers, WithoutWaitForCopies) {
  expectRingFails(without(bulkRing, "mbarrierWait(&full"), CUDA_ERROR_LAUNCH_FAILED, "", "");
  expectRingFails(without(asyncRing, "mbarrierWait(&full"), CUDA_ERROR_LAUNCH_FAILED, "", "");
}

TEST_P(Mbarriers, WithoutArrivalOfReaders) {
  expectRingFails(without(bulkRing, "mbarrierArrive(&empty"), CUDA_ERROR_LAUNCH_TIMEOUT, "", "lacks 64 of 64 arrivals");
  EXPECT_NE(std::string(tuttiEmulatedReport()).find(waitsAt("mbarrierWait(&empty")), std::string::npos);
}

TEST_P(Mbarriers, WaitForTheWrongParity) {
  expectRingFails(replaced(bulkRing, "phase ^ 1", "phase"), CUDA_ERROR_LAUNCH_TIMEOUT, "",
                  waitsAt("mbarrierWait(&empty"));
}

TEST_P(Mbarriers, TooManyArrivals) {
  expect("if (i == 0)\n  mbarrierArrive(&b[0]);\nmbarrierWait(&b[0], 0);\n",
         "if (i == 0)\n  mbarrierExpect(&b[0], 16);\nif (i == 0)\n  mbarrierArrive(&b[0]);\n", CUDA_ERROR_LAUNCH_FAILED,
         "mbarrierArrive", "one arrival more than the 1 that phase 0 of the mbarrier of test.cu:");
}

TEST_P(Mbarriers, InitialisedTwice) {
  expect("if (i == 0)\n  mbarrierInit(&b[1], 64);\n__syncthreads();\nmbarrierArrive(&b[1]);\n",
         "if (i == 0)\n  mbarrierInit(&b[0], 64); // again\n", CUDA_ERROR_LAUNCH_FAILED, "again",
         "where the mbarrier of test.cu:");
}

TEST_P(Mbarriers, CountsThatDoNotFit) {
  expect("if (i == 0)\n  mbarrierInit(&b[1], (1 << 20) - 1);\n", "if (i == 0)\n  mbarrierInit(&b[1], 1 << 20);\n",
         CUDA_ERROR_LAUNCH_FAILED, "&b[1]", "expected 1 to 1048575");
  expect("", "if (i == 0)\n  mbarrierInit(&b[1], 0);\n", CUDA_ERROR_LAUNCH_FAILED, "&b[1]",
         "an mbarrier of 0 arrivals");
  expect("", "if (i == 0)\n  mbarrierExpect(&b[0], 1 << 20);\n", CUDA_ERROR_LAUNCH_FAILED, "mbarrierExpect",
         "would expect 1048576 bytes");
  expect("", "mbarrierWait(&b[0], 2);\n", CUDA_ERROR_LAUNCH_FAILED, "mbarrierWait", "of parity 2");
}

TEST_P(Mbarriers, OrdinaryAccess) {
  expect("", "if (i == 0 && b[0] != 7) y[0] = 1;\n", CUDA_ERROR_LAUNCH_FAILED, "b[0] != 7",
         "reads byte 256 of shared memory, where the mbarrier of test.cu:");
}

TEST_P(Mbarriers, PhaseThatNobodyCanEnd) {
  expect("if (i == 0)\n  mbarrierArrive(&b[0]);\nmbarrierWait(&b[0], 0);\n", "mbarrierWait(&b[0], 0);\n",
         CUDA_ERROR_LAUNCH_TIMEOUT, "mbarrierWait", "64 threads wait at mbarrierWait() in test.cu:");
}

static const std::string brought = R"(
if (i == 0) {
  mbarrierExpect(&b[0], 256);
  bulkCopy(&s[0], &x[0], 256, &b[0]);
}
mbarrierWait(&b[0], 0);
y[i] = s[i];
)";

TEST_P(Mbarriers, CopiesInBulkThatDoNotFit) {
  expect(brought, replaced(brought, "&s[0], &x[0], 256", "&s[2], &x[0], 240"), CUDA_ERROR_MISALIGNED_ADDRESS,
         "bulkCopy", "is not a multiple of 16");
  expect(brought, replaced(brought, "&s[0], &x[0], 256", "&s[0], &x[1], 240"), CUDA_ERROR_MISALIGNED_ADDRESS,
         "bulkCopy", "is not a multiple of 16");
  expect(brought, replaced(brought, "&s[0], &x[0], 256", "&s[0], &x[0], 24"), CUDA_ERROR_LAUNCH_FAILED, "bulkCopy",
         "a copy in bulk of 24 bytes: expected a multiple of 16");
  expect(brought, replaced(brought, "&s[0], &x[0], 256", "&s[0], &x[4], 256"), CUDA_ERROR_ILLEGAL_ADDRESS, "bulkCopy",
         "more than the 240 of the view");
  expect(brought, replaced(brought, "&s[0], &x[0], 256", "&s[4], &x[0], 256"), CUDA_ERROR_ILLEGAL_ADDRESS, "bulkCopy",
         "more than the 240 of the view");
}

TEST_P(Mbarriers, ReadBeforeTheWait) {
  expect(brought, without(brought, "mbarrierWait"), CUDA_ERROR_LAUNCH_FAILED, "", "");
}

TEST_P(Mbarriers, AnothersWaitIsNotOnesOwn) {
  // The second warp reads when the first has waited, perhaps: a race, however it comes.
  expect(brought, replaced(brought, "mbarrierWait(&b[0], 0);", "if (i < 32) mbarrierWait(&b[0], 0);"),
         CUDA_ERROR_LAUNCH_FAILED, "y[i] = s[i]", "");
  expect(brought,
         replaced(brought, "mbarrierWait(&b[0], 0);", "if (i < 32) mbarrierWait(&b[0], 0);\n__syncthreads();") +
             "if (i == 0) s[1] = 2;\n",
         CUDA_ERROR_LAUNCH_FAILED, "", "a race");
}

TEST_P(Mbarriers, WriteToWhatIsCopied) {
  expect(brought + "x[i] = 1;\n", replaced(brought, "mbarrierWait", "if (i == 0) x[5] = 1;\nmbarrierWait"),
         CUDA_ERROR_LAUNCH_FAILED, "", "a race: writes what thread (0, 0, 0) copies in bulk at test.cu:");
}

TEST_P(Mbarriers, WriteToWhereIsCopied) {
  expect(brought + "__syncthreads();\ns[i] = 1;\n",
         replaced(brought, "mbarrierWait", "if (i == 0) s[5] = 1;\nmbarrierWait"), CUDA_ERROR_LAUNCH_FAILED, "s[5] = 1",
         "copies in bulk at test.cu:");
}

TEST_P(Mbarriers, BlockThatEndsBeforeItsCopies) {
  expect(brought, replaced(without(brought, "mbarrierWait"), "y[i] = s[i];", ""), CUDA_ERROR_LAUNCH_FAILED, "bulkCopy",
         "the block ends while this copy of 256 bytes is in flight");
}

TEST_P(Mbarriers, CopyInBulkOverOrdinaryWrites) {
  // The fence of who wrote, or of who copies.
  std::string writers = "s[i] = 1;\nbulkFence();\n__syncthreads();\n" + brought,
              copier = "s[i] = 1;\n__syncthreads();\n" +
                       replaced(brought, "mbarrierExpect", "bulkFence();\n  mbarrierExpect");
  for (const std::string &right : {writers, copier})
    expect(right, without(right, "bulkFence"), CUDA_ERROR_LAUNCH_FAILED, "bulkCopy",
           "without a bulkFence() between them");
  // Before the barrier, the one who copies knows of nobody's writes.
  expect(writers, "if (i == 0)\n  bulkFence();\ns[i] = 1;\n__syncthreads();\n" + brought, CUDA_ERROR_LAUNCH_FAILED,
         "bulkCopy", "without a bulkFence() between them");
}

TEST_P(Mbarriers, TensorCoresReadOrdinaryWrites) {
  std::string right = replaced(brought, "y[i] = s[i];",
                               "s[i] = s[i] + 1;\nbulkFence();\n__syncthreads();\n"
                               "y[i] = s.loadAsync(63 - i, {__FILE__, __LINE__});");
  expect(right, without(right, "bulkFence"), CUDA_ERROR_LAUNCH_FAILED, "loadAsync", "writes by ordinary means");
}

TEST_P(Mbarriers, CopyInBulkOfWhatTheLaunchWrote) {
  expect(brought + "x[i] = 1;\n", "x[i] = 1;\n__syncthreads();\n" + brought, CUDA_ERROR_LAUNCH_FAILED, "bulkCopy",
         "that this launch has written by ordinary means");
}

TEST_P(Mbarriers, CopyInBulkOverReads) {
  std::string again = brought + "bulkFence();\n__syncthreads();\nif (i == 0) {\n  mbarrierExpect(&b[0], 256);\n"
                                "  bulkCopy(&s[0], &x[0], 256, &b[0]); // again\n}\nmbarrierWait(&b[0], 1);\n";
  expect(again, without(again, "__syncthreads"), CUDA_ERROR_LAUNCH_FAILED, "", "a race");
  expect(again, without(again, "bulkFence"), CUDA_ERROR_LAUNCH_FAILED, "again", "reads by ordinary means");
}

INSTANTIATE_TEST_SUITE_P(Orders, Mbarriers, testing::Values(0, 1, 2, 3));
