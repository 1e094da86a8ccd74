// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What streams and graphs do when their time has come.
#include "Driver.h"
#include "Module.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace tutti::emulated {

static size_t span(const Work &work, size_t pitch) { return work.height ? (work.height - 1) * pitch + work.width : 0; }

CUresult Driver::check(const Work &work) {
  if (work.kind != Work::Kind::copy && work.kind != Work::Kind::set)
    return CUDA_SUCCESS;
  if (!work.width || !work.height)
    return CUDA_SUCCESS;
  if (work.toDevice)
    if (std::string complaint = memory.complaint(work.to, span(work, work.toPitch)); !complaint.empty()) {
      report("the destination of a copy or set: " + complaint);
      return CUDA_ERROR_INVALID_VALUE;
    }
  if (work.fromDevice)
    if (std::string complaint = memory.complaint(work.from, span(work, work.fromPitch)); !complaint.empty()) {
      report("the source of a copy: " + complaint);
      return CUDA_ERROR_INVALID_VALUE;
    }
  if ((!work.toDevice && (!work.to || memory.isDevice(work.to))) ||
      (work.kind == Work::Kind::copy && !work.fromDevice && (!work.from || memory.isDevice(work.from)))) {
    report("a copy was given a null or device address as host memory");
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (auto [isHost, at, pitch] : {std::tuple(!work.toDevice, work.to, work.toPitch),
                                   {work.kind == Work::Kind::copy && !work.fromDevice, work.from, work.fromPitch}})
    if (auto *host = reinterpret_cast<void *>(at);
        isHost && touchesPinned(host, span(work, pitch)) && !isPinned(host, span(work, pitch))) {
      report("a copy was given host memory of which a part is pinned");
      return CUDA_ERROR_INVALID_VALUE;
    }
  return CUDA_SUCCESS;
}

CUresult Driver::execute(CUcontext, const Work &work) {
  DeviceMemory::Open open(memory);
  switch (work.kind) {
  case Work::Kind::nothing:
    return CUDA_SUCCESS;
  case Work::Kind::host:
    work.hostFunction(work.userData);
    return CUDA_SUCCESS;
  case Work::Kind::launch: {
    ++counters.launches;
    std::vector<void *> parameters;
    auto values = work.parameters; // a kernel may change its own
    for (auto &value : values)
      parameters.push_back(value.data());
    uint64_t order = seed ? seed * 0x9e3779b97f4a7c15 + ++numLaunches : 0;
    if (!modules.count(work.function->module)) {
      report("a kernel is launched whose module was unloaded");
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    Failure failure = launcher.run(work.function->name, *work.function->kernel, *work.function->module->image,
                                   parameters.data(), work.shape, order);
    if (failure.result != CUDA_SUCCESS)
      report(failure.text);
    return failure.result;
  }
  case Work::Kind::copy:
  case Work::Kind::set:
    break;
  }
  if (check(work) != CUDA_SUCCESS) // freed since
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  for (size_t row = 0; row < work.height; ++row) {
    auto *to = reinterpret_cast<unsigned char *>(work.to + row * work.toPitch);
    if (work.kind == Work::Kind::copy) {
      memmove(to, reinterpret_cast<void *>(work.from + row * work.fromPitch), work.width);
      continue;
    }
    for (size_t i = 0; i < work.width; i += work.elementSize)
      memcpy(to + i, &work.value, work.elementSize);
  }
  (work.kind == Work::Kind::copy ? counters.copies : counters.sets) += 1;
  counters.copiedBytes += work.kind == Work::Kind::copy ? work.width * work.height : 0;
  return CUDA_SUCCESS;
}

CUresult Driver::executeGraph(CUcontext context, const CUgraphExec_st &graph) {
  ++counters.graphLaunches;
  std::mt19937_64 random(seed + counters.graphLaunches);
  std::vector<size_t> missing(graph.nodes.size());
  std::vector<size_t> ready;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (!(missing[i] = graph.nodes[i].dependencies.size()))
      ready.push_back(i);
  while (!ready.empty()) {
    auto chosen = ready.begin() + (seed ? random() % ready.size() : 0);
    size_t node = *chosen;
    ready.erase(chosen);
    if (CUresult result = execute(context, graph.nodes[node].work))
      return result;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (size_t dependency : graph.nodes[i].dependencies)
        if (dependency == node && !--missing[i])
          ready.push_back(i);
  }
  return CUDA_SUCCESS;
}

CUresult Driver::executeNow(CUstream stream, Work work) {
  if (CUresult result = refuseCapture(nullptr))
    return result;
  if (CUresult result = submit(stream, std::move(work)))
    return result;
  return drain(*stream->queue, stream->queue->asked);
}

} // namespace tutti::emulated
