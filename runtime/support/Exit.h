// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tools exit with.
#pragma once

namespace tutti::rt {

/// Exit codes (DESIGN, "Errors"), which are the classes of a tutti_status_t, too: status >> 8.
enum class ExitCode : int {
  ok = 0,
  differs = 1,     ///< results that are compared are not within their bounds
  usage = 2,       ///< a file that is not there, a name or a value that does not fit
  malformed = 3,   ///< contents that are damaged
  unsupported = 4, ///< well-formed, and more than we can do
  device = 5,      ///< no device, no driver
  resource = 6,    ///< memory, disk
  trust = 7,       ///< a file that reaches out of its folder
  internal = 70,   ///< our own mistake
};

} // namespace tutti::rt
