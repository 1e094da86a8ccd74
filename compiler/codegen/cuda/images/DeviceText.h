// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The headers of device/, embedded: what kernel text includes as "tutti/NAME.cuh".
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_DEVICETEXT_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_DEVICETEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tutti {

struct DeviceHeader {
  llvm::StringLiteral name; ///< tutti/prelude.cuh
  llvm::StringLiteral text;
};

/// In the order of their names.
llvm::ArrayRef<DeviceHeader> deviceHeaders();

} // namespace tutti

#endif
