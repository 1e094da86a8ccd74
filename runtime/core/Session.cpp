// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binding and running. Nothing here allocates.
#include "Session.h"

#include <immintrin.h>

namespace tutti::rt {

int64_t chooseTile(const fb::Launch &launch, int64_t rows, int64_t members, uint32_t threads) {
  int64_t quantum = launch.row_quantum(), most = launch.row_tile_max() / quantum * quantum;
  most = std::min<int64_t>(most, std::max<int64_t>((rows + quantum - 1) / quantum * quantum, quantum));
  // Real launches have tens of candidates; a limit keeps odd ones from costing time.
  int64_t step = quantum * std::max<int64_t>(1, most / quantum / 1024);
  int64_t best = most;
  double bestCost = 0;
  for (int64_t tile = most; tile >= quantum; tile -= step) {
    int64_t tasks = (launch.lifted() ? members : 1) * ((rows + tile - 1) / tile);
    double rounds = double((tasks + threads - 1) / threads);
    double cost = rounds * double(std::min(tile, rows) + launch.row_overhead());
    if (tile == most || cost < bestCost)
      best = tile, bestCost = cost;
  }
  return best;
}

tutti_status_t Session::enter() {
  if (forked())
    return fail(&error, TUTTI_FORKED, "this session was made before fork(); make one in the child");
  if (busy.exchange(true, std::memory_order_acquire))
    return TUTTI_BUSY; // The message belongs to the other thread.
  return TUTTI_OK;
}

namespace {
struct Leave {
  std::atomic<bool> &busy;
  ~Leave() { busy.store(false, std::memory_order_release); }
};
} // namespace

tutti_status_t Session::setActive(const uint32_t *members, size_t n) {
  if (auto status = enter())
    return status;
  Leave leave{busy};
  const fb::Size &size = *program->sizes()->Get(0);
  if (n == 0 || !members)
    return fail(&error, TUTTI_INVALID_ARGUMENT, "the active set is empty, expected at least one member");
  if (n < uint64_t(size.lo()) || n > uint64_t(size.hi()))
    return fail(&error, TUTTI_INVALID_ARGUMENT, "the active set has %zu members, expected %lld to %lld", n,
                (long long)size.lo(), (long long)size.hi());
  std::fill(marks.begin(), marks.end(), 0);
  for (size_t i = 0; i < n; ++i) {
    if (members[i] >= active.size())
      return fail(&error, TUTTI_INVALID_ARGUMENT, "the active set has member %u, expected 0 to %zu", members[i],
                  active.size() - 1);
    if (std::exchange(marks[members[i]], 1))
      return fail(&error, TUTTI_INVALID_ARGUMENT, "the active set has member %u twice", members[i]);
  }
  std::copy(members, members + n, active.begin());
  dirty = n == numActive && dirty != Dirty::everything ? dirty : Dirty::everything;
  numActive = uint32_t(n);
  tablesVersion = 0;
  return TUTTI_OK;
}

tutti_status_t Session::setDimension(const char *name, int64_t value) {
  if (auto status = enter())
    return status;
  Leave leave{busy};
  for (uint32_t i = 1; name && i < sizes.size(); ++i) {
    const fb::Size &size = *program->sizes()->Get(i);
    if (view(size.name()) != name)
      continue;
    if (value != 0 && (value < size.lo() || value > size.hi()))
      return fail(&error, TUTTI_INVALID_ARGUMENT, "dimension '%.200s' is %lld, expected %lld to %lld", name,
                  (long long)value, (long long)size.lo(), (long long)size.hi());
    chosen[i] = value;
    dirty = Dirty::everything;
    return TUTTI_OK;
  }
  return fail(&error, TUTTI_NOT_FOUND, "there is no dimension '%.200s'", name ? name : "");
}

Session::PortState *Session::find(const char *name, const char *head, bool input, tutti_status_t &status) {
  PortState *found = nullptr;
  uint32_t matches = 0, first = input ? 0 : numInputs, last = input ? numInputs : uint32_t(ports.size());
  for (uint32_t i = first; name && i < last; ++i)
    if (std::strcmp(ports[i].info->name, name) == 0 && (!head || !*head || std::strcmp(ports[i].info->head, head) == 0)) {
      found = &ports[i];
      ++matches;
    }
  const char *kind = input ? "input" : "output";
  if (!found)
    status = fail(&error, TUTTI_NOT_FOUND, "there is no %s '%.200s'%s%.80s%s", kind, name ? name : "",
                  head ? " with the head '" : "", head ? head : "", head ? "'" : "");
  else if (matches > 1)
    status = fail(&error, TUTTI_INVALID_ARGUMENT, "output '%.200s' has %u heads; say which, for example '%.80s'", name,
                  matches, found->info->head);
  return matches == 1 ? found : nullptr;
}

tutti_status_t Session::shapeError(const PortState &port, const int64_t *given, uint32_t rank) {
  char expected[512];
  size_t used = size_t(std::snprintf(expected, sizeof(expected), "["));
  auto append = [&](const char *format, auto... values) {
    if (used < sizeof(expected))
      used += size_t(std::snprintf(expected + used, sizeof(expected) - used, format, values...));
  };
  for (int32_t d = 0; d < port.info->rank; ++d) {
    const tutti_dim_t &dim = port.info->dims[d];
    append("%s", d ? ", " : "");
    if (*dim.symbol)
      append("%.60s in %lld..%lld", dim.symbol, (long long)dim.lo, (long long)dim.hi);
    else
      append("%lld", (long long)dim.lo);
  }
  append("%s", "]");
  const char *axis = port.info->per_member ? " (the member axis, as long as the active set, comes first)" : "";
  return fail(&error, TUTTI_SHAPE_MISMATCH, "%s '%.200s' has dims %s%s, given %s", *port.info->head ? "output" : "input",
              port.info->name, expected, axis, DimsText(given, rank).text);
}

/// What can be said of a tensor before the sizes of the call are known.
tutti_status_t Session::checkGiven(const PortState &port, const tutti_tensor_t &tensor) {
  const tutti_port_t &info = *port.info;
  if (tensor.dtype != info.dtype)
    return fail(&error, TUTTI_DTYPE_MISMATCH, "'%.200s' is %s, given %s", info.name, nameOf(fb::DType(info.dtype)),
                nameOf(fb::DType(tensor.dtype)));
  if (tensor.rank < 0 || tensor.rank > TUTTI_MAX_RANK || (tensor.rank && !tensor.dims))
    return fail(&error, TUTTI_INVALID_ARGUMENT, "'%.200s' was given rank %d and %s dims", info.name, tensor.rank,
                tensor.dims ? "some" : "no");
  bool fits = tensor.rank == info.rank;
  for (int32_t d = 0; fits && d < info.rank; ++d)
    fits = tensor.dims[d] >= info.dims[d].lo && tensor.dims[d] <= info.dims[d].hi;
  if (!fits)
    return shapeError(port, tensor.dims, uint32_t(tensor.rank));
  uint32_t bits = bitsOf(fb::DType(info.dtype));
  if (reinterpret_cast<uintptr_t>(tensor.data) % std::max(bits / 8, 1u))
    return fail(&error, TUTTI_INVALID_ARGUMENT, "the data of '%.200s' is at %p, which is not aligned to its elements",
                info.name, tensor.data);
  if (!tensor.strides)
    return TUTTI_OK;
  if (bits % 8)
    return fail(&error, TUTTI_UNSUPPORTED, "'%.200s' has elements below a byte and strides", info.name);
  int64_t dense = bits / 8;
  for (int32_t d = info.rank; d-- > 0; dense *= tensor.dims[d])
    if (tensor.dims[d] > 1 && tensor.strides[d] != dense)
      return fail(&error, TUTTI_SHAPE_MISMATCH,
                  "'%.200s' has a stride of %lld bytes in dimension %d, expected %lld: tensors are dense and row-major",
                  info.name, (long long)tensor.strides[d], d, (long long)dense);
  return TUTTI_OK;
}

tutti_status_t Session::bind(const tutti_tensor_t *tensor, const char *head, bool input) {
  if (auto status = enter())
    return status;
  Leave leave{busy};
  tutti_status_t status = TUTTI_OK;
  if (!tensor)
    return fail(&error, TUTTI_INVALID_ARGUMENT, "no tensor was given");
  PortState *port = find(tensor->name, head, input, status);
  if (!port)
    return status;
  if (!tensor->data && !input) {
    port->bound = nullptr;
    port->shaped = false;
    dirty = std::max(dirty, Dirty::pointers);
    return TUTTI_OK;
  }
  if ((status = checkGiven(*port, *tensor)))
    return status;
  size_t dimBytes = size_t(tensor->rank) * sizeof(int64_t);
  uint64_t bytes = 0;
  denseBytes(fb::DType(tensor->dtype), tensor->dims, uint32_t(tensor->rank), bytes);
  if (!tensor->data && bytes)
    return fail(&error, TUTTI_INVALID_ARGUMENT, "input '%.200s' has no data", port->info->name);
  bool sameDims = port->shaped && std::memcmp(port->given, tensor->dims, dimBytes) == 0;
  if (dimBytes)
    std::memcpy(port->given, tensor->dims, dimBytes);
  port->shaped = true;
  port->bound = tensor->data;
  // Rebinding buffers of one shape, call after call, costs no more than the pointers.
  dirty = std::max(dirty, sameDims ? Dirty::pointers : Dirty::everything);
  return TUTTI_OK;
}

/// Finds the value of every size, and with them the dims of every port.
tutti_status_t Session::resolveSizes(bool needInputs) {
  for (uint32_t i = 0; needInputs && i < numInputs; ++i)
    if (!ports[i].shaped)
      return fail(&error, TUTTI_NOT_BOUND, "input '%.200s' is not bound", ports[i].info->name);
  sizes[0] = numActive;
  for (uint32_t i = 1; i < sizes.size(); ++i) {
    const fb::Size &size = *program->sizes()->Get(i);
    int64_t value = size.kind() == fb::SizeKind::fixed ? size.lo() : chosen[i] ? chosen[i] : -1;
    for (uint32_t p = 0; p < numInputs && value < 0; ++p)
      for (int32_t d = 0; ports[p].shaped && d < ports[p].info->rank && value < 0; ++d) {
        const fb::Extent &extent = *ports[p].port->type()->dims()->Get(uint32_t(d));
        if (count(extent.terms()) != 1)
          continue;
        const fb::Term &term = *extent.terms()->Get(0);
        bool linear = count(term.sizes()) == 1 && term.sizes()->Get(0) == i && term.coef() > 0 &&
                      (!count(term.divs()) || term.divs()->Get(0) == 1);
        if (linear)
          value = (ports[p].given[d] - extent.base()) / term.coef();
      }
    if (value < 0)
      return fail(&error, TUTTI_NOT_BOUND, "dimension '%.200s' has no value: bind an input that has it, or set it",
                  text(size.name()));
    if (value < size.lo() || value > size.hi())
      return fail(&error, TUTTI_SHAPE_MISMATCH, "dimension '%.200s' is %lld, expected %lld to %lld", text(size.name()),
                  (long long)value, (long long)size.lo(), (long long)size.hi());
    sizes[i] = value;
  }
  for (PortState &port : ports)
    for (int32_t d = 0; d < port.info->rank; ++d)
      port.dims[d] = valueOf(port.port->type()->dims()->Get(uint32_t(d)), sizes.data());
  return TUTTI_OK;
}

tutti_status_t Session::prepare() {
  if (auto status = resolveSizes(true))
    return status;
  for (const PortState &port : ports) {
    if (!port.shaped)
      continue;
    uint32_t rank = uint32_t(port.info->rank);
    if (!std::equal(port.dims, port.dims + rank, port.given))
      return fail(&error, TUTTI_SHAPE_MISMATCH, "%s '%.200s' has dims %s with %u active members, given %s",
                  *port.info->head ? "output" : "input", port.info->name, DimsText(port.dims, rank).text, numActive,
                  DimsText(port.given, rank).text);
  }
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (const fb::Buffer &b = *program->buffers()->Get(i); b.space() == fb::Space::arena)
      buffers[i] = arena + valueOf(b.offset(), sizes.data());
  for (LaunchState &state : launches) {
    const fb::Launch &launch = *state.launch;
    int64_t rows = valueOf(launch.rows(), sizes.data());
    state.tile = chooseTile(launch, rows, numActive, threads);
    state.tasks = (launch.lifted() ? numActive : 1) * ((rows + state.tile - 1) / state.tile);
    for (uint32_t a = 0; a < count(launch.args()); ++a)
      argStates[state.firstArg + a].offset = valueOf(launch.args()->Get(a)->offset(), sizes.data());
  }
  refreshPointers();
  return TUTTI_OK;
}

void Session::refreshPointers() {
  for (const PortState &port : ports)
    buffers[port.port->buffer()] = static_cast<char *>(port.data());
  for (uint32_t i = 0; i < args.size(); ++i)
    args[i] = buffers[argStates[i].buffer] + argStates[i].offset;
  dirty = Dirty::nothing;
}

void Session::resolveTables(const Weights::Version &version) {
  for (const Table &table : tables)
    for (uint32_t p = 0; p < numActive; ++p)
      table.entries[p] = artifact.weights.locate(version, table.slot, active[p]);
  tablesVersion = version.number;
}

tutti_status_t Session::getOutput(const char *name, const char *head, tutti_tensor_t &tensor) {
  if (auto status = enter())
    return status;
  Leave leave{busy};
  tutti_status_t status = TUTTI_OK;
  PortState *port = find(name, head, false, status);
  if (!port || (dirty == Dirty::everything && (status = resolveSizes(false))))
    return status;
  tensor = {port->info->name, port->info->dtype, port->info->rank, port->dims, nullptr, port->data()};
  return TUTTI_OK;
}

tutti_status_t Session::run() {
  if (auto status = enter())
    return status;
  Leave leave{busy};
  if (dirty == Dirty::everything) {
    if (auto status = prepare())
      return status;
  } else if (dirty == Dirty::pointers) {
    refreshPointers();
  }
  const Weights::Version &version = artifact.weights.pin(reader);
  if (version.number != tablesVersion)
    resolveTables(version);

  struct Call {
    const Session &session;
    const LaunchState &state;
  };
  unsigned mode = _mm_getcsr();
  _mm_setcsr(0x1f80);
  for (const LaunchState &state : launches) {
    Call call{*this, state};
    pool.run(
        state.tasks,
        [](void *context, uint32_t thread, int64_t begin, int64_t end) {
          const auto &[session, state] = *static_cast<const Call *>(context);
          state.kernel(session.args.data() + state.firstArg, session.sizes.data(), state.tile, begin, end,
                       session.scratch + thread * session.scratchStride);
        },
        &call);
  }
  _mm_setcsr(mode);
  artifact.weights.unpin(reader);
  return TUTTI_OK;
}

} // namespace tutti::rt
