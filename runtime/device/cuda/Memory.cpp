// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A session's memory on a device, and its pinned memory of the host: one block each, and what lies where in them.
#include "Engine.h"

namespace tutti::rt {

/// Where everything lies when the sizes are at most these.
CudaEngine::Memory CudaEngine::layout(const int64_t *sizes) const {
  Memory m = {};
  uint64_t at = 0;
  auto place = [&](uint64_t bytes) {
    m.fits = m.fits && bytes <= kMaxMemory && at <= kMaxMemory;
    at = m.fits ? alignUp(at + bytes, kDeviceAlign) : at;
  };
  auto placePorts = [&](uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; ++i) {
      int64_t dims[TUTTI_MAX_RANK];
      uint64_t bytes = 0;
      for (int32_t d = 0; d < call.ports[i].info->rank; ++d)
        dims[d] = valueOf(call.ports[i].port->type()->dims()->Get(uint32_t(d)), sizes);
      denseBytes(fb::DType(call.ports[i].info->dtype), dims, uint32_t(call.ports[i].info->rank), bytes);
      place(bytes);
    }
  };
  placePorts(0, call.numInputs);
  m.outputs = at;
  placePorts(call.numInputs, uint32_t(call.ports.size()));
  m.tables = at;
  m.fits = m.fits && call.tableBytes() <= kMaxTables;
  place(call.tableBytes());
  m.pinned = m.arena = at;
  int64_t arena = call.arenaBytes(sizes);
  m.fits = m.fits && arena >= 0;
  place(m.fits ? uint64_t(arena) : 0);
  m.total = std::max(at, kDeviceAlign);
  return m;
}

/// "'batch' up to 812 would fit": the largest range gives way first, then the members.
void CudaEngine::describeFit(uint64_t free, char *hint, size_t length) const {
  int64_t at[kMaxSizes], least[kMaxSizes];
  uint32_t widest = 0;
  for (uint32_t i = 0; i < call.sizes.size(); ++i) {
    const fb::Size &size = *call.program->sizes()->Get(i);
    at[i] = size.hi();
    least[i] = size.lo();
    if (size.kind() != fb::SizeKind::active && at[i] > least[i] && (!widest || at[i] > at[widest]))
      widest = i;
  }
  auto largest = [&](uint32_t index) -> int64_t { // 0: not even its smallest value
    uint64_t fit = 0, most = uint64_t(call.program->sizes()->Get(index)->hi()) - uint64_t(least[index]) + 1; // values
    while (fit < most) {
      uint64_t middle = most - (most - fit) / 2;
      at[index] = least[index] + int64_t(middle - 1);
      Memory m = layout(at);
      if (m.fits && m.total <= free)
        fit = middle;
      else
        most = middle - 1;
    }
    return fit ? least[index] + int64_t(fit - 1) : 0;
  };
  if (widest)
    if (int64_t value = largest(widest)) {
      const char *symbol = text(call.program->sizes()->Get(widest)->name());
      std::snprintf(hint, length, "'%.40s' up to %lld would fit: compile with --dim %.40s=%lld..%lld", symbol,
                    (long long)value, symbol, (long long)least[widest], (long long)value);
      return;
    }
  std::copy(least, least + call.sizes.size(), at);
  if (int64_t value = largest(0))
    std::snprintf(hint, length, "%lld members would fit, each size at its smallest", (long long)value);
}

tutti_status_t CudaEngine::allocate(tutti_error_t *error) {
  const Sizes most = largestSizes(*call.program);
  memory = layout(most.data());
  CUresult result = memory.fits ? driver->cuMemAlloc(&block, memory.total) : CUDA_ERROR_OUT_OF_MEMORY;
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    block = 0;
    char hint[160] = "";
    describeFit(on->freeBytes(), hint, sizeof(hint));
    return on->outOfMemory(error, "a session's inputs, outputs and arena", memory.total, hint);
  }
  uint64_t pinnedBytes = std::max(memory.pinned, kDeviceAlign);
  void *host = nullptr;
  if (!result && (result = driver->cuMemHostAlloc(&host, pinnedBytes, 0)))
    return driver->fail(error, result, "%llu bytes of pinned memory for inputs and outputs are not to be had",
                        static_cast<unsigned long long>(pinnedBytes));
  pinned = static_cast<char *>(host);
  if (!result) // state starts as zeros; so may the rest of the arena
    result = driver->cuMemsetD8Async(block + memory.arena, 0, memory.total - memory.arena, stream);
  if (!result)
    result = driver->cuStreamSynchronize(stream);
  if (result)
    return driver->fail(error, result, "%s gives no memory", name());
  placeBuffers(most.data());
  return TUTTI_OK;
}

/// The arena, then each state buffer, as Call::arenaBytes counts them; shared weights, tables of the others, outputs.
void CudaEngine::placeBuffers(const int64_t *most) {
  auto *base = reinterpret_cast<char *>(block);
  call.arena = base + memory.arena;
  uint64_t at = memory.arena;
  if (count(call.program->arena()))
    at += alignUp(uint64_t(valueOf(call.program->arena()->Get(0), most)), kPageBytes);
  uint64_t port = memory.outputs;
  for (uint32_t i = 0; i < call.buffers.size(); ++i) {
    const fb::Buffer &b = *call.program->buffers()->Get(i);
    if (b.space() == fb::Space::state) {
      call.buffers[i] = base + at;
      at += alignUp(uint64_t(valueOf(b.bytes(), most)), kPageBytes);
    } else if (b.space() == fb::Space::constant &&
               !call.artifact.root().slots()->Get(uint32_t(b.slot()))->per_member()) {
      call.buffers[i] = reinterpret_cast<char *>(on->locate(uint32_t(b.slot())));
    }
  }
  for (uint32_t i = 0; i < call.tables.size(); ++i) {
    uint64_t table = memory.tables + i * call.active.size() * sizeof(void *);
    call.placeTable(i, reinterpret_cast<const void **>(pinned + table), base + table);
  }
  for (uint32_t i = call.numInputs; i < call.ports.size(); ++i) {
    places[i] = port;
    call.ports[i].owned = pinned + port;
    port = alignUp(port + call.ports[i].mostBytes(), kDeviceAlign);
  }
}

} // namespace tutti::rt
