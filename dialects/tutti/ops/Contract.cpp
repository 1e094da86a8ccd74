// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Contract family.
#include "dialects/tutti/Tutti.h"

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Contract.cpp.inc"
