// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The form that pointwise and layout ops take inside a kernel, and the functions that their scalar bodies need.
#ifndef TUTTI_KERNEL_TD
#define TUTTI_KERNEL_TD

include "TuttiDialect.td"

def Tutti_MapOp : Tutti_AnyOp<"map", [
    Pure, IsolatedFromAbove, SingleBlock, Tutti_EndsInYield, DeclareOpInterfaceMethods<LiftOpInterface>]> {
  let examples = [[{func.func @main(%x: tensor<?x3xf32, #tutti.sizes<batch>>, %b: tensor<3xf32>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
  %y = tutti.map %x, %b [affine_map<(b, n) -> (b, n)>, affine_map<(b, n) -> (n)>]
      : (tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    tutti.yield %s : f32
  }
  return %y : tensor<?x3xf32, #tutti.sizes<batch>>
}
}]];
  let summary = "y[i] = f(x_0[maps_0(i)], x_1[maps_1(i)], ...)";
  let description = [{
    The region computes one element as arith and math ops on scalars. `maps` has one quasi-affine map per operand, from
    the result's index to the operand's; symbol s of a map is the size of the s-th `?` of the result's type. Over the
    member axis, which then comes first in the index, the maps of operands that have this axis read it, too.
  }];
  let arguments = (ins Variadic<Tutti_Tensor>:$inputs, AffineMapArrayAttr:$maps);
  let results = (outs Tutti_Tensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    // Moves elements: y[i] = x[access(i)].
    OpBuilder<(ins "::mlir::RankedTensorType":$result, "::mlir::Value":$x, "::mlir::AffineMap":$access)>,
    // Copies x.
    OpBuilder<(ins "::mlir::Value":$x)>
  ];
  let extraClassDeclaration = [{
    ::mlir::AffineMap getAccess(unsigned operand) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[operand]).getValue();
    }
    /// The operand of a map that only moves elements: each element is an element of its only operand. Null for any other
    /// map.
    ::mlir::Value getMoved();
    bool isMove() { return getMoved() != nullptr; }
  }];
  let assemblyFormat = "$inputs $maps attr-dict-with-keyword `:` functional-type($inputs, results) $body";
  let hasVerifier = 1;
}

def Tutti_YieldOp : Tutti_AnyOp<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends the body of a map or a kernel";
  let description = [{A map yields its element, a scalar; a kernel yields its results.}];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let hasVerifier = 1;
}

/// A function of a scalar, or of each lane of a vector, that the math dialect lacks. The targets' expansion of math ops
/// writes it in IEEE operations (docs/numerics.md).
class Tutti_Function<string mnemonic, string formula, string most> : Tutti_AnyOp<mnemonic, [
    Pure, SameOperandsAndResultType, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let elements = "floats";
  let ulps = most;
  let examples = ["%y = tutti." # mnemonic # " %x : f32"];
  let summary = formula;
  let arguments = (ins FloatLike:$x);
  let results = (outs FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def Tutti_LogisticOp : Tutti_Function<"logistic", "1 / (1 + e^-x)", "2.5"> {
  let description = [{`gates` is that of the `tutti.sigmoid` that it comes from.}];
  let arguments = (ins FloatLike:$x, UnitAttr:$gates);
}
def Tutti_Log1pExpOp : Tutti_Function<"log1p_exp", "ln(1 + e^x)", "2.5">;
def Tutti_MishGateOp : Tutti_Function<"mish_gate", "tanh(ln(1 + e^x))", "3.5">;
// Below 1/8 the unit of the bound is that of 1/8.
def Tutti_NormalCdfOp : Tutti_Function<"normal_cdf", "(1 + erf(x / sqrt 2)) / 2; results below 1/8 to the ULP of 1/8", "3">;

#endif
