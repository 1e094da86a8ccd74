// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points: initialisation, errors, devices, contexts.
#include "Driver.h"

#include <cstring>

using namespace tutti::emulated;

static constexpr struct {
  CUresult result;
  const char *name, *text;
} errors[] = {
#define TUTTI_ERROR(name, text) {name, #name, text}
    TUTTI_ERROR(CUDA_SUCCESS, "no error"),
    TUTTI_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    TUTTI_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    TUTTI_ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    TUTTI_ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    TUTTI_ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    TUTTI_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    TUTTI_ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    TUTTI_ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    TUTTI_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    TUTTI_ERROR(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    TUTTI_ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    TUTTI_ERROR(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain."),
    TUTTI_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    TUTTI_ERROR(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    TUTTI_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    TUTTI_ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    TUTTI_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    TUTTI_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    TUTTI_ERROR(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    TUTTI_ERROR(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
    TUTTI_ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    TUTTI_ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                "part or all of the requested memory range is already mapped"),
    TUTTI_ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region"),
    TUTTI_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    TUTTI_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    TUTTI_ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    TUTTI_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    TUTTI_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
    TUTTI_ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                "operation would make the legacy stream depend on a capturing blocking stream"),
    TUTTI_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                "the graph update was not performed because it included changes which violated constraints specific to "
                "instantiated graph update"),
    TUTTI_ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
#undef TUTTI_ERROR
};

TUTTI_ENTRY cuGetErrorName(CUresult error, const char **text) {
  for (const auto &each : errors)
    if (each.result == error) {
      *text = each.name;
      return CUDA_SUCCESS;
    }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

TUTTI_ENTRY cuGetErrorString(CUresult error, const char **text) {
  for (const auto &each : errors)
    if (each.result == error) {
      *text = each.text;
      return CUDA_SUCCESS;
    }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

TUTTI_ENTRY cuInit(unsigned flags) {
  TUTTI_CALL(nothing);
  TUTTI_EXPECT(flags == 0, CUDA_ERROR_INVALID_VALUE);
  return driver.initialize();
}

TUTTI_ENTRY cuDriverGetVersion(int *version) {
  TUTTI_CALL(nothing);
  TUTTI_EXPECT(version, CUDA_ERROR_INVALID_VALUE);
  *version = 13000;
  return CUDA_SUCCESS;
}

// Devices.

TUTTI_ENTRY cuDeviceGetCount(int *count) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(count, CUDA_ERROR_INVALID_VALUE);
  *count = driver.limits.count;
  return CUDA_SUCCESS;
}

#define TUTTI_DEVICE(device) TUTTI_EXPECT((device) >= 0 && (device) < driver.limits.count, CUDA_ERROR_INVALID_DEVICE)

TUTTI_ENTRY cuDeviceGet(CUdevice *device, int ordinal) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(device, CUDA_ERROR_INVALID_VALUE);
  TUTTI_DEVICE(ordinal);
  *device = ordinal;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuDeviceGetName(char *name, int length, CUdevice device) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  TUTTI_EXPECT(name && length > 0, CUDA_ERROR_INVALID_VALUE);
  strncpy(name, "Tutti emulated device", length - 1);
  name[length - 1] = 0;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  TUTTI_EXPECT(uuid, CUDA_ERROR_INVALID_VALUE);
  memset(uuid, 0, sizeof *uuid);
  strcpy(uuid->bytes, "tutti-emulated");
  uuid->bytes[15] = char(device);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  TUTTI_EXPECT(bytes, CUDA_ERROR_INVALID_VALUE);
  *bytes = driver.limits.memory;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  TUTTI_EXPECT(value && attribute > 0, CUDA_ERROR_INVALID_VALUE);
  const DeviceLimits &limits = driver.limits;
  *value = [&] {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return limits.maxThreads;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 0x7fffffff;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return limits.sharedDefault;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return limits.sharedMost;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return limits.sharedMultiprocessor;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return limits.sharedReserved;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return limits.blocksMultiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return limits.threadsMultiprocessor;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 1000000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 512;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 32 << 20;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return limits.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return limits.capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return limits.capability % 10;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
      return int(limits.capability >= 90);
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    default:
      return 0;
    }
  }();
  return CUDA_SUCCESS;
}

// Contexts.

TUTTI_ENTRY cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  TUTTI_EXPECT(context, CUDA_ERROR_INVALID_VALUE);
  CUcontext &primary = driver.primary[device];
  if (!primary)
    primary = driver.createContext(device, true);
  ++primary->references;
  *context = primary;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  CUcontext &primary = driver.primary[device];
  TUTTI_EXPECT(primary, CUDA_ERROR_INVALID_CONTEXT);
  if (--primary->references == 0) {
    driver.destroyContext(primary);
    primary = nullptr;
  }
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuDevicePrimaryCtxReset_v2(CUdevice device) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  if (CUcontext &primary = driver.primary[device]) {
    driver.destroyContext(primary);
    primary = nullptr;
  }
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  CUcontext primary = driver.primary[device];
  if (flags)
    *flags = primary ? primary->flags : 0;
  if (active)
    *active = primary != nullptr;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  TUTTI_CALL(initialization);
  TUTTI_DEVICE(device);
  TUTTI_EXPECT(context, CUDA_ERROR_INVALID_VALUE);
  *context = driver.createContext(device, false);
  (*context)->flags = flags;
  contextStack().push_back(*context);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxCreate_v4(CUcontext *context, void *, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

TUTTI_ENTRY cuCtxDestroy_v2(CUcontext context) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(driver.contexts.count(context) && !context->primary, CUDA_ERROR_INVALID_CONTEXT);
  driver.destroyContext(context);
  if (!contextStack().empty() && contextStack().back() == context)
    contextStack().pop_back();
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxGetCurrent(CUcontext *context) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(context, CUDA_ERROR_INVALID_VALUE);
  *context = call.context;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxSetCurrent(CUcontext context) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(!context || driver.contexts.count(context), CUDA_ERROR_INVALID_CONTEXT);
  if (!contextStack().empty())
    contextStack().pop_back();
  if (context)
    contextStack().push_back(context);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxPushCurrent_v2(CUcontext context) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(driver.contexts.count(context), CUDA_ERROR_INVALID_CONTEXT);
  contextStack().push_back(context);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxPopCurrent_v2(CUcontext *context) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(call.context, CUDA_ERROR_INVALID_CONTEXT);
  if (context)
    *context = call.context;
  contextStack().pop_back();
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxGetDevice(CUdevice *device) {
  TUTTI_CALL();
  TUTTI_EXPECT(device, CUDA_ERROR_INVALID_VALUE);
  *device = call.context->device;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxGetFlags(unsigned *flags) {
  TUTTI_CALL();
  TUTTI_EXPECT(flags, CUDA_ERROR_INVALID_VALUE);
  *flags = call.context->flags;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxGetApiVersion(CUcontext, unsigned *version) {
  TUTTI_CALL(initialization);
  *version = 3020;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  TUTTI_CALL();
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuCtxSynchronize() {
  TUTTI_CALL();
  if (CUresult result = driver.refuseCapture(nullptr))
    return result;
  return driver.drainAll(call.context);
}
