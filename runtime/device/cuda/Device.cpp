// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code and weights in a device's memory.
#include "Device.h"

namespace tutti::rt {

namespace {
using ull = unsigned long long;
/// Of shared memory a block has so much without asking.
constexpr int kSharedForFree = 48 << 10;
constexpr int64_t kPortableCluster = 8;

uint64_t strideOf(const fb::Slot &slot) { return alignUp(slot.bytes_each(), kDeviceCopyAlign); }
} // namespace

tutti_status_t CudaDevice::build(const CudaTarget &what, tutti_error_t *error) {
  target = what;
  const fb::Root &root = artifact.root();
  uint32_t kernels = count(root.kernels());
  if (!slots.allocate(count(root.slots())) || !functions.allocate(kernels) || !modules.allocate(kernels) ||
      !blocks.allocate(artifact.info().num_programs))
    return rt::outOfMemory(error, "a device's tables", kernels * sizeof(Module) + count(root.slots()) * sizeof(Slot));
  Scope scope(*this);
  Relaxed relaxed(driver);
  CUresult result = scope.result ? scope.result : driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  return result ? driver.fail(error, result, "%s gives no stream", target.name) : TUTTI_OK;
}

void CudaDevice::destroy() {
  {
    Scope scope(*this);
    Relaxed relaxed(driver);
    artifact.weights.remove(*this);
    // With a context went all that it had; its addresses may be somebody else's by now.
    if (!scope.result) {
      for (uint32_t i = 0; i < numModules; ++i)
        driver.cuModuleUnload(modules[i].handle);
      for (uint32_t i = 0; i < numBlocks; ++i)
        driver.cuMemFree(blocks[i]);
      if (stream)
        driver.cuStreamDestroy(stream);
    }
  }
  if (primary)
    driver.cuDevicePrimaryCtxRelease(device);
  dispose(this);
}

tutti_status_t CudaDevice::prepare(const fb::Program &program, tutti_error_t *error) {
  Scope scope(*this);
  Relaxed relaxed(driver);
  if (scope.result)
    return driver.fail(error, scope.result, "the context of %s cannot be used", target.name);
  const Sizes most = largestSizes(program);
  tutti_status_t loaded = forEachLaunch(program, [&](const fb::Launch &launch, uint32_t) {
    for (uint32_t g = 0; g < numGeometries(launch); ++g) {
      Geometry geometry = geometryOf(launch, g);
      if (auto status = loadKernel(geometry.kernel, error))
        return status;
      if (auto status = allow(geometry, valueOf(geometry.dynamicShared, most.data()), error))
        return status;
    }
    return TUTTI_OK;
  });
  if (loaded)
    return loaded;
  if (auto status = uploadSlots(program, error))
    return status;
  return artifact.weights.add(*this, error);
}

tutti_status_t CudaDevice::loadKernel(uint32_t index, tutti_error_t *error) {
  Function &function = functions[index];
  if (function.handle)
    return TUTTI_OK;
  const fb::Kernel &kernel = *artifact.root().kernels()->Get(index);
  const fb::Image *image;
  int fit;
  if (auto status = chooseImage(artifact.root(), index, target, image, fit, error))
    return status;
  Module *module = nullptr;
  for (uint32_t i = 0; i < numModules; ++i)
    if (modules[i].segment == image->segment() && modules[i].offset == image->offset())
      module = &modules[i];
  if (!module) {
    const char *data = artifact.image(*image);
    if (!isContained(data, artifact.bytesOf(*image), isPtx(*image)))
      return fail(error, TUTTI_MALFORMED, "malformed artifact: the %.40s image of kernel '%.80s' is no module",
                  text(image->target()), text(kernel.name()));
    CUmodule handle;
    if (CUresult result = driver.cuModuleLoadData(&handle, data))
      return driver.fail(error, result, "the %.40s code of kernel '%.80s' does not load on %s", text(image->target()),
                         text(kernel.name()), target.name);
    module = &modules[numModules++];
    *module = {image->segment(), image->offset(), handle};
  }
  if (CUresult result = driver.cuModuleGetFunction(&function.handle, module->handle, text(image->entry()))) {
    function.handle = nullptr;
    // Code that is loaded lazily comes now, and a context may have had errors of others.
    if (result != CUDA_ERROR_NOT_FOUND)
      return driver.fail(error, result, "the %.40s code of kernel '%.80s' does not load on %s", text(image->target()),
                         text(kernel.name()), target.name);
    return fail(error, TUTTI_MALFORMED, "malformed artifact: the %.40s image of kernel '%.80s' has no '%.80s' (%s)",
                text(image->target()), text(kernel.name()), text(image->entry()), driver.nameOf(result));
  }
  return TUTTI_OK;
}

/// Makes sure that the device can launch it: threads, shared memory, clusters.
tutti_status_t CudaDevice::allow(const Geometry &launch, int64_t shared, tutti_error_t *error) {
  Function &function = functions[launch.kernel];
  const char *name = text(artifact.root().kernels()->Get(launch.kernel)->name());
  int threads = 0, fixed = 0;
  CUresult result = driver.cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function.handle);
  if (!result)
    result = driver.cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function.handle);
  if (result)
    return driver.fail(error, result, "kernel '%.80s' cannot be asked what it needs", name);
  int64_t wanted = int64_t(launch.block->Get(0)) * launch.block->Get(1) * launch.block->Get(2);
  if (wanted > threads)
    return fail(error, TUTTI_NO_DEVICE, "kernel '%.80s' has blocks of %lld threads, but runs with at most %d on %s",
                name, (long long)wanted, threads, target.name);
  // `fixed` may count the kilobyte that the system reserves, which is not of these: what fits with it, the driver
  // knows.
  if (shared > target.maxShared)
    return fail(error, TUTTI_NO_DEVICE, "kernel '%.80s' needs %lld bytes of shared memory, and %s has %d for a block",
                name, (long long)shared, target.name, target.maxShared);
  if (shared + fixed > kSharedForFree && shared > function.shared) {
    if ((result =
             driver.cuFuncSetAttribute(function.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(shared))))
      return driver.fail(error, result, "kernel '%.80s' does not get %lld bytes of shared memory", name,
                         (long long)shared);
    function.shared = int(shared);
  }
  return allowCluster(launch, error);
}

