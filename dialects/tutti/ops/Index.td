// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that choose elements by index.
#ifndef TUTTI_INDEX_TD
#define TUTTI_INDEX_TD

include "TuttiDialect.td"

def Tutti_GatherOp : Tutti_Op<"gather", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "y = x with the axis replaced by the axes of indices: the elements at those places";
  let description = [{
    ONNX Gather: y[o.., i.., r..] = x[o.., indices[i..], r..]. Indices are integers; a negative one counts from the end, one
    that is out of range is brought into it, so that no read leaves x. The first `batch` axes (0 when absent) are common
    to x and indices: y[b.., o.., i.., r..] = x[b.., o.., indices[b.., i..], r..].
  }];
  let arguments = (ins Tutti_Tensor:$x, Tutti_Tensor:$indices, I64Attr:$axis,
                       OptionalAttr<I64Attr>:$batch);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$x `at` $indices `axis` $axis (`batch` $batch^)? attr-dict `:` type($x) `,` type($indices)";
}

#endif
