// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each mistake that the emulated device finds, beside the same kernel without it, which must pass.
#include "Harness.h"

/// A kernel of one block of `block` threads over x (64 floats), y (64 floats) and s (64 floats of shared memory).
static std::string kernel(const std::string &body, int block = 64) {
  return R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[2];
  int64_t sizes[1];
};
extern "C" __global__ void __launch_bounds__()" +
         std::to_string(block) + R"() kernel(const __grid_constant__ Params p) {
  Global<const float> x(p.args[0], 64);
  Global<float> y(p.args[1], 64);
  Shared<float> s = shared<float>(0, 64);
  int i = threadIdx.x;
)" + body +
         "}\n";
}

class Detection : public EmulatedDevice, public testing::WithParamInterface<int> {
protected:
  void SetUp() override {
    EmulatedDevice::SetUp();
    tuttiEmulatedSetSeed(GetParam());
    for (int i = 0; i < 64; ++i)
      values.push_back(float(i));
    in = upload(values);
    out = upload(std::vector<float>(64));
  }

  /// `right` passes; `wrong` fails with this error, at its line that holds `at` (where that
  /// does not depend on the order of the threads), and says `part`.
  void expect(const std::string &right, const std::string &wrong, CUresult result, const std::string &at,
              const std::string &part, int block = 64) {
    ASSERT_EQ(run(kernel(right, block), {1, unsigned(block), 256}, {in, out, 64}), CUDA_SUCCESS);
    std::string text = kernel(wrong, block);
    expectFailure(text, {1, unsigned(block), 256}, {in, out, 64}, result, at.empty() ? 0 : lineOf(text, at), part);
  }

  std::vector<float> values;
  CUdeviceptr in = 0, out = 0;
};

TEST_P(Detection, WriteRace) {
  expect("s[i] = 1;\n", "s[i / 2] = 1;\n", CUDA_ERROR_LAUNCH_FAILED, "s[i / 2]", "a race: writes byte");
}

TEST_P(Detection, WriteAfterReadRace) {
  std::string right = "s[i] = x[i];\n__syncthreads();\nfloat v = s[63 - i];\n__syncthreads();\ns[i] = v;\n";
  expect(right, without(right, "__syncthreads", 1), CUDA_ERROR_LAUNCH_FAILED, "", "a race");
}

TEST_P(Detection, RaceWhereTheWriterIsTheLastReader) {
  expect("s[i] = 1;\n__syncthreads();\nfloat v = s[0];\n__syncthreads();\nif (i == 0) s[0] = v;\n",
         "s[i] = 1;\n__syncthreads();\nfloat v = s[0];\nif (i == 0) s[0] = v;\n", CUDA_ERROR_LAUNCH_FAILED, "",
         "a race");
}

TEST_P(Detection, RaceOfHalfWords) { // neighbours in one word are none
  std::string head = "Shared<unsigned short> h = shared<unsigned short>(0, 64);\n";
  expect(head + "h[i] = 1;\n", head + "h[i / 2] = 1;\n", CUDA_ERROR_LAUNCH_FAILED, "h[i / 2]", "a race");
}

TEST_P(Detection, RaceWithinAWarp) {
  std::string right = "s[i] = x[i];\n__syncwarp();\ny[i] = s[i ^ 1];\n";
  expect(right, without(right, "__syncwarp"), CUDA_ERROR_LAUNCH_FAILED, "", "of shared memory");
}

TEST_P(Detection, ASyncwarpDoesNotOrderWarps) {
  expect("s[i] = x[i];\n__syncthreads();\ny[i] = s[i ^ 32];\n", "s[i] = x[i];\n__syncwarp();\ny[i] = s[i ^ 32];\n",
         CUDA_ERROR_LAUNCH_FAILED, "", "of shared memory");
}

TEST_P(Detection, AShuffleOrdersNothing) {
  expect("s[i] = x[i];\n__syncwarp();\ny[i] = s[i ^ 1];\n",
         "s[i] = x[i];\nint v = __shfl_xor_sync(0xffffffff, i, 1);\ny[i] = s[v];\n", CUDA_ERROR_LAUNCH_FAILED,
         "y[i] = s[v]", "a race: reads byte");
}

