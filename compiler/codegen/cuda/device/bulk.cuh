// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bulk copies from global to shared memory, from sm_90 on: one thread issues kilobytes, an mbarrier counts them.
#pragma once

#include "tutti/barrier.cuh"

#if TUTTI_CAPABILITY >= 90

// bulkCopy(&s[i], &x[j], bytes, &b[k]): `bytes` and both addresses are multiples of 16. The bytes are visible to
// threads that have waited for the phase of b[k] that expects them (mbarrierExpect); until then nobody touches the
// destination or writes to the source, and the block does not end. Every thread that accessed the destination's former
// contents must have arrived somewhere that the issuing thread has waited for, with a bulkFence() either before its
// arrival or after that wait.

#if TUTTI_ON_DEVICE

namespace tutti {

__device__ __forceinline__ void bulkCopy(unsigned to, const void *from, int bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void bulkCopy(void *to, const void *from, int bytes, uint64_t *barrier) {
  bulkCopy(sharedAddress(to), from, bytes, sharedAddress(barrier));
}

/// Orders ordinary accesses before bulk copies, which go through another proxy: barriers alone order nothing between
/// the two (PTX ISA, "Async proxy"). The thread that accessed executes it, or the one that issues the copies, after
/// synchronizing with the former.
__device__ __forceinline__ void bulkFence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

} // namespace tutti

#else

namespace tutti {

template <class T, class U>
void bulkCopy(Address<T, Space::shared> to, Address<U, Space::global> from, int bytes,
              Address<uint64_t, Space::shared> barrier TUTTI_AND_WHERE) {
  if (bytes < 0 || bytes % 16)
    fault(Fault::failure, "a copy in bulk of %ld bytes: expected a multiple of %ld", bytes, 16, where);
  to.where = from.where = where;
  to.checkExtent(bytes, 16);
  from.checkExtent(bytes, 16);
  emulator().copyBulk(to.at, from.at, uint32_t(bytes), barrier.at, where);
}

inline void bulkFence(TUTTI_WHERE) { emulator().proxyFence(false, where); }

} // namespace tutti

#endif
namespace tutti {

/// Mbarriers side by side in shared memory, from byte `offset` on, for the functions above by index. The thread keeps
/// their address in a register, as it would compute it again for each call.
class Mbarriers {
public:
#if TUTTI_ON_DEVICE
  __device__ __forceinline__ Mbarriers(int offset, int)
      : first(sharedAddress(&shared<uint64_t>(offset, 0)[0])), offset(offset) {
    asm volatile("" : "+r"(first));
  }
  __device__ __forceinline__ unsigned operator[](int i) const { return first + i * 8; }
  /// Copies to byte `to` of shared memory; mbarrier i counts the bytes.
  template <class T> __device__ __forceinline__ void copy(int i, int to, const T *from, int bytes) const {
    bulkCopy(first - offset + to, from, bytes, (*this)[i]);
  }

private:
  unsigned first;
  int offset;
#else
  Mbarriers(int offset, int count TUTTI_AND_WHERE) : view(shared<uint64_t>(offset, count, where)) {}
  auto operator[](int i TUTTI_AND_WHERE) const { return &view.operator[](i, where); }
  template <class T> void copy(int i, int to, Address<T, Space::global> from, int bytes TUTTI_AND_WHERE) const {
    bulkCopy(&shared<char>(to, bytes, where)[0], from, bytes, (*this)[i], where);
  }

private:
  Shared<uint64_t> view;
#endif
};

} // namespace tutti

#endif
