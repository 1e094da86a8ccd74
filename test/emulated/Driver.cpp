// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts, queues and reports of the emulated driver.
#include "Module.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tutti::emulated {

Driver &Driver::get() {
  static auto *driver = new Driver; // outlives the threads of whoever uses it
  return *driver;
}

std::vector<CUcontext> &contextStack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

static long environment(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, nullptr, 0) : otherwise;
}

void DeviceLimits::setCapability(int value) {
  // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
  static constexpr struct {
    int capability, threads, blocks, shared, reserved;
  } known[] = {{75, 1024, 16, 64, 0},  {80, 2048, 32, 164, 1},  {86, 1536, 16, 100, 1}, {89, 1536, 24, 100, 1},
               {90, 2048, 32, 228, 1}, {100, 2048, 32, 228, 1}, {120, 1536, 24, 100, 1}};
  capability = value;
  for (const auto &each : known)
    if (each.capability <= value) {
      threadsMultiprocessor = each.threads;
      blocksMultiprocessor = each.blocks;
      sharedMultiprocessor = each.shared << 10;
      sharedReserved = each.reserved << 10;
      sharedMost = sharedMultiprocessor - sharedReserved;
    }
}

CUresult Driver::initialize() {
  if (initialized)
    return CUDA_SUCCESS;
  limits.count = environment("TUTTI_EMULATED_DEVICES", limits.count);
  limits.setCapability(int(environment("TUTTI_EMULATED_CAPABILITY", limits.capability)));
  limits.multiprocessors = environment("TUTTI_EMULATED_MULTIPROCESSORS", limits.multiprocessors);
  limits.blocksMultiprocessor = environment("TUTTI_EMULATED_BLOCKS", limits.blocksMultiprocessor);
  limits.memory = environment("TUTTI_EMULATED_MEMORY", limits.memory);
  seed = environment("TUTTI_EMULATED_SEED", seed);
  const char *tensorCores = getenv("TUTTI_EMULATED_TENSOR_CORES");
  launcher.hardwareSums = tensorCores && !strcmp(tensorCores, "hardware");
  const char *without = getenv("TUTTI_EMULATED_WITHOUT");
  if (const char *colon = without ? strrchr(without, ':') : nullptr)
    launcher.without = {std::string(without, colon), atoi(colon + 1)};
  if (const char *fail = getenv("TUTTI_EMULATED_FAIL")) {
    std::string text = fail;
    size_t first = text.find(':'), second = text.find(':', first + 1);
    if (second != std::string::npos) {
      failName = text.substr(0, first);
      failAt = atol(text.c_str() + first + 1);
      failResult = CUresult(atol(text.c_str() + second + 1));
    }
  }
  if (limits.count < 1)
    return CUDA_ERROR_NO_DEVICE;
  primary.resize(limits.count);
  initialized = true;
  return CUDA_SUCCESS;
}

void Driver::report(const std::string &text) {
  lastReport = text;
  ++counters.reports;
  fprintf(stderr, "tutti-emulated: %s\n", text.c_str());
}

Call::Call(const char *name, Needs needs) : driver(Driver::get()), lock(driver.mutex) {
  std::string_view plain = name;
  if (driver.failAt > 0 && driver.failName == plain.substr(0, plain.find("_v")) && --driver.failAt == 0) {
    error = driver.failResult;
    return;
  }
  if (needs == Needs::nothing)
    return;
  if (!driver.initialized) {
    error = CUDA_ERROR_NOT_INITIALIZED;
    return;
  }
  context = contextStack().empty() ? nullptr : contextStack().back();
  if (needs != Needs::context)
    return;
  if (!context)
    error = CUDA_ERROR_INVALID_CONTEXT;
  else if (!driver.contexts.count(context))
    error = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  else
    error = context->error;
}

CUcontext Driver::createContext(int device, bool isPrimary) {
  auto *context = new CUctx_st;
  context->device = device;
  context->primary = isPrimary;
  auto *stream = new CUstream_st;
  stream->queue = std::make_shared<Queue>();
  stream->queue->context = context;
  context->defaultStream = stream;
  context->streams.insert(stream);
  contexts.insert(context);
  return context;
}

void Driver::destroyContext(CUcontext context) {
  bool broken = context->error != CUDA_SUCCESS;
  drainAll(context);
  size_t bytes = 0;
  for (const auto &[address, allocation] : memory.live())
    bytes += allocation.context == context ? allocation.bytes : 0;
  size_t leaks = memory.releaseAll(context);
  if (leaks && !broken) {
    counters.leaks += leaks;
    report(std::to_string(leaks) + " allocations of " + std::to_string(bytes) +
           " bytes of device memory were live when their context ended");
  }
  for (auto each = modules.begin(); each != modules.end();) {
    CUmodule module = *each++;
    if (module->context != context)
      continue;
    modules.erase(module);
    delete module;
  }
  for (CUstream stream : context->streams)
    delete stream;
  contexts.erase(context);
  delete context;
}

