// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver for tests of the runtime: lazy streams, guarded memory, faults on demand. Set up, it never allocates.
#include "FakeDriver.h"
#include "FakeMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <iterator>
#include <type_traits>
#include <unistd.h>

using namespace tutti::rt;
using namespace tutti::rt::test;

namespace tutti::rt {
struct CUctx_st {
  int device = -1;
};
struct CUfunc_st {
  void (*entry)(const void *parameters, const unsigned *block);
  uint64_t bytes;
};
struct CUmod_st {
  void *handle;
  CUfunc_st functions[8];
};
struct CUevent_st {
  CUstream stream;
  uint64_t upTo;
};
struct CUgraphNode_st {
  CUDA_KERNEL_NODE_PARAMS what;
  alignas(8) char parameters[4096];
};
struct CUgraph_st {
  CUgraphNode_st nodes[32];
  int count;
};
struct CUgraphExec_st {
  CUgraph_st graph;
  CUgraph original;
};
struct CUstream_st {
  struct Op {
    CUfunction function; // null: a copy or a fill
    unsigned grid[3];
    alignas(8) char parameters[4096];
    char *to;
    const char *from;
    size_t bytes;
    bool fill;
  };
  static constexpr uint64_t kOps = 64;
  Op ops[kOps];
  uint64_t done = 0, end = 0;
};
} // namespace tutti::rt

