// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes over the code of kernels, in the order they run. All but tutti-expand-math are a CPU's.
#ifndef TUTTI_CODEGEN_PASSES_TD
#define TUTTI_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuBatchMathPass : Pass<"tutti-cpu-batch-math", "::mlir::ModuleOp"> {
  let summary = "makes math functions of neighbouring vectors one function of a longer vector";
  let description = [{
    A function is one long chain of operations that each wait for the one before. On a vector of several registers every operation becomes
    that many side by side, which keep a CPU's multipliers busy. Divisions by one number count as functions. Only functions with the same
    attributes in one block are put together, of which none needs another, with no store between them. Changes no bit.
  }];
  let options = [Option<"most", "most", "unsigned", /*default=*/"4", "the most vectors that become one, a power of two">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def CpuExponentialsPass : Pass<"tutti-cpu-exponentials", "::mlir::ModuleOp"> {
  let summary = "makes e^x of vectors with AVX-512's multiplication by a power of two";
  let description = [{
    `vscalef` rounds p 2^n once, for any n. In arithmetic n lies in two factors, as no float holds all powers of two; as the first product is
    exact, both are the same number ([numerics.md](../numerics.md)). It runs before tutti-expand-math, which takes what is left. Changes no bit.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ExpandMathPass : Pass<"tutti-expand-math"> {
  let summary = "writes math functions as IEEE operations, by the rules of docs/numerics.md";
  let description = [{
    Each math op, and each function of the tutti dialect, that is no single instruction becomes additions, multiplications, fma, divisions,
    comparisons and operations on bits; on a CPU and a CUDA device the same ones, so that both have the same bits. f16 and bf16 go through f32.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def CpuShortFloatsPass : Pass<"tutti-cpu-short-floats", "::mlir::ModuleOp"> {
  let summary = "holds values of bfloat16 as the 16 bits that they are";
  let description = [{
    Nothing computes in that type behind tutti-expand-math: it is widened and rounded by integers. But a value of it that is chosen, or lives from block to
    block, LLVM would widen and round by functions of a library that no artifact has. Changes no bit.
  }];
}

def CpuExtremesPass : Pass<"tutti-cpu-extremes", "::mlir::ModuleOp"> {
  let summary = "makes maximumf and minimumf of vectors with AVX-512's range";
  let description = [{
    `vrange` knows that -0 is below +0; a NaN is what the sum of both is. LLVM makes three selections of it, by which a loop over two streams waits for
    fewer lines at a time. Changes no bit but a NaN's payload.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def CpuDivisionsPass : Pass<"tutti-cpu-divisions", "::mlir::ModuleOp"> {
  let summary = "divides vectors of float32 by one number with multiplications and fma";
  let description = [{
    With z = 1 / y, q = x z and r = x - q y, each rounded once, q + r z rounded once is x / y rounded to nearest, unless something under- or overflows on the
    way (Markstein, IBM J. Res. Dev. 34, 1990). Where an exponent is far out, the division stays. Changes no bit.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif
