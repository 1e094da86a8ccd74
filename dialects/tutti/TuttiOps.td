// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of the op families.
include "TuttiAttributes.td"
include "ops/Contract.td"
include "ops/Elementwise.td"
include "ops/Ensemble.td"
include "ops/Index.td"
include "ops/Kernel.td"
include "ops/Reduce.td"
include "ops/Row.td"
include "ops/Shape.td"
