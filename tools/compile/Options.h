// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of tutti-compile.
#ifndef TUTTI_TOOLS_COMPILE_OPTIONS_H
#define TUTTI_TOOLS_COMPILE_OPTIONS_H

#include "compiler/Compiler.h"

namespace tutti {

struct CompileOptions {
  CompileRequest request;
  std::string explain;           ///< "", "text" or "json"
  const DeviceModel *explainFor; ///< whose predictions are printed in detail
};

/// Fills the options; an exit status if there is nothing left to do, or what was given does not fit (said on stderr).
std::optional<int> parseOptions(int argc, char **argv, CompileOptions &options);

} // namespace tutti

#endif
