// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU: code for its level, one mapping for what a run writes, and a run.
#include "Engine.h"

#include "runtime/schema/Levels.h"

#include <cerrno>
#include <cstring>
#include <immintrin.h>

namespace tutti::rt {

namespace {
/// Past this, huge pages save more in address translation than they cost to clear.
constexpr size_t kHugeFrom = size_t(16) << 20;

/// The best code of a kernel up to `most`; null when there is none.
const fb::Image *bestImage(const fb::Kernel &kernel, Level most) {
  const fb::Image *best = nullptr;
  Level found = Level::none;
  for (uint32_t i = 0; i < count(kernel.images()); ++i) {
    const fb::Image *image = kernel.images()->Get(i);
    if (Level level = levelNamed(view(image->target())); level > found && level <= most)
      best = image, found = level;
  }
  return best;
}

/// The level whose code is to run: the machine's, or the one asked for.
tutti_status_t chooseLevel(const char *target, Level &level, tutti_error_t *error) {
  Level machine = levelOfThisCpu();
  for (const CpuTarget &cpu : kCpuTargets) // as tutti-compile calls them
    if (target && std::strcmp(target, cpu.flag) == 0)
      target = cpu.level;
  if (target && std::strcmp(target, "cpu") == 0) // of them all
    target = nullptr;
  level = target ? levelNamed(target) : machine;
  if (target && level == Level::none)
    return fail(
        error, TUTTI_INVALID_ARGUMENT,
        "there is no target '%.80s', expected cpu, x86-64-v3 (cpu-v3), x86-64-v4 (cpu-avx512) or x86-64-v4+avx512vnni",
        target);
  if (level > machine)
    return fail(error, TUTTI_NO_DEVICE, "this CPU cannot run code for %s", target);
  return TUTTI_OK;
}

tutti_status_t noImage(const fb::Kernel &kernel, tutti_error_t *error) {
  return fail(error, TUTTI_NO_DEVICE,
              levelOfThisCpu() == Level::none
                  ? "this CPU has no AVX2 and FMA, which kernel '%.80s' needs at least"
                  : "kernel '%.80s' has no code that this CPU, or the target asked for, can run",
              text(kernel.name()));
}
} // namespace

Engine *makeCpuEngine(Call &call) { return make<CpuEngine>(call); }

static tutti_status_t checkExecutable(const Artifact &artifact, tutti_error_t *error) {
  return artifact.isExecutable()
             ? TUTTI_OK
             : fail(error, TUTTI_NO_DEVICE, "this system allows no executable memory for the artifact's code");
}

tutti_status_t checkCpu(Artifact &artifact, const fb::Program &program, const tutti_session_options_t &options,
                        int &fit, tutti_error_t *error) {
  Level level;
  if (auto status = chooseLevel(options.target, level, error))
    return status;
  if (auto status = checkExecutable(artifact, error))
    return status;
  fit = 1; // the levels of one program
  return forEachLaunch(program, [&](const fb::Launch &launch, uint32_t) {
    const fb::Kernel &kernel = *artifact.root().kernels()->Get(launch.kernel());
    return bestImage(kernel, level) ? TUTTI_OK : noImage(kernel, error);
  });
}

tutti_status_t CpuEngine::build(const tutti_session_options_t &options, tutti_error_t *error) {
  Level level;
  if (auto status = chooseLevel(options.target, level, error))
    return status;
  if (auto status = checkExecutable(call.artifact, error))
    return status;
  Level used = Level::none; // the highest that any kernel has code for
  if (!launches.allocate(call.launches.size()))
    return outOfMemory(error, "launches", call.launches.size() * sizeof(LaunchTasks));
  for (uint32_t i = 0; i < launches.size(); ++i) {
    const fb::Kernel &kernel = call.kernelOf(call.launches[i]);
    const fb::Image *image = bestImage(kernel, level);
    if (!image)
      return noImage(kernel, error);
    used = std::max(used, levelNamed(view(image->target())));
    uint64_t *words = call.wordsOf(call.launches[i]);
    launches[i].step = call.launches[i].step;
    launches[i].args = reinterpret_cast<void *const *>(words);
    launches[i].sizes = reinterpret_cast<const int64_t *>(words + call.launches[i].numArgs);
    launches[i].kernel = reinterpret_cast<KernelFn>(const_cast<void *>(call.artifact.entry(*image)));
  }
  about = {nameOf(used == Level::none ? level : used), TUTTI_DEVICE_CPU, 0, 0, 0};
  threads = options.threads ? options.threads : defaultThreads();
  cache = cacheBytes();
  if (!strips.build(call, threads))
    return outOfMemory(error, "strips", threads * call.words.size() * sizeof(uint64_t));
  if (auto status = allocate(error))
    return status;
  if (!pool.start(threads))
    return fail(error, TUTTI_OUT_OF_MEMORY, "cannot start %u threads: %s", threads - 1,
                errno == ENOMEM ? "not enough memory" : "the system's limit is reached");
  return TUTTI_OK;
}

/// One mapping for all that a run writes. Pages that no run touches cost nothing.
tutti_status_t CpuEngine::allocate(tutti_error_t *error) {
  const Sizes most = largestSizes(*call.program);
  if (call.tableBytes() > kMaxTables || !tableEntries.allocate(call.tables.size() * call.active.size()))
    return outOfMemory(error, "a session's tables", call.tableBytes());
  for (const Call::Launch &launch : call.launches)
    scratchStride = std::max<size_t>(scratchStride, alignUp(launch.launch->scratch(), kPageBytes));
  uint64_t total = layOut(most.data(), nullptr);
  if (total > kMaxMemory || !memory.allocate(total))
    return outOfMemory(error, "a session's arena, outputs and scratch", total);
  if (total >= kHugeFrom)
    madvise(memory.data(), total, MADV_HUGEPAGE);
  layOut(most.data(), memory.data());
  for (uint32_t i = 0; i < call.tables.size(); ++i) {
    const void **entries = tableEntries.data() + i * call.active.size();
    call.placeTable(i, entries, reinterpret_cast<char *>(entries));
  }
  for (uint32_t i = 0; i < call.buffers.size(); ++i)
    if (const fb::Slot *slot = call.slotOf(i); slot && !slot->per_member())
      call.buffers[i] = const_cast<char *>(call.artifact.segment(slot->segment())) + slot->base();
  return TUTTI_OK;
}

uint64_t CpuEngine::layOut(const int64_t *most, char *base) {
  uint64_t total = 0;
  auto place = [&](uint64_t bytes) { // what does not fit is added up all the same: a message names it
    char *at = base ? base + total : nullptr;
    if (__builtin_add_overflow(total, alignUp(std::min<uint64_t>(bytes, INT64_MAX), kPageBytes), &total))
      total = alignUp(INT64_MAX, kPageBytes);
    return at;
  };
  const fb::Program &program = *call.program;
  call.arena = place(count(program.arena()) ? uint64_t(valueOf(program.arena()->Get(0), most)) : 0);
  for (uint32_t i = 0; i < call.buffers.size(); ++i)
    if (const fb::Buffer &b = *program.buffers()->Get(i); b.space() == fb::Space::state)
      call.buffers[i] = place(uint64_t(valueOf(b.bytes(), most)));
  for (uint32_t i = call.numInputs; i < call.ports.size(); ++i)
    call.ports[i].owned = place(call.ports[i].mostBytes());
  scratch = place(scratchStride * threads);
  return total;
}

tutti_status_t CpuEngine::admit(PortState &port, const tutti_tensor_t &tensor) {
  if (tensor.memory != TUTTI_MEMORY_HOST)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT,
                "'%.200s' was given device memory, but the session runs on the CPU, which reaches host memory only",
                port.info->name);
  port.inPlace = true;
  return TUTTI_OK;
}

