// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sessions on a CUDA device: memory of both kinds, graphs, streams, contexts, shared weights.
#include "CudaFixture.h"
#include "core/DLPack.h"

#include <cmath>

using namespace tutti::rt::test;
using tutti::rt::CUdeviceptr;

TEST_F(Cuda, computesForEveryBatchAndActiveSet) {
  for (bool oneLaunch : {false, true}) {
    Fixture f(cudaSpec(oneLaunch));
    EXPECT_STREQ(f.session.device().name, "Fake GPU (sm_90)");
    EXPECT_EQ(f.session.device().flops_per_second, 2 * 1e9 * 100 * 128);
    EXPECT_EQ(f.session.device().bytes_per_second, 2 * 2e9 * 512 / 8);
    for (int64_t batch : {1, 5, 16, 17, 64})
      for (const std::vector<uint32_t> &active : {kAll, {2}, {2, 0}}) {
        auto x = inputOf(batch);
        ASSERT_FALSE(f.bind(x));
        ASSERT_FALSE(f.session.setActive(active));
        auto error = f.session.run();
        ASSERT_FALSE(error) << error.message();
        Answer answer = answerOf(x, active);
        EXPECT_EQ(f.get("members"), answer.members);
        if (!oneLaunch) {
          EXPECT_EQ(f.get("mean"), answer.mean);
        }
      }
  }
}

TEST_F(Cuda, launchesOnceOrAsAGraph) {
  Fixture one(cudaSpec(true)), two(cudaSpec(false));
  auto x = inputOf(8);
  for (Fixture *f : {&one, &two}) {
    ASSERT_FALSE(f->bind(x));
    ASSERT_FALSE(f->session.run());
    fake.reset();
    ASSERT_FALSE(f->session.setActive(kAll)) << "which are active";
    ASSERT_FALSE(f->session.run());
    EXPECT_EQ(fake.calls("kernel"), f == &one ? 1 : 2);
    EXPECT_EQ(fake.calls("cuLaunchKernel"), f == &one);
    EXPECT_EQ(fake.calls("cuGraphLaunch"), f == &two);
    EXPECT_EQ(fake.calls("cuMemcpyHtoDAsync"), 1) << "the input; tables and state are where they were";
    EXPECT_EQ(fake.calls("cuMemcpyDtoHAsync"), 1) << "the two outputs, which are close together";
    EXPECT_EQ(fake.calls("cuGraphExecKernelNodeSetParams"), 0) << "nothing has changed";
    EXPECT_EQ(fake.calls("cuStreamSynchronize"), 1);
    EXPECT_EQ(fake.calls("cuMemAlloc") + fake.calls("cuMemHostAlloc"), 0);
  }
}

TEST_F(Cuda, choosesTheProgramOfItsArchitecture) {
  Spec spec = cudaSpec();
  spec.cudaTargets = {"sm_80", "compute_80"};
  spec.secondCuda = "sm_90a";
  spec.target = "x86-64-v3";
  File file = buildArtifact(spec);
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok()) << artifact.error().message();
  auto choose = [&](int major, int minor, void *context = nullptr) {
    fake.major = major;
    fake.minor = minor;
    tutti_session_options_t chosen = options();
    chosen.context = context;
    auto error = artifact->chooseDevice(chosen);
    EXPECT_FALSE(error) << error.message();
    return chosen.program;
  };
  EXPECT_EQ(choose(8, 0), 0u);
  EXPECT_EQ(choose(8, 9), 0u);
  EXPECT_EQ(choose(9, 0), 1u) << "its own code before PTX of an older one";
  EXPECT_EQ(choose(9, 0, fake.makeContext(1)), 1u);
  EXPECT_EQ(choose(10, 0), 0u) << "PTX";
  fake.major = 7;
  tutti_session_options_t none = options();
  EXPECT_NE(std::string(artifact->chooseDevice(none).message()).find("sm_80, compute_80, sm_90a"), std::string::npos);
}

