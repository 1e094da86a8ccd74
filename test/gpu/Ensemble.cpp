// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs, runs, and comparisons of tensors by rows and members.
#include "Ensemble.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace tutti::gpu {

Options options;

Driver &driver() {
  static Driver *one = [] {
    auto *made = new Driver; // of the process, as the library behind it
    tutti_error_t error = {};
    if (made->load(options.device == TUTTI_DEVICE_EMULATED, &error)) {
      std::fprintf(stderr, "gpu-tests: %s\n", error.message);
      std::exit(5);
    }
    int result = made->cuDeviceGet(&made->device, int(options.ordinal));
    if (!result)
      result = made->cuDevicePrimaryCtxRetain(&made->context, made->device);
    if (!result)
      result = made->cuCtxPushCurrent(made->context);
    if (result) {
      std::fprintf(stderr, "gpu-tests: there is no CUDA device %u: %s\n", options.ordinal, made->nameOf(result));
      std::exit(5);
    }
    return made;
  }();
  return *one;
}

#define TUTTI_MUST(call) EXPECT_EQ(call, rt::CUDA_SUCCESS)

Stream::Stream() { TUTTI_MUST(driver().cuStreamCreate(&handle, rt::CU_STREAM_NON_BLOCKING)); }
Stream::~Stream() {
  for (rt::CUdeviceptr address : memory)
    TUTTI_MUST(driver().cuMemFree(address));
  TUTTI_MUST(driver().cuStreamDestroy(handle));
}
void *Stream::allocate(size_t bytes) {
  TUTTI_MUST(driver().cuMemAlloc(&memory.emplace_back(), std::max<size_t>(bytes, 16)));
  return reinterpret_cast<void *>(memory.back());
}
void Stream::write(void *to, const void *from, size_t bytes) {
  if (bytes) {
    TUTTI_MUST(driver().cuMemcpyHtoDAsync(reinterpret_cast<rt::CUdeviceptr>(to), from, bytes, handle));
  }
  TUTTI_MUST(driver().cuStreamSynchronize(handle));
}
void Stream::read(void *to, const void *from, size_t bytes) {
  if (bytes) {
    TUTTI_MUST(driver().cuMemcpyDtoHAsync(to, reinterpret_cast<rt::CUdeviceptr>(from), bytes, handle));
  }
  TUTTI_MUST(driver().cuStreamSynchronize(handle));
}

Artifact open(const std::string &file) {
  auto artifact = Artifact::open(options.folder + "/" + file);
  EXPECT_TRUE(artifact.ok()) << artifact.error().message();
  return artifact.ok() ? std::move(*artifact) : Artifact();
}

tutti_session_options_t optionsOf(Artifact &artifact, tutti_device_t device) {
  tutti_session_options_t chosen = TUTTI_SESSION_OPTIONS_INIT;
  chosen.device = device;
  chosen.ordinal = device == TUTTI_DEVICE_CPU ? 0 : options.ordinal;
  Error error = artifact.chooseDevice(chosen);
  EXPECT_FALSE(error) << error.message();
  return chosen;
}

Session sessionOf(Artifact &artifact, tutti_device_t device) {
  auto session = Session::create(artifact, optionsOf(artifact, device));
  EXPECT_TRUE(session.ok()) << session.error().message();
  return session.ok() ? std::move(*session) : Session();
}

static Values::Port describe(const tutti_port_t &port, int64_t rows, uint32_t members) {
  Values::Port made = {port.name, port.head, port.dtype, -1, port.per_member ? 0 : -1, {}, {}};
  uint64_t count = 1;
  for (int32_t d = 0; d < port.rank; ++d) {
    bool isMember = port.per_member && d == 0, isRow = !isMember && port.dims[d].lo != port.dims[d].hi;
    if (isRow && made.rowAxis < 0)
      made.rowAxis = d;
    made.dims.push_back(isMember ? int64_t(members) : isRow ? rows : port.dims[d].lo);
    count *= uint64_t(made.dims.back());
  }
  made.data.resize(count * tutti_dtype_bits(port.dtype) / 8);
  return made;
}

Values inputsOf(const Artifact &artifact, const tutti_session_options_t &options, int64_t rows, uint32_t members) {
  std::mt19937 random(unsigned(rows) * 31 + 7);
  std::normal_distribution<float> normal;
  Values values;
  for (const tutti_port_t &port : artifact.inputs(options.program)) {
    Values::Port &made = values.ports.emplace_back(describe(port, rows, members));
    if (made.dtype == TUTTI_F32) {
      for (size_t i = 0; i < made.data.size(); i += sizeof(float)) {
        float value = normal(random);
        std::memcpy(&made.data[i], &value, sizeof(float));
      }
    } else { // what indexes or selects stays in range
      size_t bytes = tutti_dtype_bits(made.dtype) / 8;
      for (size_t i = 0; i < made.data.size(); i += bytes)
        made.data[i] = char(random() & 1);
    }
  }
  return values;
}

