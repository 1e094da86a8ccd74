// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shadow of a block's shared memory.
#include "Shadow.h"

#include <algorithm>

namespace tutti::emulated {

void Shadow::beginBlock(uint32_t bytes, uint32_t ownRank, uint32_t first) {
  uint32_t words = (bytes + 3) / 4;
  if (split.size() < words) {
    split.resize(words);
    memory.resize(size_t(words) * 4);
  }
  rank = ownRank;
  firstEpoch = first;
}

/// The cells that stand for a word: one while it is only accessed whole, else one a byte.
Shadow::Cell *Shadow::cells(uint32_t word, bool whole, uint32_t &count) {
  Cell *first = &memory[size_t(word) * 4];
  if (!whole && !split[word]) {
    split[word] = true;
    std::fill(first + 1, first + 4, *first);
  }
  count = split[word] ? 4 : 1;
  return first;
}

/// What of a cell an access conflicts with.
const Mark *Shadow::against(const Cell &cell, Access access, const Party &party, bool &writes) const {
  auto conflicts = [&](const Mark &mark) {
    if (mark.stamp.epoch < firstEpoch)
      return false;
    if (mark.landing)
      return true;
    if (mark.rank == party.rank)
      return !party.clocks->ordered(mark.stamp, party.thread);
    // Of what the memory's own block did, any word of that block is enough that its threads had met.
    return party.clocks->phasesKnownTo(party.thread) <= mark.arrivals &&
           (mark.rank != rank || party.clocks->epochKnownTo(party.thread, rank) <= mark.stamp.epoch);
  };
  writes = true;
  if (conflicts(cell.write) && !(access == Access::atomic && cell.write.atomic))
    return &cell.write;
  writes = false;
  if (access != Access::read)
    for (const Mark *mark : {&cell.last, &cell.sameWarp, &cell.otherWarp, &cell.peer})
      if (conflicts(*mark))
        return mark;
  return nullptr;
}

std::optional<Conflict> Shadow::access(Access access, uint32_t offset, uint32_t bytes, const Party &party,
                                       Where where) {
  Mark mark = {party.clocks->now(party.thread), where.line, where.file, party.arrivals, uint8_t(party.rank),
               access == Access::atomic};
  mark.bulk = access == Access::asyncRead;
  if (access == Access::asyncRead)
    access = Access::read;
  for (uint32_t at = offset, end = offset + bytes; at < end;) {
    uint32_t word = at / 4, next = std::min(end, word * 4 + 4), count;
    bool whole = next - at == 4;
    Cell *first = cells(word, whole, count);
    auto [from, to] = count == 1 ? std::pair(0u, 1u) : std::pair(at % 4, next - word * 4);
    for (uint32_t i = from; i < to; ++i) {
      Cell &cell = first[i];
      bool writes;
      if (const Mark *other = against(cell, access, party, writes))
        return Conflict{word * 4 + i, *other, writes};
      if (access != Access::write && cell.write.stamp.epoch < firstEpoch)
        return Conflict{word * 4 + i, std::nullopt, false};
      if (access != Access::read) {
        cell.write = mark;
        continue;
      }
      if (party.rank != rank) {
        if (cell.peer.stamp.epoch < firstEpoch || cell.peer.arrivals <= mark.arrivals)
          cell.peer = mark;
        continue;
      }
      if (cell.last.stamp.thread != party.thread) {
        bool same = cell.last.stamp.thread / 32 == party.thread / 32;
        (same ? cell.sameWarp : cell.otherWarp) = cell.last;
      }
      cell.last = mark;
    }
    at = next;
  }
  return std::nullopt;
}

std::optional<Conflict> Shadow::startCopy(uint32_t offset, uint32_t bytes, const Party &party, bool bulk, Where where) {
  if (auto conflict = access(Access::write, offset, bytes, party, where))
    return conflict;
  for (uint32_t at = offset; at < offset + bytes; ++at)
    lastWrite(at).landing = true, lastWrite(at).bulk = bulk;
  return std::nullopt;
}

void Shadow::landCopy(uint32_t offset, uint32_t bytes, Stamp when, uint32_t arrivals) {
  for (uint32_t at = offset; at < offset + bytes; ++at) {
    Mark &write = lastWrite(at);
    write.landing = false;
    write.rank = uint8_t(rank); // who waits in this block knows of it
    write.stamp = when;
    write.arrivals = arrivals;
  }
}

} // namespace tutti::emulated