TEST_F(Cuda, worksInDeviceMemoryAndWritesIntoTheCallersMemory) {
  Fixture f(cudaSpec());
  auto x = inputOf(7);
  Answer answer = answerOf(x, kAll);
  const int64_t in[] = {7, kK}, members[] = {3, 7, kN}, mean[] = {7, kN};
  CUdeviceptr xs = fake.allocate(0, x.size() * 4), ys = fake.allocate(0, answer.members.size() * 4);
  fake.write(xs, x.data(), x.size() * 4);
  std::vector<float> host(answer.mean.size());
  ASSERT_FALSE(f.session.bindInput(tensorOf("x", in, 2, reinterpret_cast<void *>(xs), TUTTI_MEMORY_DEVICE)));
  ASSERT_FALSE(
      f.session.bindOutput("members", tensorOf("y", members, 3, reinterpret_cast<void *>(ys), TUTTI_MEMORY_DEVICE)));
  ASSERT_FALSE(f.session.bindOutput("mean", tensorOf("y", mean, 2, host.data(), TUTTI_MEMORY_HOST)));
  fake.reset();
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(host, answer.mean);
  EXPECT_EQ(fake.calls("cuMemcpyHtoDAsync"), 1) << "the tables alone";
  EXPECT_EQ(fake.calls("cuMemcpyDtoHAsync"), 1) << "the mean alone";
  std::vector<float> got(answer.members.size());
  fake.read(got.data(), ys, got.size() * 4);
  EXPECT_EQ(got, answer.members);
  auto output = f.session.output("y", "members");
  EXPECT_EQ(output->tensor.memory, TUTTI_MEMORY_DEVICE);
  EXPECT_EQ(output->tensor.data, reinterpret_cast<void *>(ys));

  // Back to the session: its device memory, then its host memory.
  ASSERT_FALSE(f.session.bindOutput("members", tensorOf("y", nullptr, 0, nullptr, TUTTI_MEMORY_DEVICE)));
  ASSERT_FALSE(f.session.run());
  output = f.session.output("y", "members");
  ASSERT_EQ(output->tensor.memory, TUTTI_MEMORY_DEVICE);
  EXPECT_TRUE(output->as<float>().empty()) << "the host cannot read it";
  EXPECT_TRUE(output->bytes().empty());
  got.assign(got.size(), 0);
  fake.read(got.data(), reinterpret_cast<CUdeviceptr>(output->tensor.data), got.size() * 4);
  EXPECT_EQ(got, answer.members);
  ASSERT_FALSE(f.session.bindOutput("members", tensorOf("y", nullptr, 0, nullptr, TUTTI_MEMORY_HOST)));
  ASSERT_FALSE(f.session.run());
  EXPECT_EQ(f.get("members"), answer.members);
  fake.free(reinterpret_cast<void *>(xs));
  fake.free(reinterpret_cast<void *>(ys));
}

TEST_F(Cuda, copiesPinnedMemoryFromWhereItIs) {
  Fixture f(cudaSpec());
  auto x = inputOf(4);
  Answer answer = answerOf(x, kAll);
  const int64_t in[] = {4, kK}, mean[] = {4, kN};
  auto *xs = static_cast<float *>(fake.allocatePinned(x.size() * 4));
  auto *ys = static_cast<float *>(fake.allocatePinned(answer.mean.size() * 4));
  ASSERT_FALSE(f.session.bindInput(tensorOf("x", in, 2, xs, TUTTI_MEMORY_HOST)));
  ASSERT_FALSE(f.session.bindOutput("mean", tensorOf("y", mean, 2, ys, TUTTI_MEMORY_HOST)));
  ASSERT_FALSE(f.session.runAsync());
  std::copy(x.begin(), x.end(), xs); // the stream has not come so far yet
  ASSERT_FALSE(f.session.wait());
  EXPECT_TRUE(std::equal(answer.mean.begin(), answer.mean.end(), ys));
  fake.free(xs);
  fake.free(ys);
}

TEST_F(Cuda, copiesOutputsOneByOneWhereTheyAreFarApart) {
  Spec spec = cudaSpec();
  spec.batchHi = 4096;
  Fixture f(spec);
  for (int64_t batch : {2, 4096}) { // of the first: much room, or none, before the second
    auto x = inputOf(batch);
    ASSERT_FALSE(f.bind(x));
    fake.reset();
    ASSERT_FALSE(f.session.run());
    EXPECT_EQ(fake.calls("cuMemcpyDtoHAsync"), batch == 2 ? 2 : 1);
    EXPECT_EQ(f.get("members"), answerOf(x, kAll).members);
    EXPECT_EQ(f.get("mean"), answerOf(x, kAll).mean);
  }
}

TEST_F(Cuda, worksInTheCallersContextAndOnItsStream) {
  File file = buildArtifact(cudaSpec());
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok());
  tutti_session_options_t asked = options();
  asked.context = fake.makeContext(1);
  asked.stream = reinterpret_cast<void *>(uintptr_t(0)); // one of the session's own
  {
    auto session = tutti::Session::create(*artifact, asked);
    ASSERT_TRUE(session.ok()) << session.error().message();
    EXPECT_EQ(fake.contexts, 0) << "no primary context";
    EXPECT_EQ(fake.current(), nullptr);
    auto x = inputOf(2);
    ASSERT_FALSE(session->bindInput<float>("x", std::span<const float>(x), {2, kK}));
    ASSERT_FALSE(session->run());
    EXPECT_EQ(fake.current(), nullptr);
    auto mean = session->output("y", "mean")->as<float>();
    EXPECT_EQ(std::vector<float>(mean.begin(), mean.end()), answerOf(x, kAll).mean);
  }
}