Values run(Session &session, const Artifact &artifact, const tutti_session_options_t &options, const Values &inputs,
           const std::vector<uint32_t> &active) {
  if (!active.empty()) {
    Error error = session.setActive(active);
    EXPECT_FALSE(error) << error.message();
  }
  Values picked = active.empty() ? inputs : membersOf(inputs, active);
  for (Values::Port &port : picked.ports) {
    tutti_tensor_t tensor = {port.name.c_str(), port.dtype,       int32_t(port.dims.size()), port.dims.data(),
                             nullptr,           port.data.data(), TUTTI_MEMORY_HOST};
    Error error = session.bindInput(tensor);
    EXPECT_FALSE(error) << error.message();
  }
  Error error = session.run();
  EXPECT_FALSE(error) << error.message();
  Values values;
  for (const tutti_port_t &port : artifact.outputs(options.program)) {
    auto output = session.output(port.name, port.head);
    EXPECT_TRUE(output.ok()) << output.error().message();
    if (!output.ok() || error)
      continue;
    Values::Port &made = values.ports.emplace_back(describe(port, 1, 1));
    made.dims.assign(output->tensor.dims, output->tensor.dims + output->tensor.rank);
    size_t bytes = tutti_dtype_bits(port.dtype) / 8;
    for (int64_t d : made.dims)
      bytes *= size_t(d);
    made.data.assign(static_cast<const char *>(output->tensor.data),
                     static_cast<const char *>(output->tensor.data) + bytes);
  }
  return values;
}

/// A port with these indices of one axis.
static Values::Port pick(const Values::Port &from, int axis, const std::vector<int64_t> &indices) {
  Values::Port made = from;
  size_t inner = tutti_dtype_bits(from.dtype) / 8, outer = 1, length = size_t(from.dims[size_t(axis)]);
  for (size_t d = 0; d < from.dims.size(); ++d)
    (int(d) < axis ? outer : int(d) > axis ? inner : length) *= int(d) == axis ? 1 : size_t(from.dims[d]);
  made.dims[size_t(axis)] = int64_t(indices.size());
  made.data.clear();
  for (size_t o = 0; o < outer; ++o)
    for (int64_t i : indices) {
      const char *at = from.data.data() + (o * length + size_t(i)) * inner;
      made.data.insert(made.data.end(), at, at + inner);
    }
  return made;
}

Values rowsOf(const Values &values, const std::vector<int64_t> &rows) {
  Values made;
  for (const Values::Port &port : values.ports)
    made.ports.push_back(port.rowAxis < 0 ? port : pick(port, port.rowAxis, rows));
  return made;
}

Values membersOf(const Values &values, const std::vector<uint32_t> &members) {
  Values made;
  for (const Values::Port &port : values.ports)
    made.ports.push_back(port.memberAxis < 0 ? port : pick(port, 0, {members.begin(), members.end()}));
  return made;
}

Values withoutHeads(const Values &values) {
  Values made;
  for (const Values::Port &port : values.ports)
    if (port.head == "members")
      made.ports.push_back(port);
  return made;
}

static testing::AssertionResult sameShape(const Values &a, const Values &b) {
  if (a.ports.empty() || a.ports.size() != b.ports.size())
    return testing::AssertionFailure() << a.ports.size() << " outputs against " << b.ports.size();
  for (size_t i = 0; i < a.ports.size(); ++i)
    if (a.ports[i].dims != b.ports[i].dims || a.ports[i].data.size() != b.ports[i].data.size())
      return testing::AssertionFailure() << a.ports[i].name << " " << a.ports[i].head << ": the dims differ";
  return testing::AssertionSuccess();
}

testing::AssertionResult sameBits(const Values &a, const Values &b) {
  if (auto result = sameShape(a, b); !result)
    return result;
  for (size_t i = 0; i < a.ports.size(); ++i) {
    const Values::Port &x = a.ports[i], &y = b.ports[i];
    size_t bytes = tutti_dtype_bits(x.dtype) / 8, differ = 0, first = 0;
    for (size_t at = x.data.size(); at; at -= bytes)
      if (std::memcmp(&x.data[at - bytes], &y.data[at - bytes], bytes)) {
        ++differ;
        first = at / bytes - 1;
      }
    if (differ)
      return testing::AssertionFailure() << x.name << " " << x.head << ": " << differ << " of " << x.data.size() / bytes
                                         << " elements differ, the first is number " << first;
  }
  return testing::AssertionSuccess();
}

/// The mean square of its elements.
static double meanSquare(const Values::Port &port) {
  double sum = 0;
  for (size_t at = 0; at < port.data.size(); at += sizeof(float)) {
    float x;
    std::memcpy(&x, &port.data[at], sizeof(float));
    sum += double(x) * double(x);
  }
  return sum / std::max<size_t>(1, port.data.size() / sizeof(float));
}

testing::AssertionResult near(const Values &a, const Values &b, const Values &usual, double tolerance) {
  if (auto result = sameShape(a, b); !result)
    return result;
  for (size_t i = 0; i < a.ports.size(); ++i) {
    const Values::Port &x = a.ports[i], &y = b.ports[i];
    if (x.dtype != TUTTI_F32) // choices; other precisions may choose otherwise
      continue;
    double apart = 0, norm = 0, least = meanSquare(usual.ports[i]) * double(x.data.size() / sizeof(float));
    for (size_t at = 0; at < x.data.size(); at += sizeof(float)) {
      float p, q;
      std::memcpy(&p, &x.data[at], sizeof(float));
      std::memcpy(&q, &y.data[at], sizeof(float));
      apart += double(p - q) * double(p - q);
      norm += double(q) * double(q);
    }
    norm = std::max(norm, least);
    if (!(std::sqrt(apart) <= tolerance * std::sqrt(norm)))
      return testing::AssertionFailure() << x.name << " " << x.head << ": " << std::sqrt(apart / norm)
                                         << " apart, at most " << tolerance << " expected";
  }
  return testing::AssertionSuccess();
}

} // namespace tutti::gpu
