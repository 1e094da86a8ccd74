// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler of a launch's fibers.
#include "Block.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <numeric>

namespace tutti::emulated {

Launcher *Launcher::active = nullptr;

static std::string print(uint3 v) {
  return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + ")";
}

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
  shuffled = seed != 0;
  random.seed(seed);
  image->emulator = &table;
  image->gridDim = shape.grid;
  image->blockDim = shape.block;
  numThreads = shape.block.x * shape.block.y * shape.block.z;
  if (threads.size() < numThreads)
    threads.resize(numThreads);

  sharedStorage.resize(shape.sharedBytes + 1024);
  auto base = reinterpret_cast<uintptr_t>(sharedStorage.data());
  sharedMemory = sharedStorage.data() + (1024 - base % 1024) % 1024;

  std::vector<uint64_t> order(uint64_t(shape.grid.x) * shape.grid.y * shape.grid.z);
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
  for (uint64_t block : order) {
    runBlock(unflatten(block, shape.grid));
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

void Launcher::runBlock(uint3 block) {
  image->blockIdx = block;
  shadow.beginBlock(shape.sharedBytes, numThreads);
  memset(sharedMemory, 0xff, shape.sharedBytes);
  barriers.assign(16, {});
  ready.resize(numThreads);
  std::iota(ready.begin(), ready.end(), 0);
  numReturned = 0;
  for (uint32_t i = 0; i < numThreads; ++i) {
    threads[i] = {};
    threads[i].index = unflatten(i, shape.block);
    threads[i].fiber = stacks.prepare(i, enter);
  }
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
  if (failure.result == CUDA_SUCCESS && numReturned < numThreads)
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
  image->lane = thread % 32;
  inFiber = true;
  tuttiSwitchFiber(&scheduler, threads[thread].fiber);
  inFiber = false;
}

void Launcher::wait(const char *what, Where where) {
  Thread &self = threads[running];
  self.status = Status::waiting;
  self.what = what;
  self.where = where;
  tuttiSwitchFiber(&self.fiber, scheduler);
}

void Launcher::wake(uint32_t thread) {
  threads[thread].status = Status::ready;
  ready.push_back(thread);
}

void Launcher::returned(uint32_t thread) {
  threads[thread].status = Status::returned;
  ++numReturned;
  tryWarp(thread / 32 * 32);
  tuttiSwitchFiber(&threads[thread].fiber, scheduler);
}

void Launcher::yield() {
  ready.push_back(running);
  tuttiSwitchFiber(&threads[running].fiber, scheduler);
}

void Launcher::barrier(int id, int number, bool arriveOnly, Where where) {
  Barrier &barrier = barriers[id];
  uint32_t expected = number ? number : numThreads;
  if (expected > numThreads || (number && number % 32))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "barrier " + std::to_string(id) + " counts " + std::to_string(number) + " threads of a block of " +
                 std::to_string(numThreads) + ": expected a multiple of 32, at most the block",
             where);
  if (!barrier.arrived) {
    barrier.expected = expected;
    barrier.where = where;
    barrier.everyoneWaits = true;
    barrier.knowledge.epoch = 0;
  }
  if (barrier.expected != expected)
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             "barrier " + std::to_string(id) + " counts " + std::to_string(expected) + " threads here and " +
                 std::to_string(barrier.expected) + " at line " + std::to_string(barrier.where.line),
             where);
  if (!number && (barrier.where.line != where.line || strcmp(barrier.where.file, where.file)))
    failHere(CUDA_ERROR_LAUNCH_FAILED,
             std::string("the block's threads part: this one comes to the __syncthreads() of this line, another waits "
                         "at the one of ") +
                 barrier.where.file + ":" + std::to_string(barrier.where.line),
             where);
  ++barrier.arrived;
  barrier.everyoneWaits &= !arriveOnly;
  bool whole = barrier.everyoneWaits && expected == numThreads;
  if (number || !whole)
    shadow.clocks.release(running, barrier.knowledge);
  if (barrier.arrived < barrier.expected) {
    if (arriveOnly)
      return;
    barrier.waiting.push_back(running);
    return wait(number ? "a named barrier" : "__syncthreads()", where);
  }
  std::vector<uint32_t> met;
  met.swap(barrier.waiting);
  barrier.arrived = 0;
  if (whole)
    shadow.clocks.barrier();
  for (uint32_t thread : met) {
    if (!whole)
      shadow.clocks.acquire(thread, barrier.knowledge);
    wake(thread);
  }
  if (arriveOnly)
    return;
  if (!whole)
    shadow.clocks.acquire(running, barrier.knowledge);
  yield();
}

