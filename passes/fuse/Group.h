// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that are one kernel: what they read and give, and that kernel.
#ifndef TUTTI_PASSES_FUSE_GROUP_H
#define TUTTI_PASSES_FUSE_GROUP_H

#include "dialects/plan/Plan.h"
#include "passes/analysis/Rows.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tutti {

/// Ops of one function, in its order.
struct Group {
  RowForm form; ///< the rows that all ops have; a head counts by the rows of the members it reads
  llvm::SmallVector<mlir::Operation *> ops;
  /// Ops whose results are stored although no other group reads them, since they are too wide for a task's own memory.
  llvm::SmallPtrSet<mlir::Operation *, 4> stored;
};

/// The values that a group reads of others, and those that others read of it.
struct GroupPorts {
  llvm::SetVector<mlir::Value> inputs, results;

  static GroupPorts of(const Group &group);
  int64_t count() const { return inputs.size() + results.size(); }
};

/// A kernel made of copies of the ops of a group, which stay as they are. It is in no module yet, and has no schedule.
struct Outline {
  GroupPorts ports;        ///< what the kernel's arguments and yielded values stand for
  plan::KernelOp kernel;   ///< the caller's, to put into a module or to erase
  mlir::IRMapping mapping; ///< from the ops' values to those of the kernel's body

  static Outline of(const Group &group, llvm::StringRef name);
};

} // namespace tutti

#endif
