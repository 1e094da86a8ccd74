// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Shape family.
#include "dialects/tutti/Tutti.h"

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Shape.cpp.inc"
