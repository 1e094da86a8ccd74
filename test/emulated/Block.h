// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the blocks of a launch, one after another, each thread a fiber, and finds what they do wrong.
#ifndef TUTTI_TEST_EMULATED_BLOCK_H
#define TUTTI_TEST_EMULATED_BLOCK_H

#include "Abi.h"
#include "Fiber.h"
#include "Memory.h"
#include "Shadow.h"

#include <csignal>
#include <random>
#include <string>
#include <vector>

namespace tutti::emulated {

struct LaunchShape {
  dim3 grid, block;
  uint32_t sharedBytes = 0;
};

struct Failure {
  CUresult result = CUDA_SUCCESS;
  std::string text;
};

class Launcher {
public:
  explicit Launcher(const DeviceMemory &memory) : memory(memory) {}

  /// Runs a whole grid. Orders follow from `seed`; 0 takes everything in ascending order.
  Failure run(const std::string &name, const EmulatedKernel &kernel, EmulatedImage &image, void *const *parameters,
              const LaunchShape &shape, uint64_t seed);

private:
  enum class Status { ready, waiting, returned };
  /// An asynchronous copy that has been asked for.
  struct Copy {
    unsigned char *to;
    const unsigned char *from;
    uint32_t bytes, valid, group;
  };
  /// A thread, and what it waits for.
  struct Thread {
    FiberState fiber = nullptr;
    Status status = Status::ready;
    uint3 index = {0, 0, 0};
    const char *what = nullptr;
    Where where = {nullptr, 0};
    // In a warp-wide instruction:
    Combine combine = nullptr;
    uint32_t mask = 0;
    void *operand = nullptr;
    bool orders = false;
    std::vector<Copy> copies;
    uint32_t groups = 0; ///< committed
  };
  struct Barrier {
    uint32_t arrived = 0, expected = 0;
    bool everyoneWaits = true;
    Where where = {nullptr, 0};
    std::vector<uint32_t> waiting;
    Knowledge knowledge;
  };

  static void enter();
  void runBlock(uint3 block);
  void resume(uint32_t thread);
  /// The running thread has nothing to do until somebody wakes it.
  void wait(const char *what, Where where);
  void wake(uint32_t thread);
  void returned(uint32_t thread);
  void tryWarp(uint32_t first);
  void reportDeadlock();
  void fail(CUresult result, const std::string &text);
  [[noreturn]] void failHere(CUresult result, const std::string &text, Where where);
  void checkConflict(const std::optional<Conflict> &conflict, const char *verb, Where where);
  static void onSignal(int signal, siginfo_t *info, void *context);
  static void afterSignal();
  void checkShared(const void *at, int64_t bytes, uint32_t alignment, Where where);

  // What kernel text calls (Emulator in host_emulator.cuh).
  static const Emulator table;
  void access(Access access, Space space, const void *at, uint32_t bytes, uint32_t alignment, Where where);
  void view(Space space, const void *base, int64_t bytes, uint32_t alignment, Where where);
  void barrier(int id, int threads, bool arriveOnly, Where where);
  void warp(uint32_t mask, void *operand, Combine combine, bool orders, const char *name, Where where);
  void yield();
  void copyAsync(void *to, const void *from, uint32_t bytes, uint32_t valid, Where where);
  void waitCopies(int prior);

  static Launcher *active;
  const DeviceMemory &memory;
  FiberStacks stacks;
  FiberState scheduler = nullptr;
  Shadow shadow;
  std::vector<unsigned char> sharedStorage;
  unsigned char *sharedMemory = nullptr;
  std::vector<Thread> threads;
  std::vector<uint32_t> ready;
  std::vector<Barrier> barriers;
  uint32_t running = 0, numThreads = 0, numReturned = 0;

  std::mt19937_64 random;
  bool shuffled = true;
  bool inFiber = false;
  std::string trapped;
  const std::string *name = nullptr;
  const EmulatedKernel *kernel = nullptr;
  EmulatedImage *image = nullptr;
  void *const *parameters = nullptr;
  LaunchShape shape;
  Failure failure;
};

} // namespace tutti::emulated

#endif
