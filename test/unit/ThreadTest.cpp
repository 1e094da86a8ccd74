// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fork-join, sessions on several threads, forked children, and that a run allocates nothing.
#include "CudaFixture.h"
#include "device/cpu/Pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <xmmintrin.h>

using namespace tutti::rt;
using namespace tutti::rt::test;

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||               \
    __has_feature(thread_sanitizer)
#define COUNTS_ALLOCATIONS 0 // the sanitizer has a heap of its own
#else
#define COUNTS_ALLOCATIONS 1
// Every way to the heap is counted, in the whole process.
static std::atomic<long> allocations{0};
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t n) { return ++allocations, __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return ++allocations, __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return ++allocations, __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n) { return ++allocations, __libc_memalign(align, n); }
}
#endif

#if COUNTS_ALLOCATIONS
TEST(Run, allocatesNothing) {
  for (uint32_t threads : {1, 3}) {
    Fixture f({}, threads);
    auto x = inputOf(64), z = inputOf(9);
    tutti_session_t *session = f.session.get();
    int64_t dims[] = {64, kK}, small[] = {9, kK};
    tutti_tensor_t tensor = {"x", TUTTI_F32, 2, dims, nullptr, x.data(), TUTTI_MEMORY_HOST};
    tutti_tensor_t other = {"x", TUTTI_F32, 2, small, nullptr, z.data(), TUTTI_MEMORY_HOST};
    uint32_t two[] = {2, 0}, three[] = {0, 1, 2};
    long before = allocations;
    int failed = 0; // the first run counts, too
    for (int i = 0; i < 20; ++i) {
      failed += tutti_session_bind_input(session, i % 3 ? &tensor : &other) != TUTTI_OK;
      failed += tutti_session_set_active(session, i % 2 ? two : three, i % 2 ? 2 : 3) != TUTTI_OK;
      failed += tutti_session_run(session) != TUTTI_OK;
    }
    long after = allocations;
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(after - before, 0);
  }
}

TEST_F(Cuda, runAllocatesNothing) {
  for (bool oneLaunch : {false, true}) {
    Fixture f(cudaSpec(oneLaunch));
    auto x = inputOf(64), z = inputOf(9);
    std::vector<float> mean(64 * kN);
    tutti_session_t *session = f.session.get();
    int64_t dims[] = {64, kK}, small[] = {9, kK}, means[] = {64, kN}, smallMeans[] = {9, kN};
    tutti_tensor_t tensor = {"x", TUTTI_F32, 2, dims, nullptr, x.data(), TUTTI_MEMORY_HOST};
    tutti_tensor_t other = {"x", TUTTI_F32, 2, small, nullptr, z.data(), TUTTI_MEMORY_HOST};
    tutti_tensor_t out = {"y", TUTTI_F32, 2, means, nullptr, mean.data(), TUTTI_MEMORY_HOST};
    tutti_tensor_t outOther = {"y", TUTTI_F32, 2, smallMeans, nullptr, mean.data(), TUTTI_MEMORY_HOST};
    uint32_t two[] = {2, 0}, three[] = {0, 1, 2};
    fake.reset();
    long before = allocations;
    int failed = 0;
    for (int i = 0; i < 20; ++i) {
      failed += tutti_session_bind_input(session, i % 3 ? &tensor : &other) != TUTTI_OK;
      failed += tutti_session_bind_output(session, "mean", i % 3 ? &out : &outOther) != TUTTI_OK;
      failed += tutti_session_set_active(session, i % 2 ? two : three, i % 2 ? 2 : 3) != TUTTI_OK;
      failed += (i % 5 ? tutti_session_run(session) : tutti_session_run_async(session)) != TUTTI_OK;
    }
    failed += tutti_session_wait(session) != TUTTI_OK;
    long after = allocations;
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(after - before, 0);
    EXPECT_EQ(fake.calls("cuMemAlloc") + fake.calls("cuMemHostAlloc") + fake.calls("cuGraphInstantiateWithFlags"), 0);
  }
}
#endif

TEST(Run, leavesTheFloatingPointModeAsItWas) {
  Fixture f;
  auto x = inputOf(4);
  ASSERT_FALSE(f.bind(x));
  unsigned mode = _mm_getcsr();
  _mm_setcsr(0xffc0); // flush to zero, round to zero: what a host program may have
  tutti_status_t status = tutti_session_run(f.session.get());
  unsigned after = _mm_getcsr();
  _mm_setcsr(mode);
  EXPECT_EQ(status, TUTTI_OK);
  EXPECT_EQ(after & 0xffc0, 0xffc0u);
  EXPECT_EQ(f.get("mean"), answerOf(x, {0, 1, 2}).mean);
}

