// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that choose elements by index.
#ifndef TUTTI_INDEX_TD
#define TUTTI_INDEX_TD

include "TuttiDialect.td"

def Tutti_GatherOp : Tutti_Op<"gather", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<KernelOpInterface, ["readsOwnRow"]>]> {
  let lifts = "The member axis is one more batch axis if both operands are lifted; if only x is, the axis is one further; if only indices are, the member axis goes to the front.";
  let examples = [
    "%y = tutti.gather %x at %i axis 1 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<3xi64>",
    "%y = tutti.gather %x at %i axis 1 batch 1 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x3xi64, #tutti.sizes<batch>>"];
  let summary = "y = x with the axis replaced by the axes of indices: the elements at those places";
  let description = [{
    ONNX Gather: y[o.., i.., r..] = x[o.., indices[i..], r..]. Indices are integers; a negative one counts from the end,
    and one that is out of range is clamped, so that no read leaves x. The first `batch` axes (0 when absent) are common
    to x and indices: y[b.., o.., i.., r..] = x[b.., o.., indices[b.., i..], r..].
  }];
  let arguments = (ins Tutti_Tensor:$x, Tutti_Tensor:$indices, I64Attr:$axis,
                       OptionalAttr<I64Attr>:$batch);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$x `at` $indices `axis` $axis (`batch` $batch^)? attr-dict `:` type($x) `,` type($indices)";
}

def Tutti_Outside : I32EnumAttr<"Outside", "what lies before and behind an image", [
    I32EnumAttrCase<"zero", 0>, I32EnumAttrCase<"edge", 1>, I32EnumAttrCase<"mirror", 2>, I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_OutsideAttr : EnumAttr<Tutti_Dialect, Tutti_Outside, "outside">;

def Tutti_WindowsOp : Tutti_Op<"windows", [InferTypeOpAdaptor]> {
  let lifts = "The same op, with one more row axis.";
  let examples = [
    "%y = tutti.windows %x of [3, 3] in [8, 8] count [4, 4] step [2, 2] gap [1, 1] before [1, 1] : tensor<?x64x2xf32, #tutti.sizes<batch>>",
    "%y = tutti.windows %x of [1] in [8] count [12] step [1] gap [1] before [2] outside mirror : tensor<?x8x2xf32, #tutti.sizes<batch>>"];
  let summary = "the windows of an image, each a row of its elements with all channels";
  let description = [{
    The operand that a convolution multiplies by its weights. x is (rows.., image, channels), with one axis for an image
    of the sizes `in`; y is (rows.., windows, elements channels). Windows are numbered in row-major order of `count`,
    elements in that of `of`. Along an axis of the image, element j of window i lies at i `step` + j `gap` - `before`:
    y[r.., i, j channels + c] = x[r.., place(i, j), c].

    `outside` says what y has outside of the image: 0 (`zero`, when absent); the element at the nearest end (`edge`);
    the image continued from its other end (`wrap`), or mirrored at its end, whose element does not come twice
    (`mirror`), as often as it takes. These are ONNX Pad's modes.

    Kernels do not contain it: tutti-decompose makes it a gather; on a CPU a concat of runs where it only adds a margin
    to the image; or, where the rows of a product can be read through it, a move of an image with its margin.
  }];
  let arguments = (ins Tutti_Tensor:$x, DenseI64ArrayAttr:$length, DenseI64ArrayAttr:$image, DenseI64ArrayAttr:$count,
                       DenseI64ArrayAttr:$step, DenseI64ArrayAttr:$gap, DenseI64ArrayAttr:$before,
                       DefaultValuedAttr<Tutti_OutsideAttr, "Outside::zero">:$outside);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$x `of` $length `in` $image `count` $count `step` $step `gap` $gap `before` $before (`outside` `` $outside^)? attr-dict `:` type($x)";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::tutti::WindowAxis> axes();
  }];
}

def Tutti_ScatterKind : I32EnumAttr<"ScatterKind", "what an update makes of the element that it meets", [
    I32EnumAttrCase<"set", 0>, I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"mul", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"max", 4>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_ScatterKindAttr : EnumAttr<Tutti_Dialect, Tutti_ScatterKind, "scatter_kind">;

def Tutti_ScatterOp : Tutti_Op<"scatter", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<KernelOpInterface, ["isRowPhase"]>]> {
  let lifts = "The same op; what is not lifted is repeated for each member.";
  let bound = "set, min, max: exact; add: n u (|x| + sum |updates|), mul: n u |y|, for n updates of a place";
  let examples = [
    "%y = tutti.scatter set %x at %i with %u : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x2xi64, #tutti.sizes<batch>>, tensor<?x2xf32, #tutti.sizes<batch>>",
    "%y = tutti.scatter add %x at %i with %u width 4 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xi64, #tutti.sizes<batch>>, tensor<?x4xf32, #tutti.sizes<batch>>"];
  let summary = "y = x with updates applied at indices along the last axis";
  let description = [{
    Row by row: y[r..] = x[r..], then for j = 0, 1, ... in this order y[r.., indices[r.., j]] becomes updates[r.., j]
    (`set`), or the sum, product, smaller or larger of the two, rounded each time. So where indices repeat, `set` keeps
    the last update, and a sum has one order. x, indices and updates have the same rows; indices and updates are of one
    shape. Indices are integers; a negative one counts from the end, and one that is out of range is clamped, so that no
    write leaves y.

    With a `width` w (1 when absent) elements are blocks of w neighbours: y[r.., w indices[r.., j] + s] is combined with
    updates[r.., w j + s] for s < w. Then there may be an index for each update, indices[r.., w j + s].
  }];
  let arguments = (ins Tutti_ScatterKindAttr:$kind, Tutti_Tensor:$x, Tutti_Tensor:$indices, Tutti_Tensor:$updates,
                       OptionalAttr<I64Attr>:$width);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "`` $kind $x `at` $indices `with` $updates (`width` $width^)? attr-dict `:` type($x) `,` type($indices) `,` type($updates)";
  let extraClassDeclaration = [{
    /// Combines an element with an update, as arith ops on scalars, or on vectors that are not of 16-bit floats.
    ::mlir::Value buildCombine(::mlir::OpBuilder &builder, ::mlir::Value element, ::mlir::Value update);
  }];
}

#endif
