// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What takes long is done without the interpreter's lock.
#include "Unlocked.h"

#include <atomic>
#include <pthread.h>
#include <unistd.h>

namespace tutti::python {

static std::atomic<bool> ending = false;
static std::atomic<int> asking = 0; ///< threads that wait for the lock
static pthread_t finisher;          ///< the thread that ends the interpreter

Unlocked::~Unlocked() {
  ++asking;
  // Said after it is counted: either end() waits for it, or it sees that there is no way back.
  if (ending && !pthread_equal(pthread_self(), finisher)) {
    --asking;
    for (;;)
      pause();
  }
  PyEval_RestoreThread(state);
  --asking;
}

void Unlocked::begin() {
  // In a child of fork() there is the thread that forked alone, which has the lock.
  pthread_atfork(nullptr, nullptr, [] { asking = 0; });
}

void Unlocked::end() {
  finisher = pthread_self();
  ending = true;
  PyThreadState *state = PyEval_SaveThread();
  while (asking > 0)
    usleep(100);
  PyEval_RestoreThread(state);
}

} // namespace tutti::python
