// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a session has on a CUDA device: memory, stream, graph; and which memory it takes from the caller.
#include "Engine.h"

#include <charconv>

namespace tutti::rt {

namespace {
using ull = unsigned long long;
/// What the caller's addresses in device memory have to be multiples of.
constexpr uint64_t kCallerAlign = 16;

/// What the driver knows of an address: of plain memory of the host, nothing.
struct Pointed {
  unsigned type = 0, managed = 0;
  int ordinal = -1;
  bool isPinned() const { return type == CU_MEMORYTYPE_HOST && !managed; }
};
constexpr const char *kTile = "TUTTI_CUDA_TILE";

/// The environment variable `kTile`, or none.
tutti_status_t readTile(std::optional<uint32_t> &tile, tutti_error_t *error) {
  const char *given = secure_getenv(kTile);
  if (!given || !*given)
    return TUTTI_OK;
  uint32_t number = 0;
  const char *end = given + std::strlen(given);
  if (auto read = std::from_chars(given, end, number); read.ec != std::errc() || read.ptr != end)
    return fail(
        error, TUTTI_INVALID_ARGUMENT,
        "the environment variable %s is '%.80s', expected which of a launch's tiles to take: 0, the largest, 1 ...",
        kTile, given);
  tile = number;
  return TUTTI_OK;
}

/// By the one call for which plain memory is no error; of errors newer drivers keep a log.
CUresult lookUp(const CudaDriver &driver, CUdeviceptr address, Pointed &at) {
  at = {};
  int attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void *values[] = {&at.type, &at.managed, &at.ordinal};
  return driver.cuPointerGetAttributes(3, attributes, values, address);
}
} // namespace

Engine *makeCudaEngine(Call &call) { return make<CudaEngine>(call); }

tutti_status_t checkCuda(Artifact &artifact, const fb::Program &program, const tutti_session_options_t &options,
                         int &fit, tutti_error_t *error) {
  return artifact.cuda->check(program, options, fit, error);
}

tutti_status_t CudaEngine::build(const tutti_session_options_t &options, tutti_error_t *error) {
  if (auto status = readTile(tile, error))
    return status;
  if (auto status = call.artifact.cuda->acquire(*call.program, options, on, error))
    return status;
  driver = &on->driver;
  about = {on->target.name, on->target.emulated ? TUTTI_DEVICE_EMULATED : TUTTI_DEVICE_CUDA, uint32_t(on->device),
           on->target.flops, on->target.bandwidth};
  CudaDevice::Scope scope(*on);
  if (scope.result)
    return driver->fail(error, scope.result, "the context of %s cannot be used", name());
  CudaDevice::Relaxed relaxed(*driver);
  stream = static_cast<CUstream>(options.stream);
  CUresult result = CUDA_SUCCESS;
  if (CUcontext own = nullptr; options.context && reinterpret_cast<uintptr_t>(stream) > 2) { // no default stream
    if ((result = driver->cuStreamGetCtx(stream, &own)))
      return driver->fail(error, result, "the stream %p cannot be asked for its context", options.stream);
    if (own != on->context)
      return fail(error, TUTTI_INVALID_ARGUMENT, "the stream %p is of another context than %p, which was given with it",
                  options.stream, options.context);
  }
  if (!stream) {
    result = driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    ownsStream = result == CUDA_SUCCESS;
  }
  if (!result)
    result = driver->cuEventCreate(&ended, CU_EVENT_DISABLE_TIMING);
  if (result)
    return driver->fail(error, result, "%s gives no stream", name());
  if (auto refused = checkStream(error)) // of a stream that is captured nothing can be waited for
    return refused;

  uint32_t numLaunches = uint32_t(call.launches.size());
  if (!launches.allocate(numLaunches) || !places.allocate(call.ports.size()) || !deliveries.allocate(call.ports.size()))
    return outOfMemory(error, "launches", numLaunches * sizeof(LaunchState));
  uint32_t numRooms = 0;
  for (uint32_t i = 0; i < numLaunches; ++i)
    numRooms += numGeometries(*call.launches[i].launch);
  if (!rooms.allocate(numRooms))
    return outOfMemory(error, "the room for blocks", numRooms * sizeof(BlockRoom));
  for (uint32_t i = 0, firstRoom = 0; i < numLaunches; ++i) {
    LaunchState &state = launches[i];
    state.rooms = &rooms[firstRoom];
    firstRoom += numGeometries(*call.launches[i].launch);
    state.parameters[0] = call.wordsOf(call.launches[i]);
    state.what.kernelParams = state.parameters;
    if (auto status = measure(i, error))
      return status;
    apply(i, state.geometries - 1);
  }
  if (auto status = allocate(error))
    return status;
  if (numLaunches < 2)
    return TUTTI_OK;
  bool same = hasClusters(/*last=*/false); // the last geometries' clusters are the first ones'
  if (auto status = buildGraph(/*last=*/true, error); status || same)
    return status;
  return buildGraph(/*last=*/false, error);
}

bool CudaEngine::sameCluster(const Geometry &a, const Geometry &b) {
  for (uint32_t d = 0; d < 3; ++d)
    if ((count(a.cluster) ? a.cluster->Get(d) : 1) != (count(b.cluster) ? b.cluster->Get(d) : 1))
      return false;
  return true;
}

/// Whether the launches' geometries have the clusters of their first ones, or of their last.
bool CudaEngine::hasClusters(bool last) const {
  for (uint32_t i = 0; i < launches.size(); ++i) {
    const fb::Launch &launch = *call.launches[i].launch;
    if (!sameCluster(geometryOf(launch, launches[i].geometry),
                     geometryOf(launch, last ? launches[i].geometries - 1 : 0)))
      return false;
  }
  return true;
}

/// The room for blocks of each geometry of a launch, up to the first whose clusters the device has no room for.
tutti_status_t CudaEngine::measure(uint32_t index, tutti_error_t *error) {
  const fb::Launch &launch = *call.launches[index].launch;
  LaunchState &state = launches[index];
  const Sizes most = largestSizes(*call.program);
  for (uint32_t all = numGeometries(launch); state.geometries < all; ++state.geometries) {
    Geometry geometry = geometryOf(launch, state.geometries);
    BlockRoom &room = state.rooms[state.geometries];
    if (auto status = on->measure(geometry, valueOf(geometry.dynamicShared, most.data()), room, error))
      return status;
    if (room.isTooSmall)
      break;
  }
  return state.geometries ? TUTTI_OK
                          : fail(error, TUTTI_NO_DEVICE, "%s has no room for a cluster of blocks of kernel '%.80s'",
                                 name(), text(call.artifact.root().kernels()->Get(launch.kernel())->name()));
}

/// All but the grid, and what depends on sizes.
void CudaEngine::apply(uint32_t index, uint32_t number) {
  Geometry geometry = geometryOf(*call.launches[index].launch, number);
  LaunchState &state = launches[index];
  state.geometry = number;
  state.what.func = on->functionOf(geometry.kernel);
  state.what.blockDimX = geometry.block->Get(0);
  state.what.blockDimY = geometry.block->Get(1);
  state.what.blockDimZ = geometry.block->Get(2);
  state.clustered = false;
  if (!count(geometry.cluster))
    return;
  state.cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  auto &cluster = state.cluster.value.clusterDim;
  cluster = {geometry.cluster->Get(0), geometry.cluster->Get(1), geometry.cluster->Get(2)};
  state.clustered = cluster.x * cluster.y * cluster.z > 1;
}

/// Where everything lies when the sizes are at most these.
CudaEngine::Memory CudaEngine::layout(const int64_t *sizes) const {
  Memory m = {};
  uint64_t at = 0;
  auto place = [&](uint64_t bytes) {
    m.fits = m.fits && bytes <= kMaxMemory && at <= kMaxMemory;
    at = m.fits ? alignUp(at + bytes, kDeviceAlign) : at;
  };
  auto placePorts = [&](uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; ++i) {
      int64_t dims[TUTTI_MAX_RANK];
      uint64_t bytes = 0;
      for (int32_t d = 0; d < call.ports[i].info->rank; ++d)
        dims[d] = valueOf(call.ports[i].port->type()->dims()->Get(uint32_t(d)), sizes);
      denseBytes(fb::DType(call.ports[i].info->dtype), dims, uint32_t(call.ports[i].info->rank), bytes);
      place(bytes);
    }
  };
  placePorts(0, call.numInputs);
  m.outputs = at;
  placePorts(call.numInputs, uint32_t(call.ports.size()));
  m.tables = at;
  m.fits = m.fits && call.tableBytes() <= kMaxTables;
  place(call.tableBytes());
  m.pinned = m.arena = at;
  int64_t arena = call.arenaBytes(sizes);
  m.fits = m.fits && arena >= 0;
  place(m.fits ? uint64_t(arena) : 0);
  m.total = std::max(at, kDeviceAlign);
  return m;
}

