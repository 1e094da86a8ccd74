// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What goes wrong with drivers, devices and pointers: each a status and a message, and nothing left behind.
#include "CudaFixture.h"

#include <atomic>
#include <fstream>
#include <malloc.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tutti::rt::test;
using namespace tutti::rt;
using tutti::Error;

TEST_F(Cuda, noDriver) {
  setenv("TUTTI_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_NO_DEVICE, "there is no CUDA driver: /nowhere/libcuda.so.1: cannot open");
  setenv("TUTTI_CUDA_DRIVER", "libc.so.6", 1);
  EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_NO_DEVICE, "'libc.so.6' is no CUDA driver");
  unsetenv("TUTTI_CUDA_DRIVER");
  EXPECT_SAYS(errorOf(cudaSpec(), options(TUTTI_DEVICE_EMULATED)), TUTTI_NO_DEVICE, "TUTTI_CUDA_DRIVER must name");
}

TEST_F(Cuda, aStreamOfEachThread) {
  tutti_session_options_t asked = options();
  asked.stream = reinterpret_cast<void *>(uintptr_t(2)); // CU_STREAM_PER_THREAD
  EXPECT_SAYS(errorOf(cudaSpec(), asked), TUTTI_INVALID_ARGUMENT, "CU_STREAM_PER_THREAD is another stream in each");
}

TEST_F(Cuda, driversThatAreNoLibraries) {
  std::string path = testing::TempDir() + "tutti-no-driver-" + std::to_string(getpid());
  std::ifstream in(TUTTI_TEST_DRIVER, std::ios::binary);
  std::string whole{std::istreambuf_iterator<char>(in), {}};
  ASSERT_GT(whole.size(), 8192u);
  setenv("TUTTI_CUDA_DRIVER", path.c_str(), 1);
  for (const std::string &bytes : {std::string(), std::string("hello\n"), whole.substr(0, 100), whole.substr(0, 5000),
                                   whole.substr(0, 4) + std::string(8000, '\x7f')}) {
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_NO_DEVICE, "there is no CUDA driver: " + path + ": ");
    EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_NO_DEVICE, "the environment variable TUTTI_CUDA_DRIVER names it");
  }
  std::remove(path.c_str());
  setenv("TUTTI_CUDA_DRIVER", testing::TempDir().c_str(), 1);
  EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_NO_DEVICE, "Is a directory");
  setenv("TUTTI_CUDA_DRIVER", TUTTI_TEST_DRIVER, 1);
  fake.failing = "cuInit", fake.failAt = 1, fake.failure = CUDA_ERROR_STUB_LIBRARY;
  EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_NO_DEVICE, "is the CUDA toolkit's stub, for linking, and no driver");
}

TEST_F(Cuda, aLostDeviceLeavesTheCpu) {
  Spec spec = cudaSpec();
  spec.target = "x86-64-v3"; // a program for the CPU, too
  Fixture f(spec);
  auto x = inputOf(4);
  ASSERT_FALSE(f.bind(x));
  fake.reset();
  fake.failing = "kernel", fake.failAt = 1, fake.failure = CUDA_ERROR_ILLEGAL_ADDRESS;
  ASSERT_EQ(f.session.run().status(), TUTTI_DEVICE_LOST);
  tutti_session_options_t onCpu = options(TUTTI_DEVICE_CPU);
  ASSERT_FALSE(f.artifact.chooseDevice(onCpu));
  EXPECT_EQ(onCpu.program, 1u);
  tutti_session_options_t onCuda = options();
  onCuda.program = 1;
  EXPECT_SAYS(f.artifact.chooseDevice(onCuda), TUTTI_NO_DEVICE,
              "no program from 1 on is for the device 'cuda'; program 0 is");
  auto cpu = tutti::Session::create(f.artifact, onCpu);
  ASSERT_TRUE(cpu.ok()) << cpu.error().message();
  ASSERT_FALSE(cpu->bindInput<float>("x", std::span<const float>(x), {4, kK}));
  ASSERT_FALSE(cpu->run());
  auto got = cpu->output("y", "mean")->as<float>();
  EXPECT_EQ(std::vector<float>(got.begin(), got.end()), answerOf(x, {0, 1, 2}).mean);
  EXPECT_EQ(f.session.run().status(), TUTTI_DEVICE_LOST);
  fake.reset(); // so that what the driver still holds can be counted
}

