// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a tool ends.
#ifndef TUTTI_TOOLS_COMMON_END_H
#define TUTTI_TOOLS_COMMON_END_H

#include "runtime/support/Exit.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tutti::tool {

/// What a tool returns from main in place of `code`: that of an output that cannot be written, once it has said so,
/// where all was right but for what it printed.
inline int endOf(const char *tool, int code) {
  bool gone = std::fflush(stdout) != 0;
  if ((!gone && !std::ferror(stdout)) || code != int(rt::ExitCode::ok))
    return code;
  std::fprintf(stderr, "%s: error: cannot write to stdout: %s\n", tool,
               gone ? std::strerror(errno) : "an earlier write failed"); // whose reason is no longer known
  return int(rt::ExitCode::resource);
}

} // namespace tutti::tool

#endif
