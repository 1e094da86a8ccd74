// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making a session: choosing code, laying out its memory, starting its threads. Everything that allocates.
#include "Session.h"

#include <cerrno>
#include <unistd.h>

namespace tutti::rt {

namespace {
constexpr uint32_t kMaxThreads = 1024;
/// Past this, huge pages save more in address translation than they cost to clear.
constexpr size_t kHugeFrom = size_t(16) << 20;
} // namespace

Session *Session::create(Artifact &artifact, const tutti_session_options_t &options, tutti_status_t &status,
                         tutti_error_t *error) {
  Session *session = make<Session>(artifact);
  if (!session) {
    status = outOfMemory(error, "a session", sizeof(Session));
    return nullptr;
  }
  status = session->build(options, error);
  if (!status)
    return session;
  destroy(session);
  return nullptr;
}

void Session::destroy(Session *session) {
  if (!session)
    return;
  if (session->memory.data() && session->forked())
    session->pool.abandon();
  // A lock that nobody will ever give back is worth a leak.
  if (session->registered && !session->artifact.weights.remove(session->reader))
    return;
  dispose(session);
}

/// The guard page reads 1, and 0 in a child of fork(): cheaper to ask than the process id.
bool Session::forked() const { return guardPid ? getpid() != guardPid : *memory.data() == 0; }

tutti_status_t Session::build(const tutti_session_options_t &options, tutti_error_t *error) {
  if (options.threads < 1 || options.threads > kMaxThreads)
    return fail(error, TUTTI_INVALID_ARGUMENT, "%u threads were asked for, expected 1 to %u", options.threads,
                kMaxThreads);
  const tutti_info_t &info = artifact.info();
  if (options.program >= info.num_programs)
    return fail(error, TUTTI_NOT_FOUND, "there is no program %u: the artifact has %u", options.program,
                info.num_programs);
  program = artifact.root().programs()->Get(options.program);
  if (auto status = checkRunnable(*program, error))
    return status;
  if (auto status = selectKernels(options.target, error))
    return status;
  if (options.verify_weights)
    if (auto status = artifact.verifyWeights(true, error))
      return status;

  const tutti_program_t &description = info.programs[options.program];
  numInputs = description.num_inputs;
  uint32_t numTables = 0;
  for (uint32_t i = 0; i < count(program->buffers()); ++i)
    if (const fb::Buffer &b = *program->buffers()->Get(i); b.space() == fb::Space::constant)
      numTables += artifact.root().slots()->Get(uint32_t(b.slot()))->per_member();
  if (!sizes.allocate(program->sizes()->size()) || !chosen.allocate(program->sizes()->size()) ||
      !active.allocate(info.num_members) || !marks.allocate(info.num_members) || !ports.allocate(numInputs + description.num_outputs) ||
      !buffers.allocate(count(program->buffers())) || !tables.allocate(numTables) ||
      !tableEntries.allocate(size_t(numTables) * info.num_members))
    return outOfMemory(error, "a session's tables", size_t(numTables) * info.num_members * sizeof(void *));

  numActive = uint32_t(program->sizes()->Get(0)->hi());
  for (uint32_t i = 0; i < numActive; ++i)
    active[i] = i;
  // The order of tutti_program_t: inputs, then outputs, each as in the metadata.
  uint32_t nextInput = 0, nextOutput = 0;
  for (uint32_t i = 0; i < ports.size(); ++i) {
    const fb::Port *port = program->ports()->Get(i);
    bool input = program->buffers()->Get(port->buffer())->space() == fb::Space::input;
    uint32_t at = input ? nextInput++ : numInputs + nextOutput++;
    ports[at].port = port;
    ports[at].info = input ? &description.inputs[at] : &description.outputs[at - numInputs];
  }
  if (auto status = allocate(options.threads, error))
    return status;
  threads = options.threads;
  if (!pool.start(threads))
    return fail(error, TUTTI_OUT_OF_MEMORY, "cannot start %u threads: %s", threads - 1,
                errno == ENOMEM ? "not enough memory" : "the system's limit is reached");
  registered = artifact.weights.add(reader);
  if (!registered)
    return fail(error, TUTTI_FORKED, "the artifact was being changed when this process was forked; open it again");
  return TUTTI_OK;
}

tutti_status_t Session::selectKernels(const char *target, tutti_error_t *error) {
  bool forCpu = count(program->targets()) == 0;
  for (uint32_t i = 0; i < count(program->targets()); ++i)
    forCpu |= view(program->targets()->Get(i)) == "cpu";
  if (!forCpu)
    return fail(error, TUTTI_NO_DEVICE, "the program is for '%.80s', and this runtime runs on a CPU",
                text(program->targets()->Get(0)));
  Level machine = levelOfThisCpu(), most = machine;
  if (target) {
    most = levelNamed(target);
    if (most == Level::none)
      return fail(error, TUTTI_INVALID_ARGUMENT, "there is no target '%.80s', expected x86-64-v3 or x86-64-v4", target);
    if (most > machine)
      return fail(error, TUTTI_NO_DEVICE, "this CPU cannot run code for %s", target);
  }
  uint32_t numArgs = 0, n = 0;
  for (uint32_t i = 0; i < count(program->steps()); ++i)
    numArgs += count(program->steps()->Get(i)->command_as_Launch()->args());
  if (!launches.allocate(count(program->steps())) || !args.allocate(numArgs) || !argStates.allocate(numArgs))
    return outOfMemory(error, "a session's launches", numArgs * sizeof(void *));
  for (LaunchState &state : launches) {
    uint32_t index = uint32_t(&state - launches.data());
    state.launch = program->steps()->Get(index)->command_as_Launch();
    state.firstArg = n;
    for (uint32_t a = 0; a < count(state.launch->args()); ++a)
      argStates[n++].buffer = uint32_t(state.launch->args()->Get(a)->buffer());
    const fb::Kernel &kernel = *artifact.root().kernels()->Get(state.launch->kernel());
    Level best = Level::none;
    for (uint32_t i = 0; i < count(kernel.images()); ++i) {
      const fb::Image &image = *kernel.images()->Get(i);
      if (Level level = levelNamed(view(image.target())); level > best && level <= most) {
        best = level;
        state.kernel = reinterpret_cast<KernelFn>(const_cast<void *>(artifact.entry(image)));
      }
    }
    if (best == Level::none)
      return fail(error, TUTTI_NO_DEVICE,
                  machine == Level::none ? "this CPU has no AVX2 and FMA, which kernel '%.80s' needs at least"
                                         : "kernel '%.80s' has no code that this CPU, or the target asked for, can run",
                  text(kernel.name()));
  }
  return TUTTI_OK;
}

/// One mapping for all that a run writes. Pages that no run touches cost nothing.
tutti_status_t Session::allocate(uint32_t numThreads, tutti_error_t *error) {
  Array<int64_t> most;
  if (!most.allocate(sizes.size()))
    return outOfMemory(error, "sizes", sizes.size() * sizeof(int64_t));
  for (uint32_t i = 0; i < sizes.size(); ++i)
    most[i] = program->sizes()->Get(i)->hi();
  uint64_t total = 0;
  bool fits = true;
  auto place = [&](uint64_t bytes) {
    uint64_t at = total;
    fits = fits && bytes <= (uint64_t(1) << 46) && total <= (uint64_t(1) << 46);
    total = fits ? alignUp(total + bytes, kPageBytes) : total;
    return at;
  };
  place(kPageBytes);
  uint64_t arenaAt = place(count(program->arena()) ? uint64_t(valueOf(program->arena()->Get(0), most.data())) : 0);
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (const fb::Buffer &b = *program->buffers()->Get(i); b.space() == fb::Space::state)
      buffers[i] = reinterpret_cast<char *>(place(uint64_t(valueOf(b.bytes(), most.data()))));
  for (uint32_t i = numInputs; i < ports.size(); ++i) {
    uint64_t bytes = 0;
    int64_t dims[TUTTI_MAX_RANK];
    for (int32_t d = 0; d < ports[i].info->rank; ++d)
      dims[d] = ports[i].info->dims[d].hi;
    denseBytes(fb::DType(ports[i].info->dtype), dims, uint32_t(ports[i].info->rank), bytes);
    ports[i].owned = reinterpret_cast<void *>(place(bytes));
  }
  for (const LaunchState &state : launches)
    scratchStride = std::max<size_t>(scratchStride, alignUp(state.launch->scratch(), kPageBytes));
  uint64_t scratchAt = place(scratchStride * numThreads);
  if (!fits || !memory.allocate(total))
    return outOfMemory(error, "a session's arena, outputs and scratch", total);

  // Offsets become addresses.
  char *base = memory.data();
  *base = 1;
  if (madvise(base, kPageBytes, MADV_WIPEONFORK) != 0)
    guardPid = getpid();
  if (total >= kHugeFrom)
    madvise(base + kPageBytes, total - kPageBytes, MADV_HUGEPAGE);
  arena = base + arenaAt;
  scratch = base + scratchAt;
  for (uint32_t i = numInputs; i < ports.size(); ++i)
    ports[i].owned = base + reinterpret_cast<uint64_t>(ports[i].owned);
  const void **entries = tableEntries.data();
  Table *table = tables.data();
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    const fb::Buffer &b = *program->buffers()->Get(i);
    if (b.space() == fb::Space::state)
      buffers[i] = base + reinterpret_cast<uint64_t>(buffers[i]);
    if (b.space() != fb::Space::constant)
      continue;
    uint32_t index = uint32_t(b.slot());
    if (const fb::Slot &slot = *artifact.root().slots()->Get(index); slot.per_member()) {
      *table++ = {index, entries};
      buffers[i] = reinterpret_cast<char *>(entries);
      entries += active.size();
    } else {
      buffers[i] = const_cast<char *>(artifact.segment(slot.segment())) + slot.base();
    }
  }
  return TUTTI_OK;
}

} // namespace tutti::rt
