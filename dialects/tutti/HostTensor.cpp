// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of the reference evaluator.
#include "HostTensor.h"
