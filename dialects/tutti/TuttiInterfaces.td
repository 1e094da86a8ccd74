// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op of the tutti dialect must be able to do.
#ifndef TUTTI_INTERFACES_TD
#define TUTTI_INTERFACES_TD

include "mlir/IR/OpBase.td"

def LiftOpInterface : OpInterface<"LiftOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{The vmap rule: how the op is lifted over a new leading axis, the member axis.}];
  let methods = [InterfaceMethod<[{
      Builds this op over `context.members` members. Operands are read with `context.get`; those for which
      `context.isLifted` holds have the member axis as dimension 0. Called only if some operand is lifted, or the op
      reads a parameter that each member has of its own. The result, always lifted, is reported with
      `context.setLifted`.
    }], "::llvm::LogicalResult", "lift", (ins "::tutti::LiftContext &":$context)>];
}

def EvaluateOpInterface : OpInterface<"EvaluateOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{The readable reference: the op's meaning on host tensors.}];
  let methods = [InterfaceMethod<[{
      The result for these operands. Floats are held as double; `context.round` rounds a value to the element type when
      plain float32 is evaluated, and does nothing in the float64 reference.
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
      The operand's index as quasi-affine functions of the result's index. Sizes that only a call decides are symbols:
      symbol i is the size of the i-th `?` of the result's type.
    }], "::mlir::FailureOr<::mlir::AffineMap>", "operandMap", (ins)>];
}

def ParallelOpInterface : OpInterface<"ParallelOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{The axes along which an op may be cut into pieces that are computed independently.}];
  let methods = [InterfaceMethod<[{
      The sizes of the operands' axes along which an element of the result depends on elements at other places than its
      own: those that the op sums, orders, joins or indexes. tutti-parallel refuses an op if a call decides one of them.
      The member axis of a head is not among them.
    }], "::tutti::Sizes", "mixedSizes", (ins)>];
}

def CombineOpInterface : OpInterface<"CombineOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{
    An op that combines many elements into each element of its result. Kernels support it on fewer types, so
    tutti-decompose puts casts around it.
  }];
  let methods = [InterfaceMethod<[{
      Whether the order of the elements matters, and not only their sums and products, which are the same for unsigned
      and signed integers.
    }], "bool", "comparesElements", (ins)>];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{
    An op that kernels consist of, beside the maps that pointwise and layout ops become. A row is what lies along the
    last axis.
  }];
  let methods = [InterfaceMethod<[{
      Whether it is a phase of the row family, which computes a row, or one element, from a whole row of each operand: a
      step of its own, whose result is stored.
    }], "bool", "isRowPhase", (ins), "", "return false;">, InterfaceMethod<[{
      Whether a row of the result needs only the same row of this operand, which has the same rows. For rows times
      weights, whose rule stands on the op, tutti-fuse decides this itself.
    }], "bool", "readsOwnRow", (ins "unsigned":$operand), "", "return $_op.isRowPhase();">];
}

def NumericsOpInterface : OpInterface<"NumericsOpInterface"> {
  let cppNamespace = "::tutti";
  let description = [{
    An op whose bits depend on the order of a sum or a choice. tutti-numerics fixes that order: in a kernel the op has
    `numerics`.
  }];
  let methods = [
    InterfaceMethod<"Null before tutti-numerics.", "::tutti::NumericsAttr", "getNumericsAttr", (ins)>,
    InterfaceMethod<"", "void", "setNumericsAttr", (ins "::tutti::NumericsAttr":$numerics)>,
    InterfaceMethod<"An error unless the op may have these: the rule lanes or chain without a chunk, except for contractions.",
                    "::llvm::LogicalResult", "verifyNumerics", (ins "::tutti::NumericsAttr":$numerics), "",
                    "return ::tutti::verifyLanesOrChain($_op, numerics);">
  ];
  let verify = [{
    auto ordered = ::llvm::cast<::tutti::NumericsOpInterface>($_op);
    return ordered.getNumericsAttr() ? ordered.verifyNumerics(ordered.getNumericsAttr()) : ::mlir::success();
  }];
}

#endif
