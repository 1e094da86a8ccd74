// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the device and context that a session asked for.
#include "../../core/Engine.h"
#include "Device.h"

#include <unistd.h>

namespace tutti::rt {

namespace {
/// Name and capability of a device, before there is a context.
tutti_status_t describe(const CudaDriver &driver, CUdevice device, bool emulated, CudaTarget &target,
                        tutti_error_t *error) {
  char name[64] = "";
  CUresult result = driver.cuDeviceGetName(name, sizeof(name), device);
  auto get = [&](int attribute, int &value) {
    if (result == CUDA_SUCCESS)
      result = driver.cuDeviceGetAttribute(&value, attribute, device);
  };
  get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, target.major);
  get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, target.minor);
  get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, target.maxShared);
  if (result != CUDA_SUCCESS)
    return driver.fail(error, result, "CUDA device %d cannot be asked what it is", device);
  // Nice to know, and no device is refused for it: clocks in kHz, the memory's at two transfers a cycle, the bus in
  // bits.
  int clock = 0, count = 0, memoryClock = 0, bus = 0;
  driver.cuDeviceGetAttribute(&clock, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device);
  driver.cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  driver.cuDeviceGetAttribute(&memoryClock, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
  driver.cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
  // float32 lanes of a multiprocessor: "CUDA C++ Programming Guide", Arithmetic Instructions.
  double lanes = target.major * 10 + target.minor <= 80 ? 64 : 128;
  target.multiprocessors = uint32_t(std::max(count, 0));
  target.flops = emulated ? 0 : 2e3 * clock * count * lanes;
  target.bandwidth = emulated ? 0 : 2e3 * memoryClock * bus / 8;
  target.emulated = emulated;
  target.driver = driver.version;
  std::snprintf(target.name, sizeof(target.name), "%s (sm_%d%d)", name, target.major, target.minor);
  return TUTTI_OK;
}

tutti_status_t deviceAt(const CudaDriver &driver, uint32_t ordinal, CUdevice &device, tutti_error_t *error) {
  int devices = 0;
  if (CUresult result = driver.cuDeviceGetCount(&devices))
    return driver.fail(error, result, "the CUDA devices cannot be counted");
  if (ordinal >= uint32_t(devices))
    return fail(error, TUTTI_NO_DEVICE, "there is no CUDA device %u: the driver has %d", ordinal, devices);
  if (CUresult result = driver.cuDeviceGet(&device, int(ordinal)))
    return driver.fail(error, result, "there is no CUDA device %u", ordinal);
  return TUTTI_OK;
}

bool isEmulated(const tutti_session_options_t &options) { return options.device == TUTTI_DEVICE_EMULATED; }
} // namespace

CudaDevices *makeCudaDevices(Artifact &artifact) { return make<CudaDevices>(artifact); }
void destroyCudaDevices(CudaDevices *devices) { dispose(devices); }

/// Takes the lock and loads the driver. In a child of fork() a driver that the parent has started, or was about to, is
/// of no use.
tutti_status_t CudaDevices::enter(bool emulated, tutti_error_t *error) {
  bool mine = mutex.lock();
  if (!mine || (starter && starter != getpid())) {
    if (mine)
      mutex.unlock();
    return fail(error, TUTTI_FORKED, "the CUDA driver was started before fork(), and does not work in the child");
  }
  if (loaded[emulated])
    return TUTTI_OK;
  tutti_status_t status = drivers[emulated].load(emulated, error);
  loaded[emulated] = !status;
  starter = loaded[0] || loaded[1] ? getpid() : 0;
  if (status)
    mutex.unlock();
  return status;
}

/// The last of the handles that cuda.h has for default streams.
constexpr uintptr_t kStreamPerThread = 2;

/// The context that the options ask for, null for the primary one, and the device that it is of.
struct CudaDevices::Place {
  CUcontext context;
  CUdevice device;
};

