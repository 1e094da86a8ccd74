// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tutti dialect and the base classes of its ops.
#ifndef TUTTI_DIALECT_TD
#define TUTTI_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "TuttiInterfaces.td"

/// An op whose body ends in a tutti.yield.
def Tutti_EndsInYield : NativeOpTrait<"EndsInYield"> {
  let cppNamespace = "::tutti";
}

def Tutti_Dialect : Dialect {
  let name = "tutti";
  let summary = "What a member of an ensemble computes.";
  let description = [{
    One op stands for one mathematical function of whole tensors. Types are builtin ranked tensors. A dimension that
    only a call decides is `?`, and the tensor's encoding lists the size of each `?` in order: `tensor<?x784xf32,
    #tutti.sizes<batch>>`. A size is a monomial over named symbols: `batch`, `4*batch`, `batch*seq`.

    A module has the number of its `tutti.members`, the range of each of its `tutti.sizes`, and the members of each of
    its `tutti.groups`, if it has several. Before the stage `kernels` the compiler adds the `tutti.target`
    (`#tutti<target cuda>`) and `tutti.precision` that it is for, the bytes that a row's values may take
    (`tutti.scratch_per_row`), and the most members that run at once (`tutti.chunk`). An input has its `tutti.name`, and
    `tutti.per_member` if each member has its own; an output has its name and the requested `tutti.heads`, each of which
    tutti-vmap makes an output with a `tutti.head`.
  }];
  let cppNamespace = "::tutti";
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::func::FuncDialect"];
}

def Tutti_Tensor : Type<And<[RankedTensorOf<[AnyType]>.predicate, CPred<"!::tutti::faultOf($_self)">]>,
    "a ranked tensor of floats, integers of 8 to 64 bits or i1, of which the encoding has the size of each '?'", "::mlir::RankedTensorType">;

// An op with its documentation. In assembly formats `` stands before an enum, whose printer adds its own space.
class Tutti_AnyOp<string mnemonic, list<Trait> traits = []> : Op<Tutti_Dialect, mnemonic, traits> {
  // Fields for docs/reference, whose other text docs/generate.py gets from tutti-opt: the elements that the op takes;
  // what it becomes over the member axis; and examples: one op a line, whose operands have the types behind the colon,
  // or a whole module.
  string elements = "any";
  string lifts = "";
  list<string> examples = [];
  // How far a float32 result may be from the exact one for its operands: in units of the last place (`ulps`; `ulps64`
  // for float64), or as a formula with u = 2^-24, where TERMS stands for `terms`: for a sum of n, so many u of the sum
  // of absolute values. The tests read the numbers and compile the terms.
  string ulps = "0";
  string ulps64 = ulps;
  string terms = "";
  string bound = "";
}

// Every op of a model lifts, evaluates and says where it is parallel; an op that lacks one of these bodies does not
// link.
class Tutti_Op<string mnemonic, list<Trait> traits = []>
    : Tutti_AnyOp<mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<LiftOpInterface>,
        DeclareOpInterfaceMethods<EvaluateOpInterface>,
        DeclareOpInterfaceMethods<ParallelOpInterface>]>;

#endif
