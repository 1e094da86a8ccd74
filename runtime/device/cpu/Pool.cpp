// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fork-join: spin, then futex.
#include "Pool.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <immintrin.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti::rt {

namespace {
constexpr uint64_t kOpen = uint64_t(1) << 32;
/// Waking a sleeping thread takes 5 to 40 us, so calls in quick succession should find the workers awake; longer than
/// this the core is worth more to others.
constexpr int64_t kWorkerSpinNs = 100'000;
/// A worker that is still inside when the caller runs dry is either about to finish or has lost its core; sleeping then
/// lets it have the caller's.
constexpr int64_t kCallerSpinNs = 30'000;
constexpr size_t kStackBytes = 1 << 20;

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

/// Spins until done() or the time is over; says which.
template <typename Done> bool spin(int64_t nanoseconds, Done done) {
  for (int64_t end = 0;;) {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      _mm_pause();
    }
    int64_t t = now();
    if (!end)
      end = t + nanoseconds;
    else if (t > end)
      return false;
  }
}

/// A half of the gate as the kernel sees it.
uint32_t *halfOf(std::atomic<uint64_t> &gate, int half) {
  static_assert(sizeof(std::atomic<uint64_t>) == 8);
  return reinterpret_cast<uint32_t *>(&gate) + half;
}
void futexWait(uint32_t *word, uint32_t seen) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}
void futexWake(uint32_t *word, uint32_t howMany) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, howMany, nullptr, nullptr, 0);
}
} // namespace

bool Pool::start(uint32_t count) {
  threads = count;
  if (count < 2)
    return true;
  void *memory = std::aligned_alloc(alignof(Share), count * sizeof(Share));
  if (!memory || !workers.allocate(count - 1)) {
    std::free(memory);
    errno = ENOMEM;
    return false;
  }
  shares = static_cast<Share *>(memory);
  for (uint32_t i = 0; i < count; ++i)
    new (&shares[i]) Share;

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // Signals are the host program's business, but for those that a thread brings upon itself, which would end the
  // process unheard, and a profiler's.
  sigset_t held, before;
  sigfillset(&held);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF})
    sigdelset(&held, signal);
  pthread_sigmask(SIG_SETMASK, &held, &before);
  int rc = 0;
  for (uint32_t i = 0; i < count - 1 && rc == 0; ++i) {
    workers[i].pool = this;
    workers[i].index = i + 1;
    rc = pthread_create(&workers[i].handle, &attributes, enter, &workers[i]);
    if (rc == 0) {
      pthread_setname_np(workers[i].handle, "tutti");
      ++started;
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  errno = rc;
  return rc == 0;
}

Pool::~Pool() {
  if (started) {
    stop.store(true, std::memory_order_seq_cst);
    gate.fetch_add(kOpen << 1, std::memory_order_seq_cst); // Another number, still closed: sleepers look again.
    futexWake(halfOf(gate, 1), INT32_MAX);
    for (uint32_t i = 0; i < started; ++i)
      pthread_join(workers[i].handle, nullptr);
  }
  std::free(shares);
}

void *Pool::enter(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  _mm_setcsr(0x1f80);
  worker->pool->serve(worker->index);
  return nullptr;
}

void Pool::serve(uint32_t index) {
  uint64_t job = 0;
  while (await(job)) {
    takeAll(index);
    gate.fetch_sub(1, std::memory_order_seq_cst);
    if (callerWaits.load(std::memory_order_seq_cst))
      futexWake(halfOf(gate, 0), 1);
  }
}

/// Waits for a job other than `job` and goes in; false when the pool stops.
bool Pool::await(uint64_t &job) {
  auto comeIn = [&] {
    uint64_t seen = gate.load(std::memory_order_acquire);
    while ((seen & kOpen) && seen >> 33 != job)
      if (gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        job = seen >> 33;
        return true;
      }
    return false;
  };
  for (;;) {
    bool inside = false;
    spin(kWorkerSpinNs, [&] { return (inside = comeIn()) || stop.load(std::memory_order_relaxed); });
    if (inside)
      return true;
    if (stop.load(std::memory_order_acquire))
      return false;
    parked.fetch_add(1, std::memory_order_seq_cst);
    uint32_t seen = uint32_t(gate.load(std::memory_order_seq_cst) >> 32);
    bool open = seen & 1, old = seen >> 1 == uint32_t(job);
    if (!stop.load(std::memory_order_seq_cst) && (!open || old))
      futexWait(halfOf(gate, 1), seen);
    parked.fetch_sub(1, std::memory_order_relaxed);
  }
}

/// Takes some tasks from the front of the own share or from the end of another; false when it is empty.
bool Pool::take(Share &share, bool own, int64_t &begin, int64_t &end) {
  uint64_t seen = share.range.load(std::memory_order_relaxed);
  for (;;) {
    uint32_t first = uint32_t(seen), last = uint32_t(seen >> 32);
    if (first >= last)
      return false;
    // Less than an eighth at a time keeps small tasks cheap and leaves the end of a share to be split task by task.
    uint32_t some = std::max<uint32_t>((last - first) / 8, 1);
    begin = own ? first : last - some;
    end = begin + some;
    uint64_t rest = own ? uint64_t(last) << 32 | uint32_t(end) : uint64_t(begin) << 32 | first;
    if (share.range.compare_exchange_weak(seen, rest, std::memory_order_acq_rel, std::memory_order_relaxed))
      return true;
  }
}

void Pool::takeAll(uint32_t self) {
  int64_t begin, end;
  if (sharers == 1 || self < sharers)
    while (take(shares[sharers == 1 ? 0 : self], true, begin, end))
      work(context, self, begin, end);
  for (uint32_t other = 1; other < threads; ++other)
    if (uint32_t victim = (self + other) % threads; victim < sharers)
      while (take(shares[victim], false, begin, end))
        work(context, self, begin, end);
}

void Pool::join() {
  uint64_t seen = gate.fetch_sub(kOpen, std::memory_order_seq_cst) - kOpen; // Closed: nobody comes in any more.
  if (uint32_t(seen) == 0)
    return;
  auto empty = [&] { return uint32_t(gate.load(std::memory_order_acquire)) == 0; };
  if (spin(kCallerSpinNs, empty))
    return;
  callerWaits.store(1, std::memory_order_seq_cst);
  while (uint32_t inside = uint32_t(gate.load(std::memory_order_seq_cst)))
    futexWait(halfOf(gate, 0), inside);
  callerWaits.store(0, std::memory_order_relaxed);
}

void Pool::run(int64_t tasks, Work newWork, void *newContext, bool even) {
  if (threads < 2 || tasks < 2) {
    if (tasks > 0)
      newWork(newContext, 0, 0, tasks);
    return;
  }
  work = newWork;
  context = newContext;
  uint32_t most = uint32_t(std::min<int64_t>(threads, tasks));
  sharers = even ? most : 1;
  for (uint32_t i = 0; i < sharers; ++i) {
    uint64_t first = uint64_t(tasks) * i / sharers, last = uint64_t(tasks) * (i + 1) / sharers;
    shares[i].range.store(last << 32 | first, std::memory_order_relaxed);
  }
  uint64_t number = (gate.load(std::memory_order_relaxed) >> 33) + 1;
  gate.store(number << 33 | kOpen, std::memory_order_seq_cst);
  if (uint32_t sleeping = parked.load(std::memory_order_seq_cst))
    futexWake(halfOf(gate, 1), std::min(sleeping, most - 1));
  takeAll(0);
  join();
}

} // namespace tutti::rt
