// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over axes of one tensor.
#ifndef TUTTI_REDUCE_TD
#define TUTTI_REDUCE_TD

include "TuttiAttributes.td"

def Tutti_ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction makes of its elements", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"prod", 4>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_ReduceKindAttr : EnumAttr<Tutti_Dialect, Tutti_ReduceKind, "reduce_kind">;

def Tutti_ReduceOp : Tutti_Op<"reduce", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<CombineOpInterface>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["isRowPhase"]>, NumericsOpInterface]> {
  let elements = "floats, integers";
  let lifts = "The same op, its axes one further.";
  let terms = "max(n / 16 + 5, min(n, 256) + n / 256) + 1";
  let bound = "sum, mean: TERMS u sum |x|, of n elements (mean: / n); prod: n u |y|; max, min: exact";
  let examples = [
    "%y = tutti.reduce mean %x [1] : tensor<?x8xf32, #tutti.sizes<batch>>",
    "%y = tutti.reduce max %x [1, 2] : tensor<?x4x8xf32, #tutti.sizes<batch>>"];
  let summary = "y = the sum, mean, largest, smallest or product along axes, which stay with length 1";
  let description = [{
    `axes` are distinct and ascending. The largest and the smallest are NaN if any element is. For no elements the sum
    is 0, the product 1, the largest the lowest value of the type and the smallest the highest; there is no mean.

    Example: `%y = tutti.reduce mean %x [1] : tensor<4x8xf32>` gives `tensor<4x1xf32>`.
  }];
  let arguments = (ins Tutti_ReduceKindAttr:$kind, Tutti_Tensor:$x, DenseI64ArrayAttr:$axes,
                       OptionalAttr<Tutti_NumericsAttr>:$numerics);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "`` $kind $x $axes (`numerics` `` $numerics^)? attr-dict `:` type($x)";
}

def Tutti_ArgKind : I32EnumAttr<"ArgKind", "which element's place is asked for", [
    I32EnumAttrCase<"max", 0>, I32EnumAttrCase<"min", 1>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_ArgKindAttr : EnumAttr<Tutti_Dialect, Tutti_ArgKind, "arg_kind">;

def Tutti_ArgOp : Tutti_Op<"arg", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<CombineOpInterface>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["isRowPhase"]>, NumericsOpInterface]> {
  let elements = "floats, integers";
  let lifts = "The same op, its axis one further.";
  let examples = [
    "%y = tutti.arg max %x axis 1 : tensor<?x8xf32, #tutti.sizes<batch>>",
    "%y = tutti.arg min %x axis 1 last : tensor<?x8xf32, #tutti.sizes<batch>>"];
  let summary = "y = the place of the largest or smallest element along an axis, which stays with length 1";
  let description = [{
    The result is i64. Of equal elements (-0 and +0 are equal) the first one counts, with `last` the last one. A NaN is
    larger than any number for `max`, smaller for `min`: the result is the place of the first (last) NaN, as in NumPy
    and PyTorch.

    Example: `%y = tutti.arg max %x axis 1 : tensor<4x8xf32>` gives `tensor<4x1xi64>`.
  }];
  let arguments = (ins Tutti_ArgKindAttr:$kind, Tutti_Tensor:$x, I64Attr:$axis, UnitAttr:$last,
                       OptionalAttr<Tutti_NumericsAttr>:$numerics);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "`` $kind $x `axis` $axis (`last` $last^)? (`numerics` `` $numerics^)? attr-dict `:` type($x)";
}

#endif
