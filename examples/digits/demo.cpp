// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs ten digit classifiers as one artifact and one by one, says how good they are, and writes a page about it.
//
//   digits-demo DATA FOLDER     DATA: this example's folder; FOLDER: digits.tutti, member_0.tutti ..., digits.json
//                               (`tutti-inspect --json digits.tutti`), and digits.html when it is done
#include "Digits.h"
#include "Page.h"

#include <tutti/tutti.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sched.h>

using namespace digits;

namespace {

/// An artifact, a session on it that is bound to the images, and where its logits lie.
struct Model {
  tutti::Artifact artifact;
  tutti::Session session;
};

unsigned availableThreads() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

tutti::Error load(const std::string &path, const TestSet &set, unsigned threads, Model &model) {
  auto artifact = tutti::Artifact::open(path);
  if (!artifact)
    return artifact.error();
  model.artifact = std::move(*artifact);
  auto session = tutti::Session::create(model.artifact, threads);
  if (!session)
    return session.error();
  model.session = std::move(*session);
  return model.session.bindInput<float>("image", set.images, {set.count(), pixels});
}

/// Copies one head of the last run.
template <typename T> tutti::Error copy(const Model &model, const std::string &head, std::vector<T> &out) {
  auto output = model.session.output("logits", head);
  if (!output)
    return output.error();
  std::span<const T> values = output->template as<T>();
  out.assign(values.begin(), values.end());
  return {};
}

tutti::Error answer(Model &model, Answers &answers) {
  answers.members = static_cast<int64_t>(model.artifact.members().size());
  if (auto error = model.session.run())
    return error;
  if (auto error = copy(model, "members", answers.logits))
    return error;
  if (auto error = copy(model, "mean", answers.meanLogits))
    return error;
  return copy(model, "vote", answers.vote);
}

double medianMicroseconds(std::vector<double> &seconds) {
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return 1e6 * seconds[seconds.size() / 2];
}

/// The ensemble's artifact against the members' own, alternating in blocks of 20 calls.
tutti::Error race(Model &ensemble, std::vector<Model> &singles, Timing &timing) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> together, apart;
  tutti::Error error;
  auto timed = [&](std::vector<double> &seconds, auto &&call) {
    for (int i = 0; i < 22 && !error; ++i) {
      auto begin = Clock::now();
      call();
      if (i > 1) // the first two bring the weights back into the caches
        seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
  };
  for (int block = 0; block < 25 && !error; ++block) {
    timed(together, [&] { error = ensemble.session.run(); });
    timed(apart, [&] {
      for (Model &single : singles)
        if (!error)
          error = single.session.run();
    });
  }
  if (error)
    return error;
  timing.calls = together.size();
  timing.ensemble = medianMicroseconds(together);
  timing.singles = medianMicroseconds(apart);
  return error;
}

void print(const Answers &answers, const Verdict &v, const Timing &timing, const Facts &facts, int64_t images) {
  std::printf("\n%lld members, %lld test images\n\n  member    ", (long long)answers.members, (long long)images);
  for (int64_t m = 0; m < answers.members; ++m)
    std::printf("%7lld", (long long)m);
  std::printf("\n  accuracy  ");
  for (double accuracy : v.memberAccuracy)
    std::printf("%7.2f", 100 * accuracy);
  std::printf(" %%\n\n  ensemble  %7.2f %%  mean of the members' softmax\n            %7.2f %%  mean of the logits "
              "(head mean)\n"
              "            %7.2f %%  majority (head vote)\n\n",
              100 * v.softmaxAccuracy, 100 * v.meanAccuracy, 100 * v.voteAccuracy);
  std::printf("  one artifact      %9.1f us for all members and images on %u threads\n", timing.ensemble,
              timing.threads);
  std::printf("  one by one        %9.1f us with an artifact each: the ensemble is %.2f times as fast\n\n",
              timing.singles, timing.singles / timing.ensemble);
  std::printf("  sharing           %zu of %zu weights are the same in all members and stored once\n", facts.shared,
              facts.slots);
  std::printf("  kernels           %zu, in %u launch%s a call, for %s\n", facts.kernels, facts.launches,
              facts.launches == 1 ? "" : "es", facts.targets.c_str());
}

int fail(const std::string &message, int code) {
  std::fprintf(stderr, "digits-demo: %s\n", message.c_str());
  return code;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return fail("usage: digits-demo DATA FOLDER, see examples/digits/README.md", 2);
  const std::string data = argv[1], folder = argv[2];
  std::string problem;
  std::optional<TestSet> set = readTestSet(data, problem);
  if (!set)
    return fail(problem, 3);

  Timing timing;
  timing.threads = availableThreads();
  Model ensemble;
  if (auto error = load(folder + "/digits.tutti", *set, timing.threads, ensemble))
    return fail(error.message(), error.exitCode());
  Answers answers;
  if (auto error = answer(ensemble, answers))
    return fail(error.message(), error.exitCode());

  // Alone and in the ensemble a member gives the same bits; here is the place to see that it does.
  std::vector<Model> singles(answers.members);
  for (int64_t m = 0; m < answers.members; ++m) {
    if (auto error = load(folder + "/member_" + std::to_string(m) + ".tutti", *set, timing.threads, singles[m]))
      return fail(error.message(), error.exitCode());
    std::vector<float> alone;
    auto error = singles[m].session.run();
    if (!error)
      error = copy(singles[m], "members", alone);
    if (error)
      return fail(error.message(), error.exitCode());
    if (!std::equal(alone.begin(), alone.end(), answers.logits.begin() + m * set->count() * classes))
      return fail("member " + std::to_string(m) + " answers differently alone", 1);
  }

  if (auto error = race(ensemble, singles, timing))
    return fail(error.message(), error.exitCode());
  std::optional<Facts> facts = readFacts(folder + "/digits.json", problem);
  if (!facts)
    return fail(problem, 3);
  facts->launches = ensemble.artifact.programs()[0].launches;
  facts->compiler = ensemble.artifact.info().compiler;
  Verdict verdict = judge(*set, answers);
  print(answers, verdict, timing, *facts, set->count());
  if (!writePage(data + "/page.html", folder + "/digits.html", *set, verdict, timing, *facts, problem))
    return fail(problem, 6);
  std::printf("  page              %s/digits.html\n\n", folder.c_str());
  return 0;
}
