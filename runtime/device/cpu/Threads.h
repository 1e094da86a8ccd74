// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many threads a process can use.
#pragma once

#include <cstdint>

namespace tutti::rt {

/// One for each CPU that this process may use: by its affinity, and the quota of its cgroup in whole CPUs. At least 1,
/// at most kMaxThreads.
uint32_t defaultThreads();

} // namespace tutti::rt
