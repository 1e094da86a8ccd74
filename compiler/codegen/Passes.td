// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes over the code of kernels, in the order they run. All but tutti-expand-math are a CPU's.
#ifndef TUTTI_CODEGEN_PASSES_TD
#define TUTTI_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuBatchMathPass : Pass<"tutti-cpu-batch-math", "::mlir::ModuleOp"> {
  let summary = "makes math functions of neighbouring vectors one function of a longer vector";
  let description = [{
    A math function is one long chain of operations, each of which waits for the one before. On a vector of several
    registers, every operation becomes several independent ones, which keep a CPU's multipliers busy. Divisions by one
    number count as functions. Only functions with the same attributes in one block are combined, if none needs
    another's result and no store lies between them. Changes no bit.
  }];
  let options = [Option<"most", "most", "unsigned", /*default=*/"4", "the most vectors that become one, a power of two">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def CpuExponentialsPass : Pass<"tutti-cpu-exponentials", "::mlir::ModuleOp"> {
  let summary = "makes e^x of vectors with AVX-512's multiplication by a power of two";
  let description = [{
    `vscalef` rounds p 2^n once, for any n. Plain arithmetic splits 2^n into two factors, as no float holds all powers
    of two; as the first product is exact, both give the same number ([numerics.md](../numerics.md)). The pass runs
    before tutti-expand-math, which expands the remaining functions. Changes no bit.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ExpandMathPass : Pass<"tutti-expand-math"> {
  let summary = "writes math functions as IEEE operations, by the rules of docs/numerics.md";
  let description = [{
    Each math op, and each function of the tutti dialect, that is not a single instruction becomes additions,
    multiplications, fma, divisions, comparisons and operations on bits. They are the same on a CPU and a CUDA device,
    so that both have the same bits. f16 and bf16 go through f32.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def CpuShortFloatsPass : Pass<"tutti-cpu-short-floats", "::mlir::ModuleOp"> {
  let summary = "holds values of bfloat16 as the 16 bits that they are";
  let description = [{
    After tutti-expand-math nothing computes in bfloat16: values are widened and rounded by integer operations. But LLVM
    would widen and round a bfloat16 value that is selected, or that lives from block to block, by functions of a
    library that no artifact has. Changes no bit.
  }];
}

def CpuExtremesPass : Pass<"tutti-cpu-extremes", "::mlir::ModuleOp"> {
  let summary = "makes maximumf and minimumf of vectors with AVX-512's range";
  let description = [{
    `vrange` orders -0 below +0; a NaN result is taken from the sum of both operands. LLVM would make three selections
    of the op, with which a loop over two streams waits for fewer cache lines at a time. Changes no bit but a NaN's
    payload.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def CpuDivisionsPass : Pass<"tutti-cpu-divisions", "::mlir::ModuleOp"> {
  let summary = "divides vectors of float32 by one number with multiplications and fma";
  let description = [{
    With z = 1 / y, q = x z and r = x - q y, each rounded once, q + r z rounded once is x / y rounded to nearest, unless
    something under- or overflows on the way (Markstein, IBM J. Res. Dev. 34, 1990). Where an exponent is extreme, the
    division stays. Changes no bit.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif
