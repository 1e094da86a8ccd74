// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's own declarations of the CUDA driver beside the toolkit's, where there is one: each function has the
// form that the version asked for has, each structure its layout, each number its value.
#include "SameAbi.h"
#include "device/cuda/Driver.h"

#include <gtest/gtest.h>

namespace ours = tutti::rt;

#if __has_include(<cudaTypedefs.h>)

namespace forms {
using namespace tutti::rt;
// Named before cuda.h makes other words of the functions' names.
#define FORM(name, version, parameters) using PFN_##name##_v##version = CUresult(*) parameters;
TUTTI_CUDA_FUNCTIONS(FORM)
TUTTI_CUDA_CLUSTER_FUNCTIONS(FORM)
} // namespace forms

#include <cudaTypedefs.h>

#include <type_traits>

namespace {
template <class A, class B> constexpr bool isSame() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using X = std::remove_pointer_t<A>;
    using Y = std::remove_pointer_t<B>;
    if constexpr (std::is_void_v<X> || std::is_void_v<Y>)
      return std::is_void_v<X> && std::is_void_v<Y>;
    else if constexpr (requires { sizeof(X) + sizeof(Y); })
      return isSame<X, Y>();
    else // handles
      return std::is_class_v<X> && std::is_class_v<Y> && !requires { sizeof(X); } && !requires { sizeof(Y); };
  } else {
    return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
  }
}
template <class... A, class... B> constexpr bool isSameForm(ours::CUresult (*)(A...), CUresult (*)(B...)) {
  if constexpr (sizeof...(A) == sizeof...(B))
    return (isSame<std::remove_const_t<A>, std::remove_const_t<B>>() && ...);
  else
    return false;
}
} // namespace

#define SAME_FORM(name, version, parameters)                                                                           \
  static_assert(isSameForm(forms::PFN_##name##_v##version(), ::PFN_##name##_v##version()));
TUTTI_CUDA_FUNCTIONS(SAME_FORM)
TUTTI_CUDA_CLUSTER_FUNCTIONS(SAME_FORM)

SAME_SIZE(CUdeviceptr);
SAME_SIZE(CUresult);
SAME_SIZE(CUdevice);
SAME_SIZE(CUDA_KERNEL_NODE_PARAMS);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, func);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, gridDimX);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, blockDimX);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, kernelParams);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, extra);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, kern);
SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, ctx);
SAME_SIZE(CUlaunchConfig);
SAME_PLACE(CUlaunchConfig, gridDimX);
SAME_PLACE(CUlaunchConfig, blockDimX);
SAME_PLACE(CUlaunchConfig, sharedMemBytes);
SAME_PLACE(CUlaunchConfig, hStream);
SAME_PLACE(CUlaunchConfig, attrs);
SAME_PLACE(CUlaunchConfig, numAttrs);
SAME_SIZE(CUlaunchAttribute);
SAME_PLACE(CUlaunchAttribute, value);
SAME_SIZE(CUlaunchAttributeValue);
SAME_PLACE(CUlaunchAttributeValue, clusterDim);

SAME_VALUE(CUDA_SUCCESS);
SAME_VALUE(CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(CUDA_ERROR_DEINITIALIZED);
SAME_VALUE(CUDA_ERROR_STUB_LIBRARY);
SAME_VALUE(CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME_VALUE(CUDA_ERROR_NO_DEVICE);
SAME_VALUE(CUDA_ERROR_INVALID_DEVICE);
SAME_VALUE(CUDA_ERROR_INVALID_IMAGE);
SAME_VALUE(CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME_VALUE(CUDA_ERROR_ECC_UNCORRECTABLE);
SAME_VALUE(CUDA_ERROR_INVALID_PTX);
SAME_VALUE(CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME_VALUE(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME_VALUE(CUDA_ERROR_CONTAINED);
SAME_VALUE(CUDA_ERROR_NOT_FOUND);
SAME_VALUE(CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_VALUE(CUDA_ERROR_LAUNCH_TIMEOUT);
SAME_VALUE(CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME_VALUE(CUDA_ERROR_ASSERT);
SAME_VALUE(CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME_VALUE(CUDA_ERROR_LAUNCH_FAILED);
SAME_VALUE(CUDA_ERROR_TENSOR_MEMORY_LEAK);
SAME_VALUE(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME_VALUE(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME_VALUE(CUDA_ERROR_EXTERNAL_DEVICE);
SAME_VALUE(CUDA_ERROR_UNKNOWN);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME_VALUE(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME_VALUE(CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME_VALUE(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_VALUE(CU_MEMORYTYPE_HOST);
SAME_VALUE(CU_MEMORYTYPE_DEVICE);
SAME_VALUE(CU_STREAM_NON_BLOCKING);
SAME_VALUE(CU_EVENT_DISABLE_TIMING);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);

TEST(CudaAbi, IsTheOneOfTheToolkit) {} // what there is to see, the compiler has seen

#else

TEST(CudaAbi, IsTheOneOfTheToolkit) { GTEST_SKIP() << "no cudaTypedefs.h to compare with"; }

#endif