/// "'batch' up to 812 would fit": the largest range gives way first, then the members.
void CudaEngine::describeFit(uint64_t free, char *hint, size_t length) const {
  int64_t at[kMaxSizes], least[kMaxSizes];
  uint32_t widest = 0;
  for (uint32_t i = 0; i < call.sizes.size(); ++i) {
    const fb::Size &size = *call.program->sizes()->Get(i);
    at[i] = size.hi();
    least[i] = size.lo();
    if (size.kind() != fb::SizeKind::active && at[i] > least[i] && (!widest || at[i] > at[widest]))
      widest = i;
  }
  auto largest = [&](uint32_t index) -> int64_t { // 0: not even its smallest value
    uint64_t fit = 0, most = uint64_t(call.program->sizes()->Get(index)->hi()) - uint64_t(least[index]) + 1; // values
    while (fit < most) {
      uint64_t middle = most - (most - fit) / 2;
      at[index] = least[index] + int64_t(middle - 1);
      Memory m = layout(at);
      if (m.fits && m.total <= free)
        fit = middle;
      else
        most = middle - 1;
    }
    return fit ? least[index] + int64_t(fit - 1) : 0;
  };
  if (widest)
    if (int64_t value = largest(widest)) {
      const char *symbol = text(call.program->sizes()->Get(widest)->name());
      std::snprintf(hint, length, "'%.40s' up to %lld would fit: compile with --dim %.40s=%lld..%lld", symbol,
                    (long long)value, symbol, (long long)least[widest], (long long)value);
      return;
    }
  std::copy(least, least + call.sizes.size(), at);
  if (int64_t value = largest(0))
    std::snprintf(hint, length, "%lld members would fit, each size at its smallest", (long long)value);
}