TEST_F(Cuda, sessionsShareWeightsAndCode) {
  Fixture f(cudaSpec());
  uint64_t one = fake.used;
  EXPECT_EQ(fake.modules, 1) << "two kernels in one image";
  fake.reset();
  {
    auto second = tutti::Session::create(f.artifact, options());
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(fake.calls("cuModuleLoadData"), 0);
    EXPECT_EQ(fake.calls("cuMemAlloc"), 1) << "the session's own";
    EXPECT_EQ(fake.contexts, 1);
    auto elsewhere = tutti::Session::create(f.artifact, options(TUTTI_DEVICE_CUDA, 1));
    ASSERT_TRUE(elsewhere.ok());
    EXPECT_EQ(fake.modules, 2);
    EXPECT_EQ(fake.contexts, 2);
  }
  EXPECT_EQ(fake.used, one);
}

TEST_F(Cuda, aTargetIsALevelOfCpus) {
  Spec spec = cudaSpec();
  spec.target = "x86-64-v3"; // a program for the CPU, too
  tutti_session_options_t asked = options(TUTTI_DEVICE_EMULATED);
  asked.target = "x86-64-v3";
  EXPECT_SAYS(errorOf(spec, asked), TUTTI_INVALID_ARGUMENT,
              "target 'x86-64-v3' is a level of CPUs, and the device is 'emulated'");
  asked.device = TUTTI_DEVICE_DEFAULT;
  EXPECT_SAYS(errorOf(spec, asked), TUTTI_INVALID_ARGUMENT, "program 0 is for the device 'cuda'");
  tutti_session_options_t many = options(TUTTI_DEVICE_CUDA);
  many.threads = 1025;
  EXPECT_SAYS(errorOf(spec, many), TUTTI_INVALID_ARGUMENT, "1025 threads were asked for, expected at most 1024");
  // Where there is a choice, it is the CPU.
  Fixture f(spec);
  ASSERT_FALSE(f.artifact.chooseDevice(asked));
  EXPECT_EQ(asked.device, TUTTI_DEVICE_CPU);
  EXPECT_EQ(asked.program, 1u);
}

TEST_F(Cuda, swappedWeightsReachEveryDevice) {
  Spec spec = cudaSpec();
  spec.target = "x86-64-v3"; // a program for the CPU, too
  Fixture f(spec);
  auto elsewhere = tutti::Session::create(f.artifact, options(TUTTI_DEVICE_CUDA, 1));
  tutti_session_options_t onCpu = options(TUTTI_DEVICE_CPU);
  onCpu.program = 1;
  auto cpu = tutti::Session::create(f.artifact, onCpu);
  ASSERT_TRUE(elsewhere.ok() && cpu.ok()) << cpu.error().message();
  auto x = inputOf(5), w = weightOf(40), b = biasOf(41);
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.runAsync()); // is under way, and sees the old weights
  const int64_t weightDims[] = {kK, kN}, biasDims[] = {kN};
  tutti_tensor_t tensors[] = {tensorOf("W", weightDims, 2, w.data(), TUTTI_MEMORY_HOST),
                              tensorOf("b", biasDims, 1, b.data(), TUTTI_MEMORY_HOST)};
  for (int i = 0; i < 3; ++i)
    ASSERT_FALSE(f.artifact.swapWeights(1, tensors));
  ASSERT_FALSE(f.session.wait());
  EXPECT_EQ(f.get("members"), answerOf(x, kAll).members);

  auto late = tutti::Session::create(f.artifact, options(TUTTI_DEVICE_CUDA, 1)); // finds them swapped
  ASSERT_TRUE(late.ok());
  Answer answer = answerOf(x, kAll);
  auto swapped = expected(x, weightOf(40), biasOf(41));
  std::copy(swapped.begin(), swapped.end(), answer.members.begin() + int64_t(swapped.size()));
  for (tutti::Session *session : {&f.session, &*elsewhere, &*cpu, &*late}) {
    ASSERT_FALSE(session->bindInput<float>("x", std::span<const float>(x), {5, kK}));
    ASSERT_FALSE(session->run());
    auto got = session->output("y", "members")->as<float>();
    EXPECT_TRUE(std::equal(got.begin(), got.end(), answer.members.begin())) << session->device().name;
  }
}

