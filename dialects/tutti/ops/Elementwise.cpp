// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Elementwise family.
#include "dialects/tutti/Tutti.h"

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Elementwise.cpp.inc"
