// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory, streams and mistakes on the device itself, where a fake one would only repeat what we think of it.
#include "Ensemble.h"

#include "core/DLPack.h"

namespace tutti::gpu {

namespace {
/// The first ensemble, with a session on a stream of the test's.
class Device : public testing::Test {
protected:
  void SetUp() override {
    artifact = open("first.tutti");
    ASSERT_TRUE(artifact.get());
    chosen = optionsOf(artifact, options.device);
    chosen.stream = stream.handle;
    auto made = Session::create(artifact, chosen);
    ASSERT_TRUE(made.ok()) << made.error().message();
    session = std::move(*made);
    inputs = inputsOf(artifact, chosen, kRows, artifact.info().num_members);
    input = &inputs.ports[0];
    place = stream.allocate(input->data.size() + 64);
    stream.write(place, input->data.data(), input->data.size());
  }
  tutti_tensor_t tensor(void *data, tutti_memory_t memory) const {
    return {input->name.c_str(), input->dtype, int32_t(input->dims.size()), input->dims.data(), nullptr, data, memory};
  }
  static void expect(const Error &error, tutti_status_t status, const char *words) {
    EXPECT_EQ(error.status(), status) << error.message();
    EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
  }

  static constexpr int64_t kRows = 5;
  Stream stream;
  Artifact artifact;
  tutti_session_options_t chosen;
  Session session;
  Values inputs;
  Values::Port *input = nullptr;
  void *place = nullptr;
};
} // namespace

TEST_F(Device, pointersOfTheWrongKind) {
  expect(session.bindInput(tensor(input->data.data(), TUTTI_MEMORY_DEVICE)), TUTTI_INVALID_ARGUMENT,
         "was given as device memory, but");
  expect(session.bindInput(tensor(place, TUTTI_MEMORY_HOST)), TUTTI_INVALID_ARGUMENT, "lies in device memory at");
  expect(session.bindInput(tensor(static_cast<char *>(place) + 4, TUTTI_MEMORY_DEVICE)), TUTTI_INVALID_ARGUMENT,
         "expected a multiple of 16");
  expect(session.run(), TUTTI_NOT_BOUND, input->name.c_str());
  // None of these has spoiled anything.
  ASSERT_FALSE(session.bindInput(tensor(place, TUTTI_MEMORY_DEVICE)));
  Error error = session.run();
  EXPECT_FALSE(error) << error.message();
}

TEST_F(Device, memoryOfEitherKindGivesTheSameBits) {
  Values host = run(session, artifact, chosen, inputs);
  ASSERT_FALSE(session.bindInput(tensor(place, TUTTI_MEMORY_DEVICE)));
  for (Values::Port &port : host.ports) {
    tutti_tensor_t own = {};
    own.name = port.name.c_str();
    own.memory = TUTTI_MEMORY_DEVICE;
    ASSERT_FALSE(session.bindOutput(port.head, own));
  }
  ASSERT_FALSE(session.runAsync());
  Values device = host;
  for (Values::Port &port : device.ports) { // on the session's stream, so in order with the run
    auto output = session.output(port.name, port.head);
    ASSERT_TRUE(output.ok()) << output.error().message();
    EXPECT_EQ(output->tensor.memory, TUTTI_MEMORY_DEVICE);
    stream.read(port.data.data(), output->tensor.data, port.data.size());
  }
  EXPECT_TRUE(sameBits(device, host));
}

TEST_F(Device, takesDlpackTensors) {
  static int given;
  given = 0;
  Values expected = run(session, artifact, chosen, inputs);
  DLManagedTensor managed{};
  managed.dl_tensor = {
      place, {kDLCUDA, driver().device}, int32_t(input->dims.size()), {kDLFloat, 32, 1}, input->dims.data(), nullptr,
      0};
  managed.deleter = [](DLManagedTensor *) { ++given; };
  ASSERT_EQ(tutti_session_bind_input_dlpack(session.get(), input->name.c_str(), &managed), TUTTI_OK)
      << tutti_session_message(session.get());
  ASSERT_FALSE(session.run());
  for (const Values::Port &port : expected.ports) {
    auto output = session.output(port.name, port.head);
    ASSERT_TRUE(output.ok());
    EXPECT_EQ(std::memcmp(output->tensor.data, port.data.data(), port.data.size()), 0) << port.name << " " << port.head;
  }
  session = Session();
  EXPECT_EQ(given, 1);
}

TEST_F(Device, whatDoesNotFitSaysWhatWould) {
  Artifact huge = open("huge.tutti");
  ASSERT_TRUE(huge.get());
  auto refused = Session::create(huge, optionsOf(huge, options.device));
  ASSERT_FALSE(refused.ok());
  expect(refused.error(), TUTTI_OUT_OF_MEMORY, "bytes needed, ");
  expect(refused.error(), TUTTI_OUT_OF_MEMORY, "'batch' up to ");
  EXPECT_EQ(refused.error().exitCode(), 6);
  // The device is as it was.
  Error error = session.bindInput(tensor(place, TUTTI_MEMORY_DEVICE));
  EXPECT_FALSE(error) << error.message();
  EXPECT_FALSE(session.run());
}

TEST_F(Device, isChosenByItself) {
  tutti_session_options_t any = TUTTI_SESSION_OPTIONS_INIT;
  Artifact cpuToo = open("first-cpu.tutti");
  ASSERT_TRUE(cpuToo.get());
  Error error = cpuToo.chooseDevice(any);
  ASSERT_FALSE(error) << error.message();
  // The emulated device only when asked for.
  EXPECT_EQ(any.device, options.device == TUTTI_DEVICE_CUDA ? TUTTI_DEVICE_CUDA : TUTTI_DEVICE_CPU);
  tutti_session_options_t last = chosen;
  last.ordinal = 1000;
  last.stream = nullptr;
  expect(Session::create(artifact, last).error(), TUTTI_NO_DEVICE, "there is no CUDA device 1000: the driver has");
}

} // namespace tutti::gpu
