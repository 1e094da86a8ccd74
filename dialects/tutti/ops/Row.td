// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that compute a row from each row, the elements along the last axis; each result may depend on all of them.
#ifndef TUTTI_ROW_TD
#define TUTTI_ROW_TD

include "TuttiDialect.td"

def Tutti_ScanKind : I32EnumAttr<"ScanKind", "what a scan makes of the elements so far", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_ScanKindAttr : EnumAttr<Tutti_Dialect, Tutti_ScanKind, "scan_kind">;

def Tutti_ScanOp : Tutti_Op<"scan", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<CombineOpInterface>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["isRowPhase"]>]> {
  let elements = "floats, integers";
  let lifts = "The same op: rows of each member.";
  let terms = "n / 16 + 6";
  let bound = "sum: TERMS u sum |x|, of n elements so far; with a step n u sum |x|; prod: n u |y|";
  let examples = [
    "%y = tutti.scan sum %x : tensor<?x8xf32, #tutti.sizes<batch>>",
    "%y = tutti.scan prod %x exclusive reverse : tensor<?x8xf32, #tutti.sizes<batch>>",
    "%y = tutti.scan sum %x step 4 : tensor<?x32xf32, #tutti.sizes<batch>>"];
  let summary = "y[i] = the sum or product of x[0] to x[i] along the last axis";
  let description = [{
    With `exclusive` y[i] is that of x[0] to x[i - 1], and 0 or 1 for i = 0. With `reverse` both rows are counted from
    their ends. With a `step` a row is as many rows, of the elements that lie so far apart, and the order of the sums is
    another (docs/numerics.md). It stands for a scan along an axis before the last: the axes from that one on are seen
    as one, or that axis was moved behind the others (a step of 1).

    Example: `%y = tutti.scan sum %x exclusive : tensor<4x8xf32>`
  }];
  let arguments = (ins Tutti_ScanKindAttr:$kind, Tutti_Tensor:$x, OptionalAttr<I64Attr>:$step, UnitAttr:$exclusive,
                       UnitAttr:$reverse);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "`` $kind $x (`step` $step^)? (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($x)";
}

def Tutti_TopOp : Tutti_Op<"top", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<CombineOpInterface>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["isRowPhase"]>]> {
  let elements = "floats, integers";
  let lifts = "The same op: rows of each member.";
  let examples = [
    "%y = tutti.top 3 of %x : tensor<?x8xf32, #tutti.sizes<batch>>",
    "%y = tutti.top 3 of %x smallest : tensor<?x8xf32, #tutti.sizes<batch>>"];
  let summary = "y = the places of the `count` largest elements along the last axis, the largest first";
  let description = [{
    The result is i64; with `smallest` it is the places of the smallest, the smallest first. Of equal elements (-0 and
    +0 are equal) the first one comes first. A NaN is larger than any number: it comes first among the largest and last
    among the smallest, as in PyTorch.

    Example: `%y = tutti.top 3 of %x : tensor<4x8xf32>` gives `tensor<4x3xi64>`.
  }];
  let arguments = (ins Tutti_Tensor:$x, I64Attr:$count, UnitAttr:$smallest);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$count `of` $x (`smallest` $smallest^)? attr-dict `:` type($x)";
}

#endif
