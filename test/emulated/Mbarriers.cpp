// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers, and the copies that they count. A copy comes as late as it may: when a thread waits for nothing else.
#include "Launcher.h"

#include <algorithm>
#include <cstring>

namespace tutti::emulated {

static std::string madeAt(const Mbarrier &mbarrier) { return "the mbarrier of " + print(mbarrier.where); }

void Launcher::initMbarrier(uint32_t offset, int64_t count, Where where) {
  Block &block = here();
  checkNoMbarrier(block, offset, 8, "initialises", where);
  if (count < 1 || count > Mbarrier::most)
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "an mbarrier of " + std::to_string(count) + " arrivals: expected 1 to " + std::to_string(Mbarrier::most),
             where);
  checkConflict(block.shadow.access(Access::write, offset, 8, party(), where), "initialises", where);
  Mbarrier &made = block.mbarriers[offset];
  made.count = made.pending = uint32_t(count);
  made.made = block.clocks.now(own());
  made.where = where;
}

Mbarrier &Launcher::findMbarrier(const void *at, const char *name, Where where) {
  Block &block = here();
  auto found = block.mbarriers.find(checkShared(at, 8, 8, where));
  if (found == block.mbarriers.end())
    failHere(CUDA_ERROR_LAUNCH_FAILED, std::string(name) + " of an mbarrier that nobody has initialised", where);
  Mbarrier &mbarrier = found->second;
  if (!block.clocks.ordered(mbarrier.made, own()) && !isShown(mbarrier))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             std::string("a race: ") + name + " of an mbarrier that thread " + nameOf(block, mbarrier.made.thread) +
                 " initialises at " + print(mbarrier.where) + ", without a barrier between them",
             where);
  return mbarrier;
}

/// Whether the cluster's barrier has shown to the running thread that it is initialised, in whatever block.
bool Launcher::isShown(const Mbarrier &mbarrier) {
  return mbarrier.fenced && here().clocks.meetingsKnownTo(own()) > mbarrier.meetings;
}

/// Takes one arrival off; the caller settles.
void Launcher::arrive(Mbarrier &mbarrier, Where where) {
  if (mbarrier.pending == mbarrier.copyArrivals.size())
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "one arrival more than the " + std::to_string(mbarrier.count) + " that phase " +
                 std::to_string(mbarrier.phase) + " of " + madeAt(mbarrier) + " has",
             where);
  --mbarrier.pending;
}

void Launcher::mbarrier(MbarrierOperation operation, void *at, int64_t value, Where where) {
  switch (operation) {
  case MbarrierOperation::init:
    initMbarrier(checkShared(at, 8, 8, where), value, where);
    return;
  case MbarrierOperation::wait:
    wait(findMbarrier(at, "a wait", where), value, where);
    return;
  case MbarrierOperation::arrive:
  case MbarrierOperation::expect: {
    Mbarrier &mbarrier = findMbarrier(at, "an arrival", where);
    if (value < 0 || mbarrier.bytes + value > Mbarrier::most)
      failHere(CUDA_ERROR_LAUNCH_FAILED,
               madeAt(mbarrier) + " would expect " + std::to_string(mbarrier.bytes + value) + " bytes: at most " +
                   std::to_string(Mbarrier::most),
               where);
    arrive(mbarrier, where);
    mbarrier.bytes += value;
    here().clocks.release(own(), mbarrier.arrived);
    settle(here(), mbarrier, where);
    break;
  }
  case MbarrierOperation::arriveTimes: {
    Mbarrier &mbarrier = findMbarrier(at, "an arrival", where);
    for (int64_t i = 0; i < value; ++i)
      arrive(mbarrier, where);
    here().clocks.release(own(), mbarrier.arrived);
    settle(here(), mbarrier, where);
    break;
  }
  case MbarrierOperation::copyArrive:
  case MbarrierOperation::copyArriveToo: {
    Mbarrier &mbarrier = findMbarrier(at, "an arrival", where);
    if (operation == MbarrierOperation::copyArrive)
      arrive(mbarrier, where);
    ++mbarrier.pending; // until the copies have come
    mbarrier.copyArrivals.push_back({own(), threads[running].numCopies});
    settle(here(), mbarrier, where);
    break;
  }
  }
  yield();
}

