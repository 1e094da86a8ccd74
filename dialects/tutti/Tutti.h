// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tutti dialect: what a member of an ensemble computes.
#ifndef TUTTI_DIALECTS_TUTTI_TUTTI_H
#define TUTTI_DIALECTS_TUTTI_TUTTI_H

#include "Enums.h"
#include "HostTensor.h"
#include "Indices.h"
#include "Lift.h"
#include "Tensors.h"
#include "Windows.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tutti {
struct ContractSpec;
class NumericsAttr;
/// Verifies the `numerics` of an op that is no contraction.
llvm::LogicalResult verifyLanesOrChain(mlir::Operation *op, NumericsAttr numerics);
/// Whether a tutti.yield ends the one block of the op's body.
llvm::LogicalResult verifyEndsInYield(mlir::Operation *op);
/// The trait of an op whose body a tutti.yield ends.
template <typename Op> struct EndsInYield : mlir::OpTrait::TraitBase<Op, EndsInYield> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyEndsInYield(op); }
};
} // namespace tutti

#include "dialects/tutti/TuttiDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/tutti/TuttiAttrs.h.inc"

#include "dialects/tutti/TuttiInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/tutti/TuttiOps.h.inc"

namespace tutti {

/// The type of a value that the dialect's ops take or make: a tensor's.
inline mlir::RankedTensorType typeOf(mlir::Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }

/// An element's type in scalar code, whose integers have no sign: the instruction says how it reads them.
mlir::Type scalarType(mlir::Type element);
/// Builds the op's function of an element from operands of `scalarType`. 16-bit floats are computed in float32 and
/// rounded once.
mlir::Value buildElement(ScalarOpInterface op, mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands);

/// The access of a reshape: where an element of type `to` lies in the same elements of type `from`. Fails where that
/// would divide by a size that a call decides.
llvm::FailureOr<mlir::AffineMap> reshapeMap(mlir::RankedTensorType from, mlir::RankedTensorType to);

/// The access of an operand of type `from` that is broadcast to `to` as NumPy does it; it uses no symbol.
mlir::AffineMap broadcastMap(mlir::RankedTensorType from, mlir::RankedTensorType to);

/// The labels of a contraction: of the operands and of the result.
struct ContractSpec {
  std::string lhs, rhs, result;
  static std::optional<ContractSpec> parse(llvm::StringRef text);
  std::string str() const { return lhs + "," + rhs + "->" + result; }
  /// Labels summed over, in the order of the left operand.
  std::string contracted() const;
  /// Whether it is rows times a weight, rows,k x k,n -> rows,n. Of a `lifted` weight m,k,n the members' label leads the
  /// result's rows, and those of the left operand where it has it.
  bool isRowsTimesWeight(bool lifted) const;
  /// A letter that is no label: `m` where it can be; 0 if all are taken.
  char freeLabel() const;
};

} // namespace tutti

#endif