TEST_F(Cuda, driverTooOld) {
  fake.version = 10020;
  EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_DRIVER_TOO_OLD, "is for CUDA 10.2, expected 12.0 or newer");
  fake.reset();
  fake.missing = "cuGraphUpload";
  EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_DRIVER_TOO_OLD, "has no cuGraphUpload");
  fake.reset();
  Spec spec = cudaSpec();
  spec.minDriver = 12080;
  EXPECT_SAYS(errorOf(spec), TUTTI_DRIVER_TOO_OLD,
              "needs a driver for CUDA 12.8 on Fake GPU (sm_90), and this one is for CUDA 12.4");
  EXPECT_EQ(errorOf(spec).exitCode(), 5);
}

TEST_F(Cuda, noDeviceOrNoCodeForIt) {
  EXPECT_SAYS(errorOf(cudaSpec(), options(TUTTI_DEVICE_CUDA, 2)), TUTTI_NO_DEVICE,
              "no CUDA device 2: the driver has 2");
  fake.devices = 0;
  EXPECT_SAYS(errorOf(cudaSpec()), TUTTI_NO_DEVICE, "the driver has 0");
  fake.reset();
  Spec spec = cudaSpec();
  spec.cudaTargets = {"sm_80", "sm_90a", "compute_120"};
  fake.major = 7, fake.minor = 5;
  EXPECT_SAYS(errorOf(spec), TUTTI_NO_DEVICE,
              "has code for sm_80, sm_90a, compute_120, which Fake GPU (sm_75) cannot run; compile with --target cuda");
  fake.major = 12, fake.minor = 0; // PTX
  EXPECT_FALSE(errorOf(spec));
  EXPECT_SAYS(errorOf(spec, options(TUTTI_DEVICE_EMULATED)), TUTTI_NO_DEVICE, "compile with --target emulated");
  EXPECT_SAYS(errorOf(Spec{}), TUTTI_NO_DEVICE, "no code for the device 'cuda', only for 'cpu'");
  EXPECT_SAYS(errorOf(spec, options(TUTTI_DEVICE_CPU)), TUTTI_NO_DEVICE,
              "no code for the device 'cpu', only for 'cuda'");
  tutti_session_options_t none = options();
  constexpr uint32_t noDevice = 9; // what C lets a caller write there
  std::memcpy(&none.device, &noDevice, sizeof(noDevice));
  EXPECT_SAYS(errorOf(spec, none), TUTTI_INVALID_ARGUMENT, "no device 9");
}

TEST_F(Cuda, whatIsChosenLeavesTheErrorAsItWas) {
  Spec spec = cudaSpec();
  spec.target = "x86-64-v3"; // a program for the CPU, too
  File file = buildArtifact(spec);
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok());
  struct {
    int major;
    const char *failing;
    tutti_device_t device;
  } cases[] = {{9, nullptr, TUTTI_DEVICE_CUDA},
               {8, nullptr, TUTTI_DEVICE_CPU}, // no code for this one
               {9, "cuDeviceGetCount", TUTTI_DEVICE_CPU}};
  for (const auto &each : cases) {
    fake.major = each.major;
    fake.failing = each.failing, fake.failAt = 1, fake.failure = CUDA_ERROR_INVALID_VALUE;
    tutti_error_t error, before;
    std::memset(&before, 0x5a, sizeof(before));
    std::memcpy(&error, &before, sizeof(error));
    tutti_session_options_t chosen = options(TUTTI_DEVICE_DEFAULT);
    EXPECT_EQ(tutti_artifact_choose_device(artifact->get(), &chosen, &error), TUTTI_OK);
    EXPECT_EQ(chosen.device, each.device);
    EXPECT_EQ(std::memcmp(&error, &before, sizeof(error)), 0);
  }
}

