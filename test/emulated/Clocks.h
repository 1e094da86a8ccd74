// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses of a block's threads are ordered: vector clocks, forgotten at every barrier of the whole block.
#ifndef TUTTI_TEST_EMULATED_CLOCKS_H
#define TUTTI_TEST_EMULATED_CLOCKS_H

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::emulated {

/// When a thread did something. Epochs count barriers of whole blocks and go on from block to block.
struct Stamp {
  /// In `thread`: not the thread itself did it but the copies that it asked for; then `time` counts those of the block.
  static constexpr uint32_t byCopies = 1u << 31;
  uint32_t epoch, thread, time;
};

/// What somebody knows of all threads in one epoch: up to which time of theirs everything has happened.
struct Knowledge {
  uint32_t epoch = 0;
  uint32_t warps = 0;  ///< those of which anything is known
  uint32_t copies = 0; ///< up to which time of theirs
  // Of all epochs:
  uint32_t meetings = 0; ///< phases of the cluster's barrier that are known to have ended
  uint32_t phases = 0;   ///< those of them that order what was done before
  std::vector<uint32_t>
      peers; ///< of each block of the cluster: before which epoch all is over that it did in its own memory
  std::vector<uint32_t> times;
};

/// Source: Lamport's and Fidge's clocks as FastTrack (Flanagan and Freund, PLDI 2009) uses them.
class Clocks {
public:
  /// Epochs before `first` are those of earlier blocks.
  void beginBlock(uint32_t numThreads, uint32_t first);
  /// All threads have met.
  void barrier();
  /// These threads have met.
  void meet(std::span<const uint32_t> threads);
  /// Adds what `thread` knows and did to what whoever acquires it will know.
  void release(uint32_t thread, Knowledge &into);
  void acquire(uint32_t thread, const Knowledge &from);

  /// Adds to `into`, like release().
  void add(const Knowledge &from, Knowledge &into);

  Stamp now(uint32_t thread);
  /// When copies that `thread` asked for come; whoever acquires `into` knows of them.
  Stamp copied(uint32_t thread, Knowledge &into);
  const Knowledge &known(uint32_t thread) { return of(thread); }
  /// The thread's accesses from now on are later than those before.
  void advance(uint32_t thread) { ++of(thread).times[thread]; }
  /// Whether what happened then is visible to `thread`.
  bool ordered(const Stamp &stamp, uint32_t thread);
  /// Whether it is part of what was known in an epoch.
  static bool holds(const Knowledge &known, uint32_t epoch, const Stamp &stamp);
  uint32_t presentEpoch() const { return epoch; }
  /// The thread knows that so many phases of the cluster's barrier have ended, of which so many order, and of other
  /// blocks what they did in their own memory before a barrier of all their threads.
  void learn(uint32_t thread, uint32_t meetings, uint32_t phases, const std::vector<uint32_t> &peers);
  uint32_t phasesKnownTo(uint32_t thread) { return of(thread).phases; }
  uint32_t meetingsKnownTo(uint32_t thread) { return of(thread).meetings; }
  uint32_t epochKnownTo(uint32_t thread, uint32_t rank) {
    const std::vector<uint32_t> &peers = of(thread).peers;
    return rank < peers.size() ? peers[rank] : 0;
  }
  /// What a thread of block `rank` tells by its stores to others: what is known to it of whole blocks.
  std::vector<uint32_t> toTell(uint32_t thread, uint32_t rank);
  static void tell(const std::vector<uint32_t> &peers, Knowledge &into);

private:
  Knowledge &of(uint32_t thread);
  void begin(Knowledge &knowledge);
  static void addOfCluster(const Knowledge &from, Knowledge &into);

  uint32_t numThreads = 0, epoch = 0, copies = 0;
  bool hasPhases = false;         ///< in this block
  std::vector<Knowledge> threads; ///< a thread's own time is threads[t].times[t]
};

} // namespace tutti::emulated

#endif
