// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has to know a child of fork() from its parent: threads, and the locks that they hold, do not come along.
#pragma once

#include "Memory.h"

#include <atomic>
#include <pthread.h>
#include <sys/types.h>

namespace tutti::rt {

/// Tells a child of fork() from its parent: a page that reads 1, and 0 in the child. Cheaper to ask than the process
/// id.
class ForkGuard {
public:
  [[nodiscard]] bool build() {
    if (!page.allocate(1))
      return false;
    *page.data() = 1;
    if (madvise(page.data(), page.size(), MADV_WIPEONFORK) != 0)
      pid = getpid();
    return true;
  }
  bool forked() const { return pid ? getpid() != pid : page.data() && *page.data() == 0; }

private:
  Mapping page;
  int pid = 0; ///< 0 when the page tells
};

/// A mutex that a child of fork() may lock, too, in vain if its holder is a thread that did not come along.
class ForkMutex {
public:
  /// False in a child where nobody will ever give it back.
  [[nodiscard]] bool lock() {
    pid_t own = getpid();
    if (own == process)
      pthread_mutex_lock(&mutex);
    else if (!lockInChild(own))
      return false;
    holder.store(own, std::memory_order_relaxed);
    return true;
  }
  void unlock() { pthread_mutex_unlock(&mutex); }

private:
  /// A thread of the child's own says that it has the lock a moment after it has taken it.
  bool lockInChild(pid_t own) {
    for (int tries = 0; tries < 20; ++tries) {
      if (pthread_mutex_trylock(&mutex) == 0)
        return true;
      if (holder.load(std::memory_order_relaxed) == own)
        return pthread_mutex_lock(&mutex) == 0;
      usleep(1000);
    }
    return false;
  }

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const pid_t process = getpid(); ///< that made it
  std::atomic<pid_t> holder{0};   ///< the process that had the lock last, or has it
};

} // namespace tutti::rt