TEST_F(Cuda, moreThanTheDeviceHas) {
  Spec spec = cudaSpec();
  spec.shared = 100 << 10;
  EXPECT_FALSE(errorOf(spec));
  EXPECT_EQ(fake.calls("cuFuncSetAttribute"), 2) << "for each kernel";
  fake.maxShared = 99 << 10;
  EXPECT_SAYS(errorOf(spec), TUTTI_NO_DEVICE, "needs 102400 bytes of shared memory, and Fake GPU (sm_90) has 101376");
  spec.shared = 99 << 10;
  fake.fixedShared = 1 << 10; // what the system reserves, as some drivers count it
  EXPECT_FALSE(errorOf(spec));
  spec = cudaSpec();
  spec.blockThreads = 512;
  fake.maxThreads = 256;
  EXPECT_SAYS(errorOf(spec), TUTTI_NO_DEVICE, "has blocks of 512 threads, but runs with at most 256");
}

TEST_F(Cuda, noRoomForAnyCluster) {
  Spec spec = cudaSpec();
  spec.cluster = {1, 1, 2};
  spec.gridZ = 2;
  fake.clusters = 0;
  EXPECT_SAYS(errorOf(spec), TUTTI_NO_DEVICE, "Fake GPU (sm_90) has no room for a cluster of blocks of kernel 'dense'");
}

TEST_F(Cuda, aStreamThatIsCaptured) {
  tutti_session_options_t asked = options();
  asked.stream = fake.makeStream();
  Fixture f(cudaSpec(), asked);
  auto x = inputOf(4);
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.runAsync()); // is under way, and stays so
  fake.reset();
  fake.capturing = 1;
  for (bool wait : {true, false})
    EXPECT_SAYS(wait ? f.session.run() : f.session.runAsync(), TUTTI_UNSUPPORTED, "is being captured into a graph");
  EXPECT_EQ(fake.calls("cuStreamSynchronize") + fake.calls("cuEventSynchronize"), 0) << "that would end the capture";
  auto another = tutti::Session::create(f.artifact, asked);
  EXPECT_SAYS(another.error(), TUTTI_UNSUPPORTED, "is being captured into a graph");
  EXPECT_EQ(fake.captureMode, 0) << "is the thread's own again";
  fake.capturing = 0;
  ASSERT_FALSE(f.session.wait());
  EXPECT_EQ(f.get("members"), answerOf(x, {0, 1, 2}).members);
}