tutti_status_t CudaEngine::allocate(tutti_error_t *error) {
  const Sizes most = largestSizes(*call.program);
  memory = layout(most.data());
  CUresult result = memory.fits ? driver->cuMemAlloc(&block, memory.total) : CUDA_ERROR_OUT_OF_MEMORY;
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    block = 0;
    char hint[160] = "";
    describeFit(on->freeBytes(), hint, sizeof(hint));
    return on->outOfMemory(error, "a session's inputs, outputs and arena", memory.total, hint);
  }
  uint64_t pinnedBytes = std::max(memory.pinned, kDeviceAlign);
  void *host = nullptr;
  if (!result && (result = driver->cuMemHostAlloc(&host, pinnedBytes, 0)))
    return driver->fail(error, result, "%llu bytes of pinned memory for inputs and outputs are not to be had",
                        ull(pinnedBytes));
  pinned = static_cast<char *>(host);
  if (!result) // state starts as zeros; so may the rest of the arena
    result = driver->cuMemsetD8Async(block + memory.arena, 0, memory.total - memory.arena, stream);
  if (!result)
    result = driver->cuStreamSynchronize(stream);
  if (result)
    return driver->fail(error, result, "%s gives no memory", name());

  // The arena, then each state buffer, as Call::arenaBytes counts them.
  auto *base = reinterpret_cast<char *>(block);
  call.arena = base + memory.arena;
  uint64_t at = memory.arena;
  if (count(call.program->arena()))
    at += alignUp(uint64_t(valueOf(call.program->arena()->Get(0), most.data())), kPageBytes);
  uint64_t port = memory.outputs;
  for (uint32_t i = 0; i < call.buffers.size(); ++i) {
    const fb::Buffer &b = *call.program->buffers()->Get(i);
    if (b.space() == fb::Space::state) {
      call.buffers[i] = base + at;
      at += alignUp(uint64_t(valueOf(b.bytes(), most.data())), kPageBytes);
    } else if (b.space() == fb::Space::constant &&
               !call.artifact.root().slots()->Get(uint32_t(b.slot()))->per_member()) {
      call.buffers[i] = reinterpret_cast<char *>(on->locate(uint32_t(b.slot())));
    }
  }
  for (uint32_t i = 0; i < call.tables.size(); ++i) {
    uint64_t table = memory.tables + i * call.active.size() * sizeof(void *);
    call.placeTable(i, reinterpret_cast<const void **>(pinned + table), base + table);
  }
  for (uint32_t i = call.numInputs; i < call.ports.size(); ++i) {
    places[i] = port;
    call.ports[i].owned = pinned + port;
    port = alignUp(port + call.ports[i].mostBytes(), kDeviceAlign);
  }
  return TUTTI_OK;
}

