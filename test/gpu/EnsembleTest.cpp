// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What holds for every ensemble on a device: the CPU's answers, and members whose bits depend on nothing else.
#include "Ensemble.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>

namespace tutti::gpu {

namespace {
/// The artifact of a case with a session on the device.
class EnsembleTest : public testing::Test {
protected:
  explicit EnsembleTest(const Case &what) : what(what) {}
  void SetUp() override {
    artifact = open(what.file);
    ASSERT_TRUE(artifact.get());
    chosen = optionsOf(artifact, options.device);
    session = sessionOf(artifact, options.device);
    ASSERT_TRUE(session.get());
    members = artifact.info().num_members;
    const tutti_program_t &program = artifact.programs()[chosen.program];
    most = program.num_dimensions ? program.dimensions[0].hi : 1;
  }

  std::vector<int64_t> batches() const {
    std::vector<int64_t> all =
        options.quick ? std::vector<int64_t>{1, 19} : std::vector<int64_t>{1, 2, 7, 16, 17, 33, 64, 100, 257, 1000};
    std::erase_if(all, [&](int64_t rows) { return rows > most; });
    return all;
  }
  int64_t many() const { return std::min<int64_t>(most, options.quick ? 19 : 150); }
  Values inputs(int64_t rows) const { return inputsOf(artifact, chosen, rows, members); }
  Values answer(const Values &inputs, const std::vector<uint32_t> &active = {}) {
    std::vector<uint32_t> all(members);
    std::iota(all.begin(), all.end(), 0u);
    return run(session, artifact, chosen, inputs, active.empty() ? all : active);
  }

  Case what;
  Artifact artifact;
  tutti_session_options_t chosen;
  Session session;
  uint32_t members = 0;
  int64_t most = 0;
};

/// A property as a test of its own.
class Property : public EnsembleTest {
public:
  using Body = void (*)(Property &);
  Property(const Case &what, Body body) : EnsembleTest(what), body(body) {}
  void TestBody() override { body(*this); }

  static void agreesWithTheCpu(Property &t) {
    Artifact cpu = open(t.what.cpu);
    ASSERT_TRUE(cpu.get());
    tutti_session_options_t there = optionsOf(cpu, TUTTI_DEVICE_CPU);
    Session session = sessionOf(cpu, TUTTI_DEVICE_CPU);
    const Values usual = run(session, cpu, there, t.inputs(t.many()));
    for (int64_t rows : t.batches()) {
      Values inputs = t.inputs(rows), expected = run(session, cpu, there, inputs), got = t.answer(inputs);
      EXPECT_TRUE(t.what.bits ? sameBits(got, expected) : near(got, expected, usual, t.what.tolerance))
          << rows << " rows";
    }
  }

  static void membersAlone(Property &t) {
    for (const auto &[member, file] : t.what.alone) {
      Artifact one = open(file);
      ASSERT_TRUE(one.get());
      tutti_session_options_t there = optionsOf(one, options.device);
      Session session = sessionOf(one, options.device);
      for (int64_t rows : {int64_t(1), t.many()}) {
        Values inputs = t.inputs(rows);
        Values alone = run(session, one, there, membersOf(inputs, {member}));
        EXPECT_TRUE(sameBits(withoutHeads(alone), membersOf(withoutHeads(t.answer(inputs)), {member})))
            << "member " << member << ", " << rows << " rows";
      }
    }
  }

  static void sets(Property &t) {
    Values inputs = t.inputs(t.many()), all = withoutHeads(t.answer(inputs));
    std::vector<uint32_t> backwards(t.members);
    std::iota(backwards.rbegin(), backwards.rend(), 0u);
    for (const std::vector<uint32_t> &active : {std::vector<uint32_t>{t.members - 1}, {0}, backwards})
      EXPECT_TRUE(sameBits(withoutHeads(t.answer(inputs, active)), membersOf(all, active)))
          << active.size() << " active";
  }

  static void batchesAndRows(Property &t) {
    Values inputs = t.inputs(t.many()), all = t.answer(inputs);
    std::vector<int64_t> backwards(size_t(t.many()));
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    std::vector<std::vector<int64_t>> choices = {backwards, {0}, {t.many() - 1}, {t.many() - 1, 0, t.many() / 2}};
    if (!options.quick)
      for (int64_t rows : {15, 16, 17, 31, 64})
        if (rows < t.many())
          choices.emplace_back(backwards.begin(), backwards.begin() + rows);
    for (const std::vector<int64_t> &rows : choices)
      EXPECT_TRUE(sameBits(t.answer(rowsOf(inputs, rows)), rowsOf(all, rows))) << rows.size() << " rows";
  }

  /// Sessions on threads of their own, calls without a wait in between, inputs and outputs in device memory.
  static void againAndTogether(Property &t) {
    Values inputs = t.inputs(t.many()), expected = t.answer(inputs);
    auto work = [&](int times) {
      Driver &d = driver();
      d.cuCtxPushCurrent(d.context);
      {
        Stream stream;
        tutti_session_options_t asked = t.chosen;
        asked.stream = stream.handle;
        auto session = Session::create(t.artifact, asked);
        ASSERT_TRUE(session.ok()) << session.error().message();
        Values got = expected;
        std::vector<void *> places;
        for (const Values::Port &port : inputs.ports) {
          void *place = stream.allocate(port.data.size());
          stream.write(place, port.data.data(), port.data.size());
          ASSERT_FALSE(session->bindInput({port.name.c_str(), port.dtype, int32_t(port.dims.size()), port.dims.data(),
                                           nullptr, place, TUTTI_MEMORY_DEVICE}));
        }
        for (const Values::Port &port : got.ports) {
          places.push_back(stream.allocate(port.data.size()));
          ASSERT_FALSE(session->bindOutput(port.head, {port.name.c_str(), port.dtype, int32_t(port.dims.size()),
                                                       port.dims.data(), nullptr, places.back(), TUTTI_MEMORY_DEVICE}));
        }
        for (int i = 0; i < times; ++i)
          ASSERT_FALSE(session->runAsync());
        ASSERT_FALSE(session->wait());
        for (size_t i = 0; i < places.size(); ++i)
          stream.read(got.ports[i].data.data(), places[i], got.ports[i].data.size());
        EXPECT_TRUE(sameBits(got, expected));
      }
      rt::CUcontext popped;
      d.cuCtxPopCurrent(&popped);
    };
    std::thread other(work, options.quick ? 2 : 50);
    work(options.quick ? 2 : 50);
    other.join();
  }

private:
  Body body;
};
} // namespace

void registerCases(const std::vector<Case> &cases) {
  const std::pair<const char *, Property::Body> properties[] = {{"agreesWithTheCpu", Property::agreesWithTheCpu},
                                                                {"membersAlone", Property::membersAlone},
                                                                {"sets", Property::sets},
                                                                {"batchesAndRows", Property::batchesAndRows},
                                                                {"againAndTogether", Property::againAndTogether}};
  for (const Case &one : cases)
    for (const auto &[name, body] : properties)
      testing::RegisterTest((one.set + "/" + one.precision).c_str(), name, nullptr, nullptr, __FILE__, __LINE__,
                            [one, body = body]() -> Property * { return new Property(one, body); });
}

} // namespace tutti::gpu