/// Blocks that run at the same time and reach each other's shared memory.
static int64_t blocksOfCluster(const Geometry &launch) {
  int64_t together = 1;
  for (uint32_t d = 0; d < count(launch.cluster); ++d)
    together *= launch.cluster->Get(d);
  return together;
}

tutti_status_t CudaDevice::allowCluster(const Geometry &launch, tutti_error_t *error) {
  int64_t together = blocksOfCluster(launch);
  if (together == 1)
    return TUTTI_OK;
  const char *name = text(artifact.root().kernels()->Get(launch.kernel)->name());
  if (!driver.cuLaunchKernelEx || !driver.cuGraphKernelNodeSetAttribute || !driver.cuOccupancyMaxActiveClusters)
    return fail(error, TUTTI_DRIVER_TOO_OLD,
                "kernel '%.80s' runs in clusters of blocks, which this driver does not know", name);
  if (together <= kPortableCluster)
    return TUTTI_OK;
  CUresult result = driver.cuFuncSetAttribute(functions[launch.kernel].handle,
                                              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  return result ? driver.fail(error, result, "kernel '%.80s' cannot run in clusters of %lld blocks on %s", name,
                              (long long)together, target.name)
                : TUTTI_OK;
}

/// Each processor group of a whole device has room for a cluster; of a slice of one (MIG, MPS) that is not said.
tutti_status_t CudaDevice::measure(const Geometry &launch, int64_t shared, BlockRoom &room,
                                   tutti_error_t *error) const {
  CUfunction function = functions[launch.kernel].handle;
  int resident = 0, active = 0, threads = int(launch.block->Get(0) * launch.block->Get(1) * launch.block->Get(2));
  int64_t together = blocksOfCluster(launch);
  CUresult result = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, threads, size_t(shared));
  // Whether all drivers say it of a kernel of clusters is not documented.
  if (result && (together == 1 || isSticky(result)))
    return driver.fail(error, result, "the room for blocks of kernel '%.80s' on %s cannot be asked for",
                       text(artifact.root().kernels()->Get(launch.kernel)->name()), target.name);
  if (!result)
    room = {uint64_t(resident), uint64_t(resident) * target.multiprocessors};
  if (together == 1)
    return TUTTI_OK;
  CUlaunchAttribute cluster = {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, {}, {}};
  cluster.value.clusterDim = {launch.cluster->Get(0), launch.cluster->Get(1), launch.cluster->Get(2)};
  const auto &size = cluster.value.clusterDim;
  CUlaunchConfig config = {
      size.x,  size.y,   size.z, launch.block->Get(0), launch.block->Get(1), launch.block->Get(2), unsigned(shared),
      nullptr, &cluster, 1};
  result = driver.cuOccupancyMaxActiveClusters(&active, function, &config);
  if (isSticky(result))
    return driver.fail(error, result, "the room for clusters on %s cannot be asked for", target.name);
  room.isTooSmall = result ? result == CUDA_ERROR_INVALID_CLUSTER_SIZE : active == 0;
  if (!result) // where a driver has no other answer, a launch shows whether there is room
    room.slots = uint64_t(active) * uint64_t(together);
  return TUTTI_OK;
}

