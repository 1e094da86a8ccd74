// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices that float32 cannot decide: on which side of a threshold a value lies when rounding moves it across.
#ifndef TUTTI_TOOLS_VERIFY_UNDECIDED_H
#define TUTTI_TOOLS_VERIFY_UNDECIDED_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// Whether the op turns floats into choices: it jumps where its operands move a little.
bool chooses(mlir::Operation &op);

/// An element of a choosing op's result, and what it would be had the choice gone the other way.
struct Alternative {
  int64_t place;
  double value;
};

/// The elements of `result` that are not decided: an operand lies within twice the largest deviation of plain float32
/// from a threshold. `exact` and `plain` are the operands in float64 and in plain float32.
std::vector<Alternative> undecided(mlir::Operation &op, llvm::ArrayRef<HostTensor> exact,
                                   llvm::ArrayRef<HostTensor> plain, const HostTensor &result);

} // namespace tutti

#endif
