// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the clusters of a launch, one after another, each thread a fiber, and finds what they do wrong.
#ifndef TUTTI_TEST_EMULATED_LAUNCHER_H
#define TUTTI_TEST_EMULATED_LAUNCHER_H

#include "Abi.h"
#include "Block.h"
#include "Memory.h"

#include <bitset>
#include <csignal>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>

namespace tutti::emulated {

struct LaunchShape {
  dim3 grid, block;
  uint32_t sharedBytes = 0;
  dim3 cluster; ///< blocks that run together
};

struct Failure {
  CUresult result = CUDA_SUCCESS;
  std::string text;
};

/// Which 16 bytes of global memory were written, a page at a time.
class WrittenMemory {
public:
  void clear();
  void add(uint64_t address, uint32_t bytes) {
    for (uint64_t at = address / 16; at <= (address + bytes - 1) / 16; ++at)
      pageOf(at)[at % perPage] = true;
  }
  bool contains(uint64_t address, uint32_t bytes) const;

private:
  static constexpr uint64_t perPage = 4096;
  using Page = std::bitset<perPage>;
  Page &pageOf(uint64_t at) {
    if (!last || at / perPage != lastNumber) {
      lastNumber = at / perPage;
      last = &pages[lastNumber];
    }
    return *last;
  }
  std::unordered_map<uint64_t, Page> pages;
  Page *last = nullptr;
  uint64_t lastNumber = 0;
};

std::string print(uint3 v);
std::string print(Where where);

class Launcher {
public:
  explicit Launcher(const DeviceMemory &memory) : memory(memory) {}

  bool hardwareSums = false; ///< of tensor cores (TensorCores.cpp)
  /// A place in kernel text at which nothing orders threads; none where the line is 0.
  struct {
    std::string file;
    int line = 0;
  } without;

  /// Runs a whole grid. Orders follow from `seed`; 0 takes everything in ascending order.
  Failure run(const std::string &name, const EmulatedKernel &kernel, EmulatedImage &image, void *const *parameters,
              const LaunchShape &shape, uint64_t seed);

private:
  // Scheduling (Launcher.cpp).
  static void enter();
  void runCluster(uint3 first);
  Block &blockOf(uint32_t thread) { return *blocks[thread / stride]; }
  Block &here() { return blockOf(running); }
  uint32_t own() const { return running % stride; } ///< the running thread's number in its block
  Party party() { return {&here().clocks, own(), here().rank, threads[running].releases}; }
  void resume(uint32_t thread);
  /// The running thread has nothing to do until somebody wakes it.
  void wait(const char *what, Where where);
  void wake(uint32_t thread);
  void yield();
  bool lacks(Where where) const;
  void returned(uint32_t thread);
  static void onSignal(int signal, siginfo_t *info, void *context);
  static void afterSignal();

  // Saying what is wrong (Report.cpp).
  void reportDeadlock();
  /// Of a block's thread, by its number in the block.
  std::string nameOf(const Block &block, uint32_t thread) const;
  /// Also where no thread runs.
  void failAt(uint32_t thread, CUresult result, const std::string &text, Where where);
  /// Leaves the running fiber for good: kernel text owns nothing that would have to be given back.
  [[noreturn]] void abandon();
  [[noreturn]] void failHere(CUresult result, const std::string &text, Where where);
  void checkConflict(const std::optional<Conflict> &conflict, const char *verb, Where where);

  // What kernel text calls (Emulator in host_emulator.cuh).
  static const Emulator table;
  // Barriers.cpp
  void barrier(int id, int threads, Where where);
  void warp(uint32_t mask, void *operand, Combine combine, bool orders, const char *name, Where where);
  void tryToMeet(uint32_t thread);
  void clusterArrive(bool orders, Where where);
  void clusterWait(Where where);
  void endPhase();
  void leaveCluster(uint32_t thread);
  // Accesses.cpp
  void access(Access access, Space space, const void *at, uint32_t bytes, uint32_t alignment, Where where);
  void view(Space space, const void *base, int64_t bytes, uint32_t alignment, Where where);
  /// Memory of the cluster: whose it is, and the offset there.
  std::pair<Block *, uint32_t> findShared(const void *at, int64_t bytes, uint32_t alignment, Where where);
  /// Memory of the block itself.
  uint32_t checkShared(const void *at, int64_t bytes, uint32_t alignment, Where where);
  void checkRuns(const Block &holder, const char *verb, Where where);
  void checkPeer(Block &holder, const char *verb, Where where);
  void *peerAddress(const void *at, int64_t rank, Where where);
  void checkNoMbarrier(const Block &block, uint32_t offset, uint32_t bytes, const char *verb, Where where);
  void checkNotInFlight(const void *at, uint32_t bytes, Where where);
  void copyAsync(void *to, const void *from, uint32_t bytes, uint32_t valid, Where where);
  void waitCopies(int prior);
  void land(Block &block, const Copy &copy, Stamp when, uint32_t arrivals);
  // Mbarriers.cpp
  void mbarrier(MbarrierOperation operation, void *at, int64_t value, Where where);
  void initMbarrier(uint32_t offset, int64_t count, Where where);
  Mbarrier &findMbarrier(const void *at, const char *name, Where where);
  void arrive(Mbarrier &mbarrier, Where where);
  void wait(Mbarrier &mbarrier, int64_t parity, Where where);
  void settle(Block &block, Mbarrier &mbarrier, Where where);
  void land(Block &block, Mbarrier &mbarrier);
  void copyBulk(void *to, const void *from, uint32_t bytes, void *mbarrier, Where where);
  void proxyFence(bool inits);
  void storeAsync(void *to, const void *value, uint32_t bytes, void *mbarrier, Where where);
  bool isFenced(const Mark &mark);
  std::optional<Conflict> findUnfenced(const Block &block, uint32_t offset, uint32_t bytes, bool reads);
  void checkFenced(const std::optional<Conflict> &unfenced, const char *what, Where where);
  bool isShown(const Mbarrier &mbarrier);
  void endMbarriers(const Block &block);
  // TensorCores.cpp
  static void multiply(void *const *lanes, uint32_t mask, Where where);

  static Launcher *active;
  const DeviceMemory &memory;
  FiberStacks stacks;
  FiberState scheduler = nullptr;
  std::vector<std::unique_ptr<Block>> blocks; ///< of the cluster that runs, by rank
  ClusterBarrier cluster;
  std::vector<Thread> threads; ///< of block r from r * stride on
  std::vector<uint32_t> ready;
  uint32_t running = 0, numThreads = 0, stride = 32, clusterSize = 1;
  uint32_t epoch = 0; ///< the last that any block had

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
  WrittenMemory written; ///< global memory, by this launch
};

} // namespace tutti::emulated

#endif
