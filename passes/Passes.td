// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one list of the passes, in the order they run.
#ifndef TUTTI_PASSES_TD
#define TUTTI_PASSES_TD

include "mlir/Pass/PassBase.td"

def VmapPass : Pass<"tutti-vmap", "::mlir::ModuleOp"> {
  let summary = "lifts the model over the member axis and resolves tutti.vmap";
  let description = [{
    The user's tutti.vmap ops are resolved first: each is replaced by its callee's ops over the requested axis. Then
    every op that depends on a per-member weight or input gets the member axis, dimension 0 of size "active", by its own
    rule; ops on shared values alone stay as they are. Outputs get their heads. If there are several groups, each is
    lifted over its own part of the active members.
  }];
}

def ParallelPass : Pass<"tutti-parallel", "::mlir::ModuleOp"> {
  let summary = "proves that every op treats the axes whose length a call decides as parallel";
  let description = [{
    Then an element of a result depends on one place along such an axis, whatever its length, and rows may be computed
    in any grouping. An op that sums, joins or indexes along one is an error, which names the op and the axis' symbol.
  }];
}

def DecomposePass : Pass<"tutti-decompose", "::mlir::ModuleOp"> {
  let summary = "writes pointwise and layout ops as tutti.map";
  let description = [{
    Sums and choices of 16-bit floats are computed in float32, those of unsigned integers in signed ones, and a concat
    of many operands becomes a concat of concats. A sum or product of up to four elements that are selected along its
    axis reads them where they are. Reshapes stay: they are views of memory. Those that only add or drop axes of length
    1 sink below pointwise ops and heads, so that they do not cut a kernel in two. A contraction reads a transposed
    value as it lies if that makes it rows times a weight. A contraction that computes a number from each two rows, as
    `bhd,bthd->bth` does, becomes a product of elements and a sum along rows. A reduction of the last axes, however
    many, becomes one along a row. Windows of an image to which other windows have added a margin become windows of the
    image itself. Windows become gathers, with what `outside` says around the image. On a CPU a margin of long runs is
    copied run by run, and windows that are rows multiplied by a weight become a move of the image, which is first
    copied with its margin if they leave it; tutti-fuse puts that move into the product's kernel. In the end an op of
    its own computes every result of the model. At bf16 a sigmoid `gates` if it is used only in x times it, SiLU: CUDA
    devices have one function for that, whatever kernels the two come to be in.
  }];
  let dependentDialects = ["::tutti::TuttiDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ComposePass : Pass<"tutti-compose", "::mlir::ModuleOp"> {
  let summary = "moves elements once, computes where they lie, and spells contractions as products";
  let description = [{
    Exporters write transpositions, slices and reshapes in a row; each that changes rows would be a launch that reads
    and writes a whole tensor. A *move* is a map that yields what it reads. Nothing here changes a bit:

    - **Moves.** A move of a move becomes one move, as long as no place takes more divisions then. A reshape of a move
      becomes a move.
    - **Reads.** A map of moved elements reads them where they were. A map whose result has fewer elements than it
      reads, as a pool's, goes along the axis in which they are neighbours, and its smaller result is moved. The scale
      and bias of a norm over groups of channels join the norm: a reshape moves behind a map of parameters, which reads
      these by a quotient of columns (on a CPU where 64 or more columns read one number).
    - **Row order.** Layers, and maps that compute each row by itself, run before or behind a move of rows, wherever
      that brings it beside another move.
    - **Layers.** Where a move turns the columns of a layer, or of sums over windows, to the front, as behind a
      convolution, what is computed from them is computed before the move, in the layer, together with what was turned
      likewise (a residual); so is their largest or smallest. Columns of several layers are put together before they are
      turned.
    - **Einsums.** A contraction that is not spelled as a product of rows and columns becomes one, unless its tiles
      would be mostly empty: the axes of its result are reordered, its operands swapped, several summed labels merged
      into one.
    - **Products.** A product of a transposed value reads that value as it lies. What is computed for a product alone is
      computed as its source lies, in rows as long as the source's. Rows that read the same columns are placed side by
      side.
    - **Numbers.** What is computed from single numbers, a member's own or all members', becomes one map of them, and on
      a CUDA device part of the maps that read it.
    - **Inputs.** What is computed from inputs and parameters alone has the shape in which it is read. Each gather has
      its own copy of the ops that compute its indices, if these are cheap, such as one column of many; on a CUDA device
      the rows that it takes are read as one where a reshape makes them one, and a move of what is computed from an
      input computes it where it comes to lie.
    - **Axes.** Axes of fixed sizes that stay neighbours in a move become one axis there, so that rows are long.
  }];
  let dependentDialects = ["::tutti::TuttiDialect"];
}

def NumericsPass : Pass<"tutti-numerics", "::mlir::ModuleOp"> {
  let summary = "writes on each contraction and reduction what decides its bits";
  let description = [{
    This depends on the one-member op, the class of targets and the requested precision, never on the number of members,
    the batch or the machine. docs/numerics.md has the rules. Every later pass requires what this one writes. A weight
    that rows are multiplied by lies in panels from then on: any other reader has a `tutti.get` of its own.
  }];
}

def FusePass : Pass<"tutti-fuse", "::mlir::ModuleOp"> {
  let summary = "puts every computing op into a plan.kernel";
  let description = [{
    Ops whose values share their rows become one kernel, as long as each reads from the others only what lies in its own
    row, or is read through (passes/analysis/Through.h), and what a task keeps for itself stays within the module's
    `tutti.scratch_per_row` bytes, if it has any. A margin of zeros, and a part of rows that one op reads, belong to
    that op's kernel, and are not stored. Equal kernels are merged. Functions then consist of views, parts and joins of
    groups, and plan.dispatch.

    On a CPU, a kernel of maps whose columns do not fill a vector takes the last axis of its rows as columns, too, where
    all maps treat both alike: images of 8 x 8 are rows of 64. Other kernels read its values through a view.

    Where it saves a kernel, the axis of length one that a sum or mean over places leaves stays in what is computed from
    it, though the model drops it: all of it has the reduction's rows then. Rows of more than 4096 elements are reduced
    by a kernel of their own.

    On a CUDA device what all members share, such as an input that is scaled or concatenated, is lifted first where that
    saves a kernel: each member computes it again. Three things stay shared: layers of more than 16 terms, whose weights
    the members share; what takes more than a twenty-fourth of the members' own work and, in the largest call, more than
    a launch; and what has rows of more than 256 columns.
  }];
  let dependentDialects = ["::tutti::plan::PlanDialect"];
}

def SchedulePass : Pass<"tutti-schedule", "::mlir::ModuleOp"> {
  let summary = "chooses each kernel's row tile and scratch memory";
  let description = [{
    `tile` is the most rows of a task, a multiple of `quantum`; `overhead` is what a task costs beside its rows, in
    rows; `scratch` is a worker's memory in bytes. They decide speed, but no bit. The pass needs the kernels of
    tutti-fuse, and gives each a schedule; on a CUDA device kernels have none, as a call takes one of several
    geometries.
  }];
}

def PlanPass : Pass<"tutti-plan", "::mlir::ModuleOp"> {
  let summary = "gives every tensor its memory and every dispatch its launch";
  let description = [{
    Intermediate tensors lie in one arena, each at the lowest offset that is free while it lives. Independent dispatches
    become one plan.parallel, as early as they can run. The pass needs every kernel's schedule; it replaces the
    functions, and tensors outside of kernels, by a plan.program of buffers and launches.
  }];
  let dependentDialects = ["::tutti::plan::PlanDialect"];
}

#endif
