// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies from global to shared memory (cp.async), by the names of cuda_pipeline_primitives.h. Before sm_80
// they are plain copies.
#pragma once

#include "tutti/memory.cuh"

// __pipeline_memcpy_async(&s[i], &x[j], size, zfill): `size` is 4, 8 or 16 bytes, a constant, and both addresses are
// multiples of it. The last `zfill` bytes are not read and become zero. Nobody may touch the destination before the
// wait; other threads see it after a barrier that follows the wait.

#if TUTTI_ON_DEVICE

__device__ __forceinline__ void __pipeline_memcpy_async(void *to, const void *from, int size, int zfill = 0) {
#if TUTTI_CAPABILITY >= 80
  unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if (size == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(16 - zfill) : "memory");
  else if (size == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(from), "r"(8 - zfill) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(4 - zfill) : "memory");
#else
  for (int i = 0; i < size; ++i)
    static_cast<char *>(to)[i] = i < size - zfill ? static_cast<const char *>(from)[i] : 0;
#endif
}

/// Ends a group of copies.
__device__ __forceinline__ void __pipeline_commit() {
#if TUTTI_CAPABILITY >= 80
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until all of this thread's groups but the last `prior`, a constant from 0 to 7, are complete.
__device__ __forceinline__ void __pipeline_wait_prior(int prior) {
#if TUTTI_CAPABILITY >= 80
  switch (prior) {
#define TUTTI_WAIT(n)                                                                                                  \
  case n:                                                                                                              \
    asm volatile("cp.async.wait_group " #n ";" ::: "memory");                                                          \
    break;
    TUTTI_WAIT(0)
    TUTTI_WAIT(1)
    TUTTI_WAIT(2)
    TUTTI_WAIT(3)
    TUTTI_WAIT(4)
    TUTTI_WAIT(5)
    TUTTI_WAIT(6)
    TUTTI_WAIT(7)
#undef TUTTI_WAIT
  }
#endif
}

#else

template <class T>
void __pipeline_memcpy_async(tutti::Address<T, tutti::Space::shared> to,
                             tutti::Address<const T, tutti::Space::global> from, int size,
                             int zfill = 0 TUTTI_AND_WHERE) {
  if ((size != 4 && size != 8 && size != 16) || zfill < 0 || zfill > size)
    tutti::fault(tutti::Fault::failure, "an asynchronous copy of %ld bytes, %ld of them zero", size, zfill, where);
  to.checkExtent(size, size);
  from.checkExtent(size - zfill, size);
#if TUTTI_CAPABILITY >= 80
  tutti::emulator().copyAsync(to.at, from.at, size, size - zfill, where);
#else
  to.where = where;
  to.check(tutti::Access::write, size, size);
  __builtin_memcpy(to.at, from.at, size - zfill);
  __builtin_memset(reinterpret_cast<char *>(to.at) + size - zfill, 0, zfill);
#endif
}
template <class T>
void __pipeline_memcpy_async(tutti::Address<T, tutti::Space::shared> to, tutti::Address<T, tutti::Space::global> from,
                             int size, int zfill = 0 TUTTI_AND_WHERE) {
  __pipeline_memcpy_async(to, tutti::Address<const T, tutti::Space::global>(from), size, zfill, where);
}
inline void __pipeline_commit() { tutti::emulator().commitCopies(); }
inline void __pipeline_wait_prior(int prior TUTTI_AND_WHERE) {
  if (prior < 0 || prior > 7)
    tutti::fault(tutti::Fault::failure, "a wait for all groups but %ld: at most %ld", prior, 7, where);
  tutti::emulator().waitCopies(prior, where);
}

#endif
