// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The embedded headers (made by EmbedText.cmake).
#include "DeviceText.h"

namespace tutti {

static constexpr DeviceHeader headers[] = {
#include "DeviceText.inc"
};

llvm::ArrayRef<DeviceHeader> deviceHeaders() { return headers; }

} // namespace tutti
