// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asking, binding and running through the C and C++ interfaces.
#include "core/Session.h"
#include "Fixture.h"
#include "core/DLPack.h"

#include <atomic>
#include <thread>

using namespace tutti::rt::test;
using tutti::Error;
using tutti::rt::Call;
using tutti::rt::unwrap;

TEST(Info, saysWhatIsInside) {
  Fixture f;
  const tutti_info_t &info = f.artifact.info();
  EXPECT_EQ(info.num_members, 3u);
  EXPECT_STREQ(info.members[2].source, "m2.onnx");
  EXPECT_EQ(info.members[2].digest, 2u);
  EXPECT_STREQ(info.share, "none");
  ASSERT_EQ(info.num_programs, 1u);
  const tutti_program_t &program = info.programs[0];
  ASSERT_EQ(program.num_dimensions, 1u);
  EXPECT_STREQ(program.dimensions[0].name, "batch");
  EXPECT_EQ(program.dimensions[0].hi, 64);
  EXPECT_EQ(program.launches, 2u);
  EXPECT_EQ(program.arena_bytes, 64 + 3 * 64 * kN * 4u);
  ASSERT_EQ(program.num_inputs, 1u);
  EXPECT_STREQ(program.inputs[0].dims[0].symbol, "batch");
  EXPECT_EQ(program.inputs[0].dims[1].lo, kK);
  ASSERT_EQ(program.num_outputs, 2u);
  EXPECT_STREQ(program.outputs[0].head, "members");
  EXPECT_TRUE(program.outputs[0].per_member);
  EXPECT_STREQ(program.outputs[0].dims[0].symbol, "members");
  EXPECT_STREQ(program.outputs[1].head, "mean");
  ASSERT_EQ(info.num_weights, 2u);
  EXPECT_STREQ(info.weights[0].name, "W");
  EXPECT_EQ(info.weights[0].dims[1], kN);
  EXPECT_TRUE(info.weights[0].swappable);
}

TEST(Info, ofAProgramThatIsNotThereNothing) {
  Fixture f;
  EXPECT_EQ(f.artifact.inputs().size(), 1u);
  EXPECT_TRUE(f.artifact.inputs(1).empty());
  EXPECT_TRUE(f.artifact.outputs(1).empty());
  EXPECT_TRUE(tutti::Artifact().inputs().empty());
  EXPECT_STREQ(tutti::Artifact().info().compiler, "");
  EXPECT_STREQ(tutti::Session().device().name, "");
}

TEST(Session, whatIsAssignedToIsGone) {
  Fixture f;
  auto x = inputOf(4);
  ASSERT_FALSE(f.bind(x));
  auto other = tutti::Session::create(f.artifact);
  ASSERT_TRUE(other);
  f.session = std::move(*other); // in which nothing is bound
  EXPECT_EQ(f.session.run().status(), TUTTI_NOT_BOUND);
  EXPECT_EQ(other->run().status(), TUTTI_INVALID_ARGUMENT);
  ASSERT_FALSE(f.bind(x));
  EXPECT_FALSE(f.session.run());
}