void CpuEngine::resize() {
  for (uint32_t i = 0; i < launches.size(); ++i)
    launches[i].choose(call, i, call.sets[call.launches[i].launch->set()].count, call.sizes.data(), threads, cache);
  if (strips.choose(call, threads))
    for (uint32_t i = 0; i < launches.size(); ++i)
      for (bool last : {false, true}) {
        const fb::Launch &launch = *call.launches[i].launch;
        int64_t rows = valueOf(launch.rows(), strips.sizesOf(strips.phaseOf(i), last));
        int64_t tile = launches[i].stripTile[last] = chooseTile(launch, rows, /*members=*/1, /*threads=*/1);
        launches[i].stripTasks[last] = divideCeil(rows, tile);
      }
  touchEdges();
}

/// Reads what lies beside values. Vectors at their ends reach beyond them, lanes masked off; where such a lane's page
/// has never been touched, a processor looks each time whether it may leave the fault out, hundreds of cycles long.
void CpuEngine::touchEdges() const {
  const char *begin = memory.data(), *end = begin + memory.size();
  auto touch = [&](const char *at) {
    if (at >= begin && at < end)
      (void)*static_cast<const volatile char *>(at);
  };
  auto touchAround = [&](const char *data, uint32_t buffer) {
    int64_t bytes;
    if (data < begin || data >= end || !call.bytesAt(buffer, call.sizes.data(), bytes))
      return;
    touch(data - kLineBytes);
    touch(data + bytes + kLineBytes - 1);
  };
  for (uint32_t i = 0; i < call.buffers.size(); ++i)
    touchAround(call.buffers[i], i);
  for (const PortState &port : call.ports)
    touchAround(static_cast<const char *>(port.owned), port.port->buffer());
}

