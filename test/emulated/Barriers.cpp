// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of a block and of a cluster, and what the lanes of a warp do together.
#include "Launcher.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tutti::emulated {

void Launcher::barrier(int id, int number, Where where) {
  if (id < 0 || size_t(id) >= here().barriers.size() || (id == 0) != (number == 0))
    failHere(CUDA_ERROR_LAUNCH_FAILED, "barrier " + std::to_string(id) + ": expected 1 to 15", where);
  NamedBarrier &barrier = here().barriers[id];
  Clocks &clocks = here().clocks;
  uint32_t expected = number ? number : numThreads;
  if (expected > numThreads || (number && number % 32))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "barrier " + std::to_string(id) + " counts " + std::to_string(number) + " threads of a block of " +
                 std::to_string(numThreads) + ": expected a multiple of 32, at most the block",
             where);
  if (!barrier.arrived) {
    barrier.expected = expected;
    barrier.where = where;
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
  std::vector<uint32_t> others; // who comes with this thread
  if (number) {                 // a warp comes when all its threads have (PTX ISA, "barrier")
    std::vector<uint32_t> &warp = barrier.warps[running / 32];
    if (warp.size() + 1 < std::min(32u, numThreads - own() / 32 * 32)) {
      warp.push_back(running);
      return wait("a named barrier", where);
    }
    others.swap(warp);
  }
  barrier.arrived += 1 + uint32_t(others.size());
  bool whole = expected == numThreads;
  if (number || !whole) {
    clocks.release(own(), barrier.knowledge);
    for (uint32_t thread : others)
      clocks.release(thread % stride, barrier.knowledge);
  }
  barrier.waiting.insert(barrier.waiting.end(), others.begin(), others.end());
  if (barrier.arrived < barrier.expected) {
    barrier.waiting.push_back(running);
    return wait(number ? "a named barrier" : "__syncthreads()", where);
  }
  std::vector<uint32_t> met;
  met.swap(barrier.waiting);
  barrier.arrived = 0;
  if (whole)
    clocks.barrier();
  for (uint32_t thread : met) {
    if (!whole)
      clocks.acquire(thread % stride, barrier.knowledge);
    wake(thread);
  }
  if (!whole)
    clocks.acquire(own(), barrier.knowledge);
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
  tryToMeet(running);
  // Awake already: let the others have their turn all the same.
  tuttiSwitchFiber(&self.fiber, scheduler);
}

/// Runs the warp-wide instruction that a thread waits at, if all its lanes have come to it.
void Launcher::tryToMeet(uint32_t thread) {
  const Thread &self = threads[thread];
  uint32_t first = thread / 32 * 32, last = std::min(first + 32, first / stride * stride + numThreads);
  uint32_t lanes = 0;
  for (uint32_t i = first; i < last; ++i) {
    const Thread &other = threads[i];
    if (!(self.mask >> (i - first) & 1) || other.status == Thread::Status::returned)
      continue;
    if (other.status != Thread::Status::waiting || other.combine != self.combine || other.mask != self.mask ||
        (other.what != self.what && strcmp(other.what, self.what)))
      return;
    lanes |= 1u << (i - first);
  }
  void *operands[32] = {};
  std::vector<uint32_t> met;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t lane = uint32_t(std::countr_zero(rest));
    operands[lane] = threads[first + lane].operand;
    met.push_back((first + lane) % stride);
  }
  const Thread &leader = threads[first + uint32_t(std::countr_zero(lanes))];
  leader.combine(operands, lanes, leader.where);
  bool orders = leader.orders;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t i = first + uint32_t(std::countr_zero(rest));
    threads[i].combine = nullptr;
    wake(i);
  }
  if (orders)
    blockOf(first).clocks.meet(met);
}

void Launcher::clusterArrive(bool orders, Where where) {
  Thread &self = threads[running];
  ClusterPart &part = here().cluster;
  if (self.arrivals != self.waits)
    failHere(CUDA_ERROR_LAUNCH_FAILED, "a second arrival at the cluster's barrier without a wait between them", where);
  if (part.phase > cluster.phase && (part.where.line != where.line || strcmp(part.where.file, where.file)))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "the block's threads part: this one comes to the cluster's barrier at this line, another at " +
                 print(part.where),
             where);
  if (cluster.orders.value_or(orders) != orders)
    failHere(CUDA_ERROR_LAUNCH_FAILED, "the cluster's threads part: some arrivals of a phase are relaxed", where);
  cluster.orders = orders;
  uint32_t epoch = here().clocks.presentEpoch();
  part.firstEpoch = part.phase > cluster.phase ? std::min(part.firstEpoch, epoch) : epoch;
  part.where = where;
  part.phase = ++self.arrivals;
  if (orders) {
    ++self.releases;
    here().clocks.release(own(), part.arrived);
  }
  if (--cluster.missing == 0)
    endPhase();
  yield();
}

void Launcher::clusterWait(Where where) {
  Thread &self = threads[running];
  if (self.arrivals == self.waits)
    failHere(CUDA_ERROR_LAUNCH_FAILED, "a wait at the cluster's barrier without an arrival before", where);
  if (cluster.phase < self.arrivals) {
    cluster.waiting.push_back(running);
    wait("the cluster's barrier", where);
  } else {
    yield();
  }
  self.waits = self.arrivals;
  self.ordered = self.releases;
  here().clocks.acquire(own(), here().cluster.over);
  std::vector<uint32_t> peers(clusterSize);
  for (uint32_t rank = 0; rank < clusterSize; ++rank)
    peers[rank] = blocks[rank]->cluster.overEpoch;
  here().clocks.learn(own(), self.waits, self.ordered, peers);
}

void Launcher::endPhase() {
  ++cluster.phase;
  cluster.orders.reset();
  cluster.missing = cluster.live;
  for (uint32_t rank = 0; rank < clusterSize; ++rank) {
    ClusterPart &part = blocks[rank]->cluster;
    blocks[rank]->clocks.add(part.arrived, part.over);
    part.arrived.epoch = 0;
    part.overEpoch = part.firstEpoch;
  }
  std::vector<uint32_t> met;
  met.swap(cluster.waiting);
  for (uint32_t thread : met)
    wake(thread);
}

/// A thread has returned; the last one of its block takes the block's memory with it.
void Launcher::leaveCluster(uint32_t thread) {
  Block &block = blockOf(thread);
  --cluster.live;
  if (threads[thread].arrivals == cluster.phase && --cluster.missing == 0 && cluster.live)
    endPhase();
  if (++block.numReturned < numThreads)
    return;
  endMbarriers(block);
  uint32_t known = 0;
  for (uint32_t i = 0; i < numThreads; ++i)
    known = std::max(known, threads[block.rank * stride + i].ordered);
  for (const Mark &access : block.peers)
    if (access.file && access.arrivals >= known)
      return failAt(access.rank * stride + access.thread(), CUDA_ERROR_ILLEGAL_ADDRESS,
                    "an access to shared memory of block " + print(block.index) +
                        ", which may have ended by then: no barrier of the cluster lies between",
                    Where{access.file, access.line});
}

} // namespace tutti::emulated
