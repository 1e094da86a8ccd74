// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise ops: one element of each operand in, one element out.
#ifndef TUTTI_ELEMENTWISE_TD
#define TUTTI_ELEMENTWISE_TD

include "TuttiDialect.td"

// The elements that an op takes: `infer` is the shape and type rule in Elementwise.cpp, `example` a type for the
// examples.
class Tutti_Domain<string infer, string elements, string example> {
  string rule = infer;
  string takes = elements;
  string one = example;
}
def Tutti_Numbers  : Tutti_Domain<"inferNumbers", "floats, integers", "f32">;
def Tutti_Floats   : Tutti_Domain<"inferFloats", "floats", "f32">;
def Tutti_Bits     : Tutti_Domain<"inferBits", "integers, i1", "i32">;
def Tutti_Compared : Tutti_Domain<"inferCompared", "floats, integers, i1; the result is i1", "f32">;
def Tutti_Chosen   : Tutti_Domain<"inferChosen", "i1, then two of any one type", "f32">;

class Tutti_Pointwise<string mnemonic, Tutti_Domain domain, list<Trait> traits = []>
    : Tutti_Op<mnemonic, traits # [DeclareOpInterfaceMethods<ScalarOpInterface>,
                                   DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let elements = domain.takes;
  let lifts = "The same op. Operands of lower rank get axes of length 1 behind the member axis.";
  let results = (outs Tutti_Tensor:$result);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::lift(::tutti::LiftContext &context) {
      return ::tutti::liftPointwise(*this, context);
    }
    ::tutti::Sizes $cppClass::mixedSizes() { return {}; }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::tutti::}] # domain.rule # [{(location, getOperationName(), operands.getTypes(), inferred);
    }
  }];
}

