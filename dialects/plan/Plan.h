// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan dialect: how an ensemble runs.
#ifndef TUTTI_DIALECTS_PLAN_PLAN_H
#define TUTTI_DIALECTS_PLAN_PLAN_H

#include "dialects/tutti/Module.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/plan/PlanEnums.h.inc"

#include "dialects/plan/PlanDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.h.inc"

namespace tutti {

namespace plan {
/// Bytes of a cache line. Offsets in the arena are multiples of it.
constexpr int64_t lineBytes = 64;
} // namespace plan

/// The one program of a module that has been through tutti-plan; null of any other.
plan::ProgramOp programOf(mlir::ModuleOp planned);

} // namespace tutti

#endif
