// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of the fake CUDA driver: a block's end is the end of a page, and nobody may touch the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>

namespace tutti::rt::test {

class FakeMemory {
public:
  struct Block {
    char *address;
    size_t bytes;
    int device; // -1: pinned
    char *pages;
    size_t whole;
  };

  /// Lets everybody touch the devices' memory, or nobody.
  void guard(int protection) {
    for (int i = 0; i < count; ++i)
      if (blocks[i].device >= 0)
        mprotect(blocks[i].pages, blocks[i].whole, protection);
  }
  /// The block that the address lies in, or null.
  Block *find(uint64_t address) {
    for (int i = 0; i < count; ++i)
      if (address - reinterpret_cast<uint64_t>(blocks[i].address) < blocks[i].bytes)
        return &blocks[i];
    return nullptr;
  }
  Block &map(size_t bytes, int device) {
    size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void *at = mmap(nullptr, whole + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    auto *pages = static_cast<char *>(at);
    if (device < 0)
      mprotect(pages, whole, PROT_READ | PROT_WRITE);
    return blocks[count++] = {pages + whole - (bytes + kAlign - 1) / kAlign * kAlign, bytes, device, pages, whole};
  }
  /// Somebody's own, pinned from now on.
  void pin(void *address, size_t bytes) { blocks[count++] = {static_cast<char *>(address), bytes, -1, nullptr, 0}; }
  void unmap(Block &block) {
    if (block.pages)
      munmap(block.pages, block.whole + kPage);
    block = blocks[--count];
  }

private:
  static constexpr size_t kPage = 4096, kAlign = 256; // what cuMemAlloc promises
  Block blocks[4096];
  int count = 0;
};

} // namespace tutti::rt::test
