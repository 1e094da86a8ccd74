// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The models that tutti-compile and tutti-verify are given: names of their files, and inputs that are constants.
#ifndef TUTTI_TOOLS_MODELS_MODELS_H
#define TUTTI_TOOLS_MODELS_MODELS_H

#include "compiler/import/Model.h"

#include <string>
#include <vector>

namespace tutti::tool {

/// Adds the names given to `names`; @FILE stands for the names in FILE, one a line. Returns what is wrong, or nothing.
std::string readModelNames(const std::vector<std::string> &given, std::vector<std::string> &names,
                           const std::string &what = "models");

/// Adds to `options.binds` what the flags --bind say, which are NAME=FILE.npy. Files are opened here, and read when the
/// input's type is known, once. Exit code `usage` for text that is no NAME=FILE, a name given twice, a file that is not
/// there or, later, holds another type.
llvm::Error addBinds(const std::vector<std::string> &flags, ImportOptions &options);

} // namespace tutti::tool

#endif
