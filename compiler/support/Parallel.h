// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work on several threads, as many as the system gives.
#ifndef TUTTI_COMPILER_SUPPORT_PARALLEL_H
#define TUTTI_COMPILER_SUPPORT_PARALLEL_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace tutti {

/// Calls `work` once with each number below `count`, on at most `jobs` threads (0: one a core), the caller's among
/// them; returns when all are done. Numbers are begun in order. If the system provides fewer threads, fewer are used;
/// LLVM's pool and std::async would end the process.
void inParallel(size_t count, unsigned jobs, llvm::function_ref<void(size_t)> work);

} // namespace tutti

#endif
