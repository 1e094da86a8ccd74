// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The probe: code that leads to it, and all that the C interface does with an artifact.
#include "Probe.h"

#include "Expectation.h"
#include "core/Session.h"
#include "device/cpu/Engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <memory>
#include <span>

namespace tutti::rt::test {

namespace {
constexpr uint64_t kMostFile = uint64_t(1) << 20;
/// Inputs and outputs past this are not made: what a caller would have to bring is no fault of the artifact's.
constexpr uint64_t kMostPort = uint64_t(1) << 20;

Expectation *expectation;

void probe(void *const *args, const int64_t *sizes, int64_t tile, int64_t begin, int64_t end, char *scratch) {
  expectation->onCpu(args, sizes, tile, begin, end, scratch);
}
static_assert(std::is_same_v<decltype(&probe), KernelFn>);

/// mov rax, probe; jmp rax
std::string jump() {
  uint64_t to = reinterpret_cast<uint64_t>(&probe);
  return "\x48\xb8" + std::string(reinterpret_cast<char *>(&to), 8) + "\xff\xe0";
}

void expectStatus(tutti_status_t status) {
  int code = status >> 8;
  if (code != 0 && (code < 2 || code > 6))
    wrong("status %x", unsigned(status));
}

/// Whether code for CPUs can only lead to the probe: of no launch past the start of the jump at the code's end.
bool isHarmless(const File &file, const fb::Root &root, const fb::Program &program) {
  const FileHeader &header = const_cast<File &>(file).header();
  uint64_t end = header.codeOffset + header.codeBytes;
  std::string code = jump();
  if (end < code.size() || std::memcmp(file.data() + end - code.size(), code.data(), code.size()) != 0)
    return false;
  return !forEachLaunch(program, [&](const fb::Launch &l, uint32_t) {
    for (const fb::Image *image : *root.kernels()->Get(l.kernel())->images())
      if (root.segments()->Get(image->segment())->offset() + image->offset() > end - code.size())
        return true;
    return false;
  });
}

/// Where the strips of a call would read and write: inside of buffers, and of what launches make for each other, no
/// thread where another one does. Nothing is run. Whether there are any.
bool checkStrips(Artifact &artifact, const fb::Program &program, const tutti_program_t &about,
                 const std::vector<uint32_t> &active, const int64_t *sizes) {
  constexpr uint64_t apart = uint64_t(1) << 48; // more than any memory that a session takes
  Call call(artifact);
  call.program = &program;
  if (!call.build(about))
    return false;
  std::copy(active.begin(), active.end(), call.active.begin());
  call.numActive = uint32_t(active.size());
  call.updateSets();
  std::copy(sizes, sizes + call.sizes.size(), call.sizes.begin());
  const Sizes most = largestSizes(program);
  int64_t arena = count(program.arena()) ? valueOf(program.arena()->Get(0), most.data()) : 0;
  call.arena = reinterpret_cast<char *>(apart);
  for (uint32_t i = 0; i < call.buffers.size(); ++i)
    call.buffers[i] = reinterpret_cast<char *>((i + 2) * apart);
  call.updateOffsets();
  call.inStrips = Call::InStrips::always;
  bool any = false;
  for (uint32_t threads : {1, 3, 16}) {
    Strips strips;
    if (!strips.build(call, threads) || !strips.choose(call, threads))
      break;
    any = true;
    for (Strips::Phase phase : {Strips::shared, Strips::members}) {
      uint64_t areaEnd = 0; // of the thread before
      for (uint32_t thread = 0; thread < threads; ++thread) {
        uint64_t areaStart = UINT64_MAX, end = 0;
        for (int64_t strip : {int64_t(0), strips.numStrips(phase) / 2, strips.numStrips(phase) - 1}) {
          if (strip < 0 || strip >= strips.numStrips(phase))
            continue;
          const uint64_t *words = strips.argumentsOf(call, phase, thread, strip);
          for (uint32_t l = 0; l < call.launches.size(); ++l)
            for (uint32_t a = 0; strips.phaseOf(l) == phase && a < call.launches[l].numArgs; ++a) {
              uint32_t buffer = call.args[call.launches[l].firstArg + a].buffer;
              const fb::Buffer &b = *program.buffers()->Get(buffer);
              uint64_t at = words[call.launches[l].firstWord + a], place = at % apart;
              int64_t bytes = bytesOf(program, b, strips.sizesOf(phase, strips.isLast(phase, strip)));
              int64_t room = b.space() == fb::Space::arena ? arena : bytesOf(program, b, sizes);
              if (const fb::Slot *slot = call.slotOf(buffer))
                bytes = slot->per_member() ? 8 : 0, room = slot->per_member() ? 8 * int64_t(active.size()) : 0;
              if (int64_t(place) > room - bytes)
                wrong("strip %lld: argument %u of launch %u is at %llu + %lld of %lld bytes", (long long)strip, a, l,
                      (unsigned long long)place, (long long)bytes, (long long)room);
              if (strips.isLocal(buffer))
                areaStart = std::min(areaStart, at), end = std::max(end, at + uint64_t(bytes));
            }
        }
        if (areaStart < areaEnd)
          wrong("the strips of thread %u reach into those of another", thread);
        areaEnd = std::max(areaEnd, end);
      }
    }
  }
  return any;
}

/// Memory of the caller's for a port, as long as it has to be and no longer.
struct Bound {
  Bound(const tutti_port_t &port, const fb::Port &formula, const int64_t *sizes) : port(port) {
    for (int32_t d = 0; d < port.rank; ++d)
      dims.push_back(valueOf(formula.type()->dims()->Get(uint32_t(d)), sizes));
    fits = denseBytes(fb::DType(port.dtype), dims.data(), uint32_t(dims.size()), bytes) && bytes <= kMostPort;
    data.reset(fits ? static_cast<char *>(std::calloc(bytes + !bytes, 1)) : nullptr);
  }
  tutti_tensor_t tensor() const {
    return {port.name, port.dtype, port.rank, dims.data(), nullptr, data.get(), TUTTI_MEMORY_HOST};
  }
  struct Free {
    void operator()(char *p) const { std::free(p); }
  };
  const tutti_port_t &port;
  std::vector<int64_t> dims;
  uint64_t bytes = 0;
  bool fits = false;
  std::unique_ptr<char, Free> data;
};

class Exercise {
public:
  Exercise(const File &file, tutti_artifact_t *artifact, tutti_device_t device, Outcome &outcome)
      : file(file), artifact(artifact), info(*tutti_artifact_info(artifact)), root(*fb::GetRoot(info.metadata)),
        device(device), outcome(outcome) {}

