// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory: host memory that only running operations may touch, with a record of what is and was allocated.
#ifndef TUTTI_TEST_EMULATED_MEMORY_H
#define TUTTI_TEST_EMULATED_MEMORY_H

#include "Abi.h"

#include <map>
#include <string>

namespace tutti::emulated {

struct Allocation {
  uint64_t address;
  size_t bytes;
  CUcontext context;
  int device;
};

/// Addresses are never given twice, so that a use after free is known as such.
class DeviceMemory {
public:
  /// 256-byte aligned and filled with ones (a NaN in every float type); 0 when `limit` bytes of the device are used up.
  uint64_t allocate(size_t bytes, size_t limit, CUcontext context, int device);
  /// False where nothing live begins.
  bool release(uint64_t address);
  /// Ends all of a context's; returns how many.
  size_t releaseAll(CUcontext context);

  /// The live allocation that holds the address, or null.
  const Allocation *find(uint64_t address) const;
  /// What is wrong with [address, address + bytes); empty when it lies in one live allocation.
  std::string complaint(uint64_t address, size_t bytes) const;
  /// Whether the address could be one of device memory at all.
  bool isDevice(uint64_t address) const { return address >= arena && address < arena + reserved; }
  size_t used(int device) const;
  const std::map<uint64_t, Allocation> &live() const { return allocations; }

  /// While one lives, device memory may be touched; otherwise the host traps on it, as it does on a real device.
  class Open {
  public:
    explicit Open(DeviceMemory &memory) : memory(memory) { memory.protect(++memory.opened); }
    ~Open() { memory.protect(--memory.opened); }
    Open(const Open &) = delete;

  private:
    DeviceMemory &memory;
  };

  uint64_t everAllocated = 0;

private:
  void protect(int depth);
  /// Takes the addresses that all device memory is to have; false where the process is allowed too few.
  bool reserve();

  uint64_t arena = 0, top = 0, reserved = 0;
  int opened = 0;
  std::map<uint64_t, Allocation> allocations, freed;
};

} // namespace tutti::emulated

#endif
