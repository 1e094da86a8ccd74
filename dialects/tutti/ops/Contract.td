// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products.
#ifndef TUTTI_CONTRACT_TD
#define TUTTI_CONTRACT_TD

include "TuttiAttributes.td"

def Tutti_ContractOp : Tutti_Op<"contract", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<CombineOpInterface>,
    KernelOpInterface, DeclareOpInterfaceMethods<NumericsOpInterface, ["verifyNumerics"]>]> {
  let elements = "floats, signed integers; unsigned ones by way of signed ones";
  let lifts = "A new label in front of the spec of each lifted operand and of the result: a batched product, or rows times the members' weights.";
  let terms = "min(n, 256) + ceil(n / 256)";
  let bound = "TERMS u sum |a b|, of n products";
  let examples = [
    "%y = tutti.contract %x, %w \"bk,kn->bn\" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x3xf32>",
    "%y = tutti.contract %x, %w \"bk,kn->bn\" : tensor<?x8xi64, #tutti.sizes<batch>>, tensor<8x3xi64>",
    "%y = tutti.contract %x, %w \"bk,kn->bn\" bytes : tensor<?x8xi32, #tutti.sizes<batch>>, tensor<8x3xi32>",
    [{tutti.param per_member @w : tensor<8x3xf32>
func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<8x3xf32>
  %y = tutti.contract %x, %w "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x3xf32>
  return %y : tensor<?x3xf32, #tutti.sizes<batch>>
}
}],
    [{tutti.param per_member @w : tensor<9x35xi32>
func.func @main(%x: tensor<?x9xi32, #tutti.sizes<batch>>) -> tensor<?x35xi32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<9x35xi32>
  %y = tutti.contract %x, %w "bk,kn->bn" bytes : tensor<?x9xi32, #tutti.sizes<batch>>, tensor<9x35xi32>
  return %y : tensor<?x35xi32, #tutti.sizes<batch>>
}
}]];
  let summary = "y = the sum of a times b over the labels that the result lacks";
  let description = [{
    An Einstein sum of two operands, each label a letter: `bk,kn->bn` is a matrix product. A label occurs at most once
    in an operand; one that is in both operands and in the result is a batch label. Every label of the result is in an
    operand, and every label that only one operand has is in the result.

    With `bytes` each i32 is a word of four bytes, the lowest first, unsigned in the left operand and signed in the
    right one. The product of two words is the sum of the four products of their bytes, and sums are taken modulo 2^32.

    Example: `%y = tutti.contract %x, %w "bk,kn->bn" : tensor<4x8xf32>, tensor<8x3xf32>`
  }];
  let arguments = (ins Tutti_Tensor:$lhs, Tutti_Tensor:$rhs, StrAttr:$spec, OptionalAttr<Tutti_NumericsAttr>:$numerics,
                       UnitAttr:$bytes);
  let results = (outs Tutti_Tensor:$result);
  let extraClassDeclaration = [{
    /// The spec, parsed.
    ContractSpec labels();
    /// The number of products in a sum, with `bytes` of words of four; nothing where that is no size.
    std::optional<Size> terms();
    /// Operations of all sums, two for each product of numbers or bytes; nothing past 2^63.
    std::optional<Size> flops();
  }];
  let assemblyFormat = "$lhs `,` $rhs $spec (`bytes` $bytes^)? (`numerics` `` $numerics^)? attr-dict `:` type($lhs) `,` type($rhs)";
}

#endif
