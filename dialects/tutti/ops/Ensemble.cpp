// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Ensemble family.
#include "dialects/tutti/Tutti.h"

#define GET_OP_CLASSES
#include "dialects/tutti/ops/Ensemble.cpp.inc"
