// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing members and sizes, and running. Nothing here allocates.
#include "Session.h"

namespace tutti::rt {

Session::Entry::Entry(Session &session) {
  if (session.guard.forked()) {
    status = fail(&session.call.error, TUTTI_FORKED, "this session was made before fork(); make one in the child");
  } else if (session.busy.exchange(true, std::memory_order_acquire)) {
    status = TUTTI_BUSY; // The message belongs to the other thread.
  } else {
    held = &session;
    status = session.call.lost;
  }
}

Session::Entry::~Entry() {
  if (held)
    held->busy.store(false, std::memory_order_release);
}

tutti_status_t Session::setActive(const uint32_t *members, size_t n) {
  Entry entry(*this);
  if (entry.status)
    return entry.status;
  const fb::Size &size = *call.program->sizes()->Get(0);
  if (n == 0 || !members)
    return fail(&call.error, TUTTI_INVALID_ARGUMENT, "the active set is empty, expected at least one member");
  if (n == call.numActive && std::equal(members, members + n, call.active.begin()))
    return TUTTI_OK; // it was checked, and what follows from it stays
  if (n < uint64_t(size.lo()) || n > uint64_t(size.hi()))
    return fail(&call.error, TUTTI_INVALID_ARGUMENT, "the active set has %zu members, expected %lld to %lld", n,
                (long long)size.lo(), (long long)size.hi());
  std::fill(marks.begin(), marks.end(), 0);
  for (size_t i = 0; i < n; ++i) {
    if (members[i] >= call.active.size())
      return fail(&call.error, TUTTI_INVALID_ARGUMENT, "the active set has member %u, expected 0 to %zu", members[i],
                  call.active.size() - 1);
    if (std::exchange(marks[members[i]], 1))
      return fail(&call.error, TUTTI_INVALID_ARGUMENT, "the active set has member %u twice", members[i]);
  }
  std::copy(members, members + n, call.active.begin());
  dirty = n == call.numActive && call.sets.size() == 1 && dirty != Dirty::everything ? dirty : Dirty::everything;
  call.numActive = uint32_t(n);
  call.tablesVersion = 0;
  call.updateSets();
  return TUTTI_OK;
}

tutti_status_t Session::setDimension(const char *name, int64_t value) {
  Entry entry(*this);
  if (entry.status)
    return entry.status;
  Line<500> known;
  for (uint32_t i = 1; i < call.sizes.size(); ++i) {
    const fb::Size &size = *call.program->sizes()->Get(i);
    if (size.kind() == fb::SizeKind::active)
      continue;
    if (!name || view(size.name()) != name) {
      known.append("%s'%.60s'", known.used ? ", " : "", text(size.name()));
      continue;
    }
    if (value != 0 && (value < size.lo() || value > size.hi()))
      return fail(&call.error, TUTTI_INVALID_ARGUMENT, "dimension '%.200s' is %lld, expected %lld to %lld", name,
                  (long long)value, (long long)size.lo(), (long long)size.hi());
    chosen[i] = value;
    dirty = Dirty::everything;
    return TUTTI_OK;
  }
  return fail(&call.error, TUTTI_NOT_FOUND, "there is no dimension '%.200s'; the program has %s", name ? name : "",
              known.used ? known.text : "none");
}

tutti_status_t Session::checkInputs() {
  for (uint32_t i = 0; i < call.numInputs; ++i)
    if (const PortState &port = call.ports[i]; !port.shaped || port.absent)
      return fail(&call.error, TUTTI_NOT_BOUND, "input '%.200s' is not bound", port.info->name);
  return TUTTI_OK;
}

/// Finds the value of every size, and with them the dims of every port.
tutti_status_t Session::resolveSizes() {
  call.sizes[0] = call.numActive;
  for (uint32_t i = 1; i < call.sizes.size(); ++i) {
    const fb::Size &size = *call.program->sizes()->Get(i);
    int64_t value = size.kind() == fb::SizeKind::active  ? call.sets[size.source()].count
                    : size.kind() == fb::SizeKind::fixed ? size.lo()
                    : chosen[i]                          ? chosen[i]
                                                         : -1;
    for (uint32_t p = 0; p < call.numInputs && value < 0; ++p)
      for (int32_t d = 0; call.ports[p].shaped && !call.ports[p].absent && d < call.ports[p].info->rank && value < 0;
           ++d) {
        const fb::Extent &extent = *call.ports[p].port->type()->dims()->Get(uint32_t(d));
        if (count(extent.terms()) != 1)
          continue;
        const fb::Term &term = *extent.terms()->Get(0);
        bool linear = count(term.sizes()) == 1 && term.sizes()->Get(0) == i && term.coef() > 0 &&
                      (!count(term.divs()) || term.divs()->Get(0) == 1);
        if (linear)
          value = (call.ports[p].given[d] - extent.base()) / term.coef();
      }
    if (value < 0)
      return fail(&call.error, TUTTI_NOT_BOUND, "dimension '%.200s' has no value: bind an input that has it, or set it",
                  text(size.name()));
    if (value < size.lo() || value > size.hi())
      return fail(&call.error, TUTTI_SHAPE_MISMATCH, "dimension '%.200s' is %lld, expected %lld to %lld",
                  text(size.name()), (long long)value, (long long)size.lo(), (long long)size.hi());
    call.sizes[i] = value;
  }
  for (PortState &port : call.ports)
    for (int32_t d = 0; d < port.info->rank; ++d)
      port.dims[d] = valueOf(port.port->type()->dims()->Get(uint32_t(d)), call.sizes.data());
  return TUTTI_OK;
}

tutti_status_t Session::prepare() {
  if (auto status = checkInputs())
    return status;
  if (auto status = resolveSizes())
    return status;
  for (const PortState &port : call.ports) {
    if (!port.shaped)
      continue;
    uint32_t rank = uint32_t(port.info->rank);
    if (std::equal(port.dims, port.dims + rank, port.given))
      continue;
    Line<400> values;
    for (uint32_t i = 1; i < call.sizes.size(); ++i)
      if (const fb::Size &size = *call.program->sizes()->Get(i); size.kind() == fb::SizeKind::range)
        values.append("; '%.60s' is %lld%s", text(size.name()), (long long)call.sizes[i], chosen[i] ? ", as set" : "");
    return fail(&call.error, TUTTI_SHAPE_MISMATCH,
                "%s '%.200s' is bound with dims %s, expected %s (active members: %u%s)",
                port.input ? "input" : "output", port.info->name, DimsText(port.given, rank).text,
                DimsText(port.dims, rank).text, call.numActive, values.used ? values.text : "");
  }
  call.updateOffsets();
  engine->resize();
  return TUTTI_OK;
}

/// No output lies where another port does, at the current sizes: of what is written some would be read again, or by
/// which thread it was written last would decide.
tutti_status_t Session::checkOverlaps() {
  auto startOf = [&](uint32_t i) { return reinterpret_cast<uintptr_t>(call.ports[i].data()); };
  for (uint32_t i = 0; i < byAddress.size(); ++i)
    byAddress[i] = i;
  std::sort(byAddress.begin(), byAddress.end(), [&](uint32_t a, uint32_t b) { return startOf(a) < startOf(b); });
  // Of the ports that begin before, and of the outputs among them, the one that ends last.
  struct Last {
    uint32_t port = 0;
    uintptr_t end = 0;
  } any, output;
  for (uint32_t i : byAddress) {
    const PortState &port = call.ports[i];
    uint64_t bytes = port.bytes();
    if (!bytes)
      continue;
    const Last &before = port.input ? output : any;
    if (startOf(i) < before.end) {
      const PortState &other = call.ports[before.port];
      const tutti_port_t &written = port.input ? *other.info : *port.info, &met = port.input ? *port.info : *other.info;
      const char *what = port.input || other.input ? "input" : "output";
      return fail(&call.error, TUTTI_INVALID_ARGUMENT,
                  "output '%.200s' (%.40s) overlaps %s '%.200s': each has to have memory of its own", written.name,
                  written.head, what, met.name);
    }
    Last now{i, startOf(i) + bytes};
    any = now.end > any.end ? now : any;
    output = !port.input && now.end > output.end ? now : output;
  }
  return TUTTI_OK;
}

tutti_status_t Session::run(Until until) {
  Entry entry(*this);
  if (entry.status)
    return entry.status;
  if (dirty == Dirty::everything)
    if (auto status = prepare())
      return status;
  if (dirty != Dirty::nothing) {
    if (auto status = checkInputs())
      return status;
    if (auto status = checkOverlaps())
      return status;
    engine->rebind();
  }
  dirty = Dirty::nothing;
  return engine->run(until);
}

tutti_status_t Session::wait() {
  Entry entry(*this);
  return entry.status ? entry.status : engine->wait();
}

} // namespace tutti::rt
