// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters, constants, heads, and the user's own vmap.
#ifndef TUTTI_ENSEMBLE_TD
#define TUTTI_ENSEMBLE_TD

include "TuttiDialect.td"

def Tutti_ParamOp : Tutti_AnyOp<"param", [Symbol]> {
  let examples = [[{tutti.param @trunk : tensor<8x4xf32>}],
                          [{tutti.param per_member @w : tensor<4x2xf32>}]];
  let summary = "declares a weight: a symbol that stands for bytes outside of the IR";
  let description = [{
    `type` is the type of one member's copy. With `per_member` each member has its own; without it one copy serves all
    of them.

    A model in text says where the bytes are. `values` has them, for all members or as an array with one entry for each.
    `source` is their name in a file of weights (absent: the symbol's; empty: they are in none), and axis i of the
    parameter is axis `perm`[i] of that weight.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Tutti_Tensor>:$type, UnitAttr:$per_member,
                       OptionalAttr<AnyAttr>:$values, OptionalAttr<StrAttr>:$source, OptionalAttr<DenseI64ArrayAttr>:$perm);
  let assemblyFormat = "(`per_member` $per_member^)? $sym_name `:` $type attr-dict";
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::RankedTensorType":$type, "bool":$perMember), [{
    build($_builder, $_state, name, type, perMember, /*values=*/nullptr, /*source=*/nullptr, /*perm=*/nullptr);
  }]>];
  let extraClassDeclaration = [{
    /// One value for all members, or one for each; none where the text does not give them.
    ::llvm::SmallVector<::mlir::ElementsAttr> eachValue();
  }];
  let hasVerifier = 1;
}

def Tutti_GetOp : Tutti_Op<"get", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let lifts = "Of a per-member parameter: every active member's copy.";
  let examples = [[{tutti.param per_member @w : tensor<4x2xf32>
func.func @main() -> tensor<4x2xf32> {
  %w = tutti.get @w : tensor<4x2xf32>
  return %w : tensor<4x2xf32>
}
}]];
  let summary = "the value of a parameter";
  let description = [{Before the lift: one member's copy. After it, a per-member parameter has the member axis in front.}];
  let arguments = (ins FlatSymbolRefAttr:$param);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}

def Tutti_ConstantOp : Tutti_Op<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let lifts = "Never: it is the same for all members.";
  let examples = ["%y = tutti.constant dense<[1.0, 2.0]> : tensor<2xf32>"];
  let summary = "a small constant whose elements stand in the IR";
  let description = [{It comes from the graph or from folding. Weights are parameters instead, which name bytes of a file.}];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tutti_Tensor:$result);
  let extraClassDeclaration = [{
    /// A constant without axes.
    static ConstantOp ofNumber(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::TypedAttr number);
  }];
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def Tutti_HeadKind : I32EnumAttr<"HeadKind", "how member outputs become one answer", [
    I32EnumAttrCase<"mean", 0>, I32EnumAttrCase<"var", 1>, I32EnumAttrCase<"std", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"max", 4>, I32EnumAttrCase<"vote", 5>, I32EnumAttrCase<"quantile", 6>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_HeadKindAttr : EnumAttr<Tutti_Dialect, Tutti_HeadKind, "head_kind">;

def Tutti_HeadOp : Tutti_Op<"head", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<CombineOpInterface>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["readsOwnRow"]>]> {
  let elements = "floats, integers";
  let lifts = "Of an ensemble in an ensemble: over the inner axis, for each index of the outer one.";
  let bound = "mean: (A + 1) u sum |x| / A, A active members; var: (A + 4) u y, std: (A / 2 + 3) u y, where y is not below A u times the mean; quantile: 8 u times the larger neighbour; min, max, vote: exact";
  let examples = [
    "%y = tutti.head mean %x : tensor<?x?x3xf32, #tutti.sizes<active, batch>>",
    "%y = tutti.head quantile %x at 0.25 : tensor<?x?x3xf32, #tutti.sizes<active, batch>>",
    "%y = tutti.head vote %x : tensor<?x?x3xf32, #tutti.sizes<active, batch>>"];
  let summary = "combines the members' values along dimension 0, the member axis, into one";
  let description = [{
    Over the active members in the order of the set. mean: their sum in that order divided by A; var: mean of squared
    differences from the mean (divisor A); std: its root; min, max; quantile: linear interpolation between order
    statistics at q (A - 1); vote: as i64, for floats the most frequent argmax over the last axis, which is dropped (the
    argmax is the first of the largest, or the first NaN, if there is one), for integers the most frequent value; ties
    go to the smallest. NaN in min, max and quantile gives NaN. mean, var, std and quantile of integers are f32.
  }];
  let arguments = (ins Tutti_HeadKindAttr:$kind, Tutti_Tensor:$x, OptionalAttr<F64Attr>:$q);
  let results = (outs Tutti_Tensor:$result);
  let extraClassDeclaration = [{
    /// Whether it is a vote of floats, the scores along the last axis.
    bool votesByScores();
  }];
  let assemblyFormat = "`` $kind $x (`at` $q^)? attr-dict `:` type($x)";
}

