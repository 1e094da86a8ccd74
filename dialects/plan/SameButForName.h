// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that are one but for their symbol's name: kernels, and functions of steps.
#ifndef TUTTI_DIALECTS_PLAN_SAMEBUTFORNAME_H
#define TUTTI_DIALECTS_PLAN_SAMEBUTFORNAME_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace tutti {

/// Compares ops that have a name, with their attributes and regions; locations do not count. The regions are isolated:
/// they name no value from above.
struct SameButForName : llvm::DenseMapInfo<mlir::Operation *> {
  static unsigned getHashValue(const mlir::Operation *op);
  static bool isEqual(const mlir::Operation *a, const mlir::Operation *b);
};
template <typename T> using MapButForName = llvm::DenseMap<mlir::Operation *, T, SameButForName>;

} // namespace tutti

#endif
