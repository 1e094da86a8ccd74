// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector clocks of a block.
#include "Clocks.h"

#include <algorithm>
#include <bit>

namespace tutti::emulated {

void Clocks::beginBlock(uint32_t number) {
  numThreads = number;
  if (threads.size() < number)
    threads.resize(number);
  firstEpoch = ++epoch;
}

void Clocks::barrier() { ++epoch; }

/// What a thread knows, begun anew where it is of an earlier epoch.
Knowledge &Clocks::of(uint32_t thread) {
  Knowledge &known = threads[thread];
  if (known.epoch != epoch || known.times.size() < numThreads) {
    known.times.assign(numThreads, 0);
    known.epoch = epoch;
    known.warps = 1u << thread / 32;
    known.times[thread] = 1;
  }
  return known;
}

void Clocks::add(Knowledge &to, const Knowledge &from) {
  if (from.epoch != epoch)
    return; // a barrier of all has said it since
  if (to.epoch != epoch || to.times.size() < numThreads) {
    to.times.assign(numThreads, 0);
    to.epoch = epoch;
    to.warps = 0;
  }
  to.warps |= from.warps;
  for (uint32_t warps = from.warps; warps; warps &= warps - 1) {
    uint32_t first = std::countr_zero(warps) * 32, last = std::min(first + 32, numThreads);
    for (uint32_t i = first; i < last; ++i)
      to.times[i] = std::max(to.times[i], from.times[i]);
  }
}

void Clocks::meet(std::span<const uint32_t> who) {
  Knowledge all;
  for (uint32_t thread : who)
    add(all, of(thread));
  for (uint32_t thread : who) {
    add(of(thread), all);
    ++threads[thread].times[thread];
  }
}

void Clocks::release(uint32_t thread, Knowledge &into) {
  add(into, of(thread));
  ++threads[thread].times[thread];
}

void Clocks::acquire(uint32_t thread, const Knowledge &from) { add(of(thread), from); }

Stamp Clocks::now(uint32_t thread) { return {epoch, thread, of(thread).times[thread]}; }

bool Clocks::ordered(const Stamp &stamp, uint32_t thread) {
  return stamp.epoch != epoch || stamp.thread == thread || of(thread).times[stamp.thread] >= stamp.time;
}

} // namespace tutti::emulated