namespace {
FakeDriver fake;
CUctx_st primaries[8], others[8];
int numOthers;
FakeMemory memory;
CUstream_st *streams[64];
thread_local CUcontext stack[16];
thread_local int depth;
struct Count {
  const char *name;
  int calls;
} counts[128];
int &countOf(const char *name) {
  for (Count &count : counts)
    if (!count.name || std::strcmp(count.name, name) == 0) {
      count.name = name;
      return count.calls;
    }
  std::abort();
}

CUresult enter(const char *name, bool needsContext = true) {
  ++countOf(name);
  if (fake.failing && std::strcmp(fake.failing, name) == 0 && fake.failAt-- == 1)
    return fake.failure;
  if (fake.lost && needsContext)
    return fake.lost;
  return needsContext && (!depth || !stack[depth - 1]) ? 201 : CUDA_SUCCESS; // CUDA_ERROR_INVALID_CONTEXT
}
#define ENTER(name)                                                                                                    \
  if (CUresult entered = enter(#name))                                                                                 \
    return entered;
#define ENTER_WITHOUT_CONTEXT(name)                                                                                    \
  if (CUresult entered = enter(#name, false))                                                                          \
    return entered;

void execute(CUstream_st::Op &op) {
  memory.guard(PROT_READ | PROT_WRITE);
  if (!op.function) {
    op.fill ? void(std::memset(op.to, 0, op.bytes)) : void(std::memcpy(op.to, op.from, op.bytes));
  } else if (!fake.lost) {
    if (CUresult result = enter("kernel", false))
      fake.lost = result;
    if (fake.probe && !fake.lost)
      fake.probe(op.parameters);
    for (unsigned z = 0; z < op.grid[2] && !fake.lost && !fake.probe; ++z)
      for (unsigned y = 0; y < op.grid[1]; ++y)
        for (unsigned x = 0; x < op.grid[0]; ++x) {
          unsigned block[6] = {x, y, z, op.grid[0], op.grid[1], op.grid[2]};
          op.function->entry(op.parameters, block);
          ++fake.blocks;
        }
  }
  memory.guard(PROT_NONE);
}

CUresult drain(CUstream stream, uint64_t upTo) {
  while (stream->done < upTo)
    execute(stream->ops[stream->done++ % CUstream_st::kOps]);
  return fake.lost;
}
void drainAll() {
  for (CUstream stream : streams)
    if (stream)
      drain(stream, stream->end);
}

CUstream_st::Op &push(CUstream stream) {
  if (stream->end - stream->done == CUstream_st::kOps)
    drain(stream, stream->done + 1);
  CUstream_st::Op &op = stream->ops[stream->end++ % CUstream_st::kOps];
  op = {};
  return op;
}

void *map(size_t bytes, int device) {
  (device < 0 ? void(++fake.pinned) : void(fake.used += bytes));
  return memory.map(bytes, device).address;
}

CUresult unmap(void *address) {
  drainAll();
  FakeMemory::Block *block = memory.find(reinterpret_cast<uint64_t>(address));
  if (!block || block->address != address)
    return CUDA_ERROR_INVALID_VALUE;
  (block->device < 0 ? void(--fake.pinned) : void(fake.used -= block->bytes));
  return memory.unmap(*block), CUDA_SUCCESS;
}

void launch(CUstream stream, const CUDA_KERNEL_NODE_PARAMS &what, const void *parameters) {
  CUstream_st::Op &op = push(stream);
  op.function = what.func;
  op.grid[0] = what.gridDimX, op.grid[1] = what.gridDimY, op.grid[2] = what.gridDimZ;
  std::memcpy(op.parameters, parameters, what.func->bytes);
}

int deviceNow() { return stack[depth - 1]->device; }
} // namespace

extern "C" {
CUresult cuInit(unsigned) { return fake.starting ? fake.starting() : void(), enter("cuInit", false); }
CUresult cuDriverGetVersion(int *version) { return *version = fake.version, enter("cuDriverGetVersion", false); }
CUresult cuGetErrorName(CUresult error, const char **text) {
  return *text = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
                 : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                : "CUDA_ERROR_OTHER",
         0;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  return *text = error == 700 ? "an illegal memory access was encountered" : "something happened", 0;
}
CUresult cuDeviceGetCount(int *count) {
  ENTER_WITHOUT_CONTEXT(cuDeviceGetCount)
  return *count = fake.devices, 0;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, 0; }
CUresult cuDeviceGetName(char *name, int n, CUdevice) { return std::snprintf(name, size_t(n), "Fake GPU"), 0; }
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? fake.major
           : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? fake.minor
           : attribute == CU_DEVICE_ATTRIBUTE_CLOCK_RATE               ? 1000000
           : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? fake.multiprocessors
           : attribute == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE        ? 2000000
           : attribute == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH  ? 512
                                                                       : fake.maxShared;
  return 0;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER_WITHOUT_CONTEXT(cuDevicePrimaryCtxRetain)
  primaries[device].device = device;
  ++fake.contexts;
  return *context = &primaries[device], 0;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return --fake.contexts, 0; }
CUresult cuCtxPushCurrent(CUcontext context) {
  ENTER_WITHOUT_CONTEXT(cuCtxPushCurrent)
  return stack[depth++] = context, 0;
}
CUresult cuCtxPopCurrent(CUcontext *context) { return depth ? (*context = stack[--depth], 0) : 201; }
CUresult cuCtxGetDevice(CUdevice *device) {
  ENTER(cuCtxGetDevice)
  return *device = deviceNow(), 0;
}
CUresult cuMemGetInfo(size_t *free, size_t *total) {
  ENTER(cuMemGetInfo)
  *total = fake.memory;
  return *free = fake.memory - fake.used, 0;
}
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  ENTER(cuMemAlloc)
  if (bytes > fake.memory - fake.used)
    return CUDA_ERROR_OUT_OF_MEMORY;
  return *address = reinterpret_cast<CUdeviceptr>(map(bytes, deviceNow())), 0;
}
CUresult cuMemFree(CUdeviceptr address) {
  ENTER(cuMemFree)
  return unmap(reinterpret_cast<void *>(address));
}
CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  ENTER(cuMemHostAlloc)
  return *address = map(bytes, -1), 0;
}
CUresult cuMemFreeHost(void *address) { return unmap(address); }
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  ENTER(cuMemcpyHtoDAsync)
  CUstream_st::Op &op = push(stream);
  op.to = reinterpret_cast<char *>(to), op.from = static_cast<const char *>(from), op.bytes = bytes;
  if (!memory.find(reinterpret_cast<uint64_t>(from))) // pageable memory has been read when this returns
    drain(stream, stream->end);
  return 0;
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER(cuMemcpyDtoHAsync)
  CUstream_st::Op &op = push(stream);
  op.to = static_cast<char *>(to), op.from = reinterpret_cast<const char *>(from), op.bytes = bytes;
  return 0;
}
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char, size_t bytes, CUstream stream) {
  ENTER(cuMemsetD8Async)
  CUstream_st::Op &op = push(stream);
  op.to = reinterpret_cast<char *>(address), op.bytes = bytes, op.fill = true;
  return 0;
}
CUresult cuPointerGetAttributes(unsigned number, int *attributes, void **values, CUdeviceptr address) {
  ENTER(cuPointerGetAttributes)
  FakeMemory::Block *block = memory.find(address);
  for (unsigned i = 0; i < number; ++i) {
    int answer = attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ? !block              ? 0
                                                                     : block->device < 0 ? int(CU_MEMORYTYPE_HOST)
                                                                                         : int(CU_MEMORYTYPE_DEVICE)
                 : attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? block ? block->device : -2
                                                                        : 0;
    std::memcpy(values[i], &answer, sizeof(answer));
  }
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  ENTER(cuModuleLoadData)
  if (fake.probe) { // no code runs
    ++fake.modules;
    return *module = new CUmod_st{nullptr, {{nullptr, sizeof(CUgraphNode_st::parameters)}}}, 0;
  }
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  char path[64];
  // dlopen knows what it has open by name, so no two modules may have the same file number.
  static int number = 1000;
  int memory = memfd_create("module", 0), file = fcntl(memory, F_DUPFD_CLOEXEC, number++);
  close(memory);
  size_t bytes = header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
  bool written = write(file, image, bytes) == ssize_t(bytes);
  std::snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  void *handle = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  close(file);
  if (!handle)
    return CUDA_ERROR_INVALID_IMAGE;
  ++fake.modules;
  return *module = new CUmod_st{handle, {}}, 0;
}
CUresult cuModuleUnload(CUmodule module) {
  if (module->handle)
    dlclose(module->handle);
  return delete module, --fake.modules, 0;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  ENTER(cuModuleGetFunction)
  if (!module->handle)
    return *function = module->functions, 0;
  void *entry = dlsym(module->handle, name);
  char symbol[64];
  std::snprintf(symbol, sizeof(symbol), "%s_bytes", name);
  if (!entry)
    return CUDA_ERROR_NOT_FOUND;
  CUfunc_st *free = module->functions;
  while (free->entry && reinterpret_cast<void *>(free->entry) != entry)
    ++free;
  *free = {reinterpret_cast<decltype(free->entry)>(entry), *static_cast<uint64_t *>(dlsym(module->handle, symbol))};
  return *function = free, 0;
}
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction) {
  ENTER(cuFuncGetAttribute)
  return *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? fake.maxThreads : fake.fixedShared, 0;
}
CUresult cuFuncSetAttribute(CUfunction, int, int) { return enter("cuFuncSetAttribute"); }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction, int, size_t) {
  return *n = fake.resident, enter("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}
CUresult cuStreamCreate(CUstream *stream, unsigned) {
  ENTER(cuStreamCreate)
  CUstream_st **place = streams;
  while (*place)
    ++place;
  ++fake.streams;
  return *stream = *place = new CUstream_st, 0;
}
CUresult cuStreamDestroy(CUstream stream) {
  drain(stream, stream->end);
  *std::find(streams, streams + 64, stream) = nullptr;
  return delete stream, --fake.streams, 0;
}
CUresult cuStreamSynchronize(CUstream stream) {
  ENTER(cuStreamSynchronize)
  return drain(stream, stream->end);
}
CUresult cuStreamGetCtx(CUstream, CUcontext *context) { return *context = &primaries[0], 0; }
CUresult cuEventCreate(CUevent *event, unsigned) {
  ENTER(cuEventCreate)
  return *event = new CUevent_st{}, ++fake.events, 0;
}
CUresult cuEventDestroy(CUevent event) { return delete event, --fake.events, 0; }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER(cuEventRecord)
  return *event = {stream, stream->end}, 0;
}
CUresult cuEventQuery(CUevent e) { return e->stream && e->stream->done < e->upTo ? CUresult(600) : CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent event) {
  ENTER(cuEventSynchronize)
  return event->stream ? drain(event->stream, event->upTo) : CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) { return *milliseconds = 0.25f, 0; } // no clock here
CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned, unsigned, unsigned, unsigned,
                        CUstream stream, void **parameters, void **) {
  ENTER(cuLaunchKernel)
  return launch(stream, {function, x, y, z, 1, 1, 1, 0, nullptr, nullptr, nullptr, nullptr}, parameters[0]), 0;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **) {
  ENTER(cuLaunchKernelEx)
  unsigned x = config->gridDimX, y = config->gridDimY, z = config->gridDimZ;
  return launch(config->hStream, {function, x, y, z, 1, 1, 1, 0, nullptr, nullptr, nullptr, nullptr}, parameters[0]), 0;
}
CUresult cuOccupancyMaxActiveClusters(int *n, CUfunction, const CUlaunchConfig *) { return *n = fake.clusters, 0; }
CUresult cuStreamIsCapturing(CUstream, int *status) { return *status = fake.capturing, 0; }
CUresult cuThreadExchangeStreamCaptureMode(int *mode) { return std::swap(fake.captureMode, *mode), 0; }
CUresult cuGraphCreate(CUgraph *graph, unsigned) {
  ENTER(cuGraphCreate)
  return *graph = new CUgraph_st{}, ++fake.graphs, 0;
}
CUresult cuGraphDestroy(CUgraph graph) { return delete graph, --fake.graphs, 0; }
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS *what) {
  ENTER(cuGraphAddKernelNode)
  if (size_t(graph->count) == std::size(graph->nodes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  // The tests' own programs are chains.
  if (!fake.probe && count != (graph->count ? 1u : 0u))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (after[i] < graph->nodes || after[i] >= graph->nodes + graph->count ||
        (!fake.probe && after[i] != &graph->nodes[graph->count - 1]))
      return CUDA_ERROR_INVALID_VALUE;
  CUgraphNode_st &to = graph->nodes[graph->count++];
  to.what = *what;
  std::memcpy(to.parameters, what->kernelParams[0], what->func->bytes);
  return *node = &to, 0;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags)
  return *exec = new CUgraphExec_st{*graph, graph}, ++fake.graphs, 0;
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *what) {
  ENTER(cuGraphExecKernelNodeSetParams)
  CUgraphNode_st &to = exec->graph.nodes[node - exec->original->nodes];
  to.what = *what;
  std::memcpy(to.parameters, what->kernelParams[0], what->func->bytes);
  return 0;
}
CUresult cuGraphUpload(CUgraphExec, CUstream) { return enter("cuGraphUpload"); }
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  ENTER(cuGraphLaunch)
  for (int i = 0; i < exec->graph.count; ++i)
    launch(stream, exec->graph.nodes[i].what, exec->graph.nodes[i].parameters);
  return 0;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) { return delete exec, --fake.graphs, 0; }
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode, unsigned, const CUlaunchAttributeValue *) {
  return enter("cuGraphKernelNodeSetAttribute");
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int, uint64_t, int *status) {
#define CHECK_TYPE(name, version, parameters)                                                                          \
  static_assert(std::is_same_v<decltype(&name), decltype(CudaDriver::name)>);
  TUTTI_CUDA_FUNCTIONS(CHECK_TYPE)
  TUTTI_CUDA_CLUSTER_FUNCTIONS(CHECK_TYPE)
#define FIND(name, version, parameters)                                                                                \
  if (std::strcmp(symbol, #name) == 0)                                                                                 \
    *function = reinterpret_cast<void *>(&name);
  *function = nullptr;
  if (!fake.missing || std::strcmp(symbol, fake.missing)) {
    TUTTI_CUDA_FUNCTIONS(FIND)
    TUTTI_CUDA_CLUSTER_FUNCTIONS(FIND)
  }
  return *status = !*function, *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

FakeDriver *tuttiFakeDriver() {
  fake.calls = [](const char *function) { return countOf(function); };
  fake.reset = [] {
    for (Count &count : counts)
      count.calls = 0;
    FakeDriver fresh = fake;
    fresh.version = 12040, fresh.devices = 2, fresh.major = 9, fresh.minor = 0, fresh.memory = uint64_t(1) << 30;
    fresh.maxThreads = 1024, fresh.fixedShared = 0, fresh.maxShared = 227 << 10, fresh.multiprocessors = 100;
    fresh.clusters = 16, fresh.resident = 2, fresh.capturing = fresh.captureMode = 0;
    fresh.failing = fresh.missing = nullptr, fresh.lost = CUDA_SUCCESS, fresh.probe = nullptr;
    fake = fresh;
  };
  fake.allocate = [](int device, size_t bytes) { return reinterpret_cast<CUdeviceptr>(map(bytes, device)); };
  fake.allocatePinned = [](size_t bytes) { return map(bytes, -1); };
  fake.pin = [](void *address, size_t bytes) { ++fake.pinned, memory.pin(address, bytes); };
  fake.free = [](void *address) { static_cast<void>(unmap(address)); };
  fake.read = [](void *to, CUdeviceptr from, size_t bytes) {
    memory.guard(PROT_READ | PROT_WRITE);
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
    memory.guard(PROT_NONE);
  };
  fake.write = [](CUdeviceptr to, const void *from, size_t bytes) {
    memory.guard(PROT_READ | PROT_WRITE);
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    memory.guard(PROT_NONE);
  };
  fake.makeStream = [] { return *std::find(streams, streams + 64, nullptr) = new CUstream_st; };
  fake.makeContext = [](int device) { return others[numOthers].device = device, &others[numOthers++]; };
  fake.current = [] { return depth ? stack[depth - 1] : nullptr; };
  return &fake;
}
}
