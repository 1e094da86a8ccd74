// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads the CUDA driver by dlopen and names its errors.
#include "Driver.h"

#include "runtime/support/Library.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tutti::rt {

namespace {
constexpr const char *kLibrary = "libcuda.so.1", *kVariable = "TUTTI_CUDA_DRIVER";
/// CU_GET_PROC_ADDRESS_LEGACY_STREAM: a null stream is the one that everything else waits for.
constexpr uint64_t kLegacyStream = 1;
using GetProcAddress = CUresult (*)(const char *symbol, void **function, int version, uint64_t flags);
using GetProcAddress2 = CUresult (*)(const char *symbol, void **function, int version, uint64_t flags, int *status);

template <typename Function> Function symbolOf(void *library, const char *name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// What dlerror says is the thread's own in glibc.
const char *reason() {
  const char *text = dlerror();
  return text ? text : "no reason was given";
}

/// cuGetProcAddress in either of its forms.
struct Finder {
  GetProcAddress first;
  GetProcAddress2 second;
  void *operator()(const char *name, int version) const {
    void *function = nullptr;
    int status = 0;
    CUresult result = second  ? second(name, &function, version, kLegacyStream, &status)
                      : first ? first(name, &function, version, kLegacyStream)
                              : CUDA_ERROR_NOT_FOUND;
    return result == CUDA_SUCCESS ? function : nullptr;
  }
};
} // namespace

tutti_status_t CudaDriver::load(bool emulated, tutti_error_t *error) {
  const char *name = secure_getenv(kVariable);
  if (!name || !*name) {
    if (emulated)
      return rt::fail(error, TUTTI_NO_DEVICE,
                      "the emulated device is for tests: the environment variable %s must name its library", kVariable);
    name = kLibrary;
  }
  const char *hint = name == kLibrary ? "install NVIDIA's, or name its libcuda.so in TUTTI_CUDA_DRIVER"
                                      : "the environment variable TUTTI_CUDA_DRIVER names it";
  if (isCutShort(name))
    return rt::fail(error, TUTTI_NO_DEVICE, "there is no CUDA driver: %.400s: the file is cut short; %s", name, hint);
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    return rt::fail(error, TUTTI_NO_DEVICE, "there is no CUDA driver: %.400s; %s", reason(), hint);
  auto init = symbolOf<CUresult (*)(unsigned)>(library, "cuInit");
  auto getVersion = symbolOf<CUresult (*)(int *)>(library, "cuDriverGetVersion");
  if (!init || !getVersion)
    return rt::fail(error, TUTTI_NO_DEVICE, "'%.200s' is no CUDA driver: %.400s", name, reason());

  if (getVersion(&version) == CUDA_SUCCESS && version < kOldest)
    return rt::fail(error, TUTTI_DRIVER_TOO_OLD,
                    "the CUDA driver is for CUDA %d.%d, expected %d.%d or newer; update it", version / 1000,
                    version % 1000 / 10, kOldest / 1000, kOldest % 1000 / 10);
  Finder find{symbolOf<GetProcAddress>(library, "cuGetProcAddress"),
              symbolOf<GetProcAddress2>(library, "cuGetProcAddress_v2")};
#define TUTTI_CUDA_FIND(function, since, parameters)                                                                   \
  function = reinterpret_cast<decltype(function)>(find(#function, since));
  TUTTI_CUDA_FUNCTIONS(TUTTI_CUDA_FIND)
  TUTTI_CUDA_CLUSTER_FUNCTIONS(TUTTI_CUDA_FIND)
#undef TUTTI_CUDA_FIND
  CUresult result = init(0);
  if (result == CUDA_ERROR_STUB_LIBRARY)
    return rt::fail(error, TUTTI_NO_DEVICE,
                    "'%.200s' is the CUDA toolkit's stub, for linking, and no driver; the driver's own library is %s",
                    name, kLibrary);
  if (result)
    return fail(error, result, "the CUDA driver '%.200s' does not start", name);
  const char *missing = nullptr;
#define TUTTI_CUDA_CHECK(function, since, parameters) missing = function ? missing : #function;
  TUTTI_CUDA_FUNCTIONS(TUTTI_CUDA_CHECK)
#undef TUTTI_CUDA_CHECK
  if (missing)
    return rt::fail(error, TUTTI_DRIVER_TOO_OLD,
                    "the CUDA driver '%.200s' has no %s; a driver for CUDA %d.%d or newer has", name, missing,
                    kOldest / 1000, kOldest % 1000 / 10);
  return TUTTI_OK;
}

const char *CudaDriver::nameOf(CUresult result) const {
  const char *text = nullptr;
  return cuGetErrorName && cuGetErrorName(result, &text) == CUDA_SUCCESS && text ? text : "an error without a name";
}

tutti_status_t CudaDriver::fail(tutti_error_t *error, CUresult result, const char *format, ...) const {
  char what[600];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(what, sizeof(what), format, arguments);
  va_end(arguments);
  const char *text = nullptr;
  if (!cuGetErrorString || cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    text = "no description";
  return rt::fail(error, statusOf(result), "%s: %s (%d, %.160s)", what, nameOf(result), result, text);
}

tutti_status_t CudaDriver::statusOf(CUresult result) {
  switch (result) {
  case CUDA_SUCCESS:
    return TUTTI_OK;
  case CUDA_ERROR_OUT_OF_MEMORY:
    return TUTTI_OUT_OF_MEMORY;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_STUB_LIBRARY:
    return TUTTI_NO_DEVICE;
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    return TUTTI_DRIVER_TOO_OLD;
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_INVALID_PTX:
    return TUTTI_MALFORMED;
  default:
    return isSticky(result) ? TUTTI_DEVICE_LOST : TUTTI_DRIVER_ERROR;
  }
}

bool isSticky(CUresult result) {
  switch (result) {
  case CUDA_ERROR_DEINITIALIZED:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
  case CUDA_ERROR_INVALID_CONTEXT: // as behind cudaDeviceReset of the host's
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_CONTAINED:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_TENSOR_MEMORY_LEAK:
  case CUDA_ERROR_MPS_CLIENT_TERMINATED:
  case CUDA_ERROR_EXTERNAL_DEVICE:
  case CUDA_ERROR_UNKNOWN:
    return true;
  default: // stack, instruction, alignment, address space, program counter, launch
    return result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED;
  }
}

} // namespace tutti::rt
