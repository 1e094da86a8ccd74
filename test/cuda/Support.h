// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of CUDA code share.
#ifndef TUTTI_TEST_CUDA_SUPPORT_H
#define TUTTI_TEST_CUDA_SUPPORT_H

#include "compiler/codegen/cuda/images/Nvrtc.h"
#include "compiler/support/Error.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>

namespace tutti {

/// An environment variable while it lives; null takes it away.
class Environment {
public:
  Environment(const char *name, const char *value) : name(name) {
    if (const char *was = std::getenv(name))
      before = was;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { before ? setenv(name, before->c_str(), 1) : unsetenv(name); }
  Environment(const Environment &) = delete;

private:
  const char *name;
  std::optional<std::string> before;
};

struct Failure {
  ExitCode code = ExitCode(0);
  std::string message;
};

/// Code 0 of no error.
inline Failure failureOf(llvm::Error error) {
  if (!error)
    return {};
  CompileError e = compileErrorOf(std::move(error));
  return {e.code, e.message};
}

inline bool has(const Failure &failure, const std::string &part) {
  return failure.message.find(part) != std::string::npos;
}

template <class T> Failure failureOf(llvm::Expected<T> value) {
  if (value)
    return {ExitCode(0), "no error"};
  return failureOf(value.takeError());
}

template <class T> T take(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  ADD_FAILURE() << llvm::toString(value.takeError());
  return T();
}

} // namespace tutti

/// The NVRTC of this machine in `name`, or the test is skipped.
#define TUTTI_NEED_NVRTC(name)                                                                                         \
  llvm::Expected<Nvrtc> maybeNvrtc = Nvrtc::load();                                                                    \
  if (!maybeNvrtc)                                                                                                     \
    GTEST_SKIP() << llvm::toString(maybeNvrtc.takeError());                                                            \
  const Nvrtc &name = *maybeNvrtc

#endif
