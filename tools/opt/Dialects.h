// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialects that tutti-opt and tutti-lsp-server read: those of every stage that --dump-stages writes.
#ifndef TUTTI_TOOLS_OPT_DIALECTS_H
#define TUTTI_TOOLS_OPT_DIALECTS_H

#include "dialects/plan/Plan.h"
#include "dialects/tutti/Tutti.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tutti {

inline void insertDialects(mlir::DialectRegistry &registry) {
  registry.insert<TuttiDialect, plan::PlanDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::vector::VectorDialect>();
}

} // namespace tutti

#endif
