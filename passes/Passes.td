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
    of concats. A sum or product of up to four elements that are chosen along its axis reads them where they are. Reshapes stay: they are views of memory. Those that only add or drop axes of length 1 sink below pointwise ops and heads, so
    that they do not cut a kernel in two. A transposed value that is rows times a weight as it lies is read so. A contraction that makes a number of each two rows, as
    `bhd,bthd->bth` does, is a product of elements and a sum along rows. A reduction of the last axes, however many,
    becomes one along a row. Windows of an image that windows have given a margin are windows of the image itself. Windows are gathered,
    with what `outside` says around the image; on a CPU a margin of long runs is copied run by run, and windows that are rows a weight
    multiplies are a move of the image, which is copied with its margin first if they leave it; tutti-fuse puts that move into the
    product's kernel. Every result of the model is then computed by an op of its own. At bf16 a sigmoid `gates` if x times it, SiLU, is all that becomes
    of it: CUDA devices have one function for that, whatever kernels the two come to be in.
  }];
  let dependentDialects = ["::tutti::TuttiDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ComposePass : Pass<"tutti-compose", "::mlir::ModuleOp"> {
  let summary = "moves elements once, computes where they lie, and spells contractions as products";
  let description = [{
    Exporters write transpositions, slices and reshapes in a row; each that changes rows would be a launch that reads and writes a whole tensor. A *move* is
    a map that yields what it reads. No bit depends on what is done here:

    - **Moves.** A move of a move is one move, as long as no place takes more divisions then. A reshape of a move is a move.
    - **Reads.** A map of moved elements reads them where they were. A map that takes fewer elements than it reads of, as a pool does, goes along the axis
      in which they are neighbours, and its smaller result is moved. The scale and bias of a norm over groups of channels join the norm: a reshape comes
      behind a map of parameters, which reads these by a quotient of columns (on a CPU where 64 or more columns read one number).
    - **Row order.** Layers, and maps that compute each row by itself, run before or behind a move of rows, wherever that brings it beside another move.
    - **Layers.** Where a move turns the columns of a layer, or of sums over windows, to the front, as behind a convolution, what is computed of them is
      computed before it, in the layer, together with what was turned likewise (a residual); so is the largest or the smallest of them. Columns of
      several layers are put together before they are turned.
    - **Einsums.** A contraction that is no product of rows and columns as it is spelled becomes one, where its tiles are not mostly empty: its result's axes in another
      order, its operands changed, several labels summed over as one.
    - **Products.** A product of a transposed value reads that value as it lies. What is computed for a product alone is computed as its source lies, in rows as
      long as the source's. Rows that read the same columns come to lie side by side.
    - **Numbers.** What is computed of single numbers, a member's own or all members', is one map of them, and on a CUDA device part of the maps that read it.
    - **Inputs.** What is computed of inputs and parameters alone has the shape in which it is read. Each gather has what makes its indices for
      itself, if that is little, such as one column of many; on a CUDA device the rows that it takes are read as one where a reshape makes them one,
      and a move of what is computed of an input computes it where that comes to lie.
    - **Axes.** Axes of fixed sizes that stay neighbours in a move are one axis there, so that rows are long.
  }];
  let dependentDialects = ["::tutti::TuttiDialect"];
}

def NumericsPass : Pass<"tutti-numerics", "::mlir::ModuleOp"> {
  let summary = "writes on each contraction and reduction what decides its bits";
  let description = [{
    A function of the one-member op, the class of targets and the precision asked for: never of the number of members, the batch or
    the machine. docs/numerics.md has the rules. Every pass behind it asks for what it writes. A weight that rows are multiplied by lies in
    panels from then on: what else reads it has a `tutti.get` of its own.
  }];
}

def FusePass : Pass<"tutti-fuse", "::mlir::ModuleOp"> {
  let summary = "puts every computing op into a plan.kernel";
  let description = [{
    Ops whose values share their rows become one kernel, as long as each reads from the others only what lies in its own row, or is read
    through (passes/analysis/Through.h), and what a task keeps for itself stays within the module's `tutti.scratch_per_row` bytes, if it has any.
    A margin of zeros, and a part of rows that one op reads, are of that op's kernel, and stored by none. Equal kernels are merged. Functions are
    then made of views, parts and joins of groups, and plan.dispatch.

    On a CPU, a kernel of maps whose columns fill no vector takes the last axis of its rows as columns, too, where all maps treat both
    alike: images of 8 x 8 are rows of 64. What others have of it they see by a view.

    Where that makes a kernel less, the axis of length one that a sum or mean over places leaves stays in what is computed of it, though the
    model drops it: all of it has the reduction's rows then. Rows of more than 4096 elements are reduced by a kernel of their own.

    On a CUDA device what all members share, an input that is scaled or put together of others, is lifted first where
    that makes a kernel less: each member computes it again. Layers of more than 16 terms, whose weights they share, stay one; so does what is
    more than a twenty-fourth of the members' own work and, in the largest call, than a launch takes, and what has rows
    of more than 256 columns.
  }];
  let dependentDialects = ["::tutti::plan::PlanDialect"];
}

def SchedulePass : Pass<"tutti-schedule", "::mlir::ModuleOp"> {
  let summary = "chooses each kernel's row tile and scratch memory";
  let description = [{
    `tile` is the most rows of a task, a multiple of `quantum`; `overhead` is what a task costs beside its rows, in rows; `scratch` is a
    worker's memory in bytes. They decide speed and no bit. It needs the kernels of tutti-fuse, and each has a schedule then; on a CUDA
    device none has, as a call takes one of several geometries.
  }];
}

def PlanPass : Pass<"tutti-plan", "::mlir::ModuleOp"> {
  let summary = "gives every tensor its memory and every dispatch its launch";
  let description = [{
    Intermediate tensors lie in one arena, each at the lowest offset that is free while it lives. Dispatches that need nothing of each
    other are one plan.parallel, as early as they can run. It needs every kernel's schedule; functions and tensors outside of kernels are
    gone then, and a plan.program of buffers and launches is there.
  }];
  let dependentDialects = ["::tutti::plan::PlanDialect"];
}

#endif
