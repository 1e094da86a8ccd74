// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events around calls, on a stream that is kept busy.
#include "DeviceTime.h"

#include "device/cuda/Driver.h"

#include <algorithm>
#include <cmath>

namespace tutti::tool {

namespace {
using namespace tutti::rt;

/// Calls between two waits for the stream. Few enough, for a driver holds about a thousand launches before it makes the
/// host wait.
constexpr size_t kMostInBlock = 64;
constexpr double kBlockUs = 2000;
/// A fill of so many bytes takes tens of microseconds on any GPU; the emulated device fills byte by byte.
constexpr size_t kFill = size_t(64) << 20, kEmulatedFill = 4096, kEmulatedInBlock = 4;
constexpr int kMostFills = 200;

/// A stream in the device's primary context, events, and memory; all of it goes away with this.
class Device {
public:
  ~Device() {
    for (CUdeviceptr address : memory)
      driver.cuMemFree(address);
    for (CUevent event : events)
      driver.cuEventDestroy(event);
    if (stream)
      driver.cuStreamDestroy(stream);
    CUcontext popped;
    if (entered)
      driver.cuCtxPopCurrent(&popped);
    if (context)
      driver.cuDevicePrimaryCtxRelease(device);
  }

  Failure open(const tutti_session_options_t &options) {
    tutti_error_t error = {};
    if (tutti_status_t status = driver.load(options.device == TUTTI_DEVICE_EMULATED, &error))
      return {status, error.message};
    CUresult result = driver.cuDeviceGet(&device, int(options.ordinal));
    if (!result)
      result = driver.cuDevicePrimaryCtxRetain(&context, device);
    if (!result)
      entered = !(result = driver.cuCtxPushCurrent(context));
    if (!result)
      result = driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    for (CUevent event; !result && events.size() < 2 * kMostInBlock;)
      if (!(result = driver.cuEventCreate(&event, 0)))
        events.push_back(event);
    return result ? failed(result, "gives no stream with events") : Failure();
  }

  Failure allocate(size_t bytes, CUdeviceptr &address) {
    CUresult result = driver.cuMemAlloc(&address, std::max<size_t>(bytes, 16));
    if (result)
      return failed(result, "gives no memory for inputs");
    memory.push_back(address);
    return {};
  }

  Failure upload(const std::vector<char> &data, CUdeviceptr &address) {
    if (Failure failure = allocate(data.size(), address))
      return failure;
    CUresult result = data.empty() ? CUDA_SUCCESS : driver.cuMemcpyHtoDAsync(address, data.data(), data.size(), stream);
    return result ? failed(result, "does not take the inputs") : wait();
  }

  Failure wait() {
    CUresult result = driver.cuStreamSynchronize(stream);
    return result ? failed(result, "failed") : Failure();
  }

  Failure failed(CUresult result, const char *what) {
    tutti_error_t error = {};
    tutti_status_t status = driver.fail(&error, result, "CUDA device %d %s", device, what);
    return {status, error.message};
  }

  CudaDriver driver;
  CUdevice device = 0;
  CUstream stream = nullptr;
  std::vector<CUevent> events; ///< before and after each call of a block

private:
  CUcontext context = nullptr;
  bool entered = false;
  std::vector<CUdeviceptr> memory;
};

/// Times blocks of calls; a call puts work on the device's stream and returns.
class Timer {
public:
  Timer(Device &on) : on(on) {}

  Failure prepare(bool emulated) {
    fillBytes = emulated ? kEmulatedFill : kFill;
    most = emulated ? kEmulatedInBlock : kMostInBlock;
    if (Failure failure = on.allocate(fillBytes, fillAddress))
      return failure;
    auto fill = [&](size_t) { return fillOnce(); };
    Times times;
    for (int i = 0; i < 2; ++i) // the first wakes the device
      if (Failure failure = block(fill, 16, 0, times))
        return failure;
    std::sort(times.begin(), times.end());
    fillUs = std::max(percentile(times, 10), 1.0);
    return {};
  }

  /// `count` calls behind `fills` fills; adds what each of them took.
  template <typename Call> Failure block(Call call, size_t count, int fills, Times &times) {
    const CudaDriver &driver = on.driver;
    for (int i = 0; i < fills; ++i)
      if (Failure failure = fillOnce())
        return failure;
    CUresult result = CUDA_SUCCESS;
    auto start = Clock::now();
    for (size_t i = 0; i < count && !result; ++i) {
      if ((result = driver.cuEventRecord(on.events[2 * i], on.stream)))
        break;
      if (Failure failure = call(i))
        return failure;
      result = driver.cuEventRecord(on.events[2 * i + 1], on.stream);
    }
    askUs = since(start) / double(count);
    if (Failure failure = on.wait())
      return failure;
    for (size_t i = 0; i < count && !result; ++i) {
      float milliseconds = 0;
      result = driver.cuEventElapsedTime(&milliseconds, on.events[2 * i], on.events[2 * i + 1]);
      times.push_back(1e3 * double(milliseconds));
    }
    return result ? on.failed(result, "has no time for a call") : Failure();
  }