  void run() {
    describe();
    replaceWeights();
    for (uint32_t p = 0; p < std::min(info.num_programs, 8u); ++p)
      program(p);
  }

private:
  /// All that the artifact says of itself can be read.
  void describe() {
    uint64_t sum = 0;
    for (uint32_t m = 0; m < info.num_members; ++m)
      sum += std::strlen(info.members[m].name) + std::strlen(info.members[m].source);
    for (uint32_t w = 0; w < info.num_weights; ++w) {
      sum += std::strlen(info.weights[w].name);
      read(reinterpret_cast<const char *>(info.weights[w].dims), 8 * info.weights[w].rank);
    }
    auto add = [&](const tutti_port_t *ports, uint32_t n) {
      for (uint32_t i = 0; i < n; ++i) {
        sum += std::strlen(ports[i].name) + std::strlen(ports[i].head);
        for (int32_t d = 0; d < ports[i].rank; ++d)
          sum += std::strlen(ports[i].dims[d].symbol);
      }
    };
    for (uint32_t p = 0; p < info.num_programs; ++p) {
      const tutti_program_t &program = info.programs[p];
      add(program.inputs, program.num_inputs);
      add(program.outputs, program.num_outputs);
      for (uint32_t t = 0; t < program.num_targets; ++t)
        sum += std::strlen(program.targets[t]);
      for (uint32_t d = 0; d < program.num_dimensions; ++d)
        sum += std::strlen(program.dimensions[d].name);
    }
    if (sum == UINT64_MAX)
      wrong("an artifact without a byte");
    expectStatus(tutti_artifact_verify_weights(artifact, nullptr));
  }