TEST(Pool, runsEveryTaskOnce) {
  for (uint32_t threads : {1, 2, 4, 9}) {
    Pool pool;
    ASSERT_TRUE(pool.start(threads));
    for (int64_t tasks : {0, 1, 2, 3, 7, 64, 1000}) {
      for (int round = 0; round < 50; ++round) {
        std::vector<std::atomic<int>> seen(tasks);
        pool.run(
            tasks,
            [](void *context, uint32_t, int64_t begin, int64_t end) {
              for (int64_t t = begin; t < end; ++t)
                ++(*static_cast<std::vector<std::atomic<int>> *>(context))[t];
            },
            &seen, round % 2 == 0);
        for (int64_t t = 0; t < tasks; ++t)
          ASSERT_EQ(seen[t], 1) << "task " << t << " of " << tasks << " on " << threads;
      }
    }
  }
}

TEST(Pool, wakesWorkersThatSleep) {
  Pool pool;
  ASSERT_TRUE(pool.start(2));
  std::atomic<int> here{0};
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1)); // longer than workers spin
    here = 0;
    // Each task waits for the other, so both threads have to come.
    pool.run(
        2,
        [](void *context, uint32_t, int64_t begin, int64_t end) {
          auto &count = *static_cast<std::atomic<int> *>(context);
          count += int(end - begin);
          while (count < 2)
            std::this_thread::yield();
        },
        &here);
    EXPECT_EQ(here, 2);
  }
}

TEST(Threads, shareAnArtifact) {
  Fixture f;
  std::vector<std::thread> all;
  for (uint32_t t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      auto session = tutti::Session::create(f.artifact, 1 + t % 2);
      ASSERT_TRUE(session.ok());
      auto x = inputOf(10 + t);
      std::vector<uint32_t> active{t % 3};
      ASSERT_FALSE(session->setActive(active));
      ASSERT_FALSE(session->bindInput<float>("x", std::span<const float>(x), {10 + t, kK}));
      auto answer = answerOf(x, active).members;
      for (int i = 0; i < 100; ++i) {
        ASSERT_FALSE(session->run());
        auto y = session->output("y", "members")->as<float>();
        ASSERT_TRUE(std::equal(answer.begin(), answer.end(), y.begin()));
      }
    });
  for (std::thread &thread : all)
    thread.join();
}

TEST(Threads, aForkedChildGetsAStatus) {
  for (uint32_t threads : {1, 3}) {
    Fixture f({}, threads);
    auto x = inputOf(64);
    ASSERT_FALSE(f.bind(x));
    ASSERT_FALSE(f.session.run());
    pid_t child = fork();
    if (child == 0) {
      alarm(20); // a hang is a signal
      bool told = f.session.run().status() == TUTTI_FORKED;
      // The artifact is still good for a session of the child's own.
      auto own = tutti::Session::create(f.artifact, threads);
      bool works = own.ok() && !own->bindInput<float>("x", std::span<const float>(x), {64, kK}) && !own->run();
      // So are new weights, which the parent does not see.
      const int64_t dims[] = {kN};
      auto bias = biasOf(41);
      tutti_tensor_t tensor = {"b", TUTTI_F32, 1, dims, nullptr, bias.data(), TUTTI_MEMORY_HOST};
      works = works && !f.artifact.swapWeights(0, {&tensor, 1}) && !own->run();
      if (works) {
        auto output = own->output("y", "members");
        auto swapped = expected(x, weightOf(0), bias);
        works = output.ok() && std::equal(swapped.begin(), swapped.end(), output->as<float>().begin());
      }
      f.session = tutti::Session();
      _exit(told && works ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_FALSE(f.session.run()) << "the parent's still works";
    EXPECT_EQ(f.get("members"), answerOf(x, {0, 1, 2}).members) << "with its own weights";
  }
}

namespace {
// What /proc says of the signals that each worker of a pool holds back; 64 bits, signal 1 is the lowest.
std::vector<uint64_t> blockedByWorkers() {
  std::vector<uint64_t> blocked;
  for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name, line;
    std::ifstream(task.path() / "comm") >> name;
    std::ifstream status(task.path() / "status");
    while (name == "tutti" && std::getline(status, line))
      if (line.rfind("SigBlk:", 0) == 0)
        blocked.push_back(std::stoull(line.substr(7), nullptr, 16));
  }
  return blocked;
}
} // namespace

// A fault in a worker is the host's to handle, and a profiler's signals reach it; all others are held back.
TEST(Threads, hearOfTheirOwnFaults) {
  Fixture f({}, 3);
  uint64_t heard = 0;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF})
    heard |= uint64_t(1) << (signal - 1);
  uint64_t held = uint64_t(1) << (SIGTERM - 1) | uint64_t(1) << (SIGUSR1 - 1);
  // A thread that has not run yet holds back everything: it takes its own mask when it starts.
  auto started = [&](uint64_t blocked) { return (blocked & heard) == 0 && (blocked & held) == held; };
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::vector<uint64_t> blocked;
  do
    blocked = blockedByWorkers();
  while ((blocked.size() != 2 || !std::ranges::all_of(blocked, started)) && std::chrono::steady_clock::now() < end);
  ASSERT_EQ(blocked.size(), 2u);
  for (uint64_t mask : blocked) {
    EXPECT_EQ(mask & heard, 0u);
    EXPECT_EQ(mask & held, held);
  }
}