  /// The size of a block, and its head start, after blocks have shown what asking costs.
  size_t count() const { return size_t(std::clamp(kBlockUs / std::max(askUs, 1.0), 1.0, double(most))); }
  int fills() const { return int(std::min(std::ceil(1.5 * askUs * double(count()) / fillUs), double(kMostFills))); }

private:
  Failure fillOnce() {
    CUresult result = on.driver.cuMemsetD8Async(fillAddress, 1, fillBytes, on.stream);
    return result ? on.failed(result, "fills no memory") : Failure();
  }

  Device &on;
  CUdeviceptr fillAddress = 0;
  size_t fillBytes = 0, most = kMostInBlock;
  double fillUs = 1, askUs = 0;
};

/// A session on the stream, with active members and sizes chosen, and outputs in the device's memory.
Failure openSession(const Artifact &artifact, const Setup &setup, const Binding &sizes, CUstream stream,
                    Session &session) {
  tutti_session_options_t options = setup.options;
  options.stream = stream;
  auto created = Session::create(artifact, options);
  if (!created)
    return created.error();
  session = std::move(*created);
  if (!setup.active.empty())
    if (auto error = session.setActive(setup.active))
      return error;
  for (const auto &[name, value] : sizes)
    if (auto error = session.setDimension(name, value))
      return error;
  const tutti_program_t &program = artifact.programs()[options.program];
  for (uint32_t i = 0; i < program.num_outputs; ++i) {
    tutti_tensor_t own = {};
    own.name = program.outputs[i].name;
    own.memory = TUTTI_MEMORY_DEVICE;
    if (auto error = session.bindOutput(program.outputs[i].head, own))
      return error;
  }
  return {};
}

/// Each set's tensors, in the device's memory.
Failure uploadInputs(Device &on, std::span<const InputSet> sets, std::vector<std::vector<tutti_tensor_t>> &inputs) {
  for (const InputSet &set : sets) {
    inputs.push_back(set.tensors);
    for (size_t i = 0; i < set.tensors.size(); ++i) {
      CUdeviceptr address;
      if (Failure failure = on.upload(set.data[i], address))
        return failure;
      inputs.back()[i].data = reinterpret_cast<void *>(address);
      inputs.back()[i].memory = TUTTI_MEMORY_DEVICE;
    }
  }
  return {};
}

/// What calls take, and what two events do with no call between them.
template <typename Call> Failure timeCalls(Timer &timer, Call call, double seconds, Times &times, Times &empty) {
  // Half of the time warms the clocks, and finds how much the device has to be ahead.
  double budget = seconds * 1e6;
  auto begin = Clock::now();
  do
    if (Failure failure = timer.block(call, timer.count(), timer.fills(), times))
      return failure;
  while (since(begin) < budget / 2);
  times.clear();
  for (begin = Clock::now(); since(begin) < budget || times.size() < kLeastRuns;)
    if (Failure failure = timer.block(call, timer.count(), timer.fills(), times))
      return failure;
  return timer.block([](size_t) { return Failure(); }, kMostInBlock, timer.fills(), empty);
}
} // namespace

Failure timeOnDevice(const Artifact &artifact, const Setup &setup, std::span<const InputSet> sets, Measurement &m) {
  Device on;
  if (Failure failure = on.open(setup.options))
    return failure;
  m.driver = on.driver.version;
  Session session; // goes before the device's memory and stream do
  if (Failure failure = openSession(artifact, setup, m.sizes, on.stream, session))
    return failure;
  std::vector<std::vector<tutti_tensor_t>> inputs;
  if (Failure failure = uploadInputs(on, sets, inputs))
    return failure;

  size_t next = 0;
  auto call = [&](size_t) -> Failure {
    for (const tutti_tensor_t &tensor : inputs[next++ % inputs.size()])
      if (auto error = session.bindInput(tensor))
        return error;
    auto error = session.runAsync();
    return error ? Failure(error) : Failure();
  };
  Timer timer(on);
  if (Failure failure = timer.prepare(m.emulated))
    return failure;
  Times times, empty;
  if (Failure failure = timeCalls(timer, call, setup.seconds, times, empty))
    return failure;
  if (auto error = session.wait())
    return error;
  std::sort(times.begin(), times.end());
  std::sort(empty.begin(), empty.end());
  m.onDevice = std::move(times);
  m.emptyUs = percentile(empty, 50);
  return {};
}

} // namespace tutti::tool
