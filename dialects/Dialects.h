// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialects of every stage that --dump-stages writes, which tutti-opt and tutti-lsp-server read.
#ifndef TUTTI_DIALECTS_DIALECTS_H
#define TUTTI_DIALECTS_DIALECTS_H

#include "dialects/plan/Plan.h"
#include "dialects/tutti/Tutti.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tutti {

/// Ours, and those of LLVM that bodies of ours are written in.
inline void insertDialects(mlir::DialectRegistry &registry) {
  registry.insert<TuttiDialect, plan::PlanDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::vector::VectorDialect>();
}

} // namespace tutti

#endif
