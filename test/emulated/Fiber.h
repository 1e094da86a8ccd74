// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of a block as fibers: a stack each, and a switch that saves what a call must keep.
#ifndef TUTTI_TEST_EMULATED_FIBER_H
#define TUTTI_TEST_EMULATED_FIBER_H

#include <cstddef>
#include <vector>

namespace tutti::emulated {

/// Where a fiber that does not run goes on: its stack pointer.
using FiberState = void *;

/// Saves the running fiber in `from` and goes on with `to`.
extern "C" void tuttiSwitchFiber(FiberState *from, FiberState to);

/// Stacks for as many fibers as were ever needed at once, each above a page that traps.
class FiberStacks {
public:
  ~FiberStacks();
  /// A fiber on stack `index` that starts in `entry`, which must not return.
  FiberState prepare(size_t index, void (*entry)());
  /// Whether the address lies in the page below a stack.
  bool overflowed(const void *address) const;

private:
  std::vector<char *> stacks;
};

} // namespace tutti::emulated

#endif
