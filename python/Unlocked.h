// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What takes long is done without the interpreter's lock.
#pragma once

#include "Module.h"

namespace tutti::python {

/// Where threads stand that have given the lock away. Once the interpreter has ended, it unwinds those that ask for
/// the lock again (Python below 3.14), which the frames that called this do not survive: they sleep for ever instead,
/// as those of 3.14 do.
class Unlocked {
public:
  Unlocked() : state(PyEval_SaveThread()) {}
  Unlocked(const Unlocked &) = delete;
  ~Unlocked();

private:
  PyThreadState *state;
};

/// Calls `work` without the lock.
template <typename Work> auto unlocked(Work work) {
  Unlocked unlocked;
  return work();
}

} // namespace tutti::python