tutti_status_t CudaDevices::locate(const tutti_session_options_t &options, Place &place, tutti_error_t *error) const {
  const CudaDriver &driver = drivers[isEmulated(options)];
  auto stream = static_cast<CUstream>(options.stream);
  place = {static_cast<CUcontext>(options.context), 0};
  auto handle = reinterpret_cast<uintptr_t>(stream);
  if (handle == kStreamPerThread)
    return fail(error, TUTTI_INVALID_ARGUMENT,
                "CU_STREAM_PER_THREAD is another stream in each thread, and a session's runs have one order; give it a "
                "stream of your own, or CU_STREAM_LEGACY");
  bool isHandle = handle > kStreamPerThread; // the default streams have no context of their own
  if (!place.context && isHandle)
    if (CUresult result = driver.cuStreamGetCtx(stream, &place.context))
      return driver.fail(error, result, "the stream %p cannot be asked for its context", options.stream);
  if (!place.context)
    return deviceAt(driver, options.ordinal, place.device, error);
  CUresult result = driver.cuCtxPushCurrent(place.context);
  CUcontext popped;
  if (result == CUDA_SUCCESS) {
    result = driver.cuCtxGetDevice(&place.device);
    driver.cuCtxPopCurrent(&popped);
  }
  return result ? driver.fail(error, result, "the context %p cannot be used", static_cast<void *>(place.context))
                : TUTTI_OK;
}

tutti_status_t CudaDevices::check(const fb::Program &program, const tutti_session_options_t &options, int &fit,
                                  tutti_error_t *error) {
  bool emulated = isEmulated(options);
  if (auto status = enter(emulated, error))
    return status;
  mutex.unlock();
  Place place;
  CudaTarget target;
  if (auto status = locate(options, place, error))
    return status;
  if (auto status = describe(drivers[emulated], place.device, emulated, target, error))
    return status;
  fit = INT32_MAX;
  return forEachLaunch(program, [&](const fb::Launch &launch, uint32_t) {
    for (uint32_t g = 0; g < numGeometries(launch); ++g) {
      const fb::Image *image;
      int own;
      uint32_t kernel = geometryOf(launch, g).kernel;
      if (auto status = chooseImage(artifact.root(), kernel, target, image, own, error))
        return status;
      fit = std::min(fit, own);
    }
    return TUTTI_OK;
  });
}

/// The device of the options' context; a new one, when no session works in that context yet.
tutti_status_t CudaDevices::find(const tutti_session_options_t &options, CudaDevice *&device, tutti_error_t *error) {
  const CudaDriver &driver = drivers[isEmulated(options)];
  Place place;
  if (auto status = locate(options, place, error))
    return status;
  auto [context, ordinal] = place;
  bool primary = !context;
  if (primary)
    if (CUresult result = driver.cuDevicePrimaryCtxRetain(&context, ordinal))
      return driver.fail(error, result, "CUDA device %d gives no context", ordinal);
  for (device = first; device; device = device->next)
    if (device->context == context && &device->driver == &driver) {
      if (primary) // one reference is enough
        device->primary ? void(driver.cuDevicePrimaryCtxRelease(ordinal)) : void(device->primary = true);
      return TUTTI_OK;
    }
  device = make<CudaDevice>(artifact, driver, context, ordinal);
  if (!device) {
    if (primary)
      driver.cuDevicePrimaryCtxRelease(ordinal);
    return outOfMemory(error, "a device", sizeof(CudaDevice));
  }
  device->primary = primary;
  CudaTarget target;
  tutti_status_t status = describe(driver, ordinal, isEmulated(options), target, error);
  if (!status)
    status = device->build(target, error);
  if (status) {
    std::exchange(device, nullptr)->destroy();
    return status;
  }
  device->next = first; // others find it from now on
  first = device;
  return TUTTI_OK;
}

tutti_status_t CudaDevices::acquire(const fb::Program &program, const tutti_session_options_t &options,
                                    CudaDevice *&device, tutti_error_t *error) {
  device = nullptr;
  if (auto status = enter(isEmulated(options), error))
    return status;
  tutti_status_t status = find(options, device, error);
  if (device)
    ++device->sessions;
  if (!status)
    status = device->prepare(program, error);
  mutex.unlock();
  if (status && device)
    release(std::exchange(device, nullptr));
  return status;
}

void CudaDevices::release(CudaDevice *device) {
  if (!mutex.lock()) // of a child, which has no device
    return;
  if (--device->sessions == 0) {
    CudaDevice **link = &first;
    while (*link != device)
      link = &(*link)->next;
    *link = device->next;
    device->destroy();
  }
  mutex.unlock();
}

} // namespace tutti::rt