TEST_F(Cuda, outOfDeviceMemory) {
  Spec spec = cudaSpec();
  spec.batchLo = 3;
  spec.batchHi = 1 << 20;
  fake.memory = uint64_t(64) << 20;
  Error error = errorOf(spec);
  EXPECT_EQ(error.status(), TUTTI_OUT_OF_MEMORY);
  EXPECT_EQ(error.exitCode(), 6);
  const std::string &text = error.message();
  EXPECT_NE(text.find("not enough memory on Fake GPU (sm_90) for a session's inputs, outputs and arena: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos);
  EXPECT_NE(text.find("compile with --dim batch=3.."), std::string::npos) << text;
  // What it says would fit does, and one more does not.
  size_t at = text.find("'batch' up to ");
  ASSERT_NE(at, std::string::npos) << text;
  spec.batchHi = std::atoll(text.c_str() + at + 14);
  ASSERT_GT(spec.batchHi, 1000);
  EXPECT_FALSE(errorOf(spec));
  spec.batchHi += 8;
  EXPECT_EQ(errorOf(spec).status(), TUTTI_OUT_OF_MEMORY);

  spec = cudaSpec();
  spec.members = 1000;
  fake.memory = 500000;
  EXPECT_SAYS(errorOf(spec), TUTTI_OUT_OF_MEMORY, "for the weights of 1000 members: ");
  EXPECT_SAYS(errorOf(spec), TUTTI_OUT_OF_MEMORY, "members would fit");
}

TEST_F(Cuda, everyFailingCallIsAStatusAndLeavesNothingBehind) {
  for (const char *name : {"cuInit", "cuDeviceGetCount", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent",
                           "cuStreamCreate", "cuModuleLoadData", "cuModuleGetFunction", "cuFuncGetAttribute",
                           "cuMemAlloc", "cuMemcpyHtoDAsync", "cuStreamSynchronize", "cuEventCreate", "cuMemHostAlloc",
                           "cuMemsetD8Async", "cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiateWithFlags",
                           "cuGraphUpload", "cuOccupancyMaxActiveBlocksPerMultiprocessor"})
    for (int at = 1; at <= 3; ++at) {
      fake.reset();
      fake.failing = name, fake.failAt = at, fake.failure = 999;
      Spec spec = cudaSpec();
      spec.persistent = true;
      Error error = errorOf(spec);
      bool reached = fake.failAt <= 0;
      EXPECT_EQ(bool(error), reached || fake.calls(name) >= at) << name << " " << at;
      if (error) {
        EXPECT_TRUE(error.exitCode() == 5 || error.exitCode() == 3) << error.message();
      }
      fake.reset();
      fake.lost = 0;
    }
}

TEST_F(Cuda, aDeviceThatCouldNotBeMadeIsMadeLater) {
  File file = buildArtifact(cudaSpec());
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok());
  auto x = inputOf(4);
  for (int at : {1, 2}) { // the device's stream, the session's
    fake.reset();
    fake.failing = "cuStreamCreate", fake.failAt = at, fake.failure = CUDA_ERROR_INVALID_VALUE;
    EXPECT_SAYS(tutti::Session::create(*artifact, options()).error(), TUTTI_DRIVER_ERROR,
                "Fake GPU (sm_90) gives no stream");
    expectNothing();
    auto session = tutti::Session::create(*artifact, options());
    ASSERT_TRUE(session.ok()) << session.error().message();
    ASSERT_FALSE(session->bindInput<float>("x", std::span<const float>(x), {4, kK}));
    ASSERT_FALSE(session->run());
    auto got = session->output("y", "mean")->as<float>();
    EXPECT_EQ(std::vector<float>(got.begin(), got.end()), answerOf(x, {0, 1, 2}).mean);
  }
}

TEST_F(Cuda, aFailingRunCanBeRepeated) {
  for (bool oneLaunch : {false, true})
    for (const char *name : {"cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuLaunchKernel", "cuGraphLaunch",
                             "cuGraphExecKernelNodeSetParams", "cuEventRecord", "cuStreamSynchronize"}) {
      Fixture f(cudaSpec(oneLaunch));
      auto x = inputOf(4);
      ASSERT_FALSE(f.bind(x));
      bool async = std::string_view(name) == "cuEventRecord";
      fake.reset();
      fake.failing = name, fake.failAt = 1, fake.failure = CUDA_ERROR_INVALID_VALUE;
      Error error = async ? f.session.runAsync() : f.session.run();
      if (!fake.calls(name))
        continue;
      EXPECT_SAYS(error, TUTTI_DRIVER_ERROR, "on Fake GPU (sm_90): CUDA_ERROR_OTHER (1, something happened)");
      fake.reset();
      error = f.session.run();
      EXPECT_FALSE(error) << name << ": " << error.message();
      EXPECT_EQ(f.get("members"), answerOf(x, {0, 1, 2}).members) << name;
    }
}

TEST_F(Cuda, aLostDevicePoisonsTheSessionOnly) {
  for (bool async : {false, true}) {
    Fixture f(cudaSpec());
    auto x = inputOf(4);
    ASSERT_FALSE(f.bind(x));
    fake.reset();
    fake.failing = "kernel", fake.failAt = 2, fake.failure = CUDA_ERROR_ILLEGAL_ADDRESS;
    Error error = async ? f.session.runAsync() : f.session.run();
    if (async) {
      EXPECT_FALSE(error) << "the fake driver has done nothing yet";
      error = f.session.wait();
    }
    EXPECT_SAYS(error, TUTTI_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS (700, an illegal memory access was encountered)");
    EXPECT_EQ(error.exitCode(), 5);
    std::vector<uint32_t> one{1};
    for (const Error &later : {f.session.run(), f.bind(x), f.session.setActive(one), f.session.wait(),
                               f.session.output("y", "mean").error(), f.session.runAsync()})
      EXPECT_EQ(later.message(), error.message());
    EXPECT_EQ(tutti::Session::create(f.artifact, options()).error().status(), TUTTI_DEVICE_LOST);
    fake.reset(); // so that what the driver still holds can be counted
  }
}

TEST_F(Cuda, pointersOfTheWrongKind) {
  Fixture f(cudaSpec());
  auto x = inputOf(4);
  const int64_t dims[] = {4, kK};
  CUdeviceptr here = fake.allocate(0, 4096), elsewhere = fake.allocate(1, 4096);
  auto bind = [&](void *data, tutti_memory_t memory) {
    return f.session.bindInput(tensorOf("x", dims, 2, data, memory));
  };
  auto at = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
  EXPECT_SAYS(bind(x.data(), TUTTI_MEMORY_DEVICE), TUTTI_INVALID_ARGUMENT, "is memory of the host");
  EXPECT_SAYS(bind(at(here), TUTTI_MEMORY_HOST), TUTTI_INVALID_ARGUMENT, "lies in device memory at");
  EXPECT_SAYS(bind(at(elsewhere), TUTTI_MEMORY_DEVICE), TUTTI_INVALID_ARGUMENT,
              "lies on CUDA device 1, but the session runs on device 0");
  EXPECT_SAYS(bind(at(here + 4), TUTTI_MEMORY_DEVICE), TUTTI_INVALID_ARGUMENT, "expected a multiple of 16");
  EXPECT_SAYS(bind(at(here + 2), TUTTI_MEMORY_DEVICE), TUTTI_INVALID_ARGUMENT, "not aligned to its elements");
  tutti_tensor_t none = tensorOf("x", dims, 2, x.data(), TUTTI_MEMORY_HOST);
  constexpr uint32_t noMemory = 7; // what C lets a caller write there
  std::memcpy(&none.memory, &noMemory, sizeof(noMemory));
  EXPECT_SAYS(f.session.bindInput(none), TUTTI_INVALID_ARGUMENT, "memory of kind 7");
  EXPECT_EQ(f.session.run().status(), TUTTI_NOT_BOUND) << "nothing of that was bound";
  EXPECT_FALSE(bind(at(here), TUTTI_MEMORY_DEVICE));
  fake.free(at(here));
  fake.free(at(elsewhere));

  Fixture cpu;
  EXPECT_SAYS(cpu.session.bindInput(tensorOf("x", dims, 2, x.data(), TUTTI_MEMORY_DEVICE)), TUTTI_INVALID_ARGUMENT,
              "runs on the CPU, which reaches host memory only");
}

TEST_F(Cuda, aStreamOfAnotherContext) {
  tutti_session_options_t asked = options();
  asked.context = fake.makeContext(1);
  asked.stream = asked.context; // some handle: the fake says of every stream that it is of the first device's context
  EXPECT_SAYS(errorOf(cudaSpec(), asked), TUTTI_INVALID_ARGUMENT, "is of another context than");
}

TEST_F(Cuda, modulesThatAreNone) {
  File file = buildArtifact(cudaSpec());
  const tutti::fb::Root &root = *tutti::fb::GetRoot(file.data() + file.header().metadataOffset);
  uint64_t at = root.segments()->Get(2)->offset();
  auto refused = [&](size_t offset, uint64_t value) {
    File damaged = file.copy();
    std::memcpy(damaged.data() + at + offset, &value, sizeof(value));
    damaged.redigest();
    auto artifact = tutti::Artifact::open(std::as_bytes(std::span(damaged.data(), damaged.size())));
    ASSERT_TRUE(artifact.ok()) << artifact.error().message();
    EXPECT_SAYS(tutti::Session::create(*artifact, options()).error(), TUTTI_MALFORMED, "is no module");
  };
  refused(0, 0);                  // no ELF file
  refused(40, uint64_t(1) << 40); // sections far away
  refused(40, UINT64_MAX - 8);
}

TEST_F(Cuda, aForkedChildGetsAStatus) {
  Fixture f(cudaSpec());
  auto x = inputOf(2);
  ASSERT_FALSE(f.bind(x));
  pid_t child = fork();
  if (child == 0) {
    bool good = f.session.run().status() == TUTTI_FORKED &&
                tutti::Session::create(f.artifact, options()).error().status() == TUTTI_FORKED;
    // Weights are swapped for the child's sessions on CPUs, without the driver.
    const int64_t dims[] = {kN};
    auto bias = biasOf(41);
    tutti_tensor_t tensor = {"b", TUTTI_F32, 1, dims, nullptr, bias.data(), TUTTI_MEMORY_HOST};
    fake.reset();
    for (int i = 0; i < 3; ++i)
      good = good && !f.artifact.swapWeights(0, {&tensor, 1});
    for (const char *call : {"cuCtxPushCurrent", "cuMemAlloc", "cuMemFree", "cuMemcpyHtoDAsync"})
      good = good && fake.calls(call) == 0;
    f.session = tutti::Session();
    f.artifact = tutti::Artifact();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(f.session.run());
}

// Of two threads that start the driver, the first in vain, the second still holds the lock.
TEST_F(Cuda, aChildForkedWhileTheDriverStartsIsTold) {
  static std::atomic<int> started;
  started = 0;
  fake.starting = [] { usleep(started++ ? 500000 : 50000); };
  fake.failing = "cuInit", fake.failAt = 1, fake.failure = CUDA_ERROR_NO_DEVICE;
  File file = buildArtifact(cudaSpec());
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok()) << artifact.error().message();
  auto choose = [&] {
    tutti_session_options_t asked = options();
    return artifact->chooseDevice(asked).status();
  };
  std::thread threads[2];
  for (std::thread &thread : threads)
    thread = std::thread([&] { (void)choose(); });
  while (started < 2)
    usleep(1000);
  pid_t child = fork();
  if (child == 0) {
    alarm(5);
    _exit(choose() == TUTTI_FORKED ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  for (std::thread &thread : threads)
    thread.join();
  fake.starting = nullptr;
}

// A run of the parent's does not go on in its child, and keeps no weights there.
TEST_F(Cuda, swapsInAChildOfARunningParentLeaveNothing) {
  auto x = inputOf(2);
  Fixture f(cudaSpec());
  ASSERT_FALSE(f.bind(x));
  ASSERT_FALSE(f.session.runAsync());
  pid_t child = fork();
  if (child == 0) {
    const int64_t dims[] = {kK, kN};
    auto weight = weightOf(41);
    tutti_tensor_t tensor = {"W", TUTTI_F32, 2, dims, nullptr, weight.data(), TUTTI_MEMORY_HOST};
    size_t bytes[2];
    bool good = true;
    for (size_t &used : bytes) {
      for (int i = 0; i < 200; ++i)
        good = good && !f.artifact.swapWeights(0, {&tensor, 1});
      used = mallinfo2().uordblks;
    }
    _exit(good && bytes[1] < bytes[0] + 100 * weight.size() ? 0 : 1); // a copy is more than 4 times as many
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(f.session.wait());
}