  void replaceWeights() {
    for (uint32_t w = 0; w < info.num_weights; ++w) {
      const tutti_weight_t &weight = info.weights[w];
      uint64_t bytes = 0;
      if (!denseBytes(fb::DType(weight.dtype), weight.dims, uint32_t(weight.rank), bytes) || bytes > kMostPort)
        continue;
      std::unique_ptr<char, Bound::Free> data(static_cast<char *>(std::calloc(bytes + !bytes, 1)));
      tutti_tensor_t tensor = {weight.name, weight.dtype, weight.rank,      weight.dims,
                               nullptr,     data.get(),   TUTTI_MEMORY_HOST};
      expectStatus(tutti_artifact_swap_weights(artifact, info.num_members - 1, &tensor, 1, nullptr));
    }
  }

  void program(uint32_t index) {
    const fb::Program &program = *root.programs()->Get(index);
    const tutti_program_t &about = info.programs[index];
    if ((about.device == TUTTI_DEVICE_CPU) != (device == TUTTI_DEVICE_CPU)) {
      ++outcome.elsewhere;
      return;
    }
    tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
    options.program = index;
    options.device = device;
    tutti_session_t *session = nullptr;
    tutti_status_t made = tutti_session_create(artifact, &options, &session, nullptr);
    expectStatus(made);
    if (made)
      return;
    ++outcome.sessions;
    unwrap(session)->takeStrips(Call::InStrips::never); // checkStrips looks at their addresses
    if (device != TUTTI_DEVICE_CPU || isHarmless(file, root, program)) {
      uint32_t most = uint32_t(program.sizes()->Get(0)->hi());
      std::vector<uint32_t> all(most), last;
      for (uint32_t i = 0; i < most; ++i)
        all[i] = i;
      if (program.sizes()->Get(0)->lo() <= 1)
        last = {info.num_members - 1};
      for (const std::vector<uint32_t> &active : {all, last})
        for (int64_t size : {1, 3})
          if (!active.empty() && active.size() <= 64)
            call(session, program, about, active, size);
    }
    tutti_session_destroy(session);
  }

