// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choices that ops of the tutti dialect have, as their td files name them.
#ifndef TUTTI_DIALECTS_TUTTI_ENUMS_H
#define TUTTI_DIALECTS_TUTTI_ENUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/tutti/TuttiEnums.h.inc"

#endif