/// One block of memory for all slots of the program that are not on the device yet.
tutti_status_t CudaDevice::uploadSlots(const fb::Program &program, tutti_error_t *error) {
  NewSlots added;
  if (!added.places.allocate(slots.size()))
    return rt::outOfMemory(error, "places of weights", slots.size() * sizeof(uint64_t));
  placeSlots(program, added);
  if (!added.total)
    return TUTTI_OK;
  CUdeviceptr block = 0;
  if (auto status = allocateSlots(added, block, error))
    return status;
  if (auto status = copySlots(added, block, error)) {
    driver.cuMemFree(block);
    return status;
  }
  for (uint32_t i = 0; i < slots.size(); ++i)
    if (added.places[i]) {
      const fb::Slot &slot = *artifact.root().slots()->Get(i);
      slots[i].stride = isShared(slot) ? 0 : strideOf(slot);
      std::atomic_ref(slots[i].base).store(block + added.places[i] - 1);
    }
  blocks[numBlocks++] = block;
  return TUTTI_OK;
}

void CudaDevice::placeSlots(const fb::Program &program, NewSlots &added) const {
  uint32_t members = artifact.info().num_members;
  for (uint32_t i = 0; i < count(program.buffers()); ++i) {
    const fb::Buffer &buffer = *program.buffers()->Get(i);
    if (buffer.space() != fb::Space::constant || slots[buffer.slot()].base || added.places[buffer.slot()])
      continue;
    const fb::Slot &slot = *artifact.root().slots()->Get(uint32_t(buffer.slot()));
    uint64_t copies = copiesOf(slot, members);
    added.places[buffer.slot()] = 1 + added.total;
    added.total = alignUp(added.total + std::max<uint64_t>(copies * strideOf(slot), 1), kDeviceAlign);
    added.perMember += isShared(slot) ? 0 : copies * strideOf(slot) / members;
  }
}

tutti_status_t CudaDevice::allocateSlots(const NewSlots &added, CUdeviceptr &block, tutti_error_t *error) const {
  CUresult result = driver.cuMemAlloc(&block, added.total);
  if (result != CUDA_ERROR_OUT_OF_MEMORY)
    return result ? driver.fail(error, result, "%s gives no memory for weights", target.name) : TUTTI_OK;
  uint32_t members = artifact.info().num_members;
  char what[64], hint[96] = "";
  uint64_t free = freeBytes(), shared = added.total - std::min(added.total, added.perMember * members);
  std::snprintf(what, sizeof(what), "the weights of %u members", members);
  if (added.perMember && free > shared + added.perMember)
    std::snprintf(hint, sizeof(hint), "those of %llu members would fit", ull((free - shared) / added.perMember));
  return outOfMemory(error, what, added.total, hint);
}

