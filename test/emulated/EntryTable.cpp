// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points by name: what cuGetProcAddress answers. Like the driver's, it takes a plain name and a version.
#include "Driver.h"

#include <cstring>
#include <dlfcn.h>

using namespace tutti::emulated;

/// The library itself, so that the answer is what is exported, whoever else in the process has a symbol of that name.
static void *self() {
  static void *handle = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&self), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return handle;
}

/// From which version of CUDA on, and before which, a name means the form that is here (cudaTypedefs.h); one that is
/// not listed has had one form since 2.0, or two that take the same.
static constexpr int newest = 13000;
static constexpr struct {
  const char *name;
  int since, until = newest + 1;
  const char *symbol = nullptr; ///< where several forms are here
} forms[] = {
    // clang-format off
    {"cuGetErrorName", 6000}, {"cuGetErrorString", 6000}, {"cuDriverGetVersion", 2020}, {"cuDeviceGetUuid", 11040},
    {"cuDeviceTotalMem", 3020}, {"cuDevicePrimaryCtxRetain", 7000}, {"cuDevicePrimaryCtxRelease", 11000},
    {"cuDevicePrimaryCtxReset", 11000}, {"cuDevicePrimaryCtxGetState", 7000}, {"cuDevicePrimaryCtxSetFlags", 11000},
    {"cuCtxCreate", 3020, 11040, "cuCtxCreate_v2"}, {"cuCtxCreate", 12050, newest + 1, "cuCtxCreate_v4"},
    {"cuCtxDestroy", 4000}, {"cuCtxGetCurrent", 4000}, {"cuCtxSetCurrent", 4000}, {"cuCtxPushCurrent", 4000},
    {"cuCtxPopCurrent", 4000}, {"cuCtxGetDevice", 2000, 13000}, {"cuCtxGetFlags", 7000}, {"cuCtxGetApiVersion", 3020},
    {"cuCtxGetStreamPriorityRange", 5050}, {"cuCtxSynchronize", 2000, 13000}, {"cuModuleLoadDataEx", 2010},
    {"cuLibraryLoadData", 12000}, {"cuLibraryUnload", 12000}, {"cuLibraryGetKernel", 12000},
    {"cuLibraryGetModule", 12000}, {"cuKernelGetFunction", 12000}, {"cuFuncGetName", 12030},
    {"cuFuncGetModule", 11000}, {"cuFuncGetParamInfo", 12040}, {"cuFuncGetAttribute", 2020},
    {"cuFuncSetAttribute", 9000}, {"cuFuncSetCacheConfig", 3000}, {"cuKernelSetAttribute", 12000},
    {"cuKernelGetAttribute", 12000}, {"cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 7000}, {"cuOccupancyMaxActiveClusters", 11070}, {"cuMemGetInfo", 3020}, {"cuMemAlloc", 3020},
    {"cuMemFree", 3020}, {"cuMemAllocAsync", 11020}, {"cuMemFreeAsync", 11020}, {"cuMemHostAlloc", 2020},
    {"cuMemAllocHost", 3020}, {"cuMemHostRegister", 6050}, {"cuMemHostUnregister", 4000}, {"cuMemcpyHtoD", 3020},
    {"cuMemcpyDtoH", 3020}, {"cuMemcpyDtoD", 3020}, {"cuMemcpy", 4000}, {"cuMemcpyHtoDAsync", 3020},
    {"cuMemcpyDtoHAsync", 3020}, {"cuMemcpyDtoDAsync", 3020}, {"cuMemcpyAsync", 4000}, {"cuMemsetD8", 3020},
    {"cuMemsetD16", 3020}, {"cuMemsetD32", 3020}, {"cuMemsetD8Async", 3020}, {"cuMemsetD16Async", 3020},
    {"cuMemsetD32Async", 3020}, {"cuMemGetAddressRange", 3020}, {"cuPointerGetAttribute", 4000},
    {"cuPointerGetAttributes", 7000}, {"cuStreamCreateWithPriority", 5050}, {"cuStreamDestroy", 4000},
    {"cuStreamGetCtx", 9020, 12050}, {"cuStreamGetFlags", 5050}, {"cuStreamGetPriority", 5050},
    {"cuEventDestroy", 4000}, {"cuStreamWaitEvent", 3020}, {"cuLaunchKernel", 4000}, {"cuLaunchKernelEx", 11060},
    {"cuLaunchHostFunc", 10000}, {"cuStreamBeginCapture", 10010}, {"cuStreamEndCapture", 10000},
    {"cuStreamIsCapturing", 10000}, {"cuThreadExchangeStreamCaptureMode", 10010}, {"cuGraphCreate", 10000},
    {"cuGraphDestroy", 10000}, {"cuGraphAddKernelNode", 12000}, {"cuGraphAddMemcpyNode", 10000},
    {"cuGraphAddMemsetNode", 10000}, {"cuGraphAddEmptyNode", 10000}, {"cuGraphGetNodes", 10000},
    {"cuGraphNodeGetType", 10000}, {"cuGraphKernelNodeSetParams", 12000}, {"cuGraphKernelNodeSetAttribute", 11000},
    {"cuGraphInstantiateWithFlags", 11040}, {"cuGraphExecUpdate", 12000}, {"cuGraphExecKernelNodeSetParams", 12000},
    {"cuGraphExecMemcpyNodeSetParams", 10020}, {"cuGraphExecMemsetNodeSetParams", 10020},
    {"cuGraphExecDestroy", 10000}, {"cuGraphUpload", 11010}, {"cuGraphLaunch", 10000},
    {"cuGetProcAddress", 11030, 12000, "cuGetProcAddress"},
    {"cuGetProcAddress", 12000, newest + 1, "cuGetProcAddress_v2"},
    {"cuGraphInstantiate", 12000, newest + 1, "cuGraphInstantiateWithFlags"},
    // clang-format on
};

/// The form that the version has; null where it has none, or another one than is here.
static void *formOf(const char *name, int version) {
  bool known = false;
  for (const auto &form : forms) {
    if (strcmp(form.name, name))
      continue;
    known = true;
    if (version >= form.since && version < form.until)
      for (std::string symbol : {form.symbol ? form.symbol : std::string(name) + "_v2", std::string(name)})
        if (void *address = dlsym(self(), symbol.c_str()))
          return address;
  }
  if (known || version < 2000 || strncmp(name, "cu", 2))
    return nullptr;
  void *address = dlsym(self(), (std::string(name) + "_v2").c_str());
  return address ? address : dlsym(self(), name);
}

TUTTI_ENTRY cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t,
                                CUdriverProcAddressQueryResult *status) {
  TUTTI_CALL(nothing);
  TUTTI_EXPECT(symbol && function && version <= newest, CUDA_ERROR_INVALID_VALUE);
  *function = formOf(symbol, version);
  if (status)
    *status = *function                ? CU_GET_PROC_ADDRESS_SUCCESS
              : formOf(symbol, newest) ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

TUTTI_ENTRY cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
