// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of the CUDA driver interface that the runtime uses, declared here because hosts have no CUDA headers.
#pragma once

#include "../../core/Error.h"

#include <cstddef>
#include <cstdint>

namespace tutti::rt {

// Types and numbers as in "CUDA Driver API", docs.nvidia.com/cuda/cuda-driver-api, under the names they have there. The
// driver's binary interface does not change; a version below picks the form of a function that changed its parameters.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUgraphExec = struct CUgraphExec_st *;

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_STUB_LIBRARY = 34,
  CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_CONTAINED = 226,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
  CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
  CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
  CUDA_ERROR_EXTERNAL_DEVICE = 911,
  CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
  CUDA_ERROR_UNKNOWN = 999
};
enum : int { // CUdevice_attribute
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
};
enum : int { // CUfunction_attribute
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14
};
enum : int { // CUpointer_attribute
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
};
enum : int { CU_STREAM_CAPTURE_STATUS_NONE = 0, CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum : unsigned { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };
enum : unsigned { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4 };

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  void **kernelParams, **extra;
  struct CUkern_st *kern; ///< null: func it is
  CUcontext ctx;          ///< null: the current one
};
union CUlaunchAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } clusterDim;
};
struct CUlaunchAttribute {
  unsigned id;
  char pad[4];
  CUlaunchAttributeValue value;
};
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

