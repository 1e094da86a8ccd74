// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a program can be gone through strip by strip.
#ifndef TUTTI_PASSES_ANALYSIS_STRIPS_H
#define TUTTI_PASSES_ANALYSIS_STRIPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tutti {

/// The symbol of a call along which kernels may run one after the other for some places each time: of those that all
/// values between kernels have, if at all, on the outermost axis behind the members', the one that most have. A place's
/// part of a value is one run of memory then, and depends on nothing of other places, as every op is parallel along
/// such an axis (tutti-parallel). Nothing where there is none.
std::optional<std::string> stripAxis(mlir::func::FuncOp function);

} // namespace tutti

#endif
