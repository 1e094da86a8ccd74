// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of every byte of a block's shared memory: who wrote and read it last, and when.
#ifndef TUTTI_TEST_EMULATED_SHADOW_H
#define TUTTI_TEST_EMULATED_SHADOW_H

#include "Clocks.h"

#include "tutti/host_emulator.cuh"

#include <optional>

namespace tutti::emulated {

/// Who accesses: a thread of the block of this rank in the cluster.
struct Party {
  Clocks *clocks; ///< of its block
  uint32_t thread, rank;
  uint32_t arrivals; ///< of its own that order, at the cluster's barrier: what it does now, the next one orders
};

/// An access as it is remembered.
struct Mark {
  Stamp stamp = {0, 0, 0};
  int line = 0;
  const char *file = nullptr;
  uint32_t arrivals = 0;
  uint8_t rank = 0;
  bool atomic = false;
  bool landing = false; ///< an asynchronous copy that nobody has waited for
  bool bulk = false;    ///< written by a copy in bulk, or read by tensor cores: through the asynchronous proxy

  uint32_t thread() const { return stamp.thread & ~Stamp::byCopies; }
};

/// Two accesses that nothing orders, or a read of what nobody wrote (then `other` is empty).
struct Conflict {
  uint32_t offset; ///< of the first byte concerned
  std::optional<Mark> other;
  bool otherWrites;
};

class Shadow {
public:
  /// Bytes that were written in epochs before `firstEpoch` count as unwritten.
  void beginBlock(uint32_t bytes, uint32_t rank, uint32_t firstEpoch);

  /// Remembers an access, and says what is wrong with it.
  std::optional<Conflict> access(Access, uint32_t offset, uint32_t bytes, const Party &, Where);
  /// An asynchronous copy by this thread is on its way: nobody may touch its bytes before landCopy().
  std::optional<Conflict> startCopy(uint32_t offset, uint32_t bytes, const Party &, bool bulk, Where);
  void landCopy(uint32_t offset, uint32_t bytes, Stamp when, uint32_t arrivals);
  /// Of the bytes' last accesses in this block, the first for which the function holds: of it, and whether it writes.
  template <class F> std::optional<Conflict> find(uint32_t offset, uint32_t bytes, F holds) const {
    for (uint32_t at = offset; at < offset + bytes; at = split[at / 4] ? at + 1 : at / 4 * 4 + 4) {
      const Cell &cell = memory[cellOf(at)];
      for (const Mark *mark : {&cell.write, &cell.last, &cell.sameWarp, &cell.otherWarp, &cell.peer})
        if (mark->stamp.epoch >= firstEpoch && holds(*mark, mark == &cell.write))
          return Conflict{at, *mark, mark == &cell.write};
    }
    return std::nullopt;
  }

private:
  /// The last write, and four reads: the last one by a thread of the block, one by another thread of its warp, one of
  /// another warp, one of another block. A write that some read conflicts with then conflicts with one of these, unless
  /// barriers of parts of the block differ.
  struct Cell {
    Mark write, last, sameWarp, otherWarp, peer;
  };
  size_t cellOf(uint32_t at) const { return split[at / 4] ? at : at / 4 * 4; }
  Mark &lastWrite(uint32_t at) { return memory[cellOf(at)].write; }
  Cell *cells(uint32_t word, bool whole, uint32_t &count);
  const Mark *against(const Cell &cell, Access access, const Party &party, bool &writes) const;

  std::vector<Cell> memory; ///< of byte i at [i]; of a word that was only accessed whole, at its first byte
  std::vector<bool> split;  ///< words that were accessed in parts
  uint32_t rank = 0, firstEpoch = 0;
};

} // namespace tutti::emulated

#endif
