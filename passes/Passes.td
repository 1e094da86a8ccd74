// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one list of the passes, in the order they run.
#ifndef TUTTI_PASSES_TD
#define TUTTI_PASSES_TD

include "mlir/Pass/PassBase.td"

def VmapPass : Pass<"tutti-vmap", "::mlir::ModuleOp"> {
  let summary = "lifts the model over the member axis and resolves tutti.vmap";
  let description = [{
    The user's tutti.vmap ops go first, each by its callee's ops over the axis asked for. Then what reads a per-member weight or input
    gets the member axis, dimension 0 of size "active", by each op's own rule; what depends on shared values alone stays as it is. Outputs
    get their heads. Of several groups each is lifted over its own part of the active members.
  }];
}

def ParallelPass : Pass<"tutti-parallel", "::mlir::ModuleOp"> {
  let summary = "proves that every op treats the axes whose length a call decides as parallel";
  let description = [{
    Then an element of a result depends on one place along such an axis, whatever its length, and rows may be computed in any
    grouping. An op that sums, joins or indexes along one is an error that names the op and the axis' symbol.
  }];
}

def DecomposePass : Pass<"tutti-decompose", "::mlir::ModuleOp"> {
  let summary = "writes pointwise and layout ops as tutti.map";
  let description = [{
    Sums and choices of 16-bit floats become float32's, those of unsigned integers signed ones', and a concat of many operands a concat
    of concats. Reshapes stay: they are views of memory. Those that only add or drop axes of length 1 sink below pointwise ops and heads, so
    that they do not cut a kernel in two. A transposed value that is rows times a weight as it lies is read so. Every result of the model
    is then computed by an op of its own.
  }];
  let dependentDialects = ["::tutti::TuttiDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ComposePass : Pass<"tutti-compose", "::mlir::ModuleOp"> {
  let summary = "makes one map of transpositions, slices and reshapes that follow each other, and lets products read values as they lie";
  let description = [{
    Moves are one, and part of the map that reads them, as long as no place takes more divisions then and what was computed in a kernel
    still is; the sizes of the axes tell which divisions there are. Layers, and maps that work on each row by itself, run before or behind a
    move of rows, wherever that comes to stand beside another move. A product of a transposed value reads that value as it lies, what is
    computed for a product alone is computed as its source lies and in its rows, and rows that read the same columns come to lie side by side.
    Reshapes sink below maps of parameters, which are then read by a quotient of columns (on a CPU where 64 or more columns read one number): so the
    scale and bias of a norm over groups of channels join the norm. No bit depends on it.
  }];
  let dependentDialects = ["::tutti::TuttiDialect"];
}

def NumericsPass : Pass<"tutti-numerics", "::mlir::ModuleOp"> {
  let summary = "writes on each contraction and reduction what decides its bits";
  let description = [{
    A function of the one-member op, the class of targets and the precision asked for: never of the number of members, the batch or
    the machine. docs/numerics.md has the rules.
  }];
}

def FusePass : Pass<"tutti-fuse", "::mlir::ModuleOp"> {
  let summary = "puts every computing op into a plan.kernel";
  let description = [{
    Ops whose values share their rows become one kernel, as long as each reads from the others only what lies in its own row, and what a
    task keeps for itself stays within the module's `tutti.scratch_per_row` bytes, if it has any. Equal kernels are merged.
  }];
  let dependentDialects = ["::tutti::plan::PlanDialect"];
}

def SchedulePass : Pass<"tutti-schedule", "::mlir::ModuleOp"> {
  let summary = "chooses each kernel's row tile and scratch memory";
  let description = [{
    `tile` is the most rows of a task, a multiple of `quantum`; `overhead` is what a task costs beside its rows, in rows; `scratch` is a
    worker's memory in bytes. They decide speed and no bit.
  }];
}

def PlanPass : Pass<"tutti-plan", "::mlir::ModuleOp"> {
  let summary = "gives every tensor its memory and every dispatch its launch";
  let description = [{
    Intermediate tensors lie in one arena, each at the lowest offset that is free while it lives. Dispatches that need nothing of each
    other are one plan.parallel, as early as they can run.
  }];
  let dependentDialects = ["::tutti::plan::PlanDialect"];
}

#endif
