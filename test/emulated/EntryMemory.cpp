// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points: device and host memory, copies and sets, what a pointer points at.
#include "Driver.h"

#include <cstdlib>

using namespace tutti::emulated;

static CUresult allocate(Driver &driver, CUcontext context, CUdeviceptr *address, size_t bytes) {
  TUTTI_EXPECT(address && bytes, CUDA_ERROR_INVALID_VALUE);
  *address = driver.memory.allocate(bytes, driver.limits.memory, context, context->device);
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(Driver &driver, CUdeviceptr address) {
  if (driver.memory.release(address))
    return CUDA_SUCCESS;
  std::string complaint = driver.memory.complaint(address, 1);
  driver.report("a free of what is not allocated: " +
                (complaint.empty() ? "the address lies inside an allocation" : complaint));
  return CUDA_ERROR_INVALID_VALUE;
}

TUTTI_ENTRY cuMemGetInfo_v2(size_t *free, size_t *total) {
  TUTTI_CALL();
  TUTTI_EXPECT(free && total, CUDA_ERROR_INVALID_VALUE);
  *total = driver.limits.memory;
  *free = *total - driver.memory.used(call.context->device);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  TUTTI_CALL();
  if (CUresult result = driver.refuseCapture(nullptr))
    return result;
  return allocate(driver, call.context, address, bytes);
}

TUTTI_ENTRY cuMemFree_v2(CUdeviceptr address) {
  TUTTI_CALL();
  TUTTI_EXPECT(address, CUDA_SUCCESS);
  if (CUresult result = driver.refuseCapture(nullptr))
    return result;
  if (CUresult result = driver.drainAll(call.context))
    return result;
  return release(driver, address);
}

TUTTI_ENTRY cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream handle) {
  TUTTI_CALL();
  CUstream stream = driver.stream(handle);
  TUTTI_EXPECT(stream, CUDA_ERROR_INVALID_HANDLE);
  TUTTI_EXPECT(!stream->graph, CUDA_ERROR_NOT_SUPPORTED);
  return allocate(driver, call.context, address, bytes);
}

TUTTI_ENTRY cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  TUTTI_CALL();
  CUstream stream = driver.stream(handle);
  TUTTI_EXPECT(stream, CUDA_ERROR_INVALID_HANDLE);
  TUTTI_EXPECT(!stream->graph, CUDA_ERROR_NOT_SUPPORTED);
  driver.submit(stream, [&driver, address] { return release(driver, address); });
  return CUDA_SUCCESS;
}

// Host memory that the driver knows: copies from it happen late.

TUTTI_ENTRY cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  TUTTI_CALL();
  TUTTI_EXPECT(address && bytes, CUDA_ERROR_INVALID_VALUE);
  *address = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  TUTTI_EXPECT(*address, CUDA_ERROR_OUT_OF_MEMORY);
  driver.pinned[reinterpret_cast<uint64_t>(*address)] = bytes;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuMemAllocHost_v2(void **address, size_t bytes) { return cuMemHostAlloc(address, bytes, 0); }

TUTTI_ENTRY cuMemFreeHost(void *address) {
  TUTTI_CALL();
  driver.drainAll(call.context);
  TUTTI_EXPECT(driver.pinned.erase(reinterpret_cast<uint64_t>(address)), CUDA_ERROR_INVALID_VALUE);
  free(address);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuMemHostRegister_v2(void *address, size_t bytes, unsigned) {
  TUTTI_CALL();
  TUTTI_EXPECT(address && bytes, CUDA_ERROR_INVALID_VALUE);
  TUTTI_EXPECT(!driver.touchesPinned(address, bytes), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  driver.pinned[reinterpret_cast<uint64_t>(address)] = bytes;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuMemHostUnregister(void *address) {
  TUTTI_CALL();
  driver.drainAll(call.context);
  bool known = driver.pinned.erase(reinterpret_cast<uint64_t>(address));
  return known ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

// Copies and sets.

static Work copy(uint64_t to, bool toDevice, uint64_t from, bool fromDevice, size_t bytes) {
  Work work;
  work.kind = Work::Kind::copy;
  work.to = to;
  work.toDevice = toDevice;
  work.from = from;
  work.fromDevice = fromDevice;
  work.width = bytes;
  return work;
}

static Work set(uint64_t to, uint32_t value, uint32_t elementSize, size_t count) {
  Work work;
  work.kind = Work::Kind::set;
  work.to = to;
  work.toDevice = true;
  work.value = value;
  work.elementSize = elementSize;
  work.width = count * elementSize;
  return work;
}

static uint64_t number(const void *address) { return reinterpret_cast<uint64_t>(address); }

static CUresult now(Call &call, Work work) {
  return call.driver.executeNow(call.context->defaultStream, std::move(work));
}

static CUresult later(Call &call, CUstream handle, Work work) {
  CUstream stream = call.driver.stream(handle);
  TUTTI_EXPECT(stream, CUDA_ERROR_INVALID_HANDLE);
  return call.driver.submit(stream, std::move(work));
}

TUTTI_ENTRY cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  TUTTI_CALL();
  return now(call, copy(to, true, number(from), false, bytes));
}
TUTTI_ENTRY cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  TUTTI_CALL();
  return now(call, copy(number(to), false, from, true, bytes));
}
TUTTI_ENTRY cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  TUTTI_CALL();
  return now(call, copy(to, true, from, true, bytes));
}
TUTTI_ENTRY cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  TUTTI_CALL();
  return now(call, copy(to, driver.memory.isDevice(to), from, driver.memory.isDevice(from), bytes));
}
TUTTI_ENTRY cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  TUTTI_CALL();
  return later(call, stream, copy(to, true, number(from), false, bytes));
}
TUTTI_ENTRY cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TUTTI_CALL();
  return later(call, stream, copy(number(to), false, from, true, bytes));
}
TUTTI_ENTRY cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TUTTI_CALL();
  return later(call, stream, copy(to, true, from, true, bytes));
}
TUTTI_ENTRY cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  TUTTI_CALL();
  return later(call, stream, copy(to, driver.memory.isDevice(to), from, driver.memory.isDevice(from), bytes));
}

