// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses to shared memory and views of both, and copies that happen later.
#include "Launcher.h"

#include <algorithm>
#include <cstring>

namespace tutti::emulated {

/// The offset of `at` in the block's shared memory.
uint32_t Launcher::checkShared(const void *at, int64_t bytes, uint32_t alignment, Where where) {
  int64_t offset = static_cast<const unsigned char *>(at) - block.shared;
  if (offset < 0 || bytes < 0 || offset + bytes > int64_t(shape.sharedBytes))
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS,
             "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                 " of shared memory: the launch gave the block " + std::to_string(shape.sharedBytes),
             where);
  if (offset % alignment)
    failHere(CUDA_ERROR_MISALIGNED_ADDRESS,
             "byte " + std::to_string(offset) + " of shared memory is not a multiple of " + std::to_string(alignment),
             where);
  return uint32_t(offset);
}

void Launcher::checkNoMbarrier(uint32_t offset, uint32_t bytes, const char *verb, Where where) {
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
  if (block.sources.empty() || from >= block.highest || to <= block.lowest)
    return;
  for (const BulkCopy &copy : block.sources)
    if (from < copy.from + copy.bytes && to > copy.from &&
        (!copy.landed.epoch || !block.shadow.clocks.ordered(copy.landed, running)))
      failHere(CUDA_ERROR_LAUNCH_FAILED,
               "a race: writes what thread " + print(threads[copy.thread].index) + " copies in bulk at " +
                   print(copy.where) + ", without a wait between them",
               where);
}

void Launcher::access(Access access, Space space, const void *at, uint32_t bytes, uint32_t alignment, Where where) {
  static const char *const verbs[] = {"reads", "writes", "updates"};
  if (space == Space::global) {
    if (access != Access::read)
      checkNotInFlight(at, bytes, where);
    return;
  }
  uint32_t offset = checkShared(at, bytes, alignment, where);
  if (!block.mbarriers.empty())
    checkNoMbarrier(offset, bytes, verbs[int(access)], where);
  checkConflict(block.shadow.access(access, offset, bytes, running, where), verbs[int(access)], where);
}

void Launcher::copyAsync(void *to, const void *from, uint32_t bytes, uint32_t valid, Where where) {
  uint32_t offset = checkShared(to, bytes, bytes, where);
  checkNoMbarrier(offset, bytes, "copies asynchronously to", where);
  checkConflict(block.shadow.startCopy(offset, bytes, running, false, where), "copies asynchronously to", where);
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
    land(copy, block.shadow.clocks.now(running));
    return true;
  });
  yield();
}

void Launcher::land(const Copy &copy, Stamp when) {
  memcpy(copy.to, copy.from, copy.valid);
  memset(copy.to + copy.valid, 0, copy.bytes - copy.valid);
  block.shadow.landCopy(copy.to - block.shared, copy.bytes, when);
}

void Launcher::view(Space space, const void *base, int64_t bytes, uint32_t alignment, Where where) {
  if (space == Space::shared)
    return void(checkShared(base, bytes, alignment, where));
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

} // namespace tutti::emulated
