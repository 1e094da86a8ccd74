// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The embedded headers of device/, which kernel text includes as "tutti/NAME.cuh".
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_DEVICETEXT_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_DEVICETEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tutti {

struct DeviceHeader {
  llvm::StringLiteral name; ///< tutti/prelude.cuh
  llvm::StringLiteral text;
};

/// All headers, sorted by name.
llvm::ArrayRef<DeviceHeader> deviceHeaders();

} // namespace tutti

#endif
