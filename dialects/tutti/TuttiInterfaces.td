// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op of the tutti dialect must be able to do.
#ifndef TUTTI_INTERFACES_TD
#define TUTTI_INTERFACES_TD

include "mlir/IR/OpBase.td"

def LiftOpInterface : OpInterface<"LiftOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{The vmap rule: how the op reads over a new leading axis, the member axis.}];
  let methods = [InterfaceMethod<[{
      Builds this op over `context.members` members. Operands are read with `context.get`, those for which
      `context.isLifted` holds have the member axis as dimension 0. Only called when some operand is lifted,
      or of a parameter that each member has of its own. The result, always lifted, is told with `context.setLifted`.
    }], "::llvm::LogicalResult", "lift", (ins "::tutti::LiftContext &":$context)>];
}

def EvaluateOpInterface : OpInterface<"EvaluateOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{The readable reference: the op's meaning on host tensors.}];
  let methods = [InterfaceMethod<[{
      The result for these operands. Floats are held as double; `context.round` brings a value to the element
      type when plain float32 is evaluated, and does nothing in the float64 reference.
    }], "::mlir::FailureOr<::tutti::HostTensor>", "evaluate",
    (ins "::tutti::EvaluateContext &":$context, "::llvm::ArrayRef<::tutti::HostTensor>":$operands)>];
}

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{
    A pointwise op: one element of the result is a function of one element of each operand. Operands broadcast
    as in NumPy.
  }];
  let methods = [InterfaceMethod<[{
      Builds the element's function as arith and math ops on scalars; the result has the element type of the op's result.
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>];
}

def LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{An op that only moves elements: every element of the result is one element of the operand.}];
  let methods = [InterfaceMethod<[{
      The operand's index as quasi-affine functions of the result's index. Sizes known at a call only enter as
      symbols: symbol i is the size of the i-th `?` of the result's type.
    }], "::mlir::FailureOr<::mlir::AffineMap>", "operandMap", (ins)>];
}

def ParallelOpInterface : OpInterface<"ParallelOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{Along which axes an op may be cut into pieces that are computed apart.}];
  let methods = [InterfaceMethod<[{
      The sizes of the operands' axes along which an element of the result depends on elements at other places than its
      own: those that the op sums, orders, joins or looks things up along. tutti-parallel refuses an op with one that a
      call decides. The member axis of a head is not among them.
    }], "::tutti::Sizes", "mixedSizes", (ins)>];
}

def CombineOpInterface : OpInterface<"CombineOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{
    An op each element of whose result is of many elements. Kernels have it on fewer types: tutti-decompose puts casts
    around it.
  }];
  let methods = [InterfaceMethod<[{
      Whether the order of the elements decides, and not only their sums and products, which unsigned integers and signed
      ones have in common.
    }], "bool", "comparesElements", (ins)>];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{
    An op that kernels are made of, beside the maps that pointwise and layout ops become. A row is what lies along the last
    axis.
  }];
  let methods = [InterfaceMethod<[{
      Whether it is a phase of the row family, which makes a row, or one element, of a whole row of each operand: a step of
      its own, whose result is stored.
    }], "bool", "isRowPhase", (ins), "", "return false;">, InterfaceMethod<[{
      Whether a row of the result takes of this operand, which has the same rows, that row only. tutti-fuse knows this of
      rows times weights, whose rule stands on the op.
    }], "bool", "readsOwnRow", (ins "unsigned":$operand), "", "return $_op.isRowPhase();">];
}

def NumericsOpInterface : OpInterface<"NumericsOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{
    An op whose bits depend on the order of a sum or a choice, which tutti-numerics fixes: in a kernel it has `numerics`.
  }];
  let methods = [
    InterfaceMethod<"Null before tutti-numerics.", "::tutti::NumericsAttr", "getNumericsAttr", (ins)>,
    InterfaceMethod<"", "void", "setNumericsAttr", (ins "::tutti::NumericsAttr":$numerics)>,
    InterfaceMethod<"Whether these can be the op's, or an error: of all but contractions the rule lanes or chain, without a chunk.",
                    "::llvm::LogicalResult", "verifyNumerics", (ins "::tutti::NumericsAttr":$numerics), "",
                    "return ::tutti::verifyLanesOrChain($_op, numerics);">
  ];
  let verify = [{
    auto ordered = ::llvm::cast<::tutti::NumericsOpInterface>($_op);
    return ordered.getNumericsAttr() ? ordered.verifyNumerics(ordered.getNumericsAttr()) : ::mlir::success();
  }];
}

#endif