void Launcher::warp(uint32_t mask, void *operand, Combine combine, bool orders, const char *what, Where where) {
  Thread &self = threads[running];
  if (!(mask >> running % 32 & 1))
    failHere(CUDA_ERROR_LAUNCH_FAILED, std::string(what) + ": the mask does not name the thread that calls it", where);
  self.combine = combine;
  self.mask = mask;
  self.operand = operand;
  self.orders = orders;
  self.what = what;
  self.where = where;
  self.status = Status::waiting;
  tryWarp(running / 32 * 32);
  // Awake already: let the others have their turn all the same.
  tuttiSwitchFiber(&self.fiber, scheduler);
}

/// Runs the warp-wide instructions that all their lanes have come to.
void Launcher::tryWarp(uint32_t first) {
  uint32_t last = std::min(first + 32, numThreads);
  for (uint32_t i = first; i < last; ++i) {
    Thread &leader = threads[i];
    if (leader.status != Status::waiting || !leader.combine)
      continue;
    uint32_t lanes = 0;
    bool complete = true;
    void *operands[32] = {};
    for (uint32_t j = first; j < last; ++j) {
      const Thread &other = threads[j];
      if (!(leader.mask >> (j - first) & 1) || other.status == Status::returned)
        continue;
      complete &= other.status == Status::waiting && other.combine == leader.combine && other.mask == leader.mask &&
                  !strcmp(other.what, leader.what);
      lanes |= 1u << (j - first);
      operands[j - first] = other.operand;
    }
    if (!complete)
      continue;
    leader.combine(operands, lanes, leader.where);
    std::vector<uint32_t> met;
    for (uint32_t j = first; j < last; ++j)
      if (lanes >> (j - first) & 1) {
        threads[j].combine = nullptr;
        met.push_back(j);
        wake(j);
      }
    if (leader.orders)
      shadow.clocks.meet(met);
  }
}

/// Nobody can go on: says who waits where.
void Launcher::reportDeadlock() {
  struct Group {
    std::string place;
    uint32_t first, number;
  };
  std::vector<Group> groups;
  for (uint32_t i = 0; i < numThreads; ++i) {
    const Thread &thread = threads[i];
    std::string place = "have returned";
    if (thread.status == Status::waiting)
      place =
          std::string("wait at ") + thread.what + " in " + thread.where.file + ":" + std::to_string(thread.where.line);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group &g) { return g.place == place; });
    if (group == groups.end())
      groups.push_back({place, i, 1});
    else
      ++group->number;
  }
  std::string text = "the block can not go on:";
  for (const Group &group : groups)
    text += (&group == groups.data() ? " " : "; ") + std::to_string(group.number) + " thread" +
            (group.number > 1 ? "s" : "") + " " + group.place + " (the first is " + print(threads[group.first].index) +
            ")";
  auto waits = std::find_if(threads.begin(), threads.begin() + numThreads,
                            [](const Thread &thread) { return thread.status == Status::waiting; });
  running = waits - threads.begin();
  fail(CUDA_ERROR_LAUNCH_TIMEOUT, "thread " + print(waits->index) + ", " + waits->where.file + ":" +
                                      std::to_string(waits->where.line) + ": " + text);
}

void Launcher::fail(CUresult result, const std::string &text) {
  if (failure.result == CUDA_SUCCESS)
    failure = {result, "kernel " + *name + ", block " + print(image->blockIdx) + ", " + text};
}

void Launcher::failHere(CUresult result, const std::string &text, Where where) {
  fail(result,
       "thread " + print(threads[running].index) + ", " + where.file + ":" + std::to_string(where.line) + ": " + text);
  // The fiber is left for good: kernel text owns nothing that would have to be given back.
  FiberState lost;
  tuttiSwitchFiber(&lost, scheduler);
  __builtin_unreachable();
}