void Launcher::wait(Mbarrier &mbarrier, int64_t parity, Where where) {
  if (parity != 0 && parity != 1)
    failHere(CUDA_ERROR_LAUNCH_FAILED, "a wait for a phase of parity " + std::to_string(parity) + ": expected 0 or 1",
             where);
  bool waited = false;
  // Like the instruction, which looks again and again, a thread may miss a phase: it looks when it is woken, and by
  // then the next one may have ended as well.
  while (int64_t(mbarrier.phase & 1) == parity) {
    Thread &self = threads[running];
    self.status = Thread::Status::waiting;
    self.what = "mbarrierWait()";
    self.where = where;
    mbarrier.waiting.push_back(running);
    settle(here(), mbarrier, where);
    tuttiSwitchFiber(&self.fiber, scheduler);
    waited = true;
  }
  here().clocks.acquire(own(), mbarrier.over);
  if (!waited)
    yield();
}

/// What nobody may touch before a wait comes while somebody waits.
void Launcher::land(Block &block, Mbarrier &mbarrier) {
  uint32_t waits = threads[mbarrier.waiting.front()].releases;
  auto releasesOf = [&](uint32_t thread) { return std::max(threads[block.rank * stride + thread].releases, waits); };
  for (const Mbarrier::CopyArrival &arrival : mbarrier.copyArrivals) {
    Stamp when = block.clocks.copied(arrival.thread, mbarrier.arrived);
    std::erase_if(threads[block.rank * stride + arrival.thread].copies, [&](const Copy &copy) {
      if (copy.number < arrival.copies)
        land(block, copy, when, releasesOf(arrival.thread));
      return copy.number < arrival.copies;
    });
  }
  mbarrier.pending = 0;
  mbarrier.copyArrivals.clear();
  for (const BulkCopy &copy : mbarrier.bulk) {
    memcpy(copy.to, copy.from, copy.bytes);
    Stamp when = block.clocks.copied(copy.thread, mbarrier.arrived);
    block.shadow.landCopy(copy.to - block.shared, copy.bytes, when, releasesOf(copy.thread));
    for (BulkCopy &source : block.sources)
      if (source.to == copy.to && !source.landed.epoch)
        source.landed = when;
    mbarrier.bytes -= copy.bytes;
  }
  mbarrier.bulk.clear();
  for (const AsyncStore &store : mbarrier.stores) {
    memcpy(store.to, store.value.data(), store.bytes);
    Stamp when = block.clocks.copied(store.thread, mbarrier.arrived);
    Clocks::tell(store.peers, mbarrier.arrived);
    block.shadow.landCopy(store.to - block.shared, store.bytes, when, waits);
    mbarrier.bytes -= store.bytes;
  }
  mbarrier.stores.clear();
}

/// Ends the phase if nothing is missing, and lets copies and stores come if nothing else is.
void Launcher::settle(Block &block, Mbarrier &mbarrier, Where where) {
  if (mbarrier.pending == mbarrier.copyArrivals.size() && !mbarrier.waiting.empty())
    land(block, mbarrier);
  if (mbarrier.pending || mbarrier.bytes)
    return;
  if (!mbarrier.bulk.empty()) {
    const BulkCopy &copy = mbarrier.bulk.front();
    failAt(block.rank * stride + copy.thread, CUDA_ERROR_LAUNCH_FAILED,
           "phase " + std::to_string(mbarrier.phase) + " of " + madeAt(mbarrier) + " ends at " + print(where) +
               " while this copy of " + std::to_string(copy.bytes) + " bytes is in flight, which nobody expects",
           copy.where);
    abandon();
  }
  if (!mbarrier.stores.empty()) {
    const AsyncStore &store = mbarrier.stores.front();
    failAt(store.rank * stride + store.thread, CUDA_ERROR_LAUNCH_FAILED,
           "phase " + std::to_string(mbarrier.phase) + " of " + madeAt(mbarrier) + " ends at " + print(where) +
               " while this store is in flight, which nobody expects",
           store.where);
    abandon();
  }
  ++mbarrier.phase;
  mbarrier.pending = mbarrier.count;
  block.clocks.add(mbarrier.arrived, mbarrier.over);
  mbarrier.arrived.epoch = 0;
  std::vector<uint32_t> met;
  met.swap(mbarrier.waiting);
  for (uint32_t thread : met)
    wake(thread);
}

void Launcher::copyBulk(void *to, const void *from, uint32_t bytes, void *at, Where where) {
  Block &block = here();
  uint32_t offset = checkShared(to, bytes, 16, where);
  view(Space::global, from, bytes, 16, where);
  Mbarrier &mbarrier = findMbarrier(at, "a copy", where);
  if (!mbarrier.fenced)
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "a copy in bulk counts on " + madeAt(mbarrier) + ", which no mbarrierInitFence() followed", where);
  if (!bytes)
    return;
  int64_t unexpected = bytes - mbarrier.bytes;
  for (const BulkCopy &copy : mbarrier.bulk)
    unexpected += copy.bytes;
  if (unexpected > Mbarrier::most)
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             std::to_string(unexpected) + " bytes may come to " + madeAt(mbarrier) +
                 " before they are expected: at most " + std::to_string(Mbarrier::most),
             where);
  checkNoMbarrier(block, offset, bytes, "copies to", where);
  if (written.contains(reinterpret_cast<uint64_t>(from), bytes))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "a copy in bulk from global memory that this launch has written by ordinary means, without a fence "
             "between the two "
             "proxies",
             where);
  auto unfenced = findUnfenced(block, offset, bytes, /*reads=*/true);
  checkConflict(block.shadow.startCopy(offset, bytes, party(), true, where), "copies in bulk to", where);
  checkFenced(unfenced, "a copy in bulk to", where);
  BulkCopy copy = {static_cast<unsigned char *>(to), static_cast<const unsigned char *>(from), bytes, own(), where};
  mbarrier.bulk.push_back(copy);
  std::erase_if(block.sources, [&](const BulkCopy &source) {
    return source.landed.epoch && source.landed.epoch < block.clocks.presentEpoch();
  });
  block.lowest = block.sources.empty() ? copy.from : std::min(block.lowest, copy.from);
  block.highest = std::max(block.sources.empty() ? copy.from : block.highest, copy.from + bytes);
  block.sources.push_back(copy);
  settle(here(), mbarrier, where);
  yield();
}

void Launcher::proxyFence(bool inits) {
  Clocks &clocks = here().clocks;
  ProxyFence &fence = threads[running].fence;
  Stamp now = clocks.now(own());
  if (fence.epoch != now.epoch && !fence.times.empty()) {
    fence.before = {fence.epoch, own(), fence.times.back()};
    fence.times.clear();
  }
  fence.epoch = now.epoch;
  fence.known = clocks.known(own());
  fence.times.push_back(now.time);
  clocks.advance(own());
  for (auto &[offset, mbarrier] : here().mbarriers)
    if (inits && !mbarrier.fenced && mbarrier.made.thread == own()) {
      mbarrier.fenced = true;
      mbarrier.meetings = threads[running].arrivals;
    }
}

void Launcher::storeAsync(void *to, const void *value, uint32_t bytes, void *at, Where where) {
  static constexpr const char *verb = "stores asynchronously to";
  auto [holder, offset] = findShared(to, bytes, bytes, where);
  auto [counter, place] = findShared(at, 8, 8, where);
  if (holder != counter)
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS, "an mbarrier of another block than the one that is stored to", where);
  checkRuns(*holder, verb, where);
  auto found = holder->mbarriers.find(place);
  if (found == holder->mbarriers.end() || !isShown(found->second))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "a store counts on an mbarrier that is not known to be initialised: an mbarrierInitFence() and then a "
             "barrier of the cluster have to lie between",
             where);
  checkNoMbarrier(*holder, offset, bytes, verb, where);
  checkConflict(holder->shadow.startCopy(offset, bytes, party(), false, where), verb, where);
  AsyncStore store = {static_cast<unsigned char *>(to),        {}, bytes, here().rank, own(), where,
                      here().clocks.toTell(own(), here().rank)};
  memcpy(store.value.data(), value, bytes);
  found->second.stores.push_back(store);
  settle(*holder, found->second, where);
  yield();
}

/// Whether a fence stands between an ordinary access and the running thread: its own, or that of the thread that
/// accessed.
bool Launcher::isFenced(const Mark &mark) {
  const ProxyFence &own = threads[running].fence;
  if (mark.rank != here().rank) // of another block: only one's own fence, behind the barrier that orders both
    return own.epoch && own.known.phases > mark.arrivals;
  if (Clocks::holds(own.known, own.epoch, mark.stamp))
    return true;
  const ProxyFence &theirs = threads[here().rank * stride + mark.thread()].fence;
  auto stands = [&](const Stamp &fence) {
    bool follows = fence.epoch > mark.stamp.epoch || (fence.epoch == mark.stamp.epoch && fence.time >= mark.stamp.time);
    return fence.epoch && follows && here().clocks.ordered(fence, this->own());
  };
  return stands(theirs.before) || std::any_of(theirs.times.begin(), theirs.times.end(), [&](uint32_t time) {
           return stands({theirs.epoch, mark.thread(), time});
         });
}

/// Of what the block's memory was last used for by ordinary means, the first access without a fence between it and the
/// running thread's, which is by the asynchronous proxy. Of a read only what was written before counts.
std::optional<Conflict> Launcher::findUnfenced(const Block &block, uint32_t offset, uint32_t bytes, bool reads) {
  return block.shadow.find(offset, bytes, [&](const Mark &mark, bool writes) {
    return (writes || reads) && !mark.bulk && !mark.landing && !isFenced(mark);
  });
}

void Launcher::checkFenced(const std::optional<Conflict> &unfenced, const char *what, Where where) {
  if (unfenced)
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             what + (" byte " + std::to_string(unfenced->offset)) + " of shared memory, which thread " +
                 nameOf(*blocks[unfenced->other->rank], unfenced->other->thread()) +
                 (unfenced->otherWrites ? " writes" : " reads") + " by ordinary means at " +
                 print(Where{unfenced->other->file, unfenced->other->line}) + ", without a bulkFence() between them",
             where);
}

/// Memory that copies come to must not go to another block.
void Launcher::endMbarriers(const Block &block) {
  for (const auto &[offset, mbarrier] : block.mbarriers)
    if (!mbarrier.bulk.empty()) {
      const BulkCopy &copy = mbarrier.bulk.front();
      return failAt(block.rank * stride + copy.thread, CUDA_ERROR_LAUNCH_FAILED,
                    "the block ends while this copy of " + std::to_string(copy.bytes) +
                        " bytes is in flight: nobody has waited for " + madeAt(mbarrier),
                    copy.where);
    } else if (!mbarrier.stores.empty()) {
      const AsyncStore &store = mbarrier.stores.front();
      return failAt(store.rank * stride + store.thread, CUDA_ERROR_LAUNCH_FAILED,
                    "the block " + print(block.index) +
                        " ends while this store to it is in flight: nobody has waited for " + madeAt(mbarrier),
                    store.where);
    }
}

} // namespace tutti::emulated
