// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hand-built artifact for CUDA devices on the fake driver, with a session.
#pragma once

#include "FakeDriver.h"
#include "Fixture.h"

#include <cstdlib>
#include <dlfcn.h>

#define EXPECT_SAYS(error, code, words)                                                                                \
  do {                                                                                                                 \
    ::tutti::Error said = error;                                                                                       \
    EXPECT_EQ(said.status(), code);                                                                                    \
    EXPECT_NE(said.message().find(words), std::string::npos) << said.message();                                        \
  } while (false)

namespace tutti::rt::test {

inline FakeDriver &fakeDriver() {
  static FakeDriver *driver = [] {
    void *library = dlopen(TUTTI_TEST_DRIVER, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      std::fprintf(stderr, "%s\n", dlerror()), std::abort();
    return reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "tuttiFakeDriver"))();
  }();
  return *driver;
}

/// The members of an artifact whose Spec says nothing of them.
inline const std::vector<uint32_t> kAll{0, 1, 2};

inline Spec cudaSpec(bool oneLaunch = false) {
  Spec spec;
  spec.target = "";
  spec.cudaTargets = {"sm_90a"};
  spec.oneLaunch = oneLaunch;
  return spec;
}

/// The driver as new, and named in the environment; whatever a test leaves behind in it is a failure.
class Cuda : public testing::Test {
protected:
  void SetUp() override {
    fake.reset();
    setenv("TUTTI_CUDA_DRIVER", TUTTI_TEST_DRIVER, 1);
  }
  void TearDown() override {
    expectNothing();
    unsetenv("TUTTI_CUDA_DRIVER");
  }

  /// The driver holds nothing of ours.
  void expectNothing() {
    EXPECT_EQ(fake.used, 0u) << "bytes of device memory";
    EXPECT_EQ(fake.contexts, 0);
    EXPECT_EQ(fake.modules, 0);
    EXPECT_EQ(fake.streams, 0);
    EXPECT_EQ(fake.events, 0);
    EXPECT_EQ(fake.graphs, 0);
    EXPECT_EQ(fake.pinned, 0);
    EXPECT_EQ(fake.current(), nullptr) << "the caller's context";
  }
  static tutti_session_options_t options(tutti_device_t device = TUTTI_DEVICE_CUDA, uint32_t ordinal = 0) {
    tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
    options.device = device;
    options.ordinal = ordinal;
    return options;
  }
  static tutti_tensor_t tensorOf(const char *name, const int64_t *dims, int32_t rank, void *data,
                                 tutti_memory_t memory) {
    return {name, TUTTI_F32, rank, dims, nullptr, data, memory};
  }
  /// The error of making a session; what it leaves behind shows in TearDown.
  static Error errorOf(const Spec &spec, tutti_session_options_t options = Cuda::options()) {
    File file = buildArtifact(spec);
    auto artifact = Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
    if (!artifact)
      return artifact.error();
    return Session::create(*artifact, options).error();
  }

  FakeDriver &fake = fakeDriver();
};

} // namespace tutti::rt::test
