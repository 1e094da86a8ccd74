// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of few columns as longer ones.
#ifndef TUTTI_PASSES_FUSE_COLUMNS_H
#define TUTTI_PASSES_FUSE_COLUMNS_H

#include "dialects/plan/Plan.h"

namespace tutti {

/// Merges the last row axis and the columns of a kernel of maps into one axis, where columns fill no vectors and every
/// map treats both alike: an image of 8 x 8 has 64 columns then. Arguments and yielded values get the shapes that go
/// with it, of the same elements in the same order.
void joinColumns(plan::KernelOp kernel);

} // namespace tutti

#endif
