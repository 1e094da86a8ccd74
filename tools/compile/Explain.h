// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --explain prints.
#ifndef TUTTI_TOOLS_COMPILE_EXPLAIN_H
#define TUTTI_TOOLS_COMPILE_EXPLAIN_H

#include "Options.h"

namespace tutti {

void explain(const CompileResult &result, const CompileOptions &options);

} // namespace tutti

#endif
