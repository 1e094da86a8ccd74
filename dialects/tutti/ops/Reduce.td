// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over axes of one tensor.
#ifndef TUTTI_REDUCE_TD
#define TUTTI_REDUCE_TD

include "TuttiDialect.td"
include "mlir/IR/EnumAttr.td"

def Tutti_ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction makes of its elements", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_ReduceKindAttr : EnumAttr<Tutti_Dialect, Tutti_ReduceKind, "reduce_kind">;

def Tutti_ReduceOp : Tutti_Op<"reduce", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "y = the sum, mean, largest or smallest along axes, which stay with length 1";
  let description = [{
    `axes` are distinct and ascending. The largest and the smallest are NaN if any element is.

    Example: `%y = tutti.reduce mean %x [1] : tensor<4x8xf32>` gives `tensor<4x1xf32>`.
  }];
  let arguments = (ins Tutti_ReduceKindAttr:$kind, Tutti_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$kind $x $axes attr-dict `:` type($x)";
}

#endif
