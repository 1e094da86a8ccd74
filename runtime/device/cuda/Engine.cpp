// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a session takes of a CUDA device when it is made, and which memory it takes from the caller.
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
  if (auto status = openStream(options, error))
    return status;
  if (auto status = prepareLaunches(error))
    return status;
  if (auto status = allocate(error))
    return status;
  return buildGraphs(error);
}

/// The caller's, or one of our own.
tutti_status_t CudaEngine::openStream(const tutti_session_options_t &options, tutti_error_t *error) {
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
  call.reader.runs = this;
  if (result)
    return driver->fail(error, result, "%s gives no stream", name());
  return checkStream(error); // of a stream that is captured nothing can be waited for
}

/// All of them as their last geometries have them, which every device has room for.
tutti_status_t CudaEngine::prepareLaunches(tutti_error_t *error) {
  uint32_t numLaunches = uint32_t(call.launches.size()), numRooms = 0;
  for (uint32_t i = 0; i < numLaunches; ++i)
    numRooms += numGeometries(*call.launches[i].launch);
  if (!launches.allocate(numLaunches) || !places.allocate(call.ports.size()) || !deliveries.allocate(call.ports.size()))
    return outOfMemory(error, "launches", numLaunches * sizeof(LaunchState));
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
  return TUTTI_OK;
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
