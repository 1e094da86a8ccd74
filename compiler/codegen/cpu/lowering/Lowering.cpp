// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Math functions as arithmetic, AVX-512's own instructions, then MLIR's conversions.
#include "Lowering.h"

#include "compiler/codegen/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tutti {

void addConversions(OpPassManager &passes) {
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

void addLowering(OpPassManager &passes, const CpuLevel &level) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  bool isAvx512 = level.vectorBits == 512;
  passes.addPass(createCpuBatchMathPass({.most = unsigned(level.mathVectors)}));
  if (isAvx512)
    passes.addPass(createCpuExponentialsPass());
  passes.addPass(createExpandMathPass());
  passes.addPass(createCpuShortFloatsPass());
  if (isAvx512) {
    passes.addPass(createCpuExtremesPass());
    passes.addPass(createCpuDivisionsPass()); // half as long a division costs a third
  }
  addConversions(passes);
}

} // namespace tutti
