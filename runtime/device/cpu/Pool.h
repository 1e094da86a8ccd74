// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A team of threads that runs tasks numbered 0 to n-1: fork, work, steal, join.
#pragma once

#include "../../core/Memory.h"

#include <atomic>
#include <cstdint>
#include <pthread.h>

namespace tutti::rt {

/// Each thread starts on a fixed share of the tasks, so that the same thread meets the same data call after call, and
/// then takes from the end of the others' shares. The caller is thread 0. A worker that does not come in time is not
/// waited for: the caller then does its share. Idle workers spin for a while before they sleep.
class Pool {
public:
  /// Runs tasks begin .. end-1. Called by several threads at once, with disjoint ranges.
  using Work = void (*)(void *context, uint32_t thread, int64_t begin, int64_t end);

  Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool();

  /// Starts threads - 1 workers; false, with errno set, when one could not be started. Once only.
  [[nodiscard]] bool start(uint32_t threads);

  /// Runs `tasks` < 2^31 tasks and returns when all are done. One caller at a time. Each thread has a share of
  /// its own, the same in each call, so that what its tasks read stays in its caches; but tasks of unequal length
  /// (`even` is false) are one list, which all threads go through from the front.
  void run(int64_t tasks, Work work, void *context, bool even = true);

  /// In a child of fork() there are no workers to wait for: forgets them.
  void abandon() { started = 0; }

private:
  struct alignas(64) Share {
    std::atomic<uint64_t> range{0}; ///< first task | task after the last << 32
  };
  struct Worker {
    Pool *pool;
    uint32_t index;
    pthread_t handle;
  };

  static void *enter(void *worker);
  void serve(uint32_t index);
  bool await(uint64_t &job);
  void takeAll(uint32_t self);
  bool take(Share &share, bool own, int64_t &begin, int64_t &end);
  void join();

  // The gate is the whole protocol. Low half: workers inside. High half: number of the job * 2 + (1 while it is open).
  // A worker comes in by compare-and-swap against an open gate, so nobody can be inside when the next job is written.
  alignas(64) std::atomic<uint64_t> gate{0};
  alignas(64) std::atomic<uint32_t> parked{0};
  std::atomic<uint32_t> callerWaits{0};
  std::atomic<bool> stop{false};

  alignas(64) Work work = nullptr; ///< of the open job, as the next two
  void *context = nullptr;
  uint32_t sharers = 0;

  uint32_t threads = 1;
  uint32_t started = 0;
  Array<Worker> workers;
  Share *shares = nullptr;
};

} // namespace tutti::rt