void Launcher::checkShared(const void *at, int64_t bytes, uint32_t alignment, Where where) {
  int64_t offset = static_cast<const unsigned char *>(at) - sharedMemory;
  if (offset < 0 || bytes < 0 || offset + bytes > int64_t(shape.sharedBytes))
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS,
             "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                 " of shared memory: the launch gave the block " + std::to_string(shape.sharedBytes),
             where);
  if (offset % alignment)
    failHere(CUDA_ERROR_MISALIGNED_ADDRESS,
             "byte " + std::to_string(offset) + " of shared memory is not a multiple of " + std::to_string(alignment),
             where);
}

void Launcher::access(Access access, Space space, const void *at, uint32_t bytes, uint32_t alignment, Where where) {
  if (space == Space::global)
    return view(space, at, bytes, alignment, where);
  checkShared(at, bytes, alignment, where);
  uint32_t offset = static_cast<const unsigned char *>(at) - sharedMemory;
  static const char *const verbs[] = {"reads", "writes", "updates"};
  checkConflict(shadow.access(access, offset, bytes, running, where), verbs[int(access)], where);
}

void Launcher::checkConflict(const std::optional<Conflict> &conflict, const char *verb, Where where) {
  if (!conflict)
    return;
  std::string text = std::string(verb) + " byte " + std::to_string(conflict->offset) + " of shared memory";
  if (!conflict->other)
    failHere(CUDA_ERROR_LAUNCH_FAILED, text + ", which nobody has written", where);
  const Mark &other = *conflict->other;
  text += std::string(", which thread ") + print(threads[other.stamp.thread].index) +
          (other.landing           ? " copies asynchronously"
           : conflict->otherWrites ? " writes"
                                   : " reads") +
          " at " + other.file + ":" + std::to_string(other.line) +
          (other.landing ? ", without a wait between them" : ", without a barrier between them");
  failHere(CUDA_ERROR_LAUNCH_FAILED, "a race: " + text, where);
}

void Launcher::copyAsync(void *to, const void *from, uint32_t bytes, uint32_t valid, Where where) {
  checkShared(to, bytes, bytes, where);
  auto *target = static_cast<unsigned char *>(to);
  checkConflict(shadow.startCopy(target - sharedMemory, bytes, running, where), "copies asynchronously to", where);
  Thread &self = threads[running];
  self.copies.push_back({target, static_cast<const unsigned char *>(from), bytes, valid, self.groups});
}

/// Copies read and write as late as they may: here.
void Launcher::waitCopies(int prior) {
  Thread &self = threads[running];
  std::erase_if(self.copies, [&](const Copy &copy) {
    if (int64_t(copy.group) >= int64_t(self.groups) - prior)
      return false;
    memcpy(copy.to, copy.from, copy.valid);
    memset(copy.to + copy.valid, 0, copy.bytes - copy.valid);
    shadow.landCopy(copy.to - sharedMemory, copy.bytes, running);
    return true;
  });
  yield();
}

void Launcher::view(Space space, const void *base, int64_t bytes, uint32_t alignment, Where where) {
  if (space == Space::shared)
    return checkShared(base, bytes, alignment, where);
  auto address = reinterpret_cast<uint64_t>(base);
  if (bytes < 0)
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS, "a view of " + std::to_string(bytes) + " bytes", where);
  if (bytes == 0)
    return;
  if (std::string complaint = memory.complaint(address, bytes); !complaint.empty())
    failHere(CUDA_ERROR_ILLEGAL_ADDRESS, complaint, where);
  if (address % alignment)
    failHere(CUDA_ERROR_MISALIGNED_ADDRESS, "a global address that is not a multiple of " + std::to_string(alignment),
             where);
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
    []() { return active->sharedMemory; },
    [](int id, int threads, bool arriveOnly, Where where) { active->barrier(id, threads, arriveOnly, where); },
    [](uint32_t mask, void *operand, Combine combine, bool orders, const char *what, Where where) {
      active->warp(mask, operand, combine, orders, what, where);
    },
    [](Where) { active->yield(); },
    [](void *to, const void *from, uint32_t bytes, uint32_t valid, Where where) {
      active->copyAsync(to, from, bytes, valid, where);
    },
    []() { ++active->threads[active->running].groups; },
    [](int prior, Where) { active->waitCopies(prior); },
};

} // namespace tutti::emulated
