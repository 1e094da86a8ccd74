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
      `context.isLifted` holds have the member axis as dimension 0. Only called when some operand is lifted.
      The result, always lifted, is told with `context.setLifted`.
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

#endif
