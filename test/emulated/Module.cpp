// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules, libraries, functions: loading an image from memory and finding its kernels.
#include "Module.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

CUmod_st::~CUmod_st() {
  if (handle)
    dlclose(handle);
  if (file >= 0)
    close(file);
}

namespace tutti::emulated {

CUresult loadModule(Driver &driver, const void *bytes, CUmodule &module) {
  // The size is not told: like a cubin, the image says itself how long it is.
  const auto *header = static_cast<const Elf64_Ehdr *>(bytes);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG)) {
    driver.report("an image that is no ELF file");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (header->e_machine != EM_X86_64 || header->e_type != ET_DYN) {
    driver.report("an image that is not for the emulated device");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  size_t size = header->e_shoff + size_t(header->e_shnum) * header->e_shentsize;
  auto loaded = std::make_unique<CUmod_st>();
  int file = loaded->file = memfd_create("tutti-emulated", MFD_CLOEXEC);
  for (size_t done = 0; file >= 0 && done < size;) {
    ssize_t written = write(file, static_cast<const char *>(bytes) + done, size - done);
    if (written <= 0)
      return CUDA_ERROR_OUT_OF_MEMORY;
    done += written;
  }
  loaded->handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded->handle)
    loaded->image = static_cast<EmulatedImage *>(dlsym(loaded->handle, "tuttiImage"));
  std::string reason = loaded->handle ? "" : dlerror();
  if (loaded->image && loaded->image->version != emulatorVersion)
    reason = "made for version " + std::to_string(loaded->image->version) + " of the emulated device, this is " +
             std::to_string(emulatorVersion);
  else if (loaded->image && loaded->image->capability > driver.limits.capability)
    reason = "made for compute capability " + std::to_string(loaded->image->capability) + ", the device has " +
             std::to_string(driver.limits.capability);
  else if (loaded->handle && !loaded->image)
    reason = "it exports no tuttiImage";
  if (!reason.empty()) {
    driver.report("an image that does not load: " + reason);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  module = loaded.release();
  driver.modules.insert(module);
  return CUDA_SUCCESS;
}

CUresult findFunction(CUmodule module, const char *name, CUfunction &function) {
  auto &known = module->functions[name];
  if (!known) {
    auto *kernel =
        static_cast<const EmulatedKernel *>(dlsym(module->handle, (std::string("tuttiKernel_") + name).c_str()));
    if (!kernel) {
      module->functions.erase(name);
      return CUDA_ERROR_NOT_FOUND;
    }
    known.reset(new CUfunc_st{module, name, kernel, {}});
    for (const uint32_t *bytes = kernel->parameterBytes; *bytes; ++bytes)
      known->parameterBytes.push_back(*bytes);
  }
  function = known.get();
  return CUDA_SUCCESS;
}

static int maxThreads(const Driver &driver, CUfunction function) {
  return function->kernel->maxThreads ? function->kernel->maxThreads : driver.limits.maxThreads;
}

CUresult describeLaunch(Driver &driver, CUfunction function, const LaunchShape &shape, void **parameters, Work &work) {
  uint64_t threads = uint64_t(shape.block.x) * shape.block.y * shape.block.z;
  auto refuse = [&](CUresult result, const std::string &text) {
    driver.report("launch of kernel " + function->name + ": " + text);
    return result;
  };
  if (!shape.grid.x || !shape.grid.y || !shape.grid.z || !threads || shape.grid.x > 0x7fffffff ||
      shape.grid.y > 65535 || shape.grid.z > 65535 || shape.block.z > 64)
    return refuse(CUDA_ERROR_INVALID_VALUE, "a grid or block of that size does not exist");
  if (threads > uint64_t(maxThreads(driver, function)))
    return refuse(CUDA_ERROR_INVALID_VALUE, std::to_string(threads) + " threads a block, the kernel is made for " +
                                                std::to_string(maxThreads(driver, function)));
  if (shape.sharedBytes > uint32_t(function->maxDynamicShared))
    return refuse(CUDA_ERROR_INVALID_VALUE, std::to_string(shape.sharedBytes) +
                                                " bytes of shared memory, the function allows " +
                                                std::to_string(function->maxDynamicShared) +
                                                " (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)");
  uint32_t blocks = shape.cluster.x * shape.cluster.y * shape.cluster.z;
  if (blocks > 1 && driver.limits.capability < 90)
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "clusters of blocks before compute capability 9.0");
  if (!blocks || blocks > (function->largeClusters ? 16 : 8) || shape.grid.x % shape.cluster.x ||
      shape.grid.y % shape.cluster.y || shape.grid.z % shape.cluster.z)
    return refuse(CUDA_ERROR_INVALID_VALUE, "clusters of " +
                                                print(uint3{shape.cluster.x, shape.cluster.y, shape.cluster.z}) +
                                                " blocks: too many, or the grid is not made of them");
  work.kind = Work::Kind::launch;
  work.function = function;
  work.shape = shape;
  work.parameters.clear();
  if (std::accumulate(function->parameterBytes.begin(), function->parameterBytes.end(), uint64_t(0)) > 4096)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "more than 4096 bytes of parameters, which drivers before CUDA 12.1 do not take");
  for (size_t i = 0; i < function->parameterBytes.size(); ++i) {
    if (!parameters || !parameters[i])
      return refuse(CUDA_ERROR_INVALID_VALUE, "parameter " + std::to_string(i) + " is missing");
    const auto *bytes = static_cast<const unsigned char *>(parameters[i]);
    work.parameters.emplace_back(bytes, bytes + function->parameterBytes[i]);
  }
  return CUDA_SUCCESS;
}

} // namespace tutti::emulated

using namespace tutti::emulated;

