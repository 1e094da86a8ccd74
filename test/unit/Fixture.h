// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hand-built artifact, opened, with a session on it: what most runtime tests start from.
#pragma once

#include "ArtifactBuilder.h"
#include "tutti/tutti.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tutti::rt::test {

struct Fixture {
  explicit Fixture(const Spec &spec = {}, uint32_t threads = 1) : Fixture(spec, onThreads(threads)) {}
  Fixture(const Spec &spec, const tutti_session_options_t &options)
      : file(std::make_unique<File>(buildArtifact(spec))) {
    auto opened = Artifact::open(std::as_bytes(std::span(file->data(), file->size())));
    EXPECT_TRUE(opened.ok()) << opened.error().message();
    artifact = std::move(*opened);
    auto created = Session::create(artifact, options);
    EXPECT_TRUE(created.ok()) << created.error().message();
    session = std::move(*created);
  }

  static tutti_session_options_t onThreads(uint32_t threads) {
    tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
    options.threads = threads;
    return options;
  }

  Error bind(const std::vector<float> &x) { return session.bindInput<float>("x", x, {int64_t(x.size()) / kK, kK}); }

  std::vector<float> get(const char *head) {
    auto output = session.output("y", head);
    EXPECT_TRUE(output.ok()) << output.error().message();
    auto values = output->as<float>();
    EXPECT_EQ(output->bytes().size(), values.size_bytes());
    return {values.begin(), values.end()};
  }

  std::unique_ptr<File> file;
  Artifact artifact;
  Session session;
};

/// What the ensemble of these members answers: their outputs, stacked, and the mean.
struct Answer {
  std::vector<float> members, mean;
};
inline Answer answerOf(const std::vector<float> &x, const std::vector<uint32_t> &active, bool sharedBias = false) {
  Answer answer;
  for (uint32_t m : active) {
    auto y = expected(x, weightOf(m), biasOf(sharedBias ? 0 : m));
    answer.members.insert(answer.members.end(), y.begin(), y.end());
  }
  size_t n = answer.members.size() / active.size();
  for (size_t i = 0; i < n; ++i) {
    float sum = 0;
    for (size_t p = 0; p < active.size(); ++p)
      sum += answer.members[p * n + i];
    answer.mean.push_back(sum / float(active.size()));
  }
  return answer;
}

} // namespace tutti::rt::test
