// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The timing loop, and the work that a call has to do at least.
#include "DeviceTime.h"

#include "core/Check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <unistd.h>

namespace tutti::tool {

namespace {
constexpr size_t kSets = 8;
constexpr size_t kMostRuns = 1000000;

/// Normal numbers for floats, fair coins for bools and bytes, 0 to 32767 for other integers: of each magnitude equally
/// many, so that tables of any length are read all over. (Kernels bring what is past a table into its range.)
void fillRandom(tutti_dtype_t dtype, std::vector<char> &data, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  auto fill = [&](auto zero, auto next) {
    using T = decltype(zero);
    for (size_t i = 0; i + sizeof(T) <= data.size(); i += sizeof(T)) {
      T value = T(next());
      std::memcpy(&data[i], &value, sizeof(T));
    }
  };
  auto bit = [&] { return random() & 1; };
  auto number = [&] {
    uint32_t bits = random();
    return bits >> (17 + random() % 15);
  };
  switch (dtype) {
  case TUTTI_F32:
    return fill(float(), [&] { return normal(random); });
  case TUTTI_F64:
    return fill(double(), [&] { return normal(random); });
  case TUTTI_F16:
    return fill(uint16_t(), [&] { return bit() ? 0x3c00 : 0xb400; });
  case TUTTI_BF16:
    return fill(uint16_t(), [&] { return bit() ? 0x3f80 : 0xbe80; });
  case TUTTI_I16:
  case TUTTI_U16:
    return fill(uint16_t(), number);
  case TUTTI_I32:
  case TUTTI_U32:
    return fill(uint32_t(), number);
  case TUTTI_I64:
  case TUTTI_U64:
    return fill(uint64_t(), number);
  default:
    return fill(uint8_t(), bit);
  }
}

std::vector<uint32_t> activeOf(const Setup &setup, const Artifact &artifact) {
  std::vector<uint32_t> active = setup.active;
  for (uint32_t m = 0; setup.active.empty() && m < artifact.info().num_members; ++m)
    active.push_back(m);
  return active;
}

/// The sizes of a call in the program's order, the active set first.
Failure sizesOf(const Setup &setup, const Artifact &artifact, Measurement &m, std::vector<int64_t> &sizes) {
  const tutti_program_t &program = artifact.programs()[setup.options.program];
  m.active = setup.active.empty() ? artifact.info().num_members : uint32_t(setup.active.size());
  std::vector<uint32_t> active = activeOf(setup, artifact);
  m.sizes.clear();
  const fb::Root &root = *fb::GetRoot(artifact.info().metadata);
  const tutti_dimension_t *next = program.dimensions;
  for (const fb::Size *size : *root.programs()->Get(setup.options.program)->sizes()) {
    if (size->kind() == fb::SizeKind::active) { // of the whole set, or of a group
      auto isIn = [&](uint32_t m) { return size->source() == 0 || rt::isInGroup(root, size->source() - 1, m); };
      sizes.push_back(std::count_if(active.begin(), active.end(), isIn));
      continue;
    }
    const tutti_dimension_t &dimension = *next++;
    int64_t value = dimension.hi;
    for (const auto &[name, bound] : setup.binding)
      if (name == dimension.name)
        value = bound;
    if (value < dimension.lo || value > dimension.hi)
      return {ExitCode::usage, "dimension " + quote(dimension.name) + " is " + std::to_string(value) + ", expected " +
                                   std::to_string(dimension.lo) + " to " + std::to_string(dimension.hi)};
    sizes.push_back(value);
    m.sizes.emplace_back(dimension.name, value);
  }
  std::string known;
  for (const auto &[name, value] : m.sizes)
    known += (known.empty() ? "" : ", ") + quote(name);
  for (const auto &[name, value] : setup.binding)
    if (std::none_of(m.sizes.begin(), m.sizes.end(), [&](const auto &size) { return size.first == name; }))
      return {ExitCode::usage,
              "there is no dimension " + quote(name) + "; the artifact has " + (known.empty() ? "none" : known)};
  return {};
}

const fb::Program &programOf(const Artifact &artifact, const Setup &setup) {
  return *fb::GetRoot(artifact.info().metadata)->programs()->Get(setup.options.program);
}

/// Weights of the active members, each once however many slots or launches have it, and all inputs and outputs.
uint64_t leastBytes(const Artifact &artifact, const Setup &setup, const fb::Program &program,
                    const std::vector<int64_t> &sizes) {
  const fb::Root &root = *fb::GetRoot(artifact.info().metadata);
  std::vector<uint32_t> active = activeOf(setup, artifact);
  uint64_t total = 0;
  std::set<std::pair<std::string, int32_t>> seen; // names, of the groups
  std::set<int32_t> seenSlots;
  for (uint32_t i = 0; i < rt::count(program.buffers()); ++i) {
    const fb::Buffer &buffer = *program.buffers()->Get(i);
    if (buffer.space() != fb::Space::constant || !seenSlots.insert(buffer.slot()).second)
      continue;
    const fb::Slot &slot = *root.slots()->Get(uint32_t(buffer.slot()));
    if (std::string name = rt::text(slot.name()); !name.empty() && !seen.insert({name, slot.group()}).second)
      continue;
    std::set<uint32_t> copies;
    for (uint32_t m : active)
      if (slot.group() < 0 || rt::isInGroup(root, uint32_t(slot.group()), m))
        copies.insert(rt::isShared(slot) ? 0 : rt::copyOf(slot, m));
    total += copies.size() * slot.raw_bytes();
  }
  for (uint32_t i = 0; i < rt::count(program.ports()); ++i) {
    const fb::Type &type = *program.ports()->Get(i)->type();
    uint64_t bytes = 0;
    std::vector<int64_t> dims;
    for (uint32_t d = 0; d < rt::count(type.dims()); ++d)
      dims.push_back(rt::valueOf(type.dims()->Get(d), sizes.data()));
    rt::denseBytes(type.dtype(), dims.data(), uint32_t(dims.size()), bytes);
    total += bytes;
  }
  return total;
}

/// What the calls of a run are given, in rotation.
struct Inputs {
  std::vector<int64_t> sizes; ///< of a call
  std::vector<InputSet> sets = std::vector<InputSet>(kSets);
  std::vector<std::vector<int64_t>> dims; ///< of each input
};

/// Random elements for the program's inputs.
Failure fillInputs(std::span<const tutti_port_t> ports, const fb::Program &program, Inputs &inputs) {
  std::map<std::string, const fb::Port *> known;
  for (uint32_t i = 0; i < rt::count(program.ports()); ++i)
    if (const fb::Port *port = program.ports()->Get(i);
        program.buffers()->Get(port->buffer())->space() == fb::Space::input)
      known[rt::text(port->name())] = port;
  std::mt19937 random(1);
  uint64_t left = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / kSets; // bytes of a set
  for (const tutti_port_t &port : ports) {
    std::vector<int64_t> shape;
    for (int32_t d = 0; d < port.rank; ++d)
      shape.push_back(rt::valueOf(known[port.name]->type()->dims()->Get(uint32_t(d)), inputs.sizes.data()));
    uint64_t bytes = 0;
    rt::denseBytes(fb::DType(port.dtype), shape.data(), uint32_t(shape.size()), bytes);
    if (bytes > left)
      return {ExitCode::resource, std::to_string(kSets) + " sets of random inputs, of which " + quote(port.name) +
                                      " has " + std::to_string(bytes) +
                                      " bytes, are more than this machine's memory; --dim times smaller sizes"};
    left -= bytes;
    for (InputSet &set : inputs.sets) {
      set.data.emplace_back(bytes);
      fillRandom(port.dtype, set.data.back(), random);
    }
    inputs.dims.push_back(shape);
  }
  return {};
}

/// What is needed before the clock starts: the artifact is asked for its inputs and its work, then closed again.
Failure prepare(Setup setup, Measurement &m, Inputs &inputs) {
  Artifact artifact;
  if (auto failure = openArtifact(setup.artifact, artifact))
    return failure;
  if (auto error = artifact.chooseDevice(setup.options))
    return error;
  if (auto failure = sizesOf(setup, artifact, m, inputs.sizes))
    return failure;
  const fb::Program &program = programOf(artifact, setup);
  m.flops = double(rt::valueOf(program.flops(), inputs.sizes.data()));
  if (auto failure = fillInputs(artifact.inputs(setup.options.program), program, inputs))
    return failure;
  m.rows = 1;
  std::span<const tutti_port_t> ports = artifact.inputs(setup.options.program);
  for (size_t i = 0; i < ports.size(); ++i)
    if (size_t axis = ports[i].per_member; axis < inputs.dims[i].size())
      m.rows = std::max(m.rows, inputs.dims[i][axis]);
  m.rows *= m.active;
  return {};
}

Failure bindSet(Session &session, const InputSet &set) {
  for (const tutti_tensor_t &tensor : set.tensors)
    if (auto failure = bindInput(session, tensor))
      return failure;
  return {};
}

/// The cold start: everything from the file's name to the first outputs. Chooses the device in `setup`.
Failure startCold(Setup &setup, Measurement &m, Inputs &inputs, Artifact &artifact, Session &session) {
  auto start = Clock::now();
  if (auto failure = openArtifact(setup.artifact, artifact))
    return failure;
  if (auto failure = createSession(artifact, setup.options, session))
    return failure;
  std::span<const tutti_port_t> ports = artifact.inputs(setup.options.program);
  if (!setup.active.empty())
    if (auto error = session.setActive(setup.active))
      return error;
  for (InputSet &set : inputs.sets)
    for (size_t i = 0; i < ports.size(); ++i)
      set.tensors.push_back({ports[i].name, ports[i].dtype, int32_t(inputs.dims[i].size()), inputs.dims[i].data(),
                             nullptr, set.data[i].data(), TUTTI_MEMORY_HOST});
  for (const auto &[name, value] : m.sizes)
    if (auto error = session.setDimension(name, value))
      return error;
  if (auto failure = bindSet(session, inputs.sets[0]))
    return failure;
  if (auto error = session.run())
    return error;
  m.coldUs = since(start);
  m.device = session.device().name;
  m.onCpu = session.device().device == TUTTI_DEVICE_CPU;
  m.emulated = session.device().device == TUTTI_DEVICE_EMULATED;
  m.flopsPeak = session.device().flops_per_second;
  m.bytesPeak = session.device().bytes_per_second;
  return {};
}

/// Calls by the host's clock: a fifth of the time to warm up, the rest counts.
Failure timeCalls(Session &session, std::span<const InputSet> sets, double seconds, Measurement &m) {
  m.microseconds.clear();
  double budget = seconds * 1e6;
  size_t next = 0;
  auto once = [&]() -> std::pair<Failure, double> {
    if (auto failure = bindSet(session, sets[next++ % kSets]))
      return {failure, 0};
    auto begin = Clock::now();
    tutti_status_t status = tutti_session_run(session.get());
    double elapsed = since(begin);
    return {status ? Failure(status, tutti_session_message(session.get())) : Failure(), elapsed};
  };
  for (auto begin = Clock::now(); since(begin) < budget / 5;)
    if (auto [failure, elapsed] = once(); failure)
      return failure;
  for (auto begin = Clock::now();
       (since(begin) < budget || m.microseconds.size() < kLeastRuns) && m.microseconds.size() < kMostRuns;) {
    auto [failure, elapsed] = once();
    if (failure)
      return failure;
    m.microseconds.push_back(elapsed);
  }
  std::sort(m.microseconds.begin(), m.microseconds.end());
  return {};
}
} // namespace

double percentile(const Times &times, double p) {
  double at = p / 100 * double(times.size() - 1);
  auto below = size_t(at);
  size_t above = std::min(below + 1, times.size() - 1);
  return times[below] + (at - double(below)) * (times[above] - times[below]);
}

Failure measure(const Setup &asked, Measurement &m) {
  Inputs inputs;
  if (auto failure = prepare(asked, m, inputs))
    return failure;
  Setup setup = asked;
  Artifact artifact;
  Session session;
  if (auto failure = startCold(setup, m, inputs, artifact, session))
    return failure;
  m.bytes = leastBytes(artifact, setup, programOf(artifact, setup), inputs.sizes); // of members that there are
  if (auto failure = timeCalls(session, inputs.sets, setup.seconds, m))
    return failure;
  if (m.onCpu)
    return {};
  session = Session(); // its memory may be needed
  return timeOnDevice(artifact, setup, inputs.sets, m);
}

} // namespace tutti::tool
