// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far from its reference the result of an op may be.
#ifndef TUTTI_TEST_LAWS_WITHIN_H
#define TUTTI_TEST_LAWS_WITHIN_H

#include "Instances.h"

namespace tutti::laws {

/// Fails the test where `got` is farther from `want`, the op's reference on these operands, than the op's td entry
/// says.
void expectWithin(mlir::Operation *op, const HostTensor &got, const HostTensor &want,
                  llvm::ArrayRef<HostTensor> operands);

} // namespace tutti::laws

#endif
