// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C structures of DLPack (github.com/dmlc/dlpack, dlpack.h, version 1), by which frameworks hand over tensors.
#pragma once

#include <cstdint>

enum : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };
enum : uint8_t {
  kDLInt,
  kDLUInt,
  kDLFloat,
  kDLBfloat = 4,
  kDLComplex,
  kDLBool,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e4m3fnuz,
  kDLFloat8_e5m2,
  kDLFloat8_e5m2fnuz,
  kDLFloat8_e8m0fnu
};

struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides; ///< strides in elements; null for dense ones
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};
