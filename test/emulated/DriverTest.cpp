// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulated driver as a runtime meets it: names, memory, streams, events, graphs, and mistakes in using them.
#include "Harness.h"

#include <cstring>
#include <thread>

class Driver : public EmulatedDevice {};

static const std::string addOne = R"(#include "tutti/prelude.cuh"
using namespace tutti;
struct Params {
  uint64_t args[1];
  int64_t sizes[1];
};
extern "C" __global__ void __launch_bounds__(64) kernel(const __grid_constant__ Params p) {
  Global<int> x(p.args[0], p.sizes[0]);
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < p.sizes[0])
    x[i] += 1;
}
// One parameter a value, as CUDA has it too.
extern "C" __global__ void scale(uint64_t x, int count, int by) {
  Global<int> v(x, count);
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    v[i] *= by;
}
)";

static CUresult launch(CUfunction kernel, uint64_t address, int64_t count, CUstream stream) {
  uint64_t words[] = {address, uint64_t(count)};
  void *parameters[] = {words};
  return cuLaunchKernel(kernel, unsigned(count + 63) / 64, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr);
}

TEST_F(Driver, NamesAreFound) {
  void *address = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &address, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<void *>(&cuMemAlloc_v2));
  EXPECT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &address, 12000, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<void *>(&cuLaunchKernel));
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchThing", &address, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchThing", &address, 12000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
  const char *text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(Driver, NamesMeanTheFormOfTheirVersion) {
  void *address = nullptr;
  CUdriverProcAddressQueryResult status;
  struct {
    const char *name;
    int version;
    bool isHere;
  } asked[] = {{"cuMemAlloc", 3020, true},
               {"cuMemAlloc", 3010, false}, // 32 bits
               {"cuGraphAddKernelNode", 12000, true},
               {"cuGraphAddKernelNode", 11080, false},
               {"cuCtxGetDevice", 12080, true},
               {"cuCtxGetDevice", 13000, false}, // another parameter
               {"cuLaunchKernelEx", 11060, true},
               {"cuLaunchKernelEx", 11050, false},
               {"cuCtxCreate", 4000, true},
               {"cuCtxCreate", 11040, false},
               {"cuCtxCreate", 13000, true},
               {"cuInit", 2000, true}};
  for (const auto &[name, version, isHere] : asked) {
    ASSERT_EQ(cuGetProcAddress_v2(name, &address, version, 0, &status), CUDA_SUCCESS);
    EXPECT_EQ(address != nullptr, isHere) << name << " " << version;
    EXPECT_EQ(status == CU_GET_PROC_ADDRESS_SUCCESS, isHere) << name << " " << version;
  }
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &address, 13010, 0, &status), CUDA_ERROR_INVALID_VALUE)
      << "newer than the driver";
}

