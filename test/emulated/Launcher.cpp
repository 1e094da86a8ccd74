// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler of a launch's fibers.
#include "Launcher.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tutti::emulated {

Launcher *Launcher::active = nullptr;

static uint3 unflatten(uint64_t i, const dim3 &extent) {
  return {unsigned(i % extent.x), unsigned(i / extent.x % extent.y), unsigned(i / extent.x / extent.y)};
}

Failure Launcher::run(const std::string &kernelName, const EmulatedKernel &entry, EmulatedImage &loaded,
                      void *const *values, const LaunchShape &launch, uint64_t seed) {
  active = this;
  name = &kernelName;
  kernel = &entry;
  image = &loaded;
  parameters = values;
  shape = launch;
  failure = {};
  written.clear();
  shuffled = seed != 0;
  random.seed(seed);
  image->emulator = &table;
  image->gridDim = shape.grid;
  image->blockDim = shape.block;
  numThreads = shape.block.x * shape.block.y * shape.block.z;
  stride = (numThreads + 31) / 32 * 32;
  clusterSize = shape.cluster.x * shape.cluster.y * shape.cluster.z;
  image->clusterSize = int(clusterSize);
  if (threads.size() < clusterSize * stride)
    threads.resize(clusterSize * stride);
  while (blocks.size() < clusterSize)
    blocks.push_back(std::make_unique<Block>());

  dim3 clusters = {shape.grid.x / shape.cluster.x, shape.grid.y / shape.cluster.y, shape.grid.z / shape.cluster.z};
  std::vector<uint64_t> order(uint64_t(clusters.x) * clusters.y * clusters.z);
  std::iota(order.begin(), order.end(), 0);
  if (shuffled)
    std::shuffle(order.begin(), order.end(), random);
  // Kernel text touches memory by views, so a trap is a fault of the text that they do not see: a stack that overflows,
  // say. It must not end the process.
  static unsigned char signalStack[64 << 10];
  stack_t own = {signalStack, 0, sizeof signalStack}, before;
  struct sigaction action = {}, old[4];
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  sigaltstack(&own, &before);
  for (int i = 0; i < 4; ++i)
    sigaction(signals[i], &action, &old[i]);
  inFiber = false;
  for (uint64_t index : order) {
    uint3 at = unflatten(index, clusters);
    runCluster({at.x * shape.cluster.x, at.y * shape.cluster.y, at.z * shape.cluster.z});
    if (failure.result != CUDA_SUCCESS)
      break;
  }
  for (int i = 0; i < 4; ++i)
    sigaction(signals[i], &old[i], nullptr);
  sigaltstack(&before, nullptr);
  active = nullptr;
  return failure;
}

void Launcher::onSignal(int signal, siginfo_t *info, void *context) {
  if (!active || !active->inFiber) { // not a fiber's: as if we were not here
    std::signal(signal, SIG_DFL);
    return;
  }
  char text[160];
  snprintf(text, sizeof text, "%s at %p%s",
           signal == SIGSEGV || signal == SIGBUS ? "an access that no view checks" : "a trap", info->si_addr,
           active->stacks.overflowed(info->si_addr) ? ": the thread's stack overflows" : "");
  active->trapped = text;
  // Goes on behind the handler, on the scheduler's stack: below where it sleeps there is room.
  auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&afterSignal);
  registers[REG_RSP] = (reinterpret_cast<greg_t>(active->scheduler) - 4096) / 16 * 16 - 8;
}

void Launcher::afterSignal() {
  Thread &self = active->threads[active->running];
  Where where = self.where.file ? self.where : Where{"?", 0};
  active->failHere(CUDA_ERROR_ILLEGAL_ADDRESS, active->trapped + (self.where.file ? " after this line" : ""), where);
}

void Launcher::runCluster(uint3 first) {
  for (const auto &block : blocks)
    epoch = std::max(epoch, block->clocks.presentEpoch());
  ++epoch;
  ready.clear();
  for (uint32_t rank = 0; rank < clusterSize; ++rank) {
    uint3 at = unflatten(rank, shape.cluster);
    blocks[rank]->begin({first.x + at.x, first.y + at.y, first.z + at.z}, rank, shape.sharedBytes, numThreads, epoch);
    for (uint32_t i = 0; i < numThreads; ++i) {
      Thread &thread = threads[rank * stride + i] = {};
      thread.index = unflatten(i, shape.block);
      thread.fiber = stacks.prepare(rank * stride + i, enter);
      ready.push_back(rank * stride + i);
    }
  }
  cluster = {};
  cluster.live = cluster.missing = uint32_t(ready.size());
  size_t next = 0; // threads before are done with; ascending order is first come, first served
  while (next < ready.size() && failure.result == CUDA_SUCCESS) {
    if (shuffled)
      std::swap(ready[next], ready[next + random() % (ready.size() - next)]);
    resume(ready[next++]);
    if (next == ready.size() || next > 4096) {
      ready.erase(ready.begin(), ready.begin() + next);
      next = 0;
    }
  }
  if (failure.result == CUDA_SUCCESS && cluster.live)
    reportDeadlock();
}