TUTTI_ENTRY cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  TUTTI_CALL();
  return now(call, set(to, value, 1, count));
}
TUTTI_ENTRY cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  TUTTI_CALL();
  return now(call, set(to, value, 2, count));
}
TUTTI_ENTRY cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  TUTTI_CALL();
  return now(call, set(to, value, 4, count));
}
TUTTI_ENTRY cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  TUTTI_CALL();
  return later(call, stream, set(to, value, 1, count));
}
TUTTI_ENTRY cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  TUTTI_CALL();
  return later(call, stream, set(to, value, 2, count));
}
TUTTI_ENTRY cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  TUTTI_CALL();
  return later(call, stream, set(to, value, 4, count));
}

// Pointers.

TUTTI_ENTRY cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  TUTTI_CALL();
  const Allocation *allocation = driver.memory.find(address);
  TUTTI_EXPECT(allocation, CUDA_ERROR_NOT_FOUND);
  if (base)
    *base = allocation->address;
  if (bytes)
    *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
  TUTTI_CALL();
  TUTTI_EXPECT(data, CUDA_ERROR_INVALID_VALUE);
  const Allocation *allocation = driver.memory.find(address);
  bool isPinned = driver.isPinned(reinterpret_cast<void *>(address), 1);
  TUTTI_EXPECT(allocation || isPinned, CUDA_ERROR_INVALID_VALUE);
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *static_cast<CUcontext *>(data) = allocation ? allocation->context : call.context;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *>(data) = allocation ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    TUTTI_EXPECT(allocation, CUDA_ERROR_INVALID_VALUE);
    *static_cast<CUdeviceptr *>(data) = address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    TUTTI_EXPECT(isPinned, CUDA_ERROR_INVALID_VALUE);
    *static_cast<CUdeviceptr *>(data) = address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *>(data) = allocation ? allocation->device : call.context->device;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    TUTTI_EXPECT(allocation, CUDA_ERROR_INVALID_VALUE);
    *static_cast<CUdeviceptr *>(data) = allocation->address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    TUTTI_EXPECT(allocation, CUDA_ERROR_INVALID_VALUE);
    *static_cast<size_t *>(data) = allocation->bytes;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned char *>(data) = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MAPPED:
    *static_cast<unsigned char *>(data) = 1;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/// Unlike the one above, this one has an answer for plain host memory too: nothing.
TUTTI_ENTRY cuPointerGetAttributes(unsigned number, CUpointer_attribute *attributes, void **data, CUdeviceptr address) {
  TUTTI_CALL();
  TUTTI_EXPECT(attributes && data, CUDA_ERROR_INVALID_VALUE);
  for (unsigned i = 0; i < number; ++i)
    if (cuPointerGetAttribute(data[i], attributes[i], address) != CUDA_SUCCESS)
      switch (attributes[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned *>(data[i]) = 0;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int *>(data[i]) = -2;
        break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<unsigned char *>(data[i]) = 0;
        break;
      default:
        *static_cast<uint64_t *>(data[i]) = 0;
      }
  return CUDA_SUCCESS;
}
