// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shadow of a block's shared memory.
#include "Shadow.h"

#include <algorithm>

namespace tutti::emulated {

void Shadow::beginBlock(uint32_t bytes, uint32_t numThreads) {
  uint32_t words = (bytes + 3) / 4;
  if (split.size() < words) {
    split.resize(words);
    memory.resize(size_t(words) * 4);
  }
  clocks.beginBlock(numThreads);
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

/// What of a cell an access by `thread` conflicts with.
const Mark *Shadow::against(const Cell &cell, Access access, uint32_t thread, bool &writes) {
  auto conflicts = [&](const Mark &mark) {
    return clocks.inThisBlock(mark.stamp) && (mark.landing || !clocks.ordered(mark.stamp, thread));
  };
  writes = true;
  if (conflicts(cell.write) && !(access == Access::atomic && cell.write.atomic))
    return &cell.write;
  writes = false;
  if (access != Access::read)
    for (const Mark *mark : {&cell.last, &cell.sameWarp, &cell.otherWarp})
      if (conflicts(*mark))
        return mark;
  return nullptr;
}

std::optional<Conflict> Shadow::access(Access access, uint32_t offset, uint32_t bytes, uint32_t thread, Where where) {
  Mark mark = {clocks.now(thread), where.line, where.file, access == Access::atomic};
  for (uint32_t at = offset, end = offset + bytes; at < end;) {
    uint32_t word = at / 4, next = std::min(end, word * 4 + 4), count;
    bool whole = next - at == 4;
    Cell *first = cells(word, whole, count);
    auto [from, to] = count == 1 ? std::pair(0u, 1u) : std::pair(at % 4, next - word * 4);
    for (uint32_t i = from; i < to; ++i) {
      Cell &cell = first[i];
      bool writes;
      if (const Mark *other = against(cell, access, thread, writes))
        return Conflict{word * 4 + i, *other, writes};
      if (access != Access::write && !clocks.inThisBlock(cell.write.stamp))
        return Conflict{word * 4 + i, std::nullopt, false};
      if (access != Access::read) {
        cell.write = mark;
        continue;
      }
      if (cell.last.stamp.thread != thread) {
        bool same = cell.last.stamp.thread / 32 == thread / 32;
        (same ? cell.sameWarp : cell.otherWarp) = cell.last;
      }
      cell.last = mark;
    }
    at = next;
  }
  return std::nullopt;
}

std::optional<Conflict> Shadow::startCopy(uint32_t offset, uint32_t bytes, uint32_t thread, bool bulk,
                                          Where where) {
  if (auto conflict = access(Access::write, offset, bytes, thread, where))
    return conflict;
  for (uint32_t at = offset; at < offset + bytes; ++at)
    lastWrite(at).landing = true, lastWrite(at).bulk = bulk;
  return std::nullopt;
}

void Shadow::landCopy(uint32_t offset, uint32_t bytes, Stamp when) {
  for (uint32_t at = offset; at < offset + bytes; ++at) {
    Mark &write = lastWrite(at);
    write.landing = false;
    write.stamp = when;
  }
}

} // namespace tutti::emulated