/// X(name as cuGetProcAddress takes it, version of CUDA whose form is meant, parameters).
#define TUTTI_CUDA_FUNCTIONS(X)                                                                                        \
  X(cuGetErrorName, 6000, (CUresult error, const char **text))                                                         \
  X(cuGetErrorString, 6000, (CUresult error, const char **text))                                                       \
  X(cuDeviceGetCount, 2000, (int *count))                                                                              \
  X(cuDeviceGet, 2000, (CUdevice * device, int ordinal))                                                               \
  X(cuDeviceGetName, 2000, (char *name, int length, CUdevice device))                                                  \
  X(cuDeviceGetAttribute, 2000, (int *value, int attribute, CUdevice device))                                          \
  X(cuDevicePrimaryCtxRetain, 7000, (CUcontext * context, CUdevice device))                                            \
  X(cuDevicePrimaryCtxRelease, 11000, (CUdevice device))                                                               \
  X(cuCtxPushCurrent, 4000, (CUcontext context))                                                                       \
  X(cuCtxPopCurrent, 4000, (CUcontext * context))                                                                      \
  X(cuCtxGetDevice, 2000, (CUdevice * device))                                                                         \
  X(cuMemGetInfo, 3020, (size_t *free, size_t *total))                                                                 \
  X(cuMemAlloc, 3020, (CUdeviceptr * address, size_t bytes))                                                           \
  X(cuMemFree, 3020, (CUdeviceptr address))                                                                            \
  X(cuMemHostAlloc, 2020, (void **address, size_t bytes, unsigned flags))                                              \
  X(cuMemFreeHost, 2000, (void *address))                                                                              \
  X(cuMemcpyHtoDAsync, 3020, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                        \
  X(cuMemcpyDtoHAsync, 3020, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                              \
  X(cuMemsetD8Async, 3020, (CUdeviceptr address, unsigned char value, size_t bytes, CUstream stream))                  \
  X(cuPointerGetAttributes, 7000, (unsigned count, int *attributes, void **values, CUdeviceptr address))               \
  X(cuModuleLoadData, 2000, (CUmodule * module, const void *image))                                                    \
  X(cuModuleUnload, 2000, (CUmodule module))                                                                           \
  X(cuModuleGetFunction, 2000, (CUfunction * function, CUmodule module, const char *name))                             \
  X(cuFuncGetAttribute, 2020, (int *value, int attribute, CUfunction function))                                        \
  X(cuFuncSetAttribute, 9000, (CUfunction function, int attribute, int value))                                         \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, (int *blocks, CUfunction function, int threads, size_t shared)) \
  X(cuStreamCreate, 2000, (CUstream * stream, unsigned flags))                                                         \
  X(cuStreamDestroy, 4000, (CUstream stream))                                                                          \
  X(cuStreamSynchronize, 2000, (CUstream stream))                                                                      \
  X(cuStreamGetCtx, 9020, (CUstream stream, CUcontext * context))                                                      \
  X(cuStreamIsCapturing, 10000, (CUstream stream, int *status))                                                        \
  X(cuThreadExchangeStreamCaptureMode, 10010, (int *mode))                                                             \
  X(cuEventCreate, 2000, (CUevent * event, unsigned flags))                                                            \
  X(cuEventDestroy, 4000, (CUevent event))                                                                             \
  X(cuEventRecord, 2000, (CUevent event, CUstream stream))                                                             \
  X(cuEventQuery, 2000, (CUevent event))                                                                               \
  X(cuEventSynchronize, 2000, (CUevent event))                                                                         \
  X(cuEventElapsedTime, 2000, (float *milliseconds, CUevent from, CUevent to))                                         \
  X(cuLaunchKernel, 4000,                                                                                              \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,            \
     unsigned blockZ, unsigned sharedBytes, CUstream stream, void **parameters, void **extra))                         \
  X(cuGraphCreate, 10000, (CUgraph * graph, unsigned flags))                                                           \
  X(cuGraphDestroy, 10000, (CUgraph graph))                                                                            \
  X(cuGraphAddKernelNode, 12000,                                                                                       \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t count, const CUDA_KERNEL_NODE_PARAMS *what))  \
  X(cuGraphInstantiateWithFlags, 11040, (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                 \
  X(cuGraphExecKernelNodeSetParams, 12000, (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *what))  \
  X(cuGraphUpload, 11010, (CUgraphExec exec, CUstream stream))                                                         \
  X(cuGraphLaunch, 10000, (CUgraphExec exec, CUstream stream))                                                         \
  X(cuGraphExecDestroy, 10000, (CUgraphExec exec))
/// The same for what only launches in clusters need: a driver without them runs everything else.
#define TUTTI_CUDA_CLUSTER_FUNCTIONS(X)                                                                                \
  X(cuLaunchKernelEx, 11060, (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra))     \
  X(cuOccupancyMaxActiveClusters, 11070, (int *clusters, CUfunction function, const CUlaunchConfig *config))           \
  X(cuGraphKernelNodeSetAttribute, 11000, (CUgraphNode node, unsigned attribute, const CUlaunchAttributeValue *value))

/// The driver's functions, under their own names.
struct CudaDriver {
  /// The oldest driver that has them all, as cuDriverGetVersion counts: 1000 * major + 10 * minor.
  static constexpr int kOldest = 12000;

#define TUTTI_CUDA_DECLARE(name, version, parameters) CUresult(*name) parameters = nullptr;
  TUTTI_CUDA_FUNCTIONS(TUTTI_CUDA_DECLARE)
  TUTTI_CUDA_CLUSTER_FUNCTIONS(TUTTI_CUDA_DECLARE)
#undef TUTTI_CUDA_DECLARE
  int version = 0;

  /// Opens the library that the environment variable TUTTI_CUDA_DRIVER names, else libcuda.so.1 (which stays loaded
  /// until the process ends), and initialises it. The emulated device has no library but the one named. Errors:
  /// TUTTI_NO_DEVICE, TUTTI_DRIVER_TOO_OLD, with the reason.
  tutti_status_t load(bool emulated, tutti_error_t *error);

  /// Our status for a driver's error.
  static tutti_status_t statusOf(CUresult result);
  /// The driver's name for it.
  const char *nameOf(CUresult result) const;

  /// Fails with our status for the driver's error. The message: what was done (a format), the driver's name and text.
  [[gnu::format(printf, 4, 5)]] tutti_status_t fail(tutti_error_t *error, CUresult result, const char *format,
                                                    ...) const;
};

/// Whether every later call in the context will fail, too.
bool isSticky(CUresult result);

} // namespace tutti::rt