TUTTI_ENTRY cuModuleLoadData(CUmodule *module, const void *image) {
  TUTTI_CALL();
  TUTTI_EXPECT(module && image, CUDA_ERROR_INVALID_VALUE);
  CUresult result = loadModule(driver, image, *module);
  if (result == CUDA_SUCCESS)
    (*module)->context = call.context;
  return result;
}

TUTTI_ENTRY cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, int *, void **) {
  return cuModuleLoadData(module, image);
}

TUTTI_ENTRY cuModuleUnload(CUmodule module) {
  TUTTI_CALL();
  TUTTI_EXPECT(driver.modules.count(module), CUDA_ERROR_INVALID_HANDLE);
  driver.drainAll(call.context);
  driver.modules.erase(module);
  delete module;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  TUTTI_CALL();
  TUTTI_EXPECT(function && name, CUDA_ERROR_INVALID_VALUE);
  TUTTI_EXPECT(driver.modules.count(module), CUDA_ERROR_INVALID_HANDLE);
  return findFunction(module, name, *function);
}

// A library is a module that belongs to no context, and a kernel its function.

TUTTI_ENTRY cuLibraryLoadData(CUlibrary *library, const void *code, int *, void **, unsigned, int *, void **,
                              unsigned) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(library && code, CUDA_ERROR_INVALID_VALUE);
  return loadModule(driver, code, reinterpret_cast<CUmodule &>(*library));
}

TUTTI_ENTRY cuLibraryUnload(CUlibrary library) {
  TUTTI_CALL(initialization);
  auto module = reinterpret_cast<CUmodule>(library);
  TUTTI_EXPECT(driver.modules.count(module), CUDA_ERROR_INVALID_HANDLE);
  for (CUcontext context : driver.contexts)
    driver.drainAll(context);
  driver.modules.erase(module);
  delete module;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(kernel && name, CUDA_ERROR_INVALID_VALUE);
  auto module = reinterpret_cast<CUmodule>(library);
  TUTTI_EXPECT(driver.modules.count(module), CUDA_ERROR_INVALID_HANDLE);
  return findFunction(module, name, reinterpret_cast<CUfunction &>(*kernel));
}

TUTTI_ENTRY cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  TUTTI_CALL();
  TUTTI_EXPECT(module && driver.modules.count(reinterpret_cast<CUmodule>(library)), CUDA_ERROR_INVALID_HANDLE);
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  TUTTI_CALL();
  TUTTI_EXPECT(function && kernel, CUDA_ERROR_INVALID_VALUE);
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuFuncGetName(const char **name, CUfunction function) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(name && function, CUDA_ERROR_INVALID_VALUE);
  *name = function->name.c_str();
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuFuncGetModule(CUmodule *module, CUfunction function) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(module && function, CUDA_ERROR_INVALID_VALUE);
  *module = function->module;
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  TUTTI_CALL(initialization);
  TUTTI_EXPECT(function && offset && index < function->parameterBytes.size(), CUDA_ERROR_INVALID_VALUE);
  *offset = 0;
  for (size_t i = 0; i < index; ++i)
    *offset += (function->parameterBytes[i] + 7) / 8 * 8;
  if (size)
    *size = function->parameterBytes[index];
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  TUTTI_CALL();
  TUTTI_EXPECT(value && function, CUDA_ERROR_INVALID_VALUE);
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = maxThreads(driver, function);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = function->maxDynamicShared;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = driver.limits.capability;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = 32;
    return CUDA_SUCCESS;
  default:
    *value = 0;
    return CUDA_SUCCESS;
  }
}

TUTTI_ENTRY cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  TUTTI_CALL();
  TUTTI_EXPECT(function, CUDA_ERROR_INVALID_HANDLE);
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    TUTTI_EXPECT(value == 0 || value == 1, CUDA_ERROR_INVALID_VALUE);
    function->largeClusters = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: // percent; -1: the driver's own choice
    TUTTI_EXPECT(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    TUTTI_EXPECT(value >= 0 && value <= driver.limits.sharedMost, CUDA_ERROR_INVALID_VALUE);
    function->maxDynamicShared = value;
    return CUDA_SUCCESS;
  default: // to be read only
    return CUDA_ERROR_INVALID_VALUE;
  }
}

TUTTI_ENTRY cuFuncSetCacheConfig(CUfunction, int) {
  TUTTI_CALL();
  return CUDA_SUCCESS;
}

TUTTI_ENTRY cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute, value);
}

TUTTI_ENTRY cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel));
}

TUTTI_ENTRY cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared) {
  TUTTI_CALL();
  TUTTI_EXPECT(blocks && function && threads > 0, CUDA_ERROR_INVALID_VALUE);
  const DeviceLimits &limits = driver.limits;
  int byThreads = limits.threadsMultiprocessor / threads,
      byShared = limits.sharedMultiprocessor / std::max(1, int(shared) + limits.sharedReserved);
  *blocks = threads > maxThreads(driver, function) ? 0 : std::min({limits.blocksMultiprocessor, byThreads, byShared});
  return CUDA_SUCCESS;
}

/// Any multiprocessors run a cluster together.
TUTTI_ENTRY cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
  TUTTI_CALL();
  TUTTI_EXPECT(clusters && function && config, CUDA_ERROR_INVALID_VALUE);
  unsigned together = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (const auto &size = config->attrs[i].value.clusterDim;
        config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      together = size.x * size.y * size.z;
  TUTTI_EXPECT(together, CUDA_ERROR_INVALID_VALUE);
  int blocks = 0;
  unsigned threads = config->blockDimX * config->blockDimY * config->blockDimZ;
  CUresult result =
      cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, int(threads), config->sharedMemBytes);
  *clusters = int(unsigned(driver.limits.multiprocessors * blocks) / together);
  return result;
}

TUTTI_ENTRY cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                                 size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
