// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules that decide bits, as tutti-numerics writes them and every emitter reads them.
#ifndef TUTTI_PASSES_ANALYSIS_NUMERICS_H
#define TUTTI_PASSES_ANALYSIS_NUMERICS_H

#include "dialects/plan/Plan.h"
#include "dialects/tutti/Tutti.h"

namespace tutti {

struct TargetTraits;

/// Lanes of every vector, on every level: a sum's shape depends on it.
constexpr int64_t lanes = 16;
/// How many products one fma chain of a sum over `k` has; the chains' sums are added in ascending order.
int64_t chunkOf(int64_t k);
/// Terms of a chain of the product tf32x3, for any k.
constexpr int64_t splitChunk = 16;

/// Whether a contraction is rows times a weight matrix: the left operand's last label is summed over, and the right
/// operand is a parameter [K, N] of each member, whose N is the result's last label. Its elements are float32, words of
/// bytes or, on a target that has tiles of it, float64.
bool isRowsTimesWeight(const ContractSpec &spec, mlir::Value right, bool bytes = false);
inline bool isRowsTimesWeight(ContractOp op) { return isRowsTimesWeight(op.labels(), op.getRhs(), op.getBytes()); }

/// Whether lanes share the terms of the last columns of rows times a weight [k, n] of such elements, on a CPU.
bool endsInLanes(int64_t k, int64_t n, mlir::Type element);

/// The product by which a class of targets multiplies rows by a weight [k, n] of floats at a precision
/// (passes/analysis/Target.h).
NumericsProduct productOf(int64_t k, int64_t n, const TargetTraits &target, Precision precision);

/// The numerics of a contraction or reduction that has been through tutti-numerics.
inline NumericsAttr numericsOf(mlir::Operation *op) { return llvm::cast<NumericsOpInterface>(op).getNumericsAttr(); }
inline NumericsRule numericsRule(mlir::Operation *op) { return numericsOf(op).getRule(); }
inline NumericsProduct numericsProduct(mlir::Operation *op) { return numericsOf(op).getProduct(); }
/// The terms of a chain of a contraction that has numerics.
inline int64_t numericsChunk(mlir::Operation *op) { return *numericsOf(op).getChunk(); }
/// The layout of the weight of a contraction by the panels rule.
inline plan::Layout weightLayout(mlir::Operation *op) {
  switch (numericsProduct(op)) {
  case NumericsProduct::fma:
    return plan::Layout::panels;
  case NumericsProduct::tf32x3:
    return plan::Layout::matricesF32;
  case NumericsProduct::tf32:
    return plan::Layout::matricesTf32;
  case NumericsProduct::bf16:
    return plan::Layout::matricesBf16;
  case NumericsProduct::f16:
    return plan::Layout::matricesF16;
  }
  llvm_unreachable("a product without a layout");
}
/// The neutral element of a reduction: its result for no elements, and the value of lanes that have none.
mlir::TypedAttr neutralOf(ReduceKind kind, mlir::Type element);

/// Whether an op is a phase of the row family (KernelOpInterface): reductions by lanes, scans, choices, updates.
inline bool isRowPhase(mlir::Operation *op) {
  auto phase = llvm::dyn_cast<KernelOpInterface>(op);
  return phase && phase.isRowPhase();
}
/// Whether an op is rows times a weight, by the panels rule.
inline bool isPanels(mlir::Operation *op) {
  return llvm::isa_and_nonnull<ContractOp>(op) && numericsRule(op) == NumericsRule::panels;
}
/// Whether a use is the weight operand of rows times a weight.
inline bool readsInPanels(mlir::OpOperand &use) { return use.getOperandNumber() == 1 && isPanels(use.getOwner()); }
/// A contraction that reads a value as its weight in panels; null if there is none. All such readers of one weight have
/// it in one layout, and nothing reads it in another way (tutti-numerics).
inline ContractOp readerOfWeight(mlir::Value value) {
  for (mlir::OpOperand &use : value.getUses())
    if (readsInPanels(use))
      return llvm::cast<ContractOp>(use.getOwner());
  return {};
}

/// Checks that tutti-numerics has run: an error at the first op without its numerics.
llvm::LogicalResult requireNumerics(mlir::ModuleOp module);

} // namespace tutti

#endif
