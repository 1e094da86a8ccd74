// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that move elements and compute nothing.
#ifndef TUTTI_SHAPE_TD
#define TUTTI_SHAPE_TD

include "TuttiDialect.td"

class Tutti_Layout<string mnemonic, list<Trait> traits = []>
    : Tutti_Op<mnemonic, traits # [DeclareOpInterfaceMethods<LayoutOpInterface>]> {
  let results = (outs Tutti_Tensor:$result);
}

def Tutti_ReshapeOp : Tutti_Layout<"reshape"> {
  let lifts = "The same op on the elements of each member.";
  let examples = [
    "%y = tutti.reshape %x : tensor<?x4x6xf32, #tutti.sizes<batch>> -> tensor<?x24xf32, #tutti.sizes<batch>>",
    "%y = tutti.reshape %x : tensor<?x4x6xf32, #tutti.sizes<batch>> -> tensor<?x6xf32, #tutti.sizes<4*batch>>"];
  let summary = "the same elements in row-major order under another shape";
  let description = [{The products of both shapes' sizes are equal, including their symbols.}];
  let arguments = (ins Tutti_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tutti_BroadcastOp : Tutti_Layout<"broadcast"> {
  let lifts = "The same op; the operand gets axes of length 1 behind the member axis up to the result's rank.";
  let examples = ["%y = tutti.broadcast %x : tensor<4x1xf32> -> tensor<2x4x3xf32>"];
  let summary = "axes of length 1, and missing leading axes, repeated to the result's shape";
  let description = [{As in NumPy: counted from the last axis, a size of x is the result's or 1.}];
  let arguments = (ins Tutti_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tutti_TransposeOp : Tutti_Layout<"transpose", [InferTypeOpAdaptor]> {
  let lifts = "The same op: the member axis stays in front, the others are one further.";
  let examples = ["%y = tutti.transpose %x [0, 2, 1] : tensor<?x4x6xf32, #tutti.sizes<batch>>"];
  let summary = "axis i of the result is axis permutation[i] of x";
  let description = [{`permutation` has each axis of x once.}];
  let arguments = (ins Tutti_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$x $permutation attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Tutti_SliceOp : Tutti_Layout<"slice", [InferTypeOpAdaptor]> {
  let lifts = "The same op, the member axis taken whole.";
  let examples = ["%y = tutti.slice %x from [0, 5] size [-1, 3] step [1, -2] : tensor<?x6xf32, #tutti.sizes<batch>>"];
  let summary = "y[i, j, ...] = x[start_0 + step_0 i, start_1 + step_1 j, ...]";
  let description = [{
    `sizes[a]` elements from `starts[a]` with step `steps[a]`, which may be negative. Start 0, size -1, step 1 take an
    axis whole, which is all that an axis whose size a call decides allows.
  }];
  let arguments = (ins Tutti_Tensor:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let assemblyFormat = "$x `from` $starts `size` $sizes `step` $steps attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Tutti_ConcatOp : Tutti_Op<"concat", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<KernelOpInterface, ["readsOwnRow"]>]> {
  let lifts = "The same op, its axis one further, and what is not lifted is repeated for each member.";
  let examples = ["%y = tutti.concat %a, %b axis 1 : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<?x5xf32, #tutti.sizes<batch>>"];
  let summary = "operands one after the other along an axis";
  let description = [{
    There is at least one operand. Operands have one element type and equal sizes except along `axis`, where the
    result's size is the sum of theirs.
  }];
  let arguments = (ins Variadic<Tutti_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs)";
  let hasFolder = 1;
}

#endif
