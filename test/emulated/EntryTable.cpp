// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points by name: what cuGetProcAddress answers. Like the driver's, it takes a plain name for the newest version.
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

TUTTI_ENTRY cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t,
                                CUdriverProcAddressQueryResult *status) {
  TUTTI_CALL(nothing);
  TUTTI_EXPECT(symbol && function, CUDA_ERROR_INVALID_VALUE);
  *function = nullptr;
  if (!strcmp(symbol, "cuGraphInstantiate")) // has been this one since CUDA 12
    symbol = "cuGraphInstantiateWithFlags";
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (!strncmp(symbol, "cu", 2))
    for (const char *suffix : {"_v4", "_v2", ""})
      if (void *address = dlsym(self(), (std::string(symbol) + suffix).c_str())) {
        // No function here is older than CUDA 2.0 or newer than the driver.
        found = version < 2000 ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SUCCESS;
        *function = version < 2000 ? nullptr : address;
        break;
      }
  if (status)
    *status = found;
  return found == CU_GET_PROC_ADDRESS_SUCCESS || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

TUTTI_ENTRY cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
