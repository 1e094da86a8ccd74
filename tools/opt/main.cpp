// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-opt: reads, verifies and prints modules of the tutti and plan dialects and runs single passes on them; for tests and for debugging.
#include "compiler/codegen/Math.h"
#include "dialects/plan/Plan.h"
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tutti::TuttiDialect, tutti::plan::PlanDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::vector::VectorDialect>();
  tutti::registerTuttiPasses();
  tutti::registerExpandMathPass();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tutti-opt: passes of the Tutti compiler\n", registry));
}
