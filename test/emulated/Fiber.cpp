// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fibers' stacks and switch, for x86-64 System V.
#include "Fiber.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#ifndef __x86_64__
#error "the emulated driver switches fibers on x86-64 only"
#endif

asm(R"(
.text
.p2align 4
.globl tuttiSwitchFiber
.hidden tuttiSwitchFiber
.type tuttiSwitchFiber, @function
tuttiSwitchFiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tuttiSwitchFiber, .-tuttiSwitchFiber
)");

namespace tutti::emulated {

static constexpr size_t page = 4096, stackBytes = 256 << 10;

FiberStacks::~FiberStacks() {
  for (char *stack : stacks)
    munmap(stack, page + stackBytes);
}

FiberState FiberStacks::prepare(size_t index, void (*entry)()) {
  while (stacks.size() <= index) {
    void *memory = mmap(nullptr, page + stackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE)) {
      perror("tutti-emulated: no memory for the stack of a thread");
      abort();
    }
    stacks.push_back(static_cast<char *>(memory));
  }
  // As after a call of `entry`: six saved registers, where to go, and a return address that is none.
  auto *top = reinterpret_cast<uintptr_t *>(stacks[index] + page + stackBytes);
  top[-1] = 0;
  top[-2] = reinterpret_cast<uintptr_t>(entry);
  for (int i = 3; i <= 8; ++i)
    top[-i] = 0;
  return top - 8;
}

bool FiberStacks::overflowed(const void *address) const {
  for (char *stack : stacks)
    if (address >= stack && address < stack + page)
      return true;
  return false;
}

} // namespace tutti::emulated