def Tutti_ReplicateOp : Tutti_Op<"replicate", [DeclareOpInterfaceMethods<LayoutOpInterface>]> {
  let lifts = "A broadcast.";
  let examples = ["%y = tutti.replicate %x : tensor<3xf32> -> tensor<?x3xf32, #tutti.sizes<active>>"];
  let summary = "gives a shared value the member axis: the same value for every member";
  let description = [{The result has x's type with one axis more, the member axis in front.}];
  let arguments = (ins Tutti_Tensor:$x);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Tutti_PartOp : Tutti_AnyOp<"part", [Pure, DeclareOpInterfaceMethods<ParallelOpInterface>]> {
  let examples = ["%y = tutti.part %x : tensor<?x3xf32, #tutti.sizes<active>> -> tensor<?x3xf32, #tutti.sizes<active.1>>"];
  let summary = "one group's part of a value that all active members have";
  let description = [{
    Unequal members form groups, each lifted alone: dimension 0 of x is "active", that of the result is the group's own
    size, "active.1". Nothing is copied: a kernel finds its members' places in x through a table.
  }];
  let arguments = (ins Tutti_Tensor:$x);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Tutti_JoinOp : Tutti_AnyOp<"join", [Pure, DeclareOpInterfaceMethods<ParallelOpInterface>]> {
  let examples = ["%y = tutti.join %a, %b : tensor<?x3xf32, #tutti.sizes<active.0>>, tensor<?x3xf32, #tutti.sizes<active.1>> -> tensor<?x3xf32, #tutti.sizes<active>>"];
  let summary = "the groups' members side by side, in the order of the active set";
  let description = [{
    One operand per group, in order. Nothing is copied: kernels find their members' places in the result through a
    table.
  }];
  let arguments = (ins Variadic<Tutti_Tensor>:$parts);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts) `->` type($result)";
  let hasVerifier = 1;
}

def Tutti_VmapOp : Tutti_AnyOp<"vmap", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let lifts = "It is gone by then: the callee, lifted over the axis, has replaced it.";
  let examples = [[{func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = tutti.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %w: tensor<10x4xf32>) -> tensor<10x4xf32> {
  %y = tutti.vmap @f(%x, %w) in [-1, 0] out [0] size 10 : (tensor<4xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  return %y : tensor<10x4xf32>
}
}]];
  let summary = "maps the function over an axis of its operands, as torch.func.vmap does";
  let description = [{
    `in_dims[i]` is the mapped axis of operand i, -1 for none; `out_dims[j]` is where the new axis stands in result j.
    `size` is the axis' length. The callee's own signature lacks the axis. Vmaps nest.

    Example: `%y = tutti.vmap @f(%x, %w) in [-1, 0] out [0] size 10 : (tensor<4xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Tutti_Tensor>:$inputs, DenseI64ArrayAttr:$in_dims,
                       DenseI64ArrayAttr:$out_dims, I64Attr:$size);
  let results = (outs Variadic<Tutti_Tensor>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` `in` $in_dims `out` $out_dims `size` $size attr-dict `:` functional-type($inputs, $results)";
}

#endif
