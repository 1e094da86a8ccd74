// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the vmap rules of the ops share: which values are lifted, and how to read them.
#ifndef TUTTI_DIALECTS_TUTTI_LIFT_H
#define TUTTI_DIALECTS_TUTTI_LIFT_H

#include "Sizes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

namespace tutti {

/// The size of the member axis that the lift of a whole model adds: the length of the call's active set, a symbol like
/// any other. A value is lifted if and only if its first size is this one; no type and no code depends on the number of
/// members.
constexpr llvm::StringLiteral activeName = "active";
inline Size activeSize() { return Size::symbol(activeName); }
/// The size of the member axis of a group, "active.1", where there are several: how many of its members are active.
inline Size activeSize(unsigned group) { return Size::symbol((activeName + "." + llvm::Twine(group)).str()); }
/// The group whose size has this name.
std::optional<unsigned> groupOfActive(llvm::StringRef name);
/// Whether a size is that of a member axis, and so no model's own.
bool isActiveName(llvm::StringRef name);
bool isActiveSize(const Size &size);
bool isLifted(mlir::RankedTensorType type);

/// The state of one lift of a region over a new leading axis of length `members`: `activeSize()` for a model, that of a
/// group where there are several, a fixed number for `tutti.vmap`.
class LiftContext {
public:
  LiftContext(mlir::OpBuilder &builder, Size members) : builder(builder), members(members) {}

  mlir::OpBuilder &builder;
  const Size members;

  /// The new value of an old one: with the member axis in front if `isLifted`, the old type if not.
  mlir::Value get(mlir::Value old) const { return mapping.lookup(old); }
  bool isLifted(mlir::Value old) const { return lifted.contains(old); }
  void setLifted(mlir::Value old, mlir::Value now) {
    mapping.map(old, now);
    lifted.insert(old);
  }
  void setShared(mlir::Value old, mlir::Value now) { mapping.map(old, now); }

  /// The new value; when it is lifted and its rank without the member axis is below `rank`, axes of length 1 are put
  /// behind the member axis, so that it broadcasts as before.
  mlir::Value getAligned(mlir::Value old, int64_t rank);

  /// The new value with the member axis in front: a shared one repeated along it.
  mlir::Value getLifted(mlir::Value old);

  /// Whether the axis is the model's member axis, and not the axis of a `tutti.vmap`.
  bool isOverMembers() const { return isActiveSize(members); }

  /// Clones an op with no lifted operand: what depends on shared values alone is computed once.
  void cloneShared(mlir::Operation *op);

  mlir::IRMapping mapping;
  mlir::SymbolTableCollection symbols; ///< parameters, which a lift leaves as they are

private:
  llvm::DenseSet<mlir::Value> lifted;
};

/// `type` with the member axis in front.
mlir::RankedTensorType addMemberAxis(mlir::RankedTensorType type, const Size &members);

/// A lifted type without its member axis.
mlir::RankedTensorType dropMemberAxis(mlir::RankedTensorType type);

/// `value` repeated along a new leading axis of length `members`.
mlir::Value repeat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const Size &members);

/// The rule of every pointwise op: the same op on lifted operands.
llvm::LogicalResult liftPointwise(mlir::Operation *op, LiftContext &context);

} // namespace tutti

#endif
