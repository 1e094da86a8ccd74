// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that compute nothing: their result is the same bytes under another shape.
#ifndef TUTTI_PASSES_ANALYSIS_VIEWS_H
#define TUTTI_PASSES_ANALYSIS_VIEWS_H

#include "dialects/tutti/Module.h"
#include "dialects/tutti/Tutti.h"

namespace tutti {

/// The value that an op is a view of: the operand of a reshape, and of a replicate where the model has one member. Null
/// for any other op.
inline mlir::Value viewed(mlir::Operation *op) {
  if (auto reshape = llvm::dyn_cast_or_null<ReshapeOp>(op))
    return reshape.getX();
  auto replicate = llvm::dyn_cast_or_null<ReplicateOp>(op);
  if (!replicate || getSizes(replicate.getResult().getType()).front() != activeSize())
    return nullptr;
  return getMembers(op->getParentOfType<mlir::ModuleOp>()) == 1 ? replicate.getX() : nullptr;
}
/// The value behind any number of views; for a value that is no view, the value itself.
inline mlir::Value throughViews(mlir::Value value) {
  while (mlir::Value whole = viewed(value.getDefiningOp()))
    value = whole;
  return value;
}

/// The value in memory that a value is a view of or, in a group, a part of. A kernel finds its part through a table.
inline mlir::Value wholeOf(mlir::Value value) {
  value = throughViews(value);
  auto part = value.getDefiningOp<PartOp>();
  return part ? wholeOf(part.getX()) : value;
}

} // namespace tutti

#endif