/// The launches of one of several pieces, as long as it is.
void CpuEngine::selectPiece(uint32_t piece) {
  int64_t sizes[kMaxSizes];
  call.selectPiece(piece);
  call.sizesOf(piece, sizes);
  for (uint32_t i = 0; i < launches.size(); ++i)
    if (const fb::Launch &launch = *call.launches[i].launch; Call::runsIn(launch, piece))
      launches[i].choose(call, i, call.partOf(launch.set(), piece).count, sizes, threads, cache);
}

void CpuEngine::rebind() {
  for (const PortState &port : call.ports)
    call.buffers[port.port->buffer()] = static_cast<char *>(port.data());
  call.updateAddresses();
}

template <typename Takes> void CpuEngine::runLaunches(Takes takes) {
  for (uint32_t i = 0; i < launches.size();) {
    const LaunchTasks *first = launches.begin() + i;
    for (uint32_t step = launches[i].step; i < launches.size() && launches[i].step == step; ++i)
      launches[i].runs = takes(i);
    struct Job {
      const CpuEngine &engine;
      StepTasks tasks;
    } job{*this, StepTasks(first, launches.begin() + i, threads)};
    if (!job.tasks.count)
      continue;
    pool.run(
        job.tasks.count,
        [](void *context, uint32_t thread, int64_t begin, int64_t end) {
          auto &job = *static_cast<const Job *>(context);
          job.tasks.run(begin, end, job.engine.scratchOf(thread));
        },
        &job, launches.begin() + i - first == 1);
  }
}

void CpuEngine::runStrips(Strips::Phase phase) {
  struct Job {
    CpuEngine &engine;
    Strips::Phase phase;

    /// Strips `begin` to `end`.
    void run(uint32_t thread, int64_t begin, int64_t end) const {
      char *own = engine.scratchOf(thread);
      for (int64_t strip = begin; strip < end; ++strip) {
        bool last = engine.strips.isLast(phase, strip);
        auto *words = reinterpret_cast<void *const *>(engine.strips.argumentsOf(engine.call, phase, thread, strip));
        for (uint32_t i = 0; i < engine.launches.size(); ++i)
          if (const LaunchTasks &l = engine.launches[i]; engine.strips.phaseOf(i) == phase)
            l.kernel(words + engine.call.launches[i].firstWord, engine.strips.sizesOf(phase, last), l.stripTile[last],
                     0, l.stripTasks[last], own);
      }
    }
  } job{*this, phase};
  pool.run(
      strips.numStrips(phase),
      [](void *context, uint32_t thread, int64_t begin, int64_t end) {
        static_cast<const Job *>(context)->run(thread, begin, end);
      },
      &job);
}

tutti_status_t CpuEngine::run(Until) {
  Weights &weights = call.artifact.weights;
  const Weights::Version &version = weights.pin(call.reader);
  if (version.number != call.tablesVersion) {
    call.fillTables([&](uint32_t slot, uint32_t member) { return weights.locate(version, slot, member); });
    call.tablesVersion = version.number;
  }
  unsigned mode = _mm_getcsr();
  _mm_setcsr(0x1f80);
  if (strips.chosen()) {
    for (Strips::Phase phase : {Strips::shared, Strips::members, Strips::heads})
      if (strips.numStrips(phase))
        runStrips(phase);
      else
        runLaunches([&](uint32_t i) { return strips.phaseOf(i) == phase; });
  } else {
    uint32_t pieces = call.numPieces();
    for (uint32_t piece = 0; piece < pieces; ++piece) {
      if (pieces > 1)
        selectPiece(piece);
      runLaunches([&](uint32_t i) { return Call::runsIn(*call.launches[i].launch, piece); });
    }
    runLaunches([&](uint32_t i) { return call.launches[i].launch->whole(); });
  }
  _mm_setcsr(mode);
  weights.unpin(call.reader);
  return TUTTI_OK;
}

void CpuEngine::destroy(bool forked) {
  if (forked)
    pool.abandon();
  dispose(this);
}

} // namespace tutti::rt
