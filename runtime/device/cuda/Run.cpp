// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call on a CUDA device: inputs there, launches, outputs back. Nothing here allocates.
#include "Engine.h"

namespace tutti::rt {

/// A sticky error is the end of the session: what it says is what every later call returns.
tutti_status_t CudaEngine::failed(CUresult result, const char *what) {
  tutti_status_t status = driver->fail(&call.error, result, "%s on %s", what, name());
  if (isSticky(result))
    call.lost = status;
  return status;
}

/// Which geometry a launch takes at such sizes, and its grid.
void CudaEngine::shape(uint32_t index, const int64_t *sizes) {
  const fb::Launch &launch = *call.launches[index].launch;
  LaunchState &state = launches[index];
  uint32_t number = tile ? std::min(*tile, state.geometries - 1)
                         : chooseGeometry(launch, sizes, state.geometries, state.rooms, on->target.multiprocessors);
  Geometry geometry = geometryOf(launch, number);
  Grid grid = launchedGrid(launch, geometry, sizes, state.rooms[number]);
  state.what.gridDimX = unsigned(grid.x);
  state.what.gridDimY = unsigned(grid.y);
  state.what.gridDimZ = unsigned(grid.z);
  state.what.sharedMemBytes = unsigned(valueOf(geometry.dynamicShared, sizes));
  state.isEmpty = grid.blocks() == 0; // and cannot be launched
  apply(index, number);
}

void CudaEngine::resize() {
  bool anyEmpty = false;
  for (uint32_t i = 0; i < launches.size(); ++i) {
    shape(i, call.sizes.data());
    anyEmpty |= launches[i].isEmpty;
  }
  graph = nullptr;
  for (bool last : {true, false})
    if (graphs[last].exec && !anyEmpty && call.numPieces() == 1 && hasClusters(last))
      graph = &graphs[last];
}

/// Inputs in memory of the host lie side by side, so that one copy takes them all; pinned ones are copied from where
/// they are.
void CudaEngine::rebind() {
  auto *base = reinterpret_cast<char *>(block);
  uint64_t packed = 0, inPlace = 0;
  for (uint32_t i = 0; i < call.numInputs; ++i)
    if (const PortState &port = call.ports[i]; port.memory == TUTTI_MEMORY_HOST && !port.inPlace) {
      places[i] = packed;
      packed = alignUp(packed + port.bytes(), kDeviceAlign);
    }
  inputBytes = inPlace = packed;
  staged = packed != 0;
  for (uint32_t i = 0; i < call.ports.size(); ++i) {
    const PortState &port = call.ports[i];
    if (port.input && port.memory == TUTTI_MEMORY_HOST && port.inPlace) {
      places[i] = inPlace;
      inPlace = alignUp(inPlace + port.bytes(), kDeviceAlign);
    }
    staged |= !port.input && port.memory == TUTTI_MEMORY_HOST && !(port.bound && port.inPlace);
    call.buffers[port.port->buffer()] =
        port.memory == TUTTI_MEMORY_DEVICE ? static_cast<char *>(port.data()) : base + places[i];
  }
  call.updateAddresses();
  graphs[0].isOld = graphs[1].isOld = true;
}

CUresult CudaEngine::copyInputs() {
  for (uint32_t i = 0; i < call.numInputs; ++i) {
    const PortState &port = call.ports[i];
    uint64_t bytes = port.bytes();
    if (port.memory != TUTTI_MEMORY_HOST || !bytes)
      continue;
    if (!port.inPlace)
      std::memcpy(pinned + places[i], port.bound, bytes);
    else if (CUresult result = driver->cuMemcpyHtoDAsync(block + places[i], port.bound, bytes, stream))
      return result;
  }
  return inputBytes ? driver->cuMemcpyHtoDAsync(block, pinned, inputBytes, stream) : CUDA_SUCCESS;
}

CUresult CudaEngine::launchAll() {
  if (graph) {
    CUresult result = graph->isOld ? updateGraph() : CUDA_SUCCESS;
    return result ? result : driver->cuGraphLaunch(graph->exec, stream);
  }
  uint32_t pieces = call.numPieces();
  auto launchShaped = [&](uint32_t i, const int64_t *sizes) {
    if (pieces > 1) // else resize() has done it
      shape(i, sizes);
    return launches[i].isEmpty ? CUDA_SUCCESS : launchOne(launches[i]);
  };
  // A launch takes its parameters along, so the next piece may overwrite them.
  for (uint32_t piece = 0; piece < pieces; ++piece) {
    int64_t sizes[kMaxSizes];
    call.sizesOf(piece, sizes);
    if (pieces > 1)
      call.selectPiece(piece);
    for (uint32_t i = 0; i < launches.size(); ++i)
      if (Call::runsIn(*call.launches[i].launch, piece))
        if (CUresult result = launchShaped(i, sizes))
          return result;
  }
  for (uint32_t i = 0; i < launches.size(); ++i)
    if (call.launches[i].launch->whole())
      if (CUresult result = launchShaped(i, call.sizes.data()))
        return result;
  return CUDA_SUCCESS;
}

CUresult CudaEngine::launchOne(LaunchState &state) {
  const CUDA_KERNEL_NODE_PARAMS &w = state.what;
  if (!state.clustered)
    return driver->cuLaunchKernel(w.func, w.gridDimX, w.gridDimY, w.gridDimZ, w.blockDimX, w.blockDimY, w.blockDimZ,
                                  w.sharedMemBytes, stream, w.kernelParams, nullptr);
  CUlaunchConfig config = {w.gridDimX,  w.gridDimY,       w.gridDimZ, w.blockDimX,    w.blockDimY,
                           w.blockDimZ, w.sharedMemBytes, stream,     &state.cluster, 1};
  return driver->cuLaunchKernelEx(&config, w.func, w.kernelParams, nullptr);
}

/// Outputs lie in order, here and there; those that are close together go in one copy, with what lies between them.
CUresult CudaEngine::copyOutputs() {
  uint64_t begin = 0, end = 0; // of what is still to be copied to pinned memory
  auto copy = [&] {
    return begin == end ? CUDA_SUCCESS : driver->cuMemcpyDtoHAsync(pinned + begin, block + begin, end - begin, stream);
  };
  for (uint32_t i = call.numInputs; i < call.ports.size(); ++i) {
    const PortState &port = call.ports[i];
    uint64_t bytes = port.bytes();
    if (port.memory != TUTTI_MEMORY_HOST || !bytes)
      continue;
    if (port.bound && port.inPlace) {
      if (CUresult result = driver->cuMemcpyDtoHAsync(port.bound, block + places[i], bytes, stream))
        return result;
      continue;
    }
    if (places[i] > end + kLargestGap || begin == end) {
      if (CUresult result = copy())
        return result;
      begin = places[i];
    }
    end = places[i] + bytes;
    if (port.bound)
      deliveries[numDeliveries++] = {port.bound, pinned + places[i], bytes};
  }
  return copy();
}

/// The weights of a run stay as they are until it has ended; so do the tables that point to them.
tutti_status_t CudaEngine::pinWeights() {
  Weights &weights = call.artifact.weights;
  // Before it is asked for a newer version: who has published one, and asks then, sees that the event is of no use, or
  // this sees the version.
  isMarked.store(false, std::memory_order_seq_cst);
  if (running && (staged || numDeliveries || weights.isNewer(pinnedVersion) || call.tablesVersion != pinnedVersion))
    if (auto status = finish(true))
      return status;
  if (running)
    return TUTTI_OK;
  const Weights::Version &version = weights.pin(call.reader);
  pinnedVersion = version.number;
  running = true;
  if (call.tablesVersion == pinnedVersion)
    return TUTTI_OK;
  call.fillTables([&](uint32_t slot, uint32_t member) {
    return reinterpret_cast<const void *>(on->locate(version, slot, member));
  });
  uint64_t bytes = call.tableBytes();
  if (bytes)
    if (CUresult result = driver->cuMemcpyHtoDAsync(block + memory.tables, pinned + memory.tables, bytes, stream))
      return failed(result, "copying the tables of weights");
  call.tablesVersion = pinnedVersion;
  return TUTTI_OK;
}

bool CudaEngine::haveEnded() const {
  if (!isMarked.load(std::memory_order_seq_cst))
    return false;
  CudaDevice::Scope scope(*on);
  CudaDevice::Relaxed relaxed(*driver);
  return !scope.result && driver->cuEventQuery(ended) == CUDA_SUCCESS;
}

/// What a capture records is replayed later: with the tables and the weights' version that are there by then, of which
/// nobody would know that it still reads them.
tutti_status_t CudaEngine::checkStream(tutti_error_t *error) {
  int status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (ownsStream)
    return TUTTI_OK;
  if (CUresult result = driver->cuStreamIsCapturing(stream, &status)) {
    tutti_status_t said = failed(result, "asking the stream");
    if (error)
      *error = call.error;
    return said;
  }
  return status == CU_STREAM_CAPTURE_STATUS_NONE
             ? TUTTI_OK
             : fail(error, TUTTI_UNSUPPORTED,
                    "the session's stream is being captured into a graph: a session runs by itself");
}

tutti_status_t CudaEngine::enqueue() {
  if (auto status = pinWeights())
    return status;
  if (CUresult result = copyInputs())
    return failed(result, "copying inputs");
  if (CUresult result = launchAll())
    return failed(result, "launching");
  if (CUresult result = copyOutputs())
    return failed(result, "copying outputs");
  return TUTTI_OK;
}

tutti_status_t CudaEngine::run(Until until) {
  CudaDevice::Scope scope(*on);
  if (scope.result)
    return failed(scope.result, "making the context current");
  if (auto refused =
          checkStream(&call.error)) // before anything that a capture would record, or a wait that would end it
    return refused;
  tutti_status_t status = enqueue();
  if (!status && until == Until::started)
    if (CUresult result = driver->cuEventRecord(ended, stream))
      status = failed(result, "recording an event");
  if (!status && until == Until::started) {
    isMarked.store(true, std::memory_order_seq_cst);
    return TUTTI_OK;
  }
  if (status) { // what had been started ends first; the first error is the one to report, or what ends the session
    numDeliveries = 0;
    call.tablesVersion = 0;
    tutti_error_t kept = call.error;
    bool wasLost = call.lost;
    if (running)
      (void)finish(false);
    if (call.lost && !wasLost)
      return call.lost;
    call.error = kept;
    return status;
  }
  return finish(false);
}

tutti_status_t CudaEngine::wait() {
  if (!running)
    return TUTTI_OK;
  CudaDevice::Scope scope(*on);
  if (scope.result)
    return failed(scope.result, "making the context current");
  return finish(true);
}

/// Waits for the stream, or for the last run on it; then outputs go on to where they were bound.
tutti_status_t CudaEngine::finish(bool event) {
  CUresult result = event ? driver->cuEventSynchronize(ended) : driver->cuStreamSynchronize(stream);
  running = false;
  call.artifact.weights.unpin(call.reader);
  if (!result)
    for (uint32_t i = 0; i < numDeliveries; ++i)
      std::memcpy(deliveries[i].to, deliveries[i].from, deliveries[i].bytes);
  numDeliveries = 0;
  return result ? failed(result, "running") : TUTTI_OK;
}

} // namespace tutti::rt
