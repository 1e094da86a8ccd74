// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: the table through which kernel text on the emulated device meets the driver that runs it (test/emulated).
#pragma once

#include "tutti/host_types.cuh"

namespace tutti {

/// A place in kernel text.
struct Where {
  const char *file;
  int line;
};

enum class Space : int { global, shared };
/// asyncRead: a read by tensor cores, through the proxy of bulk copies.
enum class Access : int { read, write, atomic, asyncRead };
/// What kind of error ends the launch: CUDA's illegal address, misaligned address, launch failure.
enum class Fault : int { address, alignment, failure };

/// Combines the operands of the lanes in `mask` (others are null) of one warp-wide instruction.
using Combine = void (*)(void *const *operands, uint32_t mask, Where);

/// The element type of a fragment.
enum class MmaType : int { tf32, bf16, f16 };
/// A lane's operands of mma.sync: fragments as in mma.cuh.
struct MmaOperand {
  float *d;
  const uint32_t *a, *b;
  MmaType type;
  int capability; ///< of the emulated tensor cores
};

enum class ClusterOperation : int { arrive, arriveRelaxed, wait };
enum class MbarrierOperation : int { init, arrive, arriveTimes, expect, wait, copyArrive, copyArriveToo };

struct Emulator {
  /// Checks an access of `bytes` at `at`: bounds, alignment; in shared memory also races, and reads of what was never
  /// written.
  void (*access)(Access, Space, const void *at, uint32_t bytes, uint32_t alignment, Where);
  /// Called when a view of [base, base + bytes) is made.
  void (*view)(Space, const void *base, int64_t bytes, uint32_t alignment, Where);
  /// Ends the launch and does not return. The format may print two longs.
  void (*fault)(Fault, const char *format, long a, long b, Where);
  /// The block's dynamic shared memory.
  unsigned char *(*shared)();
  /// Waits until `threads` threads (0: all of the block) have come to barrier `id`; an arrival alone does not wait.
  void (*barrier)(int id, int threads, Where);
  /// Waits until every lane in `mask` that has not returned is here with the same `combine`, then runs that once.
  /// `orders`: what the lanes did before is visible to them after, as __syncwarp() promises and shuffles do not.
  void (*warp)(uint32_t mask, void *operand, Combine combine, bool orders, const char *name, Where);
  /// Lets other threads run; called in every loop that waits.
  void (*yield)(Where);
  /// Copies `bytes` to shared memory asynchronously: the first `valid` come from `from`, the others are zero.
  void (*copyAsync)(void *to, const void *from, uint32_t bytes, uint32_t valid, Where);
  void (*commitCopies)();
  /// Completes the thread's copies, except those of its last `prior` groups.
  void (*waitCopies)(int prior, Where);
  /// `value` is the operation's operand: a count, bytes or a parity.
  void (*mbarrier)(MbarrierOperation, void *at, int64_t value, Where);
  /// Copies `bytes` to shared memory in bulk; the mbarrier counts them.
  void (*copyBulk)(void *to, const void *from, uint32_t bytes, void *mbarrier, Where);
  /// Orders ordinary writes that the thread knows of before bulk copies; with `inits`, also the mbarriers that it has
  /// initialised.
  void (*proxyFence)(bool inits, Where);
  /// An arrival at the cluster's barrier, or the wait that belongs to it.
  void (*clusterBarrier)(ClusterOperation, Where);
  /// The address in block `rank` of the cluster that corresponds to `at` in this block's shared memory.
  void *(*peer)(const void *at, int64_t rank, Where);
  /// Stores to shared memory of the cluster; the mbarrier, which lies in the same block, counts the bytes.
  void (*storeAsync)(void *to, const void *value, uint32_t bytes, void *mbarrier, Where);
  /// Whether the synchronization at a place is left out, for tests that it is needed.
  bool (*lacks)(Where);
  /// Combines MmaOperands.
  Combine multiply;
};

/// Grows with every change to the interface of an image and the driver.
inline constexpr uint32_t emulatorVersion = 8;

/// What an image exports for each kernel, as tuttiKernel_NAME.
struct EmulatedKernel {
  void (*run)(void *const *parameters);
  const uint32_t *parameterBytes; ///< one for each parameter, then 0
  uint32_t maxThreads;            ///< of __launch_bounds__; 0 without
};

/// What an image exports once, as tuttiImage. The driver sets it before a thread runs.
struct EmulatedImage {
  uint32_t version;
  int32_t capability; ///< that the text was compiled for, as TUTTI_CAPABILITY
  const Emulator *emulator;
  uint3 threadIdx, blockIdx;
  dim3 blockDim, gridDim;
  int lane, clusterRank, clusterSize;
};

template <class T, T... i> struct Sequence {};

/// Calls a kernel as the driver does: with addresses of its parameters.
template <auto kernel> struct KernelCall;
template <class... P, void (*kernel)(P...)> struct KernelCall<kernel> {
  static constexpr uint32_t parameterBytes[] = {uint32_t(sizeof(P))..., 0};
  template <int... i> static void call(void *const *parameters, Sequence<int, i...>) {
    kernel(*static_cast<P *>(parameters[i])...);
  }
  static void run(void *const *parameters) { call(parameters, __make_integer_seq<Sequence, int, int(sizeof...(P))>()); }
};

} // namespace tutti