  /// One call, the sizes near `wanted`; a second time into the caller's memory.
  void call(tutti_session_t *session, const fb::Program &program, const tutti_program_t &about,
            const std::vector<uint32_t> &active, int64_t wanted) {
    int64_t sizes[kMaxSizes] = {int64_t(active.size())};
    for (uint32_t i = 1; i < count(program.sizes()); ++i) {
      const fb::Size &size = *program.sizes()->Get(i);
      sizes[i] = std::clamp(wanted, size.lo(), size.hi());
      if (size.kind() == fb::SizeKind::active) {
        sizes[i] = 0;
        for (uint32_t member : *root.groups()->Get(size.source() - 1)->members())
          sizes[i] += std::count(active.begin(), active.end(), member);
      }
    }
    std::vector<Bound> inputs, outputs;
    for (uint32_t i = 0, in = 0, out = 0; i < count(program.ports()); ++i) {
      const fb::Port &port = *program.ports()->Get(i);
      if (program.buffers()->Get(port.buffer())->space() == fb::Space::input)
        inputs.emplace_back(about.inputs[in++], port, sizes);
      else
        outputs.emplace_back(about.outputs[out++], port, sizes);
    }
    std::vector<tutti_tensor_t> tensors;
    for (const Bound &bound : inputs)
      tensors.push_back(bound.tensor());
    for (const std::vector<Bound> *ports : {&inputs, &outputs})
      for (const Bound &bound : *ports)
        if (!bound.fits)
          return;
    tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
    options.device = device;
    expectStatus(tutti_artifact_choose_program(artifact, tensors.data(), tensors.size(), &options, nullptr));
    if (tutti_session_set_active(session, active.data(), active.size()))
      return;
    for (uint32_t i = 1; i < count(program.sizes()); ++i)
      if (program.sizes()->Get(i)->kind() != fb::SizeKind::active && sizes[i])
        expectStatus(tutti_session_set_dimension(session, text(program.sizes()->Get(i)->name()), sizes[i]));
    for (const tutti_tensor_t &tensor : tensors)
      expectStatus(tutti_session_bind_input(session, &tensor));
    for (const Bound &bound : outputs) {
      tutti_tensor_t own = bound.tensor();
      own.data = nullptr;
      expectStatus(tutti_session_bind_output(session, bound.port.head, &own));
    }
    if (device == TUTTI_DEVICE_CPU) {
      int64_t largest[kMaxSizes] = {sizes[0]};
      for (uint32_t i = 1; i < count(program.sizes()); ++i)
        largest[i] = program.sizes()->Get(i)->kind() == fb::SizeKind::active ? sizes[i] : program.sizes()->Get(i)->hi();
      for (const int64_t *at : {sizes, largest})
        outcome.strips += checkStrips(*unwrap(artifact), program, about, active, at);
    }
    Expectation expected(root, program, active);
    for (bool bound : {false, true}) {
      for (const Bound &output : outputs) {
        tutti_tensor_t tensor = output.tensor();
        if (bound)
          expectStatus(tutti_session_bind_output(session, output.port.head, &tensor));
      }
      expected.start(sizes);
      expectation = &expected;
      tutti_status_t ran = tutti_session_run(session);
      expectation = nullptr;
      expectStatus(ran);
      if (ran)
        return;
      if (!expected.done())
        wrong("a call left launches out after %d", expected.seen());
      ++outcome.runs;
      outcome.launches += expected.seen();
      for (const Bound &output : outputs) {
        tutti_tensor_t tensor;
        if (tutti_session_get_output(session, output.port.name, output.port.head, &tensor) == TUTTI_OK)
          read(static_cast<const char *>(tensor.data), int64_t(output.bytes));
      }
    }
  }

  const File &file;
  tutti_artifact_t *artifact;
  const tutti_info_t &info;
  const fb::Root &root;
  tutti_device_t device;
  Outcome &outcome;
};
} // namespace

void probeOnDevice(const void *parameters) { expectation->onDevice(parameters); }

std::string emptyModule() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  return std::string(reinterpret_cast<char *>(&header), sizeof(header));
}

File expand(std::string_view head, std::string_view code) {
  FileHeader header = {};
  std::memcpy(&header, head.data(), std::min(head.size(), sizeof(header)));
  bool whole = header.fileBytes >= head.size() && header.fileBytes <= kMostFile;
  File file(whole ? header.fileBytes : head.size());
  std::memset(file.data(), 0, file.size());
  std::memcpy(file.data(), head.data(), head.size());
  if (header.codeOffset < head.size() || header.codeOffset > file.size() ||
      header.codeBytes > file.size() - header.codeOffset)
    return file;
  char *at = file.data() + header.codeOffset;
  if (!code.empty()) {
    std::memcpy(at, code.data(), std::min<uint64_t>(code.size(), header.codeBytes));
  } else if (std::string last = jump(); header.codeBytes >= last.size()) {
    std::memset(at, 0x90, header.codeBytes); // nop
    std::memcpy(at + header.codeBytes - last.size(), last.data(), last.size());
  }
  return file;
}

Outcome exercise(const File &file, tutti_device_t device) {
  Outcome outcome;
  tutti_artifact_t *artifact = nullptr;
  tutti_error_t error = {};
  outcome.opened = tutti_artifact_open_memory(file.data(), file.size(), &artifact, &error);
  expectStatus(outcome.opened);
  if (outcome.opened) {
    if (!*error.message || error.status != outcome.opened)
      wrong("status %x without a message", unsigned(outcome.opened));
    return outcome;
  }
  Exercise(file, artifact, device, outcome).run();
  tutti_artifact_close(artifact);
  return outcome;
}

} // namespace tutti::rt::test
