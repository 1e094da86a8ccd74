// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector clocks of a block.
#include "Clocks.h"

#include <algorithm>
#include <bit>

namespace tutti::emulated {

void Clocks::beginBlock(uint32_t number, uint32_t first) {
  numThreads = number;
  if (threads.size() < number)
    threads.resize(number);
  epoch = first;
  for (Knowledge &known : threads)
    known.phases = known.meetings = 0, known.peers.clear();
  hasPhases = false;
}

void Clocks::barrier() {
  ++epoch;
  if (!hasPhases)
    return;
  Knowledge all;
  for (uint32_t i = 0; i < numThreads; ++i)
    addOfCluster(threads[i], all);
  for (uint32_t i = 0; i < numThreads; ++i)
    addOfCluster(all, threads[i]);
}

void Clocks::addOfCluster(const Knowledge &from, Knowledge &into) {
  into.meetings = std::max(into.meetings, from.meetings);
  into.phases = std::max(into.phases, from.phases);
  tell(from.peers, into);
}

void Clocks::tell(const std::vector<uint32_t> &peers, Knowledge &into) {
  if (into.peers.size() < peers.size())
    into.peers.resize(peers.size());
  for (size_t rank = 0; rank < peers.size(); ++rank)
    into.peers[rank] = std::max(into.peers[rank], peers[rank]);
}

std::vector<uint32_t> Clocks::toTell(uint32_t thread, uint32_t rank) {
  std::vector<uint32_t> peers = of(thread).peers;
  peers.resize(std::max<size_t>(peers.size(), rank + 1));
  peers[rank] = epoch;
  return peers;
}

void Clocks::learn(uint32_t thread, uint32_t meetings, uint32_t phases, const std::vector<uint32_t> &peers) {
  Knowledge &known = of(thread);
  known.meetings = std::max(known.meetings, meetings);
  tell(peers, known);
  known.phases = std::max(known.phases, phases);
  hasPhases = true;
}

void Clocks::begin(Knowledge &knowledge) {
  knowledge.times.assign(numThreads, 0);
  knowledge.epoch = epoch;
  knowledge.warps = knowledge.copies = 0;
}

/// What a thread knows, begun anew where it is of an earlier epoch.
Knowledge &Clocks::of(uint32_t thread) {
  Knowledge &known = threads[thread];
  if (known.epoch != epoch || known.times.size() < numThreads) {
    begin(known);
    known.warps = 1u << thread / 32;
    known.times[thread] = 1;
  }
  return known;
}

void Clocks::add(const Knowledge &from, Knowledge &into) {
  if (from.epoch != epoch)
    return; // a barrier of all has said it since
  if (into.epoch != epoch || into.times.size() < numThreads)
    begin(into);
  into.warps |= from.warps;
  into.copies = std::max(into.copies, from.copies);
  addOfCluster(from, into);
  for (uint32_t warps = from.warps; warps; warps &= warps - 1) {
    uint32_t first = std::countr_zero(warps) * 32, last = std::min(first + 32, numThreads);
    for (uint32_t i = first; i < last; ++i)
      into.times[i] = std::max(into.times[i], from.times[i]);
  }
}

void Clocks::meet(std::span<const uint32_t> who) {
  Knowledge all;
  for (uint32_t thread : who)
    add(of(thread), all);
  for (uint32_t thread : who) {
    add(all, of(thread));
    advance(thread);
  }
}

void Clocks::release(uint32_t thread, Knowledge &into) {
  add(of(thread), into);
  advance(thread);
}

void Clocks::acquire(uint32_t thread, const Knowledge &from) { add(from, of(thread)); }

Stamp Clocks::now(uint32_t thread) { return {epoch, thread, of(thread).times[thread]}; }

Stamp Clocks::copied(uint32_t thread, Knowledge &into) {
  if (into.epoch != epoch || into.times.size() < numThreads)
    begin(into);
  into.copies = ++copies;
  return {epoch, thread | Stamp::byCopies, copies};
}

bool Clocks::holds(const Knowledge &known, uint32_t epoch, const Stamp &stamp) {
  if (stamp.epoch != epoch)
    return stamp.epoch < epoch;
  uint32_t thread = stamp.thread & ~Stamp::byCopies;
  return (stamp.thread != thread ? known.copies : known.times[thread]) >= stamp.time;
}

bool Clocks::ordered(const Stamp &stamp, uint32_t thread) {
  return stamp.epoch != epoch || stamp.thread == thread || holds(of(thread), epoch, stamp);
}

} // namespace tutti::emulated