class Tutti_Unary<string mnemonic, string formula, Tutti_Domain domain = Tutti_Floats, string most = "0", string most64 = most>
    : Tutti_Pointwise<mnemonic, domain> {
  let summary = formula;
  let ulps = most;
  let ulps64 = most64;
  let examples = ["%y = tutti." # mnemonic # " %x : tensor<?x3x" # domain.one # ", #tutti.sizes<batch>>"];
  let arguments = (ins Tutti_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Tutti_NegOp        : Tutti_Unary<"neg", "y = -x", Tutti_Numbers>;
def Tutti_AbsOp        : Tutti_Unary<"abs", "y = |x|", Tutti_Numbers>;
def Tutti_SignOp       : Tutti_Unary<"sign", "y = -1, 0 or 1 with the sign of x; NaN stays NaN", Tutti_Numbers>;
def Tutti_SqrtOp       : Tutti_Unary<"sqrt", "y = the square root of x", Tutti_Floats, "0.5">;
def Tutti_ReciprocalOp : Tutti_Unary<"reciprocal", "y = 1 / x", Tutti_Floats, "0.5">;
def Tutti_ExpOp        : Tutti_Unary<"exp", "y = e^x", Tutti_Floats, "1.1", "1.5">;
def Tutti_LogOp        : Tutti_Unary<"log", "y = ln x", Tutti_Floats, "1.5", "2">;
def Tutti_Expm1Op      : Tutti_Unary<"expm1", "y = e^x - 1, without cancellation", Tutti_Floats, "2">;
def Tutti_FloorOp      : Tutti_Unary<"floor", "y = the largest integer that is not above x">;
def Tutti_CeilOp       : Tutti_Unary<"ceil", "y = the smallest integer that is not below x">;
def Tutti_RoundOp      : Tutti_Unary<"round", "y = the integer nearest to x, ties to even">;
def Tutti_ErfOp        : Tutti_Unary<"erf", "y = erf x", Tutti_Floats, "2", "2">;
def Tutti_SinOp        : Tutti_Unary<"sin", "y = sin x", Tutti_Floats, "1.5">;
def Tutti_CosOp        : Tutti_Unary<"cos", "y = cos x", Tutti_Floats, "1.5">;
def Tutti_TanOp        : Tutti_Unary<"tan", "y = tan x", Tutti_Floats, "3">;
def Tutti_AsinOp       : Tutti_Unary<"asin", "y = arcsin x; NaN outside of [-1, 1]", Tutti_Floats, "2.5">;
def Tutti_AcosOp       : Tutti_Unary<"acos", "y = arccos x; NaN outside of [-1, 1]", Tutti_Floats, "2.5">;
def Tutti_AtanOp       : Tutti_Unary<"atan", "y = arctan x", Tutti_Floats, "2.5">;
def Tutti_SinhOp       : Tutti_Unary<"sinh", "y = sinh x", Tutti_Floats, "2", "2.5">;
def Tutti_CoshOp       : Tutti_Unary<"cosh", "y = cosh x", Tutti_Floats, "2", "2.5">;
def Tutti_AsinhOp      : Tutti_Unary<"asinh", "y = arsinh x", Tutti_Floats, "3.5">;
def Tutti_AcoshOp      : Tutti_Unary<"acosh", "y = arcosh x; NaN below 1", Tutti_Floats, "3.5">;
def Tutti_AtanhOp      : Tutti_Unary<"atanh", "y = artanh x; NaN outside of [-1, 1]", Tutti_Floats, "3.5">;
def Tutti_TanhOp       : Tutti_Unary<"tanh", "y = tanh x", Tutti_Floats, "2">;
def Tutti_SigmoidOp    : Tutti_Unary<"sigmoid", "y = 1 / (1 + e^-x)", Tutti_Floats, "2.5"> {
  let description = [{With `gates`, which tutti-decompose sets at bf16, the result is used only in x times it, that is SiLU.}];
  let arguments = (ins Tutti_Tensor:$x, UnitAttr:$gates);
}
def Tutti_ReluOp       : Tutti_Unary<"relu", "y = max(x, 0); NaN stays NaN", Tutti_Numbers>;
def Tutti_SoftplusOp   : Tutti_Unary<"softplus", "y = ln(1 + e^x)", Tutti_Floats, "2.5">;
def Tutti_MishOp       : Tutti_Unary<"mish", "y = x tanh(ln(1 + e^x))", Tutti_Floats, "7.5">;
def Tutti_GeluOp       : Tutti_Unary<"gelu", "y = x (1 + erf(x / sqrt 2)) / 2", Tutti_Floats, "4"> {
  let bound = "4 ULP for x >= -1, below it 2 u max(1, abs x)";
}
def Tutti_NotOp        : Tutti_Unary<"not", "y = not x, bit by bit", Tutti_Bits>;

class Tutti_Binary<string mnemonic, string formula, Tutti_Domain domain, list<Trait> traits = [], string most = "0",
                   string most64 = most>
    : Tutti_Pointwise<mnemonic, domain, traits> {
  let summary = formula;
  let ulps = most;
  let ulps64 = most64;
  let examples = ["%y = tutti." # mnemonic # " %a, %b : tensor<?x3x" # domain.one # ", #tutti.sizes<batch>>, tensor<3x" # domain.one # ">"];
  let arguments = (ins Tutti_Tensor:$lhs, Tutti_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Tutti_AddOp : Tutti_Binary<"add", "y = a + b", Tutti_Numbers, [Commutative], "0.5">;
def Tutti_SubOp : Tutti_Binary<"sub", "y = a - b", Tutti_Numbers, [], "0.5">;
def Tutti_MulOp : Tutti_Binary<"mul", "y = a b", Tutti_Numbers, [Commutative], "0.5">;
def Tutti_DivOp : Tutti_Binary<"div", "y = a / b; integers round towards zero, and divided by 0 give 0", Tutti_Numbers, [], "0.5">;
def Tutti_RemOp : Tutti_Binary<"rem", "y = a - n b exactly, with n = a / b rounded towards zero; for integers and b = 0: a", Tutti_Numbers>;
def Tutti_PowOp : Tutti_Binary<"pow", "y = a^b", Tutti_Numbers, [], "0.6", "2">;
def Tutti_MinOp : Tutti_Binary<"min", "y = the smaller of a and b; NaN if either is", Tutti_Numbers, [Commutative]>;
def Tutti_MaxOp : Tutti_Binary<"max", "y = the larger of a and b; NaN if either is", Tutti_Numbers, [Commutative]>;
def Tutti_AndOp : Tutti_Binary<"and", "y = a and b, bit by bit", Tutti_Bits, [Commutative]>;
def Tutti_OrOp  : Tutti_Binary<"or", "y = a or b, bit by bit", Tutti_Bits, [Commutative]>;
def Tutti_XorOp : Tutti_Binary<"xor", "y = a or b but not both, bit by bit", Tutti_Bits, [Commutative]>;
// The amount is read as unsigned: one past the width shifts everything out.
def Tutti_ShiftLeftOp  : Tutti_Binary<"shift_left", "y = a 2^b, modulo 2^width", Tutti_Bits>;
def Tutti_ShiftRightOp : Tutti_Binary<"shift_right", "y = a / 2^b rounded down: signed numbers shift in their sign, unsigned ones zeros", Tutti_Bits>;

// The result is i1; a comparison with NaN is false.
def Tutti_EqualOp        : Tutti_Binary<"equal", "y = a equals b", Tutti_Compared, [Commutative]>;
def Tutti_GreaterOp      : Tutti_Binary<"greater", "y = a > b", Tutti_Compared>;
def Tutti_GreaterEqualOp : Tutti_Binary<"greater_equal", "y = a >= b", Tutti_Compared>;

def Tutti_SelectOp : Tutti_Pointwise<"select", Tutti_Chosen> {
  let summary = "y = a where the condition holds, else b";
  let examples = ["%y = tutti.select %c, %a, %b : tensor<?x1xi1, #tutti.sizes<batch>>, tensor<3xf32>, tensor<f32>"];
  let arguments = (ins Tutti_Tensor:$condition, Tutti_Tensor:$a, Tutti_Tensor:$b);
  let assemblyFormat = "$condition `,` $a `,` $b attr-dict `:` type($condition) `,` type($a) `,` type($b)";
  let hasFolder = 1;
}

def Tutti_CastOp : Tutti_Op<"cast", [DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let summary = "y = x in another element type";
  let description = [{
    Float to float rounds to nearest even; float to integer truncates towards zero and saturates, NaN gives 0;
    anything to i1 is `x != 0`.
  }];
  let lifts = "The same op.";
  let ulps = "0.5";
  let examples = ["%y = tutti.cast %x : tensor<?x3xf32, #tutti.sizes<batch>> -> tensor<?x3xi32, #tutti.sizes<batch>>"];
  let arguments = (ins Tutti_Tensor:$x);
  let results = (outs Tutti_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
