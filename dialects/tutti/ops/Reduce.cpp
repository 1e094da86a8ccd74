// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Reduce family.
#include "dialects/tutti/Tutti.h"

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Reduce.cpp.inc"