tutti_status_t CudaEngine::admit(PortState &port, const tutti_tensor_t &tensor) {
  uint64_t place = places[uint32_t(&port - call.ports.data())];
  if (!tensor.data) { // an output goes back to the session, or there is nothing in it
    if (!port.input)
      port.owned = tensor.memory == TUTTI_MEMORY_DEVICE ? reinterpret_cast<char *>(block) + place : pinned + place;
    port.inPlace = tensor.memory == TUTTI_MEMORY_DEVICE;
    return TUTTI_OK;
  }
  CudaDevice::Scope scope(*on);
  if (scope.result)
    return failed(scope.result, "making the context current");
  auto address = reinterpret_cast<CUdeviceptr>(tensor.data);
  Pointed at, end;
  if (CUresult result = lookUp(*driver, address, at); result && result != CUDA_ERROR_INVALID_VALUE)
    return failed(result, "asking where memory is");
  const char *name = port.info->name;
  if (tensor.memory == TUTTI_MEMORY_HOST) {
    if (at.type == CU_MEMORYTYPE_DEVICE && !at.managed)
      return fail(&call.error, TUTTI_INVALID_ARGUMENT,
                  "'%.200s' lies in device memory at %p, but was given as memory of the host", name, tensor.data);
    uint64_t bytes = 0;
    denseBytes(fb::DType(tensor.dtype), tensor.dims, uint32_t(tensor.rank), bytes);
    // The driver copies nothing of which a part is pinned, as where a registered range ends before the tensor does.
    port.inPlace = at.isPinned() && (bytes < 2 || (!lookUp(*driver, address + bytes - 1, end) && end.isPinned()));
    return TUTTI_OK;
  }
  if (!at.managed && at.type != CU_MEMORYTYPE_DEVICE)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT,
                "'%.200s' was given as device memory, but %p is memory of the host", name, tensor.data);
  if (!at.managed && at.ordinal != on->device)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT,
                "'%.200s' lies on CUDA device %d, but the session runs on device %d", name, at.ordinal, on->device);
  if (address % kCallerAlign)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT,
                "'%.200s' lies at %p, expected a multiple of %llu in device memory", name, tensor.data,
                ull(kCallerAlign));
  port.inPlace = true;
  return TUTTI_OK;
}

tutti_status_t CudaEngine::buildGraph(bool last, tutti_error_t *error) {
  Graph &made = graphs[last];
  if (!made.nodes.allocate(launches.size()))
    return outOfMemory(error, "a graph's nodes", launches.size() * sizeof(CUgraphNode));
  CUresult result = driver->cuGraphCreate(&made.handle, 0);
  // The launches of a step wait for those of the step before, and not for each other.
  uint32_t before = 0, own = 0;
  for (uint32_t i = 0; i < launches.size() && !result; ++i) {
    apply(i, last ? launches[i].geometries - 1 : 0);
    LaunchState &state = launches[i];
    if (call.launches[i].step != call.launches[own].step)
      before = std::exchange(own, i);
    auto whole = [&](unsigned block, unsigned cluster) { return state.clustered ? cluster : block; };
    const auto &cluster = state.cluster.value.clusterDim;
    CUDA_KERNEL_NODE_PARAMS what = state.what; // any grid: every run sets its own
    what.gridDimX = whole(1, cluster.x);
    what.gridDimY = whole(1, cluster.y);
    what.gridDimZ = whole(1, cluster.z);
    CUgraphNode *nodes = made.nodes.data();
    result = driver->cuGraphAddKernelNode(&nodes[i], made.handle, nodes + before, own - before, &what);
    if (!result && state.clustered)
      result =
          driver->cuGraphKernelNodeSetAttribute(nodes[i], CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &state.cluster.value);
  }
  if (!result)
    result = driver->cuGraphInstantiateWithFlags(&made.exec, made.handle, 0);
  if (!result)
    result = driver->cuGraphUpload(made.exec, stream);
  if (!result)
    result = driver->cuStreamSynchronize(stream);
  return result ? driver->fail(error, result, "a graph of %zu launches cannot be made", launches.size()) : TUTTI_OK;
}

void CudaEngine::destroy(bool forked) {
  if (on && !forked) {
    freeAll();
    call.artifact.cuda->release(on);
  }
  dispose(this);
}

/// Nothing, if the context is gone, and all that was made in it.
void CudaEngine::freeAll() {
  CudaDevice::Scope scope(*on);
  if (scope.result)
    return;
  CudaDevice::Relaxed relaxed(*driver);
  for (const Graph &each : graphs) {
    if (each.exec)
      driver->cuGraphExecDestroy(each.exec);
    if (each.handle)
      driver->cuGraphDestroy(each.handle);
  }
  if (ended)
    driver->cuEventDestroy(ended);
  if (ownsStream)
    driver->cuStreamDestroy(stream);
  if (pinned)
    driver->cuMemFreeHost(pinned);
  if (block)
    driver->cuMemFree(block);
}

} // namespace tutti::rt
