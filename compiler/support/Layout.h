// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts the layouts of weights from the IR's enum to the runtime's.
#ifndef TUTTI_COMPILER_SUPPORT_LAYOUT_H
#define TUTTI_COMPILER_SUPPORT_LAYOUT_H

#include "dialects/plan/Plan.h"
#include "runtime/schema/Layout.h"

namespace tutti {

inline rt::Layout layoutOf(plan::Layout layout) {
  switch (layout) {
  case plan::Layout::raw:
    return rt::Layout::raw;
  case plan::Layout::panels:
    return rt::Layout::panels;
  case plan::Layout::matricesF32:
    return rt::Layout::matricesF32;
  case plan::Layout::matricesTf32:
    return rt::Layout::matricesTf32;
  case plan::Layout::matricesBf16:
    return rt::Layout::matricesBf16;
  case plan::Layout::matricesF16:
    return rt::Layout::matricesF16;
  }
  llvm_unreachable("unknown layout");
}

} // namespace tutti

#endif
