// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When each kernel runs, and where in the arena each tensor between them lies.
#ifndef TUTTI_PASSES_PLAN_ARENA_H
#define TUTTI_PASSES_PLAN_ARENA_H

#include "dialects/plan/Plan.h"
#include "passes/analysis/LargestSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tutti {

/// The steps of a function: dispatches that need nothing of each other are one step, as early as they can run.
struct Timeline {
  std::vector<llvm::SmallVector<plan::DispatchOp>> steps;
  llvm::DenseMap<mlir::Operation *, unsigned> stepOf; ///< of the return: the number of steps
  /// Dispatches with heads, and ops that depend on their results: where members run in pieces, they run behind all
  /// pieces.
  llvm::DenseSet<mlir::Operation *> fromHeadsOn;

  static Timeline of(mlir::func::FuncOp function);
};

/// The places of the values that kernels make for each other. Returned values lie with the caller.
class Arena {
public:
  /// A tensor: when it lives, and where.
  struct Interval {
    mlir::Value value;
    unsigned first, last; ///< in steps
    int64_t bytes, offset = 0;
  };

  /// Lays out the values of a function; an error at the value that does not fit into 63 bits.
  static mlir::FailureOr<Arena> layOut(mlir::func::FuncOp function, const Timeline &timeline,
                                       const LargestSizes &largest);

  int64_t bytes = 0;
  std::vector<Interval> intervals;
  /// The whole that the result of a group's kernel is a part of; the whole has the interval, or is returned.
  llvm::DenseMap<mlir::Value, mlir::Value> wholes;

private:
  llvm::LogicalResult keep(mlir::Value value, unsigned first, const Timeline &timeline, const LargestSizes &largest);
  bool place(Interval interval);
};

/// Whether a value of the members is made or read when all pieces have run, where members run in pieces.
bool outlivesPieces(mlir::Value value, const Timeline &timeline, const LargestSizes &largest);

} // namespace tutti

#endif
