// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that take the next piece of work until there is none.
#include "Parallel.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Threading.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>

namespace tutti {

namespace {

struct Queue {
  size_t count;
  llvm::function_ref<void(size_t)> work;
  std::atomic<size_t> next = 0;

  void drain() {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      work(i);
  }
};

} // namespace

void inParallel(size_t count, unsigned jobs, llvm::function_ref<void(size_t)> work) {
  Queue queue{count, work};
  size_t threads = std::min<size_t>(count, llvm::hardware_concurrency(jobs).compute_thread_count());
  llvm::SmallVector<pthread_t> others;
  // As much as a process' first thread has by default: else it would be the processor's 2 MiB where that has no limit.
  constexpr size_t stackBytes = 8 << 20;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  while (others.size() + 1 < threads) {
    pthread_t thread;
    auto drain = [](void *shared) -> void * {
      static_cast<Queue *>(shared)->drain();
      return nullptr;
    };
    if (pthread_create(&thread, &attributes, drain, &queue) != 0)
      break;
    others.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  queue.drain();
  for (pthread_t thread : others)
    pthread_join(thread, nullptr);
}

} // namespace tutti
