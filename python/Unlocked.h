// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What takes long is done without the interpreter's lock.
#pragma once

#include "Module.h"

namespace tutti::python {

/// Where threads stand that have given the lock away. Once the interpreter ends, it unwinds those that ask for the lock
/// again (Python below 3.14), which no C++ frame survives: they sleep instead, as those of 3.14 do.
class Unlocked {
public:
  Unlocked() : state(PyEval_SaveThread()) {}
  Unlocked(const Unlocked &) = delete;
  ~Unlocked();
  /// Called once, first.
  static void begin();
  /// Called when the interpreter begins to end, with the lock: returns when no thread asks for it any more.
  static void end();

private:
  PyThreadState *state;
};

/// Calls `work` without the lock.
template <typename Work> auto unlocked(Work work) {
  Unlocked unlocked;
  return work();
}

} // namespace tutti::python
