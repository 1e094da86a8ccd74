// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arena of device memory.
#include "Memory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace tutti::emulated {

static constexpr uint64_t page = 4096;

static std::string describe(uint64_t address, size_t bytes) {
  char text[80];
  snprintf(text, sizeof text, "%zu bytes at %#lx", bytes, (unsigned long)address);
  return text;
}

bool DeviceMemory::reserve() {
  constexpr uint64_t most = 1ull << 40, least = 1ull << 20;
  for (uint64_t bytes = most; !arena && bytes >= least; bytes /= 2) {
    void *memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      continue;
    arena = top = reinterpret_cast<uint64_t>(memory);
    reserved = bytes;
    // Under a limit (RLIMIT_AS) half of what there is stays for the host.
    if (bytes < most) {
      reserved /= 2;
      munmap(static_cast<char *>(memory) + reserved, reserved);
    }
  }
  return arena;
}

uint64_t DeviceMemory::allocate(size_t bytes, size_t limit, CUcontext context, int device) {
  if (!arena && !reserve())
    return 0;
  if (bytes > limit || used(device) > limit - bytes)
    return 0;
  // A gap of at least 256 bytes follows every allocation, so that running past its end is not another's beginning.
  uint64_t address = top, next = top + (bytes + 511) / 256 * 256;
  if (next > arena + reserved)
    return 0;
  top = next;
  Open open(*this);
  memset(reinterpret_cast<void *>(address), 0xff, bytes);
  allocations[address] = {address, bytes, context, device};
  ++everAllocated;
  return address;
}

bool DeviceMemory::release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return false;
  uint64_t first = (address + page - 1) / page * page, last = (address + found->second.bytes) / page * page;
  if (last > first)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  freed.insert(*found);
  allocations.erase(found);
  return true;
}

size_t DeviceMemory::releaseAll(CUcontext context) {
  size_t number = 0;
  for (auto i = allocations.begin(); i != allocations.end();)
    if ((i++)->second.context == context)
      number += release(std::prev(i)->first);
  return number;
}

static const Allocation *holding(const std::map<uint64_t, Allocation> &all, uint64_t address) {
  auto after = all.upper_bound(address);
  if (after == all.begin())
    return nullptr;
  const Allocation &before = std::prev(after)->second;
  return address < before.address + before.bytes ? &before : nullptr;
}

const Allocation *DeviceMemory::find(uint64_t address) const { return holding(allocations, address); }

std::string DeviceMemory::complaint(uint64_t address, size_t bytes) const {
  if (const Allocation *allocation = find(address)) {
    if (address + bytes <= allocation->address + allocation->bytes)
      return "";
    return describe(address, bytes) + " run past the end of an allocation of " +
           describe(allocation->address, allocation->bytes);
  }
  if (const Allocation *allocation = holding(freed, address))
    return describe(address, bytes) + " lie in an allocation of " + describe(allocation->address, allocation->bytes) +
           ", which was freed";
  return describe(address, bytes) + " lie in no allocation of device memory";
}

size_t DeviceMemory::used(int device) const {
  size_t sum = 0;
  for (const auto &[address, allocation] : allocations)
    sum += allocation.device == device ? allocation.bytes : 0;
  return sum;
}

void DeviceMemory::protect(int depth) {
  uint64_t bytes = (top - arena + page - 1) / page * page;
  if (bytes && (depth == 0 || (depth == 1)))
    mprotect(reinterpret_cast<void *>(arena), bytes, depth ? PROT_READ | PROT_WRITE : PROT_NONE);
}

} // namespace tutti::emulated
