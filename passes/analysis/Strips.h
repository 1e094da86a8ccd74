// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a program can be gone through strip by strip.
#ifndef TUTTI_PASSES_ANALYSIS_STRIPS_H
#define TUTTI_PASSES_ANALYSIS_STRIPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tutti {

/// The symbol of a call along which all kernels may run for some places at a time: the most frequent of those that
/// every value between kernels has, if at all, on the outermost axis behind the members'. A place's part of a value is
/// then one run of memory and independent of other places, as every op is parallel along such an axis (tutti-parallel).
/// Nothing where there is none.
std::optional<std::string> stripAxis(mlir::func::FuncOp function);

} // namespace tutti

#endif
