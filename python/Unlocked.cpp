// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way back to the interpreter's lock, or none.
#include "Unlocked.h"

#include <unistd.h>

namespace tutti::python {

Unlocked::~Unlocked() {
  try {
    PyEval_RestoreThread(state);
  } catch (...) { // pthread_exit()'s way up: handled as long as nothing leaves this
    for (;;)
      pause();
  }
}

} // namespace tutti::python
