// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How launches are cut into tasks, and in which order these come.
#pragma once

#include "../../core/Call.h"

namespace tutti::rt {

/// The kernel ABI: args[i] is where the launch's i-th argument lies (for a per-member weight, a table of one pointer
/// per position of the active set), sizes[0] the length of the active set, then the program's other sizes; tasks begin
/// to end - 1 of a launch whose row tiles are `tile` rows, all of a member's before the next one's; `scratch` is the
/// thread's own.
using KernelFn = void (*)(void *const *args, const int64_t *sizes, int64_t tile, int64_t begin, int64_t end,
                          char *scratch);

/// Bytes of the second cache, which a core has for itself.
int64_t cacheBytes();

/// The rows of a task: of all multiples of the quantum up to the most that the launch allows, the one that keeps
/// `threads` threads busy for the shortest time. Speed only: kernels compute the same bits for every tile.
int64_t chooseTile(const fb::Launch &launch, int64_t rows, int64_t members, uint32_t threads);

/// A launch, and its tasks in a call.
struct LaunchTasks {
  void *const *args;
  const int64_t *sizes;
  KernelFn kernel;
  uint32_t step; ///< whose launches are one list of tasks
  uint32_t members;
  int64_t tile, tasks;
  bool byRows;                         ///< all members of some rows come before the next rows
  bool runs;                           ///< now, in this piece
  int64_t stripTile[2], stripTasks[2]; ///< in strips, of the last of a member behind others

  /// For so many members of the launch's set; `cache`: cacheBytes().
  void choose(const Call &call, uint32_t launch, uint32_t members, const int64_t *sizes, uint32_t threads,
              int64_t cache);
  /// Tasks `begin` to `end` in their order.
  void run(int64_t begin, int64_t end, char *scratch) const;
};

/// The tasks of a step's launches as one list, round by round: a member of each launch, then the next. Launches of few
/// rows wait for memory and those of many do not, so one thread computes while another waits; launch by launch all
/// threads would wait at once. One thread goes launch by launch.
class StepTasks {
public:
  StepTasks(const LaunchTasks *first, const LaunchTasks *last, uint32_t threads);

  int64_t count = 0;
  /// Tasks `begin` to `end` of the list.
  void run(int64_t begin, int64_t end, char *scratch) const;

private:
  /// The tasks of a launch, or of all, that are of the rounds before this one.
  int64_t before(const LaunchTasks &l, int64_t round) const { return l.runs ? l.tasks * round / rounds : 0; }
  int64_t before(int64_t round) const;

  static constexpr uint32_t mostRounds = 1 << 16; // of 2^31 tasks at most
  const LaunchTasks *first, *last;
  int64_t rounds = 1;
};

} // namespace tutti::rt