TEST_P(Detection, AtomicsRaceOnlyWithOthers) {
  std::string head =
      "Shared<int> n = shared<int>(0, 1);\nif (i == 0) n[0] = 0;\n__syncthreads();\natomicAdd(&n[0], 1);\n";
  expect(head + "__syncthreads();\nint v = n[0];\nif (v == 64) y[i] = 1;\n",
         head + "int v = n[0];\nif (v == 64) y[i] = 1;\n", CUDA_ERROR_LAUNCH_FAILED, "", "a race");
}

TEST_P(Detection, UnwrittenSharedMemory) {
  expect("s[i] = 1;\ny[i] = s[i];\n", "if (i != 5) s[i] = 1;\ny[i] = s[i];\n", CUDA_ERROR_LAUNCH_FAILED, "y[i] = s[i]",
         "thread (5, 0, 0), ");
  EXPECT_NE(std::string(tuttiEmulatedReport()).find("which nobody has written"), std::string::npos);
}

TEST_P(Detection, SharedMemoryOfAnEarlierBlockIsUnwritten) {
  std::string text = kernel("if (blockIdx.x == 0) s[i] = 1;\nif (gridDim.x == 1) y[i] = s[i];\nelse y[i] = s[i];\n");
  ASSERT_EQ(run(text, {1, 64, 256}, {in, out, 64}), CUDA_SUCCESS);
  EXPECT_EQ(run(text, {2, 64, 256}, {in, out, 64}), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_P(Detection, SharedIndex) {
  expect("s[i] = 1;\n", "s[i + 1] = 1;\n", CUDA_ERROR_ILLEGAL_ADDRESS, "s[i + 1]", "thread (63, 0, 0), ");
  EXPECT_NE(std::string(tuttiEmulatedReport()).find("element 64 of a view of 64"), std::string::npos);
}

TEST_P(Detection, SharedViewBehindWhatTheLaunchGave) {
  expect("auto v = shared<float>(128, 32);\n(void)v;\n", "auto v = shared<float>(128, 33);\n(void)v;\n",
         CUDA_ERROR_ILLEGAL_ADDRESS, "33)", "bytes 128 to 260 of shared memory: the launch gave the block 256");
}

TEST_P(Detection, GlobalIndex) {
  expect("y[i] = x[i];\n", "y[i] = x[i - 1];\n", CUDA_ERROR_ILLEGAL_ADDRESS, "x[i - 1]", "element -1 of a view of 64");
}

TEST_P(Detection, GlobalViewLargerThanItsAllocation) {
  expect("Global<float> z(p.args[1] + 4, 63);\nz[0] = 1;\n", "Global<float> z(p.args[1] + 4, 64);\nz[0] = 1;\n",
         CUDA_ERROR_ILLEGAL_ADDRESS, ", 64);\nz", "run past the end of an allocation of 256 bytes");
}

TEST_P(Detection, GlobalAddressThatIsNone) {
  expect("", "Global<float> z(1234 * 4, 1);\nz[0] = 1;\n", CUDA_ERROR_ILLEGAL_ADDRESS, "1234", "lie in no allocation");
}

TEST_P(Detection, UseAfterFree) {
  CUdeviceptr lost = 0;
  ASSERT_EQ(cuMemAlloc_v2(&lost, 256), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree_v2(lost), CUDA_SUCCESS);
  std::string text = kernel("y[i] = x[i];\n");
  expectFailure(text, {1, 64, 256}, {lost, out, 64}, CUDA_ERROR_ILLEGAL_ADDRESS, lineOf(text, "x(p.args"),
                "which was freed");
}

TEST_P(Detection, MisalignedSharedVector) {
  std::string head = "s[i] = x[i];\n__syncthreads();\n";
  expect(head + "float4 v = s.load4(4);\ny[i] = v.x;\n", head + "float4 v = s.load4(2);\ny[i] = v.x;\n",
         CUDA_ERROR_MISALIGNED_ADDRESS, "load4(2)", "is not a multiple of 16");
}

TEST_P(Detection, MisalignedGlobalVector) {
  expect("if (i < 16) y.store4(i * 4, x.load4(i * 4));\n", "if (i < 16) y.store4(i * 4, x.load4(i * 4 + (i == 3)));\n",
         CUDA_ERROR_MISALIGNED_ADDRESS, "store4", "is not a multiple of 16");
}

TEST_P(Detection, VectorPastTheEnd) {
  expect("y[i] = x.load4(60).w;\n", "y[i] = x.load4(64).w;\n", CUDA_ERROR_ILLEGAL_ADDRESS, "load4(64)",
         "element 67 of a view of 64");
}

TEST_P(Detection, BarrierThatSomeNeverReach) {
  expect("__syncthreads();\nif (i == 7) return;\n", "if (i == 7) return;\n__syncthreads();\n",
         CUDA_ERROR_LAUNCH_TIMEOUT, "__syncthreads", "63 threads wait at __syncthreads()");
  EXPECT_NE(std::string(tuttiEmulatedReport()).find("1 thread have returned (the first is (7, 0, 0))"),
            std::string::npos);
}

TEST_P(Detection, BarriersThatPart) {
  expect("__syncthreads();\n", "if (i < 32)\n  __syncthreads();\nelse\n  __syncthreads();\n", CUDA_ERROR_LAUNCH_FAILED,
         "", "the block's threads part");
}

TEST_P(Detection, NamedBarriers) {
  // The second warp makes what the first one takes.
  std::string right = "if (i >= 32) {\n  s[i] = x[i];\n  barrierSync(1, 64);\n} else {\n  barrierSync(1, 64);\n  "
                      "y[i] = s[i + 32];\n}\n";
  expect(right, without(right, "barrierSync"), CUDA_ERROR_LAUNCH_TIMEOUT, "barrierSync",
         "32 threads wait at a named barrier");
}

TEST_P(Detection, NamedBarrierOfTooFew) {
  std::string right = "if (i >= 32)\n  s[i] = x[i];\nbarrierSync(1, 64);\nif (i < 32)\n  y[i] = s[i + 32];\n";
  std::string wrong = right;
  wrong.replace(wrong.find("64"), 2, "32");
  expect(right, wrong, CUDA_ERROR_LAUNCH_FAILED, "", "of shared memory");
}

TEST_P(Detection, NamedBarrierThatHalfAWarpReaches) { // 16 of each warp are not one warp
  expect("if (i < 32)\n  barrierSync(1, 32);\n", "if (i % 32 < 16)\n  barrierSync(1, 32);\n", CUDA_ERROR_LAUNCH_TIMEOUT,
         "barrierSync", "32 threads wait at a named barrier");
}

TEST_P(Detection, NamedBarrierThatIsNone) {
  expect("barrierSync(15, 64);\n", "barrierSync(16, 64);\n", CUDA_ERROR_LAUNCH_FAILED, "barrierSync",
         "barrier 16: expected 1 to 15");
}

TEST_P(Detection, AsyncCopy) {
  std::string right = "if (i < 16)\n  __pipeline_memcpy_async(&s[i * 4], &x[i * 4], 16);\n__pipeline_commit();\n"
                      "__pipeline_wait_prior(0);\n__syncthreads();\ny[i] = s[i];\n";
  expect(right, without(right, "wait_prior"), CUDA_ERROR_LAUNCH_FAILED, "y[i] = s[i]",
         "copies asynchronously at test.cu:");
}

TEST_P(Detection, AsyncCopyWithoutBarrier) {
  std::string right = "if (i < 16)\n  __pipeline_memcpy_async(&s[i * 4], &x[i * 4], 16);\n__pipeline_commit();\n"
                      "__pipeline_wait_prior(0);\n__syncthreads();\ny[i] = s[i];\n";
  expect(right, without(right, "__syncthreads"), CUDA_ERROR_LAUNCH_FAILED, "y[i] = s[i]", "of shared memory");
}

TEST_P(Detection, AsyncCopyWaitsForTooFewGroups) {
  std::string right = "__pipeline_memcpy_async(&s[i], &x[i], 4);\n__pipeline_commit();\n__pipeline_commit();\n"
                      "__pipeline_wait_prior(1);\ny[i] = s[i];\n";
  std::string wrong = right;
  wrong.replace(wrong.find("prior(1)"), 8, "prior(2)");
  expect(right, wrong, CUDA_ERROR_LAUNCH_FAILED, "y[i] = s[i]", "copies asynchronously at test.cu:");
}

TEST_P(Detection, AsyncCopyWaitsForAllButTooMany) { // the text for a GPU has no instruction for that
  expect("__pipeline_wait_prior(7);\n", "__pipeline_wait_prior(8);\n", CUDA_ERROR_LAUNCH_FAILED, "wait_prior",
         "all groups but 8: at most 7");
}

TEST_P(Detection, AsyncCopyThatIsNotCommitted) {
  std::string right =
      "__pipeline_memcpy_async(&s[i], &x[i], 4);\n__pipeline_commit();\n__pipeline_wait_prior(0);\ny[i] = s[i];\n";
  expect(right, without(right, "commit"), CUDA_ERROR_LAUNCH_FAILED, "y[i] = s[i]", "copies asynchronously at test.cu:");
}

TEST_P(Detection, MisalignedAsyncCopy) {
  expect("if (i == 0) __pipeline_memcpy_async(&s[4], &x[8], 16, 4);\n",
         "if (i == 0) __pipeline_memcpy_async(&s[4], &x[6], 16, 4);\n", CUDA_ERROR_MISALIGNED_ADDRESS, "memcpy_async",
         "is not a multiple of 16");
}

TEST_P(Detection, WarpOperationThatALaneMisses) {
  expect("int v = i;\nif (i % 32 < 16) v = __shfl_xor_sync(0x0000ffff, v, 1);\ny[i] = v;\n",
         "int v = i;\nif (i % 32 < 16) v = __shfl_xor_sync(0xffffffff, v, 1);\n__syncwarp();\ny[i] = v;\n",
         CUDA_ERROR_LAUNCH_TIMEOUT, "__shfl_xor_sync", "wait at __syncwarp in test.cu:");
}

TEST_P(Detection, ShuffleFromALaneThatTakesNoPart) {
  expect("y[i] = i % 32 < 2 ? __shfl_sync(0x3, i, 1) : 0;\n", "y[i] = i % 32 < 2 ? __shfl_sync(0x3, i, 2) : 0;\n",
         CUDA_ERROR_LAUNCH_FAILED, "__shfl_sync", "reads lane 2, which takes no part in it");
}

TEST_P(Detection, MaskWithoutTheCaller) {
  expect("__syncwarp();\n", "__syncwarp(0xfffffffe);\n", CUDA_ERROR_LAUNCH_FAILED, "__syncwarp",
         "the mask does not name the thread");
}

TEST_P(Detection, LocalArray) {
  expect("float a[4] = {};\ny[i] = a[i % 4];\n", "float a[4] = {};\ny[i] = a[i % 8];\n", CUDA_ERROR_LAUNCH_FAILED,
         "a[i % 8]", "an index outside of a local array");
}

TEST_P(Detection, Arithmetic) {
  expect("y[i] = 100 / (i + 1);\n", "y[i] = 100 / i;\n", CUDA_ERROR_LAUNCH_FAILED, "100 / i",
         "an integer division by zero");
}

TEST_P(Detection, IndexOverflow) {
  expect("y[i] = i * (1 << 24);\n", "y[i] = i * (1 << 26);\n", CUDA_ERROR_LAUNCH_FAILED, "1 << 26",
         "a signed product that overflows");
}

TEST_P(Detection, FloatThatDoesNotFit) {
  expect("y[i] = int(__float2ll_rz(x[i] * 1e9f));\n", "y[i] = int(x[i] * 1e9f);\n", CUDA_ERROR_LAUNCH_FAILED,
         "int(x[i]", "a float that does not fit");
}

TEST_P(Detection, StackOverflow) {
  std::string text = kernel("volatile float a[200000];\na[i * 3000] = x[i];\ny[i] = float(a[i * 2]);\n");
  EXPECT_EQ(run(text, {1, 64, 256}, {in, out, 64}), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(std::string(tuttiEmulatedReport()).find("kernel kernel, block (0, 0, 0), thread ("), std::string::npos);
}

TEST_P(Detection, AnErrorStaysUntilTheContextEnds) {
  ASSERT_EQ(run(kernel("s[i / 2] = 1;\n"), {1, 64, 256}, {in, out, 64}), CUDA_ERROR_LAUNCH_FAILED);
  CUdeviceptr address;
  EXPECT_EQ(cuMemAlloc_v2(&address, 4), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  ASSERT_EQ(cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&address, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Orders, Detection, testing::Values(0, 1, 2));