TEST(Session, noHandleIsAnError) {
  tutti_tensor_t tensor{};
  DLManagedTensor *managed = nullptr;
  uint32_t member = 0;
  EXPECT_EQ(tutti_session_run(nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_run_async(nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_wait(nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_set_active(nullptr, &member, 1), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_set_dimension(nullptr, "batch", 1), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_bind_input(nullptr, &tensor), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_bind_output(nullptr, nullptr, &tensor), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_bind_input_dlpack(nullptr, "x", managed), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_bind_output_dlpack(nullptr, "y", nullptr, managed), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_get_output(nullptr, "y", nullptr, &tensor), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_session_get_input(nullptr, "x", &tensor), TUTTI_INVALID_ARGUMENT);
  EXPECT_STRNE(tutti_session_message(nullptr), "");
  EXPECT_EQ(tutti_session_device(nullptr), nullptr);
  EXPECT_EQ(tutti_artifact_info(nullptr), nullptr);
  EXPECT_EQ(tutti_artifact_verify_weights(nullptr, nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_artifact_swap_weights(nullptr, 0, &tensor, 1, nullptr), TUTTI_INVALID_ARGUMENT);

  // What an unchecked Result holds after a failure.
  tutti::Session session;
  Error error = session.run();
  EXPECT_EQ(error.status(), TUTTI_INVALID_ARGUMENT);
  EXPECT_FALSE(error.message().empty());
  EXPECT_STREQ(session.device().name, "");
  EXPECT_TRUE(tutti::Artifact().programs().empty());
}

TEST(Session, tensorsWithoutElementsHaveNoData) {
  int64_t shape[] = {0, kK}, means[] = {0, kN};
  DLManagedTensor x{}, y{}; // the session gives them back when it ends
  Spec spec;
  spec.batchLo = 0;
  Fixture f(spec);
  x.dl_tensor = {nullptr, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  y.dl_tensor = {nullptr, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, means, nullptr, 0};
  for (const Error &error : {f.session.bindInput("x", &x), f.session.bindOutput("y", "mean", &y), f.session.run()})
    EXPECT_FALSE(error) << error.message();
  shape[0] = 1;
  EXPECT_EQ(f.session.bindInput("x", &x).status(), TUTTI_INVALID_ARGUMENT);
}

TEST(Session, isBusyWhileAnOwnerTakesBackWhatWasBound) {
  static tutti_session_t *session;
  static std::vector<tutti_status_t> answers;
  answers.clear();
  int64_t shape[] = {2, kK};
  auto x = inputOf(2);
  DLManagedTensor first{}, second{};
  first.dl_tensor = second.dl_tensor = {x.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  first.deleter = second.deleter = [](DLManagedTensor *) { answers.push_back(tutti_session_run(session)); };
  {
    Fixture f;
    session = f.session.get();
    ASSERT_FALSE(f.session.bindInput("x", &first));
    ASSERT_FALSE(f.session.bindInput("x", &second)); // the first goes back, and the second with the session
  }
  EXPECT_EQ(answers, std::vector<tutti_status_t>({TUTTI_BUSY, TUTTI_BUSY}));
}

TEST(Session, isBusyForAnotherThread) {
  static std::atomic<bool> inside, asked;
  inside = asked = false;
  int64_t shape[] = {2, kK};
  auto x = inputOf(2);
  DLManagedTensor tensor{};
  tensor.dl_tensor = {x.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  tensor.deleter = [](DLManagedTensor *) {
    inside = true;
    while (!asked) // the session's call goes on meanwhile
      std::this_thread::yield();
  };
  Fixture f;
  ASSERT_FALSE(f.session.bindInput("x", &tensor));
  tutti_status_t answer = TUTTI_OK;
  std::thread other([&] {
    while (!inside)
      std::this_thread::yield();
    answer = tutti_session_run(f.session.get());
    asked = true;
  });
  ASSERT_FALSE(f.bind(x)); // gives the first tensor back
  other.join();
  EXPECT_EQ(answer, TUTTI_BUSY);
  EXPECT_STREQ(tutti_session_message(f.session.get()), ""); // who is refused writes nothing there
}

TEST(Session, whatFailsSaysItsOwn) {
  Fixture f;
  auto *session = f.session.get();
  EXPECT_EQ(tutti_session_bind_input(session, nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_STREQ(tutti_session_message(session), "no tensor was given");
  EXPECT_EQ(tutti_session_get_output(session, "y", "mean", nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_STREQ(tutti_session_message(session), "no place for the tensor of 'y' was given");
  EXPECT_EQ(tutti_session_get_input(session, "x", nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_STREQ(tutti_session_message(session), "no place for the tensor of 'x' was given");
}

TEST(Session, computesForEveryBatchAndThreadCount) {
  for (uint32_t threads : {1, 2, 5}) {
    Fixture f({}, threads);
    for (int64_t batch : {1, 5, 16, 17, 64}) {
      auto x = inputOf(batch);
      ASSERT_FALSE(f.bind(x));
      auto error = f.session.run();
      ASSERT_FALSE(error) << error.message();
      Answer answer = answerOf(x, {0, 1, 2});
      EXPECT_EQ(f.get("members"), answer.members);
      EXPECT_EQ(f.get("mean"), answer.mean);
    }
  }
}

TEST(Session, givesTheSameInStrips) {
  using InStrips = Call::InStrips;
  for (uint32_t axis : {1, 0}) // along rows and members, or along members alone
    for (uint32_t threads : {1, 2, 5}) {
      Spec spec;
      spec.strips = axis;
      Fixture f(spec, threads);
      for (auto [batch, when] : {std::pair(64, InStrips::always),
                                 {17, InStrips::never},
                                 {3, InStrips::always},
                                 {64, InStrips::whereFaster}}) {
        auto x = inputOf(batch);
        unwrap(f.session.get())->takeStrips(when);
        for (std::vector<uint32_t> active : {std::vector<uint32_t>{0, 1, 2}, {2, 0}}) {
          ASSERT_FALSE(f.session.setActive(active));
          ASSERT_FALSE(f.bind(x));
          ASSERT_FALSE(f.session.run());
          Answer answer = answerOf(x, active);
          EXPECT_EQ(f.get("members"), answer.members) << batch << " rows";
          EXPECT_EQ(f.get("mean"), answer.mean) << batch << " rows";
        }
      }
    }
}

TEST(Session, runsTheActiveSetInItsOrder) {
  Fixture f;
  auto x = inputOf(9);
  ASSERT_FALSE(f.bind(x));
  for (std::vector<uint32_t> active :
       {std::vector<uint32_t>{0, 1, 2}, {2}, {2}, {2, 0}, {2, 0}, {0, 1}, {1, 2, 0}, {1, 2}, {0, 1, 2}}) {
    ASSERT_FALSE(f.session.setActive(active));
    ASSERT_FALSE(f.session.run());
    EXPECT_EQ(f.get("members"), answerOf(x, active).members);
    auto output = f.session.output("y", "members");
    EXPECT_EQ(output->dims()[0], int64_t(active.size()));
  }
}

TEST(Session, anInputThatWasLetGoIsNotRead) {
  Fixture f;
  auto x = inputOf(4), z = inputOf(6);
  ASSERT_FALSE(f.session.unbindInput("x")) << "nothing is bound";
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.run());
  ASSERT_FALSE(f.session.unbindInput("x"));
  for (int i = 0; i < 2; ++i) {
    Error error = f.session.run();
    EXPECT_EQ(error.status(), TUTTI_NOT_BOUND);
    EXPECT_EQ(error.message(), "input 'x' is not bound");
  }
  EXPECT_EQ(f.session.unbindInput("z").status(), TUTTI_NOT_FOUND);
  // Of the same dims, or of others.
  for (const auto *next : {&x, &z}) {
    ASSERT_FALSE(f.bind(*next));
    ASSERT_FALSE(f.session.run());
    EXPECT_EQ(f.get("members"), answerOf(*next, {0, 1, 2}).members);
    ASSERT_FALSE(f.session.unbindInput("x"));
  }
}

TEST(Session, refusesABadActiveSetAndKeepsTheOldOne) {
  Fixture f;
  auto x = inputOf(4);
  ASSERT_FALSE(f.bind(x));
  std::vector<uint32_t> good{1}, twice{0, 2, 0}, beyond{3}, none;
  ASSERT_FALSE(f.session.setActive(good));
  for (const auto &bad : {twice, beyond, none, std::vector<uint32_t>{1, 1}}) {
    Error error = f.session.setActive(bad);
    EXPECT_EQ(error.status(), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(error.exitCode(), 2);
  }
  EXPECT_NE(f.session.setActive(twice).message().find("member 0 twice"), std::string::npos);
  EXPECT_NE(f.session.setActive(beyond).message().find("member 3, expected 0 to 2"), std::string::npos);
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(f.get("members"), answerOf(x, good).members);
}

TEST(Session, writesIntoTheCallersMemory) {
  Fixture f;
  auto x = inputOf(3);
  std::vector<float> mean(3 * kN, -1), other(3 * kN, -1);
  std::vector<int64_t> dims{3, kN};
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.bindOutput<float>("y", "mean", mean, dims));
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(mean, answerOf(x, {0, 1, 2}).mean);
  ASSERT_FALSE(f.session.bindOutput<float>("y", "mean", other, {3, kN}));
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(other, mean);
  // Another batch no longer fits the bound output.
  auto y = inputOf(4);
  ASSERT_FALSE(f.bind(y));
  Error error = f.session.run();
  EXPECT_EQ(error.status(), TUTTI_SHAPE_MISMATCH);
  EXPECT_NE(error.message().find("'y' is bound with dims [3, 45], expected [4, 45]"), std::string::npos)
      << error.message();
}

TEST(Session, outputsHaveMemoryOfTheirOwn) {
  constexpr int64_t batch = 4, all = 3 * batch * kN;
  Fixture f;
  auto x = inputOf(batch);
  std::vector<float> memory(x.size() + all, -1);
  std::span<float> room(memory);
  std::copy(x.begin(), x.end(), memory.begin());
  ASSERT_FALSE(f.session.bindInput<float>("x", room.first(x.size()), {batch, kK}));
  ASSERT_FALSE(f.session.bindOutput<float>("y", "members", room.subspan(x.size() - 1, all), {3, batch, kN}));
  Error error = f.session.run();
  EXPECT_EQ(error.status(), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "output 'y' (members) overlaps input 'x': each has to have memory of its own");
  ASSERT_FALSE(f.session.bindOutput<float>("y", "members", room.last(all), {3, batch, kN}));
  ASSERT_FALSE(f.session.run());
  ASSERT_FALSE(f.session.bindOutput<float>("y", "mean", room.last(batch * kN), {batch, kN}));
  error = f.session.run();
  EXPECT_EQ(error.status(), TUTTI_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("overlaps output 'y'"), std::string::npos) << error.message();
  // What a session has of its own, handed in again.
  Fixture own;
  ASSERT_FALSE(own.bind(x));
  ASSERT_FALSE(own.session.run());
  auto output = own.session.output("y", "mean");
  ASSERT_TRUE(output.ok());
  ASSERT_FALSE(own.session.bindInput<float>("x", output->as<float>().first(x.size()), {batch, kK}));
  EXPECT_EQ(own.session.run().status(), TUTTI_INVALID_ARGUMENT);
}

TEST(Session, namesWhatDoesNotFit) {
  Fixture f;
  std::vector<float> x(65 * kK);
  std::vector<double> wide(kK);
  std::span<const float> data(x);
  auto message = [](const Error &error) { return error.message(); };
  EXPECT_EQ(f.session.run().status(), TUTTI_NOT_BOUND);
  Error input = f.session.bindInput<float>("z", data.first(kK), {1, kK});
  EXPECT_EQ(input.status(), TUTTI_NOT_FOUND);
  EXPECT_EQ(message(input), "there is no input 'z'; the program has 'x'");
  EXPECT_EQ(f.session.bindInput<double>("x", wide, {1, kK}).status(), TUTTI_DTYPE_MISMATCH);
  Error rank = f.session.bindInput<float>("x", data.first(kK), {kK});
  EXPECT_EQ(rank.status(), TUTTI_SHAPE_MISMATCH);
  EXPECT_EQ(message(rank), "input 'x' has dims [batch in 1..64, 6], given [6]");
  EXPECT_EQ(f.session.bindInput<float>("x", data, {65, kK}).status(), TUTTI_SHAPE_MISMATCH);
  EXPECT_EQ(f.session.bindInput<float>("x", data.first(7), {1, 7}).status(), TUTTI_SHAPE_MISMATCH);
  for (auto [rows, columns] : {std::pair(3, -4), {-3, -4}, {3, 5}})
    EXPECT_EQ(message(f.session.bindInput<float>("x", data.first(12), {rows, columns})),
              "'x' was given 12 elements for dims [" + std::to_string(rows) + ", " + std::to_string(columns) + "]");
  tutti_tensor_t tensor;
  for (const char *none : {static_cast<const char *>(nullptr), ""})
    EXPECT_EQ(tutti_session_get_output(f.session.get(), "y", none, &tensor), TUTTI_INVALID_ARGUMENT) << "two heads";
  EXPECT_EQ(f.session.output("y", "max").error().status(), TUTTI_NOT_FOUND);
  EXPECT_EQ(message(f.session.output("y", "max").error()),
            "output 'y' has no head 'max'; its heads are 'members', 'mean'");
  EXPECT_EQ(message(f.session.output("x", "mean").error()), "there is no output 'x'; the program has 'y'");
  Error dimension = f.session.setDimension("rows", 1);
  EXPECT_EQ(dimension.status(), TUTTI_NOT_FOUND);
  EXPECT_EQ(message(dimension), "there is no dimension 'rows'; the program has 'batch'");
  EXPECT_EQ(f.session.setDimension("batch", 65).status(), TUTTI_INVALID_ARGUMENT);
}

TEST(Session, checksStrides) {
  Fixture f;
  auto x = inputOf(2);
  int64_t dims[] = {2, kK}, dense[] = {kK * 4, 4}, columns[] = {4, 8};
  tutti_tensor_t tensor = {"x", TUTTI_F32, 2, dims, dense, x.data(), TUTTI_MEMORY_HOST};
  EXPECT_EQ(tutti_session_bind_input(f.session.get(), &tensor), TUTTI_OK);
  tensor.strides = columns;
  EXPECT_EQ(tutti_session_bind_input(f.session.get(), &tensor), TUTTI_SHAPE_MISMATCH);
  tensor.strides = nullptr;
  tensor.data = reinterpret_cast<char *>(x.data()) + 1;
  EXPECT_EQ(tutti_session_bind_input(f.session.get(), &tensor), TUTTI_INVALID_ARGUMENT);
}

TEST(Session, tellsOutputDimsBeforeARun) {
  Fixture f;
  EXPECT_EQ(f.session.output("y", "mean").error().status(), TUTTI_NOT_BOUND);
  ASSERT_FALSE(f.session.setDimension("batch", 7));
  EXPECT_EQ(f.session.output("y", "mean")->dims()[0], 7);
  auto x = inputOf(8);
  ASSERT_FALSE(f.bind(x));
  Error error = f.session.run();
  EXPECT_EQ(error.status(), TUTTI_SHAPE_MISMATCH);
  EXPECT_EQ(error.message(),
            "input 'x' is bound with dims [8, 6], expected [7, 6] (active members: 3; 'batch' is 7, as set)");
  ASSERT_FALSE(f.session.setDimension("batch", 0));
  EXPECT_FALSE(f.session.run());
}

// What ends with the statement is not bound: it would be read after its end. A span of what lives on is.
template <typename Data>
concept Bindable = requires(tutti::Session session, std::initializer_list<int64_t> dims) {
  session.bindInput<float>("x", std::declval<Data>(), dims);
};
static_assert(!Bindable<std::vector<float>> && !Bindable<std::vector<float> &&> && !Bindable<std::array<float, 4>>);
static_assert(Bindable<std::vector<float> &> && Bindable<const std::vector<float> &> &&
              Bindable<std::span<const float>> && Bindable<float (&)[4]>);

TEST(Session, tellsWhatAnInputTakes) {
  Fixture f;
  auto *session = f.session.get();
  tutti_tensor_t tensor;
  EXPECT_EQ(tutti_session_get_input(session, "x", &tensor), TUTTI_NOT_BOUND);
  EXPECT_EQ(tutti_session_get_input(session, "y", &tensor), TUTTI_NOT_FOUND);
  EXPECT_STREQ(tutti_session_message(session), "there is no input 'y'; the program has 'x'");
  ASSERT_FALSE(f.session.setDimension("batch", 7));
  ASSERT_EQ(tutti_session_get_input(session, "x", &tensor), TUTTI_OK);
  EXPECT_STREQ(tensor.name, "x");
  EXPECT_EQ(tensor.dtype, TUTTI_F32);
  ASSERT_EQ(tensor.rank, 2);
  EXPECT_EQ(tensor.dims[0], 7);
  EXPECT_EQ(tensor.dims[1], kK);
  EXPECT_EQ(tensor.strides, nullptr);
  EXPECT_EQ(tensor.data, nullptr) << "nothing is bound";
  ASSERT_FALSE(f.session.setDimension("batch", 0));
  auto x = inputOf(8);
  ASSERT_FALSE(f.bind(x));
  ASSERT_EQ(tutti_session_get_input(session, "x", &tensor), TUTTI_OK);
  EXPECT_EQ(tensor.data, x.data());
  EXPECT_EQ(f.session.inputDims("x")->front(), 8);
  EXPECT_EQ(f.session.inputDims("z").error().status(), TUTTI_NOT_FOUND);
}

TEST(Session, outlivesItsArtifactsHandle) {
  Fixture f;
  f.artifact = tutti::Artifact();
  auto x = inputOf(2);
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(f.get("mean"), answerOf(x, {0, 1, 2}).mean);
}

TEST(Session, refusesOddOptions) {
  Fixture f;
  auto status = [&](auto change) {
    tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
    change(options);
    auto session = tutti::Session::create(f.artifact, options);
    return session.ok() ? TUTTI_OK : session.error().status();
  };
  using Options = tutti_session_options_t;
  EXPECT_EQ(status([](Options &o) { o.threads = 0; }), TUTTI_OK) << "the process's CPUs";
  EXPECT_EQ(status([](Options &o) { o.threads = 1025; }), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(status([](Options &o) { o.program = 1; }), TUTTI_NOT_FOUND);
  EXPECT_EQ(status([](Options &o) { o.target = "sparc"; }), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(status([](Options &o) { o = {}; }), TUTTI_INVALID_ARGUMENT) << "of no size: not even its threads are read";
  for (const char *level : {"x86-64-v3", "cpu-v3", "cpu"}) {
    SCOPED_TRACE(level);
    EXPECT_EQ(status([&](Options &o) { o.target = level; }), TUTTI_OK);
  }
  EXPECT_EQ(status([](Options &o) { o.struct_size = SIZE_MAX; }), TUTTI_INVALID_ARGUMENT);
  // A newer program's options: what they have more is as it always was, or is not known here.
  struct {
    Options known = TUTTI_SESSION_OPTIONS_INIT;
    uint64_t newer = 0;
  } more;
  more.known.struct_size = sizeof(more);
  EXPECT_TRUE(tutti::Session::create(f.artifact, more.known).ok());
  more.newer = 1;
  EXPECT_EQ(tutti::Session::create(f.artifact, more.known).error().status(), TUTTI_UNSUPPORTED);
  EXPECT_EQ(status([](Options &o) { o.verify_weights = true; }), TUTTI_OK);
}