// A weight in 16 bits is swapped as the float32 tensor that the model file has, and rounded on the way.
TEST_F(Cuda, swappedWeightsAreRoundedAsTheLayoutSays) {
  Spec spec = cudaSpec();
  spec.layout = "matrices.bf16";
  Fixture f(spec);
  auto x = inputOf(5), w = weightOf(40), b = biasOf(1);
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.run());
  Answer answer = answerOf(x, kAll);
  EXPECT_EQ(f.get("members"), answer.members);
  for (float &value : w) // all are few bits long
    value = std::nextafter(value, 2.0f);
  const int64_t dims[] = {kK, kN};
  tutti_tensor_t tensor = tensorOf("W", dims, 2, w.data(), TUTTI_MEMORY_HOST);
  auto error = f.artifact.swapWeights(1, {&tensor, 1});
  ASSERT_FALSE(error) << error.message();
  ASSERT_FALSE(f.session.run());
  auto swapped = expected(x, weightOf(40), b);
  std::copy(swapped.begin(), swapped.end(), answer.members.begin() + int64_t(swapped.size()));
  EXPECT_EQ(f.get("members"), answer.members);
}

TEST_F(Cuda, choosesTheDevice) {
  Spec both = cudaSpec();
  both.target = "x86-64-v3";
  File file = buildArtifact(both);
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok());
  EXPECT_EQ(artifact->programs()[0].device, TUTTI_DEVICE_CUDA);
  EXPECT_EQ(artifact->programs()[1].device, TUTTI_DEVICE_CPU);
  auto choose = [&](tutti_device_t device) {
    tutti_session_options_t chosen = options(device);
    auto error = artifact->chooseDevice(chosen);
    EXPECT_FALSE(error) << error.message();
    return std::pair(chosen.device, chosen.program);
  };
  EXPECT_EQ(choose(TUTTI_DEVICE_DEFAULT), std::pair(TUTTI_DEVICE_CUDA, 0u));
  EXPECT_EQ(choose(TUTTI_DEVICE_CPU), std::pair(TUTTI_DEVICE_CPU, 1u));
  EXPECT_EQ(fake.contexts, 0) << "asking costs no context";
  fake.major = 8; // no code for this one
  EXPECT_EQ(choose(TUTTI_DEVICE_DEFAULT), std::pair(TUTTI_DEVICE_CPU, 1u));
  tutti_session_options_t cuda = options();
  EXPECT_EQ(artifact->chooseDevice(cuda).status(), TUTTI_NO_DEVICE);
  tutti_session_options_t wrong = options(TUTTI_DEVICE_CPU);
  EXPECT_EQ(tutti::Session::create(*artifact, wrong).error().message(),
            "program 0 is for the device 'cuda', but program 1 is for 'cpu'");
}

TEST_F(Cuda, takesDlpackTensors) {
  static int given = 0;
  given = 0;
  auto x = inputOf(3);
  CUdeviceptr xs = fake.allocate(0, x.size() * 4);
  fake.write(xs, x.data(), x.size() * 4);
  int64_t shape[] = {3, kK}, strides[] = {kK, 1}, columns[] = {1, 3};
  DLManagedTensor device{}, host{};
  device.dl_tensor = {reinterpret_cast<void *>(xs), {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
  host.dl_tensor = {x.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  device.deleter = host.deleter = [](DLManagedTensor *) { ++given; };
  {
    Fixture f(cudaSpec());
    auto *session = f.session.get();
    DLManagedTensor bad = device;
    bad.dl_tensor.strides = columns;
    EXPECT_EQ(tutti_session_bind_input_dlpack(session, "x", &bad), TUTTI_SHAPE_MISMATCH);
    bad = device;
    bad.dl_tensor.dtype = {kDLFloat, 32, 4};
    EXPECT_EQ(tutti_session_bind_input_dlpack(session, "x", &bad), TUTTI_DTYPE_MISMATCH);
    bad = device;
    bad.dl_tensor.device.device_type = 9;
    EXPECT_EQ(tutti_session_bind_input_dlpack(session, "x", &bad), TUTTI_UNSUPPORTED);
    bad = device;
    bad.dl_tensor.data = nullptr;
    EXPECT_EQ(tutti_session_bind_input_dlpack(session, "x", &bad), TUTTI_INVALID_ARGUMENT);
    int64_t means[] = {3, kN};
    bad.dl_tensor.shape = means;
    bad.dl_tensor.strides = nullptr;
    EXPECT_EQ(tutti_session_bind_output_dlpack(session, "y", "mean", &bad), TUTTI_INVALID_ARGUMENT);
    EXPECT_EQ(given, 0) << "what was refused stays the caller's";
    for (DLManagedTensor *tensor : {&device, &host}) {
      ASSERT_EQ(tutti_session_bind_input_dlpack(session, "x", tensor), TUTTI_OK) << tutti_session_message(session);
      ASSERT_EQ(tutti_session_run_async(session), TUTTI_OK);
    }
    EXPECT_EQ(given, 1) << "replaced, once nothing ran on it";
    ASSERT_FALSE(f.session.wait());
    EXPECT_EQ(f.get("mean"), answerOf(x, kAll).mean);
  }
  EXPECT_EQ(given, 2);
  fake.free(reinterpret_cast<void *>(xs));
}