CUstream Driver::stream(CUstream handle) {
  CUcontext context = contextStack().empty() ? nullptr : contextStack().back();
  if (auto special = reinterpret_cast<uintptr_t>(handle); special <= 2) {
    if (special < 2 || !context)
      return context ? context->defaultStream : nullptr;
    CUstream &own = context->threadStreams[std::this_thread::get_id()];
    if (!own) {
      own = new CUstream_st;
      own->queue = std::make_shared<Queue>();
      own->queue->context = context;
      context->streams.insert(own);
    }
    return own;
  }
  for (CUcontext each : contexts)
    if (each->streams.count(handle))
      return handle;
  report("a stream that was destroyed or never was");
  return nullptr;
}

void Driver::submit(CUstream stream, std::function<CUresult()> run) {
  Queue &queue = *stream->queue;
  Queue::Operation operation = {std::move(run), {}};
  // The default stream waits for all that block with it, and they for it.
  if (queue.blocking)
    for (CUstream other : queue.context->streams)
      if (other != stream && other->queue->blocking &&
          (stream == queue.context->defaultStream || other == queue.context->defaultStream))
        operation.after.push_back({other->queue, other->queue->asked});
  ++queue.asked;
  queue.waiting.push_back(std::move(operation));
}

CUresult Driver::submit(CUstream stream, Work work) {
  if (CUresult result = check(work))
    return result;
  if (stream->graph) {
    auto node = std::make_unique<CUgraphNode_st>();
    node->work = std::move(work);
    node->dependencies = stream->tail;
    stream->tail = {node.get()};
    stream->graph->nodes.push_back(std::move(node));
    return CUDA_SUCCESS;
  }
  // Pageable memory may change as soon as the call returns; pinned memory must stay until the copy has happened.
  if (work.kind == Work::Kind::copy && !work.fromDevice) {
    size_t bytes = (work.height - 1) * work.fromPitch + work.width;
    if (!isPinned(reinterpret_cast<void *>(work.from), bytes)) {
      const auto *from = reinterpret_cast<unsigned char *>(work.from);
      work.staged = std::make_shared<std::vector<unsigned char>>(from, from + bytes);
      work.from = reinterpret_cast<uint64_t>(work.staged->data());
    }
  }
  CUcontext context = stream->queue->context;
  submit(stream, [this, context, work = std::move(work)] { return execute(context, work); });
  return CUDA_SUCCESS;
}

CUresult Driver::drain(Queue &queue, uint64_t position) {
  while (queue.done < position && !queue.waiting.empty()) {
    Queue::Operation operation = std::move(queue.waiting.front());
    queue.waiting.pop_front();
    for (auto &[other, upTo] : operation.after)
      drain(*other, upTo);
    clock += 0.001;
    if (queue.context->error == CUDA_SUCCESS)
      queue.context->error = operation.run();
    ++queue.done;
  }
  return queue.context->error;
}

CUresult Driver::drainAll(CUcontext context) {
  std::vector<CUstream> streams(context->streams.begin(), context->streams.end());
  if (seed)
    std::shuffle(streams.begin(), streams.end(), std::mt19937_64(seed + numLaunches));
  for (CUstream stream : streams)
    drain(*stream->queue, stream->queue->asked);
  return context->error;
}

CUresult Driver::refuseCapture(CUstream stream) {
  for (CUcontext context : contexts)
    for (CUstream each : context->streams)
      if (each->graph && (each == stream || (!stream && each->mode != CU_STREAM_CAPTURE_MODE_RELAXED))) {
        each->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      }
  return CUDA_SUCCESS;
}

bool Driver::isPinned(const void *address, size_t bytes) const {
  auto at = reinterpret_cast<uint64_t>(address);
  auto after = pinned.upper_bound(at);
  if (after == pinned.begin())
    return false;
  auto before = std::prev(after);
  return at + bytes <= before->first + before->second;
}

bool Driver::touchesPinned(const void *address, size_t bytes) const {
  auto at = reinterpret_cast<uint64_t>(address);
  auto after = pinned.lower_bound(at + bytes);
  return after != pinned.begin() && std::prev(after)->first + std::prev(after)->second > at;
}

} // namespace tutti::emulated

using namespace tutti::emulated;

#define TUTTI_PLAIN extern "C" __attribute__((visibility("default")))

TUTTI_PLAIN const char *tuttiEmulatedReport() {
  std::lock_guard lock(Driver::get().mutex);
  return Driver::get().lastReport.c_str();
}

TUTTI_PLAIN TuttiEmulatedCounters tuttiEmulatedCounters() {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  driver.counters.allocations = driver.memory.everAllocated;
  driver.counters.liveAllocations = driver.memory.live().size();
  driver.counters.liveBytes = 0;
  for (const auto &[address, allocation] : driver.memory.live())
    driver.counters.liveBytes += allocation.bytes;
  return driver.counters;
}

TUTTI_PLAIN void tuttiEmulatedSetCapability(int capability) {
  std::lock_guard lock(Driver::get().mutex);
  Driver::get().limits.setCapability(capability);
}

TUTTI_PLAIN void tuttiEmulatedSetHardwareSums(bool hardware) {
  std::lock_guard lock(Driver::get().mutex);
  Driver::get().launcher.hardwareSums = hardware;
}

TUTTI_PLAIN void tuttiEmulatedSetSeed(uint64_t seed) {
  std::lock_guard lock(Driver::get().mutex);
  Driver::get().seed = seed;
}