/// Where every fiber starts.
void Launcher::enter() {
  active->kernel->run(active->parameters);
  active->returned(active->running);
  __builtin_unreachable();
}

void Launcher::resume(uint32_t thread) {
  running = thread;
  image->threadIdx = threads[thread].index;
  image->blockIdx = here().index;
  image->clusterRank = int(here().rank);
  image->lane = thread % 32;
  inFiber = true;
  tuttiSwitchFiber(&scheduler, threads[thread].fiber);
  inFiber = false;
}

void Launcher::wait(const char *what, Where where) {
  Thread &self = threads[running];
  self.status = Thread::Status::waiting;
  self.what = what;
  self.where = where;
  tuttiSwitchFiber(&self.fiber, scheduler);
}

void Launcher::wake(uint32_t thread) {
  threads[thread].status = Thread::Status::ready;
  ready.push_back(thread);
}

void Launcher::returned(uint32_t thread) {
  threads[thread].status = Thread::Status::returned;
  // Those of its warp that have waited for it alone go on.
  for (uint32_t first = thread / 32 * 32, i = first; i < std::min(first + 32, uint32_t(threads.size())); ++i)
    if (threads[i].status == Thread::Status::waiting && threads[i].combine)
      tryToMeet(i);
  leaveCluster(thread);
  tuttiSwitchFiber(&threads[thread].fiber, scheduler);
}

bool Launcher::lacks(Where where) const { return where.line == without.line && where.file == without.file; }

void Launcher::yield() {
  ready.push_back(running);
  tuttiSwitchFiber(&threads[running].fiber, scheduler);
}

const Emulator Launcher::table = {
    [](Access kind, Space space, const void *at, uint32_t bytes, uint32_t alignment, Where where) {
      active->access(kind, space, at, bytes, alignment, where);
    },
    [](Space space, const void *base, int64_t bytes, uint32_t alignment, Where where) {
      active->view(space, base, bytes, alignment, where);
    },
    [](Fault kind, const char *format, long a, long b, Where where) {
      static constexpr CUresult results[] = {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS,
                                             CUDA_ERROR_LAUNCH_FAILED};
      char text[256];
      snprintf(text, sizeof text, format, a, b);
      active->failHere(results[int(kind)], text, where);
    },
    []() { return active->here().shared; },
    [](int id, int threads, Where where) {
      if (!active->lacks(where))
        active->barrier(id, threads, where);
    },
    [](uint32_t mask, void *operand, Combine combine, bool orders, const char *what, Where where) {
      if (!orders || !active->lacks(where))
        active->warp(mask, operand, combine, orders, what, where);
    },
    [](Where) { active->yield(); },
    [](void *to, const void *from, uint32_t bytes, uint32_t valid, Where where) {
      active->copyAsync(to, from, bytes, valid, where);
    },
    []() { ++active->threads[active->running].groups; },
    [](int prior, Where where) {
      if (!active->lacks(where))
        active->waitCopies(prior);
    },
    [](MbarrierOperation operation, void *at, int64_t value, Where where) {
      bool orders = operation != MbarrierOperation::init && operation != MbarrierOperation::expect;
      if (!orders || !active->lacks(where))
        active->mbarrier(operation, at, value, where);
    },
    [](void *to, const void *from, uint32_t bytes, void *mbarrier, Where where) {
      active->copyBulk(to, from, bytes, mbarrier, where);
    },
    [](bool inits, Where where) {
      if (!active->lacks(where))
        active->proxyFence(inits);
    },
    [](ClusterOperation operation, Where where) {
      if (active->lacks(where))
        return;
      operation == ClusterOperation::wait ? active->clusterWait(where)
                                          : active->clusterArrive(operation == ClusterOperation::arrive, where);
    },
    [](const void *at, int64_t rank, Where where) { return active->peerAddress(at, rank, where); },
    [](void *to, const void *value, uint32_t bytes, void *mbarrier, Where where) {
      active->storeAsync(to, value, bytes, mbarrier, where);
    },
    [](Where where) { return active->lacks(where); },
    multiply,
};

} // namespace tutti::emulated
