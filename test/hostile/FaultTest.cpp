// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is not to be had, at every allocation of the runtime, one by one: a status, the rest still works, nothing
// stays behind. The linker leads the runtime's calls here (--wrap).
#include "CudaFixture.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tutti::rt;
using namespace tutti::rt::test;

namespace {
/// What the runtime holds, and which of its allocations fails. Only what it asks for during a call of ours counts.
struct {
  bool armed = false, failed = false;
  int left = 0; ///< allocations until the one that fails
  void *held[1 << 12];
  size_t count = 0;

  bool fails() {
    bool now = armed && left-- == 0;
    failed |= now;
    if (now)
      errno = ENOMEM;
    return now;
  }
  void *keep(void *p) {
    if (armed && p && p != MAP_FAILED)
      held[count++] = p;
    return p;
  }
  void forget(void *p) {
    if (void **at = std::find(held, held + count, p); at != held + count)
      *at = held[--count];
  }
} heap;
} // namespace

extern "C" {
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
void __real_free(void *);
void *__real_mmap(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

void *__wrap_malloc(size_t n) { return heap.fails() ? nullptr : heap.keep(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return heap.fails() ? nullptr : heap.keep(__real_calloc(n, size)); }
void *__wrap_realloc(void *p, size_t n) {
  if (heap.fails())
    return nullptr;
  heap.forget(p);
  return heap.keep(__real_realloc(p, n));
}
void *__wrap_aligned_alloc(size_t align, size_t n) {
  return heap.fails() ? nullptr : heap.keep(__real_aligned_alloc(align, n));
}
void __wrap_free(void *p) { heap.forget(p), __real_free(p); }
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int file, off_t offset) {
  return heap.fails() ? MAP_FAILED : heap.keep(__real_mmap(at, n, protection, flags, file, offset));
}
int __wrap_munmap(void *p, size_t n) { return heap.forget(p), __real_munmap(p, n); }
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  return heap.fails() ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}
// What throws std::bad_alloc has no place in the runtime.
void *__real__Znwm(size_t);
void *__wrap__Znwm(size_t n) {
  if (heap.armed)
    std::fprintf(stderr, "the runtime calls operator new\n"), std::abort();
  return __real__Znwm(n);
}
}

namespace {
/// Everything that a program does with an artifact, while one allocation fails.
class Life {
public:
  Life(const std::string &path, const tutti_session_options_t &options) : path(path), options(options) {}

  void live() {
    tutti_artifact_t *artifact = nullptr;
    if (!call([&] { return tutti_artifact_open(path.c_str(), &artifact, &error); }))
      return expectNothing(artifact);
    int64_t dims[] = {5, kK};
    tutti_tensor_t input = {"x", TUTTI_F32, 2, dims, nullptr, x.data(), TUTTI_MEMORY_HOST};
    tutti_session_options_t chosen = options;
    call([&] { return tutti_artifact_choose_program(artifact, &input, 1, &chosen, &error); });
    tutti_session_t *sessions[2] = {};
    for (tutti_session_t *&session : sessions)
      if (!call([&] { return tutti_session_create(artifact, &options, &session, &error); }))
        expectNothing(session);
    for (tutti_session_t *session : sessions)
      run(session, input, biasOf(1));
    int64_t size = kN;
    std::vector<float> bias = biasOf(7);
    tutti_tensor_t b = {"b", TUTTI_F32, 1, &size, nullptr, bias.data(), TUTTI_MEMORY_HOST};
    bool swapped = call([&] { return tutti_artifact_swap_weights(artifact, 1, &b, 1, &error); });
    for (tutti_session_t *session : sessions)
      run(session, input, swapped ? bias : biasOf(1));
    call([&] { return tutti_artifact_verify_weights(artifact, &error); });
    heap.armed = true;
    for (tutti_session_t *session : sessions)
      tutti_session_destroy(session);
    tutti_artifact_close(artifact);
    heap.armed = false;
  }

private:
  /// Whether it went well; if not, it says what for there was no memory.
  template <typename Call> bool call(Call call) {
    error = {};
    bool before = heap.failed;
    heap.armed = true;
    tutti_status_t status = call();
    heap.armed = false;
    if (status) {
      EXPECT_EQ(status, TUTTI_OUT_OF_MEMORY) << error.message;
      EXPECT_EQ(error.status, status);
      EXPECT_NE(*error.message, '\0');
      EXPECT_TRUE(heap.failed && !before);
    }
    return !status;
  }
  static void expectNothing(const void *handle) { EXPECT_EQ(handle, nullptr); }

  void run(tutti_session_t *session, const tutti_tensor_t &input, const std::vector<float> &bias) {
    if (!session)
      return;
    uint32_t active[] = {2, 1};
    tutti_tensor_t y;
    EXPECT_TRUE(call([&] { return tutti_session_set_active(session, active, 2); }));
    EXPECT_TRUE(call([&] { return tutti_session_bind_input(session, &input); }));
    EXPECT_TRUE(call([&] { return tutti_session_run(session); })) << tutti_session_message(session);
    EXPECT_TRUE(call([&] { return tutti_session_get_output(session, "y", "members", &y); }));
    auto first = expected(x, weightOf(2), biasOf(2)), second = expected(x, weightOf(1), bias);
    first.insert(first.end(), second.begin(), second.end());
    EXPECT_TRUE(std::equal(first.begin(), first.end(), static_cast<const float *>(y.data)));
  }

  std::string path;
  tutti_session_options_t options;
  tutti_error_t error = {};
  std::vector<float> x = inputOf(5);
};

/// Lives once for each allocation there is; how many that are.
int failEach(const Spec &spec, const tutti_session_options_t &options) {
  std::string path = testing::TempDir() + "faults-" + std::to_string(getpid()) + ".tutti";
  buildArtifact(spec).write(path);
  int n = -1;
  do {
    heap.left = ++n;
    heap.failed = false;
    SCOPED_TRACE("allocation " + std::to_string(n));
    Life(path, options).live();
    EXPECT_EQ(heap.count, 0u) << "left behind";
  } while (heap.failed && !testing::Test::HasFailure());
  std::filesystem::remove(path);
  return n;
}
} // namespace

TEST(Faults, everyAllocation) {
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  options.threads = 3;
  EXPECT_GT(failEach({}, options), 50);
}

TEST_F(Cuda, everyAllocationFails) { EXPECT_GT(failEach(cudaSpec(), options()), 50); }
