// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes that passes write on the ops of the tutti dialect.
#ifndef TUTTI_ATTRIBUTES_TD
#define TUTTI_ATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "TuttiDialect.td"

def Tutti_SizesAttr : AttrDef<Tutti_Dialect, "Sizes", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "sizes";
  let summary = "a list of sizes";
  let description = [{
    A size is the number of rows, bytes or operations of a call: a monomial over the symbols that a call binds, with a
    factor of 0 or more, and each symbol as often as it is multiplied. A symbol that is no identifier is quoted. As the
    encoding of a tensor's type the attribute has the size of each `?`, from left to right: a symbol, or a multiple of
    symbols.

    Example: `tensor<?x10x?xf32, #tutti.sizes<batch, 4*"sequence length">>`
  }];
  let parameters = (ins AttrParameter<"::tutti::Sizes", "sizes", "::llvm::ArrayRef<::tutti::Size>">:$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tutti_Target : I32EnumAttr<"Target", "a class of targets", [I32EnumAttrCase<"cpu", 0>, I32EnumAttrCase<"cuda", 1>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_TargetAttr : EnumAttr<Tutti_Dialect, Tutti_Target, "target">;
def Tutti_Precision : I32EnumAttr<"Precision", "how float32 contractions with weights are computed: what --precision says", [
    I32EnumAttrCase<"f32", 0>, I32EnumAttrCase<"f32_ffma", 1, "f32-ffma">, I32EnumAttrCase<"tf32", 2>, I32EnumAttrCase<"bf16", 3>,
    I32EnumAttrCase<"f16", 4>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_PrecisionAttr : EnumAttr<Tutti_Dialect, Tutti_Precision, "precision">;

def Tutti_NumericsRule : I32EnumAttr<"NumericsRule", "in which order elements are gone through", [
    I32EnumAttrCase<"panels", 0>, I32EnumAttrCase<"lanes", 1>, I32EnumAttrCase<"chain", 2>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}
def Tutti_NumericsProduct : I32EnumAttr<"NumericsProduct", "what multiplies", [
    I32EnumAttrCase<"fma", 0>, I32EnumAttrCase<"tf32x3", 1>, I32EnumAttrCase<"tf32", 2>, I32EnumAttrCase<"bf16", 3>,
    I32EnumAttrCase<"f16", 4>]> {
  let cppNamespace = "::tutti";
  let genSpecializedAttr = 0;
}

def Tutti_NumericsProductParameter : EnumParameter<Tutti_NumericsProduct> {
  let defaultValue = "::tutti::NumericsProduct::fma";
}

def Tutti_NumericsAttr : AttrDef<Tutti_Dialect, "Numerics"> {
  let mnemonic = "numerics";
  let summary = "what decides the bits of a sum or a choice";
  let description = [{
    The `rule` is the order of its elements:
    - `panels`: rows times a weight; chunked chains, and 16 lanes for the last one to eight columns (runtime/schema/Layout.h)
    - `lanes`: a reduction along a row; 16 lanes and a fixed tree
    - `chain`: anything else; chunked ascending chains

    `chunk` is the number of products in one chain of a contraction. `product` is what multiplies where the rule is `panels`: `fma`, or
    on tensor cores `tf32x3` (both operands as a sum of two TF32 numbers), `tf32`, `bf16`, `f16` (both rounded to the type).

    Example: `#tutti.numerics<rule = panels, chunk = 16, product = tf32x3>`
  }];
  let parameters = (ins EnumParameter<Tutti_NumericsRule>:$rule, OptionalParameter<"std::optional<int64_t>">:$chunk,
                        Tutti_NumericsProductParameter:$product);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif
