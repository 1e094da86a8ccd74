// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block that runs: its threads, its shared memory, and the barriers and copies that are under way in it; and the
// barrier of its cluster.
#ifndef TUTTI_TEST_EMULATED_BLOCK_H
#define TUTTI_TEST_EMULATED_BLOCK_H

#include "Fiber.h"
#include "Shadow.h"

#include <array>
#include <map>
#include <optional>
#include <vector>

namespace tutti::emulated {

/// An asynchronous copy that a thread has asked for (cp.async).
struct Copy {
  unsigned char *to;
  const unsigned char *from;
  uint32_t bytes, valid, group, number;
};

/// What a thread had put before copies in bulk when it last said so (a fence between the proxies).
struct ProxyFence {
  uint32_t epoch = 0; ///< 0: never
  Knowledge known;
  Stamp before = {0, 0, 0};    ///< its last one of an earlier epoch
  std::vector<uint32_t> times; ///< its own in that epoch: others know of some of them
};

/// A thread, and what it waits for.
struct Thread {
  enum class Status { ready, waiting, returned };
  FiberState fiber = nullptr;
  Status status = Status::ready;
  uint3 index = {0, 0, 0};
  const char *what = nullptr;
  Where where = {nullptr, 0};
  // In a warp-wide instruction:
  Combine combine = nullptr;
  uint32_t mask = 0;
  void *operand = nullptr;
  bool orders = false;
  std::vector<Copy> copies;
  uint32_t groups = 0;                ///< committed
  uint32_t numCopies = 0;             ///< ever asked for
  uint32_t arrivals = 0, waits = 0;   ///< at the cluster's barrier
  uint32_t releases = 0, ordered = 0; ///< those that order what was done before, and the last of them waited for
  ProxyFence fence;
};

/// __syncthreads() and the named barriers.
struct NamedBarrier {
  uint32_t arrived = 0, expected = 0;
  Where where = {nullptr, 0};
  std::vector<uint32_t> waiting;
  std::map<uint32_t, std::vector<uint32_t>> warps; ///< who has come to a named one before the others of its warp
  Knowledge knowledge;
};

/// A copy in bulk.
struct BulkCopy {
  unsigned char *to;
  const unsigned char *from;
  uint32_t bytes, thread;
  Where where;
  Stamp landed = {0, 0, 0}; ///< of epoch 0: in flight
};

/// A store to a block of the cluster that an mbarrier there counts.
struct AsyncStore {
  unsigned char *to;
  std::array<unsigned char, 16> value;
  uint32_t bytes, rank, thread; ///< who stores
  Where where;
  std::vector<uint32_t> peers; ///< what it tells of whole blocks
};

/// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
struct Mbarrier {
  static constexpr int64_t most = (1 << 20) - 1; ///< arrivals, and bytes either way
  /// An arrival that comes when the thread's copies before number `copies` have.
  struct CopyArrival {
    uint32_t thread, copies;
  };
  uint32_t count, pending;
  int64_t bytes = 0; ///< expected and not there yet
  uint64_t phase = 0;
  Stamp made;
  Where where;
  bool fenced = false;     ///< known to copies in bulk, and to whoever has met its block since
  uint32_t meetings = 0;   ///< of that thread at the cluster's barrier, before
  Knowledge arrived, over; ///< of those that came in this phase; of the phases that have ended
  std::vector<uint32_t> waiting;
  std::vector<BulkCopy> bulk; ///< in flight
  std::vector<AsyncStore> stores;
  std::vector<CopyArrival> copyArrivals;
};

/// What of a cluster's barrier concerns one of its blocks.
struct ClusterPart {
  Where where = {nullptr, 0}; ///< of the last arrivals, which are in phase `phase` - 1
  uint32_t phase = 0;
  Knowledge arrived, over;
  uint32_t firstEpoch = 0, overEpoch = 0; ///< before which those that arrived have all done what they did
};

/// A cluster's barrier: a phase ends when every thread that has not returned has arrived.
struct ClusterBarrier {
  uint32_t phase = 0, missing = 0, live = 0;
  std::optional<bool> orders; ///< the arrivals of this phase, as far as they have come
  std::vector<uint32_t> waiting;
};

struct Block {
  /// With unwritten shared memory and no barriers. Epochs of earlier blocks are before `firstEpoch`.
  void begin(uint3 index, uint32_t rank, uint32_t sharedBytes, uint32_t numThreads, uint32_t firstEpoch);
  bool holds(const void *address) const { return address >= shared && address < shared + sharedBytes; }

  uint3 index = {0, 0, 0};
  uint32_t rank = 0, sharedBytes = 0;
  Clocks clocks;
  Shadow shadow;
  unsigned char *shared = nullptr;
  std::vector<NamedBarrier> barriers;
  std::map<uint32_t, Mbarrier> mbarriers; ///< by their offsets in shared memory
  std::vector<BulkCopy> sources;          ///< of all copies in bulk that not everybody knows to be over
  const unsigned char *lowest, *highest;  ///< where those lie
  uint32_t numReturned = 0;
  ClusterPart cluster;
  std::vector<Mark> peers; ///< the last access of each block of the cluster to this one's memory

private:
  std::vector<unsigned char> storage;
};

} // namespace tutti::emulated

#endif
