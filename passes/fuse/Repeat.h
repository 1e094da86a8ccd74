// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all members share, computed again by each of them.
#ifndef TUTTI_PASSES_FUSE_REPEAT_H
#define TUTTI_PASSES_FUSE_REPEAT_H

#include "Launches.h"

namespace tutti {

/// Where launches are dear, what is computed once for all members, and is little beside what they compute of it, may be
/// lifted.
class Repeats {
public:
  explicit Repeats(mlir::ModuleOp module);
  std::vector<Rewrite> of(mlir::func::FuncOp function, llvm::ArrayRef<Group> groups) const;

private:
  mlir::ModuleOp module;
  bool isWorthIt;
};

} // namespace tutti

#endif
