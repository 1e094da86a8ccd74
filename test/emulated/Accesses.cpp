// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses to shared memory, the block's own and its peers', views, and copies that happen later.
#include "Launcher.h"

#include <algorithm>
#include <cstring>

namespace tutti::emulated {

void WrittenMemory::clear() {
  pages.clear();
  last = nullptr;
}

bool WrittenMemory::contains(uint64_t address, uint32_t bytes) const {
  for (uint64_t at = address / 16; at <= (address + bytes - 1) / 16; ++at)
    if (auto page = pages.find(at / perPage); page != pages.end() && page->second[at % perPage])
      return true;
  return false;
}

std::pair<Block *, uint32_t> Launcher::findShared(const void *at, int64_t bytes, uint32_t alignment, Where where) {
  Block *holder = &here();
  if (clusterSize > 1 && !holder->holds(at))
    for (uint32_t rank = 0; rank < clusterSize; ++rank)
      if (blocks[rank]->holds(at))
        holder = blocks[rank].get();
  int64_t offset = static_cast<const unsigned char *>(at) - holder->shared;
  if (offset < 0 || bytes < 0 || offset + bytes > int64_t(shape.sharedBytes))
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS,
             "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                 " of shared memory: the launch gave the block " + std::to_string(shape.sharedBytes),
             where);
  if (offset % alignment)
    failHere(CUDA_ERROR_MISALIGNED_ADDRESS,
             "byte " + std::to_string(offset) + " of shared memory is not a multiple of " + std::to_string(alignment),
             where);
  return {holder, uint32_t(offset)};
}

uint32_t Launcher::checkShared(const void *at, int64_t bytes, uint32_t alignment, Where where) {
  auto [holder, offset] = findShared(at, bytes, alignment, where);
  if (holder != &here())
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS,
             "byte " + std::to_string(offset) + " of shared memory of block " + print(holder->index) +
                 ": only the block's own will do here",
             where);
  return offset;
}

void Launcher::checkNoMbarrier(const Block &block, uint32_t offset, uint32_t bytes, const char *verb, Where where) {
  auto found = block.mbarriers.lower_bound(offset < 8 ? 0 : offset - 7);
  if (found != block.mbarriers.end() && found->first < offset + bytes)
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             std::string(verb) + " byte " + std::to_string(std::max(found->first, offset)) +
                 " of shared memory, where the mbarrier of " + print(found->second.where) + " lies",
             where);
}

/// A write to global memory that a copy in bulk reads.
void Launcher::checkNotInFlight(const void *at, uint32_t bytes, Where where) {
  const auto *from = static_cast<const unsigned char *>(at), *to = from + bytes;
  Block &block = here();
  if (block.sources.empty() || from >= block.highest || to <= block.lowest)
    return;
  for (const BulkCopy &copy : block.sources)
    if (from < copy.from + copy.bytes && to > copy.from &&
        (!copy.landed.epoch || !block.clocks.ordered(copy.landed, own())))
      failHere(CUDA_ERROR_LAUNCH_FAILED,
               "a race: writes what thread " + nameOf(block, copy.thread) + " copies in bulk at " + print(copy.where) +
                   ", without a wait between them",
               where);
}

void Launcher::access(Access access, Space space, const void *at, uint32_t bytes, uint32_t alignment, Where where) {
  static const char *const verbs[] = {"reads", "writes", "updates", "reads by tensor cores"};
  if (space == Space::global) {
    if (access != Access::read) {
      checkNotInFlight(at, bytes, where);
      written.add(reinterpret_cast<uint64_t>(at), bytes);
    }
    return;
  }
  auto [holder, offset] = findShared(at, bytes, alignment, where);
  if (!holder->mbarriers.empty())
    checkNoMbarrier(*holder, offset, bytes, verbs[int(access)], where);
  if (holder != &here())
    checkPeer(*holder, verbs[int(access)], where);
  checkConflict(holder->shadow.access(access, offset, bytes, party(), where), verbs[int(access)], where);
  if (access == Access::asyncRead)
    checkFenced(findUnfenced(*holder, offset, bytes, /*reads=*/false), "tensor cores read", where);
}

void Launcher::copyAsync(void *to, const void *from, uint32_t bytes, uint32_t valid, Where where) {
  uint32_t offset = checkShared(to, bytes, bytes, where);
  checkNoMbarrier(here(), offset, bytes, "copies asynchronously to", where);
  checkConflict(here().shadow.startCopy(offset, bytes, party(), false, where), "copies asynchronously to", where);
  Thread &self = threads[running];
  self.copies.push_back({static_cast<unsigned char *>(to), static_cast<const unsigned char *>(from), bytes, valid,
                         self.groups, self.numCopies++});
}

/// Copies read and write as late as they may: here.
void Launcher::waitCopies(int prior) {
  Thread &self = threads[running];
  std::erase_if(self.copies, [&](const Copy &copy) {
    if (int64_t(copy.group) >= int64_t(self.groups) - prior)
      return false;
    land(here(), copy, here().clocks.now(own()), self.releases);
    return true;
  });
  yield();
}

void Launcher::land(Block &block, const Copy &copy, Stamp when, uint32_t arrivals) {
  memcpy(copy.to, copy.from, copy.valid);
  memset(copy.to + copy.valid, 0, copy.bytes - copy.valid);
  block.shadow.landCopy(copy.to - block.shared, copy.bytes, when, arrivals);
}

void Launcher::view(Space space, const void *base, int64_t bytes, uint32_t alignment, Where where) {
  if (space == Space::shared)
    return void(findShared(base, bytes, alignment, where));
  auto address = reinterpret_cast<uint64_t>(base);
  if (bytes < 0)
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS, "a view of " + std::to_string(bytes) + " bytes", where);
  if (bytes == 0)
    return;
  if (std::string complaint = memory.complaint(address, bytes); !complaint.empty())
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS, complaint, where);
  if (address % alignment)
    failHere(CUDA_ERROR_MISALIGNED_ADDRESS, "a global address that is not a multiple of " + std::to_string(alignment),
             where);
}

/// The running thread may access that block's memory.
void Launcher::checkRuns(const Block &holder, const char *verb, Where where) {
  std::string what = std::string(verb) + " shared memory of block " + print(holder.index);
  if (!here().clocks.meetingsKnownTo(own()))
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS, what + ", which may not have begun: no barrier of the cluster lies before",
             where);
  if (holder.numReturned == numThreads)
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS, what + ", which has ended", where);
}

/// It does, and the access must be over when that block ends.
void Launcher::checkPeer(Block &holder, const char *verb, Where where) {
  checkRuns(holder, verb, where);
  holder.peers.resize(clusterSize);
  Mark &last = holder.peers[here().rank];
  if (!last.file || last.arrivals <= threads[running].releases)
    last = {here().clocks.now(own()), where.line, where.file, threads[running].releases, uint8_t(here().rank)};
}

void *Launcher::peerAddress(const void *at, int64_t rank, Where where) {
  if (rank < 0 || rank >= clusterSize)
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS,
             "block " + std::to_string(rank) + " of a cluster of " + std::to_string(clusterSize), where);
  auto offset = static_cast<const unsigned char *>(at) - here().shared;
  if (!here().holds(at) && offset != shape.sharedBytes)
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS, "a view that is not of the block's own shared memory", where);
  return blocks[rank]->shared + offset;
}

} // namespace tutti::emulated