TEST_F(Driver, EachThingIsOfAContext) {
  CUdeviceptr x = upload(std::vector<int>(1));
  CUfunction kernel = function(addOne);
  CUcontext own, other, found;
  CUstream stream;
  CUevent event;
  ASSERT_EQ(cuCtxGetCurrent(&own), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(launch(kernel, x, 1, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_NE(strstr(tuttiEmulatedReport(), "of another context"), nullptr);
  EXPECT_EQ(launch(kernel, x, 1, nullptr), CUDA_ERROR_INVALID_HANDLE) << "the current context's default stream";
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(kernel, x, 1, nullptr), CUDA_SUCCESS);
  // A stream knows its own without one that is current; the default streams are whose it is.
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetCtx(stream, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, other);
  EXPECT_EQ(cuStreamGetCtx(nullptr, &found), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(cuCtxPushCurrent_v2(own), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetCtx(nullptr, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, own);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
}

TEST_F(Driver, ThreadsHaveADefaultStreamEach) {
  auto perThread = reinterpret_cast<CUstream>(uintptr_t(2));
  CUdeviceptr x = upload(std::vector<int>(1));
  CUfunction kernel = function(addOne);
  CUcontext context;
  ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  ASSERT_EQ(launch(kernel, x, 1, perThread), CUDA_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(perThread), CUDA_SUCCESS) << "nothing was asked of this one";
    EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(cuStreamQuery(perThread), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamSynchronize(perThread), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(x, 1)[0], 1);
}

TEST_F(Driver, HostMemoryIsPinnedAsAWholeOrNotAtAll) {
  CUdeviceptr x = upload(std::vector<char>(8192));
  std::vector<char> host(8192);
  char *half = host.data() + 4096;
  ASSERT_EQ(cuMemHostRegister_v2(host.data(), 4096, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister_v2(half - 1, 4096, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemcpyHtoD_v2(x, host.data(), 4096), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(half, x, 4096), CUDA_SUCCESS);
  for (size_t bytes : {4097, 8192}) {
    EXPECT_EQ(cuMemcpyHtoD_v2(x, host.data(), bytes), CUDA_ERROR_INVALID_VALUE);
    EXPECT_NE(strstr(tuttiEmulatedReport(), "of which a part is pinned"), nullptr);
  }
  EXPECT_EQ(cuMemcpyDtoH_v2(half - 1, x, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostUnregister(host.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD_v2(x, host.data(), 8192), CUDA_SUCCESS);
}

TEST_F(Driver, WorkHappensWhenItIsWaitedFor) {
  std::vector<int> values = {1, 2, 3};
  CUdeviceptr x = upload(values);
  CUstream stream;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  std::vector<int> back(3, -1);
  ASSERT_EQ(launch(function(addOne), x, 3, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(back.data(), x, 12, stream), CUDA_SUCCESS);
  EXPECT_EQ(back, (std::vector<int>{-1, -1, -1})); // not yet
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(back, (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

TEST_F(Driver, PageableMemoryIsTakenAtOncePinnedMemoryLate) {
  CUdeviceptr x = upload(std::vector<int>(1));
  int value = 1, *pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(reinterpret_cast<void **>(&pinned), 4, 0), CUDA_SUCCESS);
  CUstream stream;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(x, &value, 4, stream), CUDA_SUCCESS);
  value = 2;
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(x, 1)[0], 1);
  *pinned = 3;
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(x, pinned, 4, stream), CUDA_SUCCESS);
  *pinned = 4;
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(x, 1)[0], 4);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

TEST_F(Driver, EventsOrderStreams) {
  CUdeviceptr x = upload(std::vector<int>(1));
  CUfunction kernel = function(addOne);
  CUstream first, second;
  CUevent event;
  ASSERT_EQ(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  int before = -1, after = -1;
  ASSERT_EQ(launch(kernel, x, 1, first), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(launch(kernel, x, 1, first), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&before, x, 4, second), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&after, x, 4, second), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(before, 0); // nothing had to have happened, and nothing has
  EXPECT_EQ(after, 1);  // up to the event, and no further
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(x, 1)[0], 2);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(second), CUDA_SUCCESS);
}

TEST_F(Driver, TheDefaultStreamWaitsForBlockingOnes) {
  CUdeviceptr x = upload(std::vector<int>(1));
  CUstream blocking, other;
  ASSERT_EQ(cuStreamCreate(&blocking, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUfunction kernel = function(addOne);
  ASSERT_EQ(launch(kernel, x, 1, blocking), CUDA_SUCCESS);
  ASSERT_EQ(launch(kernel, x, 1, other), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(x, 1)[0], 1);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(x, 1)[0], 2);
  EXPECT_EQ(cuStreamDestroy_v2(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(other), CUDA_SUCCESS);
}

TEST_F(Driver, CaptureBecomesAGraph) {
  CUdeviceptr x = upload(std::vector<int>(100, 5));
  CUfunction kernel = function(addOne);
  CUstream stream;
  CUgraph graph;
  CUgraphExec exec;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(x, 0, 100, stream), CUDA_SUCCESS);
  ASSERT_EQ(launch(kernel, x, 100, stream), CUDA_SUCCESS);
  ASSERT_EQ(launch(kernel, x, 100, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  size_t nodes = 0;
  ASSERT_EQ(cuGraphGetNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
  EXPECT_EQ(nodes, 3u);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(x, 1)[0], 5); // captured, not done
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(download<int>(x, 100), std::vector<int>(100, 2));
  }
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

TEST_F(Driver, AWaitSpoilsACapture) {
  CUstream stream;
  CUgraph graph;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

TEST_F(Driver, GraphsMadeNodeByNodeKeepTheirOrder) {
  // scale by 3, then add 1: the other order gives something else, and without the edge some seed takes it.
  CUdeviceptr x = upload(std::vector<int>(1, 5));
  CUmodule module;
  CUfunction scale, add;
  ASSERT_EQ(cuModuleLoadData(&module, imageOf(addOne).data()), CUDA_SUCCESS);
  modules.push_back(module);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&add, module, "kernel"), CUDA_SUCCESS);
  int count = 1, by = 3, parted = 0;
  uint64_t words[] = {x, 1};
  void *scaling[] = {&x, &count, &by}, *adding[] = {words};
  for (bool edge : {true, false})
    for (int seed = 1; seed <= 20; ++seed) {
      CUgraph graph;
      CUgraphExec exec;
      CUgraphNode nodes[2];
      ASSERT_EQ(cuMemsetD32_v2(x, 5, 1), CUDA_SUCCESS);
      tuttiEmulatedSetSeed(seed);
      ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
      CUDA_KERNEL_NODE_PARAMS first = {scale, 1, 1, 1, 32, 1, 1, 0, scaling, nullptr, nullptr, nullptr};
      CUDA_KERNEL_NODE_PARAMS second = {add, 1, 1, 1, 64, 1, 1, 0, adding, nullptr, nullptr, nullptr};
      ASSERT_EQ(cuGraphAddKernelNode_v2(&nodes[0], graph, nullptr, 0, &first), CUDA_SUCCESS);
      ASSERT_EQ(cuGraphAddKernelNode_v2(&nodes[1], graph, nodes, edge, &second), CUDA_SUCCESS);
      ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
      ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
      int result = download<int>(x, 1)[0];
      if (edge)
        EXPECT_EQ(result, 16);
      parted += result == 18;
      EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
      EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    }
  EXPECT_GT(parted, 0);
}

TEST_F(Driver, MemoryMistakes) {
  CUdeviceptr x = 0;
  ASSERT_EQ(cuMemAlloc_v2(&x, 100), CUDA_SUCCESS);
  std::vector<char> host(200);
  EXPECT_EQ(cuMemcpyHtoD_v2(x, host.data(), 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(strstr(tuttiEmulatedReport(), "run past the end of an allocation of 100 bytes"), nullptr);
  EXPECT_EQ(cuMemcpyDtoH_v2(reinterpret_cast<void *>(x), x, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(x + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(x), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(x), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(strstr(tuttiEmulatedReport(), "which was freed"), nullptr);
  EXPECT_EQ(cuMemcpyHtoD_v2(x, host.data(), 4), CUDA_ERROR_INVALID_VALUE);
  size_t free, total;
  ASSERT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&x, free + 1), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(Driver, LeaksAreCounted) {
  uint64_t before = tuttiEmulatedCounters().leaks;
  CUcontext context;
  CUdeviceptr x;
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc_v2(&x, 100), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
  EXPECT_EQ(tuttiEmulatedCounters().leaks, before + 1);
}

TEST_F(Driver, TheHostTrapsOnDeviceMemory) {
  CUdeviceptr x = upload(std::vector<int>(1));
  EXPECT_DEATH(*reinterpret_cast<volatile int *>(x) = 1, "");
}

TEST_F(Driver, LaunchesAreChecked) {
  CUdeviceptr x = upload(std::vector<int>(1));
  CUfunction kernel = function(addOne);
  uint64_t words[] = {x, 1};
  void *parameters[] = {words};
  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 65, 1, 1, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(kernel, 0, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  unsigned large = (48 << 10) + 4;
  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, large, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, large), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, large, nullptr, parameters, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 << 10),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, 32), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, ImagesThatAreNone) {
  CUmodule module;
  EXPECT_EQ(cuModuleLoadData(&module, "no ELF file, whatever it is"), CUDA_ERROR_INVALID_IMAGE);
  std::string image = imageOf(addOne);
  image[18] = char(190); // EM_CUDA
  EXPECT_EQ(cuModuleLoadData(&module, image.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(Driver, TwoImagesAtOnce) {
  std::string other = addOne;
  other.replace(other.find("+= 1"), 4, "+= 2");
  CUdeviceptr x = upload(std::vector<int>(1));
  CUfunction one = function(addOne), two = function(other);
  ASSERT_EQ(launch(one, x, 1, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(launch(two, x, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(x, 1)[0], 3);
}
