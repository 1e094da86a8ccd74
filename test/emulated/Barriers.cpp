// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of a block, and what the lanes of a warp do together.
#include "Launcher.h"

#include <algorithm>
#include <cstring>

namespace tutti::emulated {

void Launcher::barrier(int id, int number, bool arriveOnly, Where where) {
  NamedBarrier &barrier = block.barriers[id];
  uint32_t expected = number ? number : numThreads;
  if (expected > numThreads || (number && number % 32))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "barrier " + std::to_string(id) + " counts " + std::to_string(number) + " threads of a block of " +
                 std::to_string(numThreads) + ": expected a multiple of 32, at most the block",
             where);
  if (!barrier.arrived) {
    barrier.expected = expected;
    barrier.where = where;
    barrier.everyoneWaits = true;
    barrier.knowledge.epoch = 0;
  }
  if (barrier.expected != expected)
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "barrier " + std::to_string(id) + " counts " + std::to_string(expected) + " threads here and " +
                 std::to_string(barrier.expected) + " at line " + std::to_string(barrier.where.line),
             where);
  if (!number && (barrier.where.line != where.line || strcmp(barrier.where.file, where.file)))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             std::string("the block's threads part: this one comes to the __syncthreads() of this line, another waits "
                         "at the one of ") +
                 barrier.where.file + ":" + std::to_string(barrier.where.line),
             where);
  ++barrier.arrived;
  barrier.everyoneWaits &= !arriveOnly;
  bool whole = barrier.everyoneWaits && expected == numThreads;
  if (number || !whole)
    block.shadow.clocks.release(running, barrier.knowledge);
  if (barrier.arrived < barrier.expected) {
    if (arriveOnly)
      return;
    barrier.waiting.push_back(running);
    return wait(number ? "a named barrier" : "__syncthreads()", where);
  }
  std::vector<uint32_t> met;
  met.swap(barrier.waiting);
  barrier.arrived = 0;
  if (whole)
    block.shadow.clocks.barrier();
  for (uint32_t thread : met) {
    if (!whole)
      block.shadow.clocks.acquire(thread, barrier.knowledge);
    wake(thread);
  }
  if (arriveOnly)
    return;
  if (!whole)
    block.shadow.clocks.acquire(running, barrier.knowledge);
  yield();
}

void Launcher::warp(uint32_t mask, void *operand, Combine combine, bool orders, const char *what, Where where) {
  Thread &self = threads[running];
  if (!(mask >> running % 32 & 1))
    failHere(CUDA_ERROR_LAUNCH_FAILED, std::string(what) + ": the mask does not name the thread that calls it", where);
  self.combine = combine;
  self.mask = mask;
  self.operand = operand;
  self.orders = orders;
  self.what = what;
  self.where = where;
  self.status = Thread::Status::waiting;
  tryWarp(running / 32 * 32);
  // Awake already: let the others have their turn all the same.
  tuttiSwitchFiber(&self.fiber, scheduler);
}

/// Runs the warp-wide instructions that all their lanes have come to.
void Launcher::tryWarp(uint32_t first) {
  uint32_t last = std::min(first + 32, numThreads);
  for (uint32_t i = first; i < last; ++i) {
    Thread &leader = threads[i];
    if (leader.status != Thread::Status::waiting || !leader.combine)
      continue;
    uint32_t lanes = 0;
    bool complete = true;
    void *operands[32] = {};
    for (uint32_t j = first; j < last; ++j) {
      const Thread &other = threads[j];
      if (!(leader.mask >> (j - first) & 1) || other.status == Thread::Status::returned)
        continue;
      complete &= other.status == Thread::Status::waiting && other.combine == leader.combine && other.mask == leader.mask &&
                  !strcmp(other.what, leader.what);
      lanes |= 1u << (j - first);
      operands[j - first] = other.operand;
    }
    if (!complete)
      continue;
    leader.combine(operands, lanes, leader.where);
    std::vector<uint32_t> met;
    for (uint32_t j = first; j < last; ++j)
      if (lanes >> (j - first) & 1) {
        threads[j].combine = nullptr;
        met.push_back(j);
        wake(j);
      }
    if (leader.orders)
      block.shadow.clocks.meet(met);
  }
}

} // namespace tutti::emulated