tutti_status_t CudaDevice::copySlots(const NewSlots &added, CUdeviceptr block, tutti_error_t *error) {
  tutti_status_t status = TUTTI_OK;
  for (uint32_t i = 0; i < slots.size() && !status; ++i) {
    if (!added.places[i])
      continue;
    const fb::Slot &slot = *artifact.root().slots()->Get(i);
    CUdeviceptr to = block + added.places[i] - 1;
    const char *from = artifact.segment(slot.segment()) + slot.base();
    uint32_t copies = copiesOf(slot, artifact.info().num_members);
    uint64_t stride = strideOf(slot);
    if (copies == 1 || slot.stride() == stride)
      status = copy(to, from, (copies - 1) * stride + slot.bytes_each(), error);
    else
      for (uint32_t c = 0; c < copies && !status; ++c)
        status = copy(to + c * stride, from + c * slot.stride(), slot.bytes_each(), error);
  }
  // What has been started ends before the block may go.
  if (CUresult result = driver.cuStreamSynchronize(stream); result && !status)
    status = driver.fail(error, result, "the weights do not get to %s", target.name);
  return status;
}

tutti_status_t CudaDevice::copy(CUdeviceptr to, const void *from, uint64_t bytes, tutti_error_t *error) {
  CUresult result = bytes ? driver.cuMemcpyHtoDAsync(to, from, bytes, stream) : CUDA_SUCCESS;
  return result ? driver.fail(error, result, "%llu bytes of weights do not get to %s", ull(bytes), target.name)
                : TUTTI_OK;
}

CUdeviceptr CudaDevice::locate(const Weights::Version &version, uint32_t slot, uint32_t m) const {
  if (const Weights::Copy *copy = version.copyOf(slot, m, artifact.info().num_members))
    return copy->onDevice[index];
  return slots[slot].base +
         (slots[slot].stride ? copyOf(*artifact.root().slots()->Get(slot), m) * slots[slot].stride : 0);
}

tutti_status_t CudaDevice::upload(uint32_t slot, const void *data, uint64_t &address, tutti_error_t *error) {
  Scope scope(*this);
  Relaxed relaxed(driver);
  uint64_t bytes = artifact.root().slots()->Get(slot)->bytes_each();
  CUresult result = scope.result ? scope.result : driver.cuMemAlloc(&address, std::max<uint64_t>(bytes, 1));
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return outOfMemory(error, "a weight", bytes, "");
  if (result)
    return driver.fail(error, result, "%s gives no memory for a weight", target.name);
  tutti_status_t status = copy(address, data, bytes, error);
  if (!status)
    if ((result = driver.cuStreamSynchronize(stream)))
      status = driver.fail(error, result, "a weight does not get to %s", target.name);
  if (status)
    driver.cuMemFree(std::exchange(address, 0));
  return status;
}

void CudaDevice::free(uint64_t address) {
  Scope scope(*this);
  Relaxed relaxed(driver);
  if (!scope.result)
    driver.cuMemFree(address);
}

uint64_t CudaDevice::freeBytes() const {
  size_t free = 0, total = 0;
  return driver.cuMemGetInfo(&free, &total) == CUDA_SUCCESS ? free : 0;
}

tutti_status_t CudaDevice::outOfMemory(tutti_error_t *error, const char *what, uint64_t needed,
                                       const char *hint) const {
  return fail(error, TUTTI_OUT_OF_MEMORY, "not enough memory on %s for %s: %llu bytes needed, %llu free%s%s (%s)",
              target.name, what, ull(needed), ull(freeBytes()), *hint ? "; " : "", hint,
              driver.nameOf(CUDA_ERROR_OUT_OF_MEMORY));
}

} // namespace tutti::rt
