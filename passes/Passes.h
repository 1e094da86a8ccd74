// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes from model to plan.
#ifndef TUTTI_PASSES_PASSES_H
#define TUTTI_PASSES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tutti {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace tutti

#endif
