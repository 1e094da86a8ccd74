// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that all members share, computed again by each of them.
#ifndef TUTTI_PASSES_FUSE_REPEAT_H
#define TUTTI_PASSES_FUSE_REPEAT_H

#include "Launches.h"

namespace tutti {

/// Rewrites that lift values which are computed once for all members, so that each member computes its own. They are
/// offered where launches are dear, for values that are cheap beside what members compute of them.
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
