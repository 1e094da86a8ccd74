// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills tutti_info_t from the metadata.
#include "Info.h"

#include "runtime/schema/Digest.h"

#include <bit>

namespace tutti::rt {

/// One pass to learn how much of everything there is, so that no table moves while it is pointed to.
bool Info::reserve(const fb::Root &root) {
  size_t numPorts = 0, numDims = 0, numDimensions = 0, numTargets = 0, numSymbols = 0, numWeights = 0, numRaw = 0;
  for (const fb::Program *program : *root.programs()) {
    numPorts += count(program->ports());
    numDimensions += count(program->sizes());
    numTargets += count(program->targets());
    for (uint32_t i = 0; i < count(program->ports()); ++i) {
      const auto *extents = program->ports()->Get(i)->type()->dims();
      numDims += count(extents);
      for (uint32_t d = 0; d < count(extents); ++d)
        numSymbols += count(extents->Get(d)->terms()) > 0;
    }
  }
  for (uint32_t i = 0; i < count(root.slots()); ++i) {
    const fb::Slot *slot = root.slots()->Get(i);
    numWeights += !view(slot->name()).empty() && !isPart(*slot);
    numRaw += count(slot->raw_dims());
  }
  return members.allocate(count(root.members())) && programs.allocate(count(root.programs())) &&
         ports.allocate(numPorts) && dims.allocate(numDims) && dimensions.allocate(numDimensions) &&
         targets.allocate(numTargets) && symbols.allocate(numSymbols * kSymbolBytes) && weights.allocate(numWeights) &&
         weightDims.allocate(numRaw);
}

/// "batch", or for anything more the formula: "2*batch+1".
const char *Info::symbolOf(const fb::Program &program, const fb::Extent &extent) {
  auto nameOfSize = [&](uint32_t i) {
    const char *name = text(program.sizes()->Get(i)->name());
    return i == 0 ? "members" : *name ? name : "?";
  };
  if (const auto *terms = extent.terms(); count(terms) == 1 && !extent.base())
    if (const fb::Term &term = *terms->Get(0); term.coef() == 1 && count(term.sizes()) == 1 && !count(term.divs()))
      return nameOfSize(term.sizes()->Get(0)); // however long
  char *symbol = symbols.data() + usedSymbols++ * kSymbolBytes;
  size_t used = 0;
  auto append = [&](const char *format, auto... args) {
    int n = std::snprintf(symbol + used, kSymbolBytes - used, format, args...);
    used = std::min(used + size_t(std::max(n, 0)), kSymbolBytes - 1);
  };
  for (const fb::Term *term : *extent.terms()) {
    const char *glue = used ? "+" : "";
    if (term->coef() != 1 || !count(term->sizes()))
      append("%s%lld", glue, (long long)term->coef()), glue = "*";
    for (uint32_t i = 0; i < count(term->sizes()); ++i, glue = "*") {
      int64_t div = count(term->divs()) ? term->divs()->Get(i) : 1;
      if (div == 1)
        append("%s%.60s", glue, nameOfSize(term->sizes()->Get(i)));
      else
        append("%sceil(%.60s/%lld)", glue, nameOfSize(term->sizes()->Get(i)), (long long)div);
    }
  }
  if (extent.base())
    append("%+lld", (long long)extent.base());
  return symbol;
}

void Info::addPort(const fb::Program &program, const fb::Port &port, const int64_t *lo, const int64_t *hi, Side side) {
  tutti_port_t &out = ports[usedPorts++];
  out.name = text(port.name());
  out.head = side == Side::input ? "" : text(port.head());
  out.dtype = tutti_dtype_t(port.type()->dtype());
  out.rank = int32_t(count(port.type()->dims()));
  out.per_member = port.per_member();
  out.dims = dims.data() + usedDims;
  for (int32_t d = 0; d < out.rank; ++d) {
    const fb::Extent &extent = *port.type()->dims()->Get(uint32_t(d));
    tutti_dim_t &dim = dims[usedDims++];
    dim.symbol = count(extent.terms()) ? symbolOf(program, extent) : "";
    dim.lo = valueOf(&extent, lo);
    dim.hi = valueOf(&extent, hi);
  }
}

/// A weight that lies in several layouts has a slot for each, and is one weight here.
bool Info::addWeights(const fb::Root &root) {
  // By the digest of its name and dims: 1 + the weight's index.
  Array<uint32_t> byName;
  if (!byName.allocate(std::bit_ceil(2 * weights.size() + 1)))
    return false;
  size_t usedWeights = 0, usedRaw = 0;
  for (uint32_t i = 0; i < count(root.slots()); ++i) {
    const fb::Slot &slot = *root.slots()->Get(i);
    std::string_view name = view(slot.name());
    if (name.empty() || isPart(slot))
      continue;
    int64_t *raw = weightDims.data() + usedRaw;
    uint32_t rank = rawDims(slot, raw);
    bool ofAll = isShared(slot) && slot.group() < 0;
    auto isIt = [&](const tutti_weight_t &w) {
      return name == w.name && slot.group() == w.group && rank == uint32_t(w.rank) &&
             std::equal(raw, raw + rank, w.dims);
    };
    size_t at = xxh64(name.data(), name.size()) ^ xxh64(raw, rank * sizeof(int64_t));
    for (at &= byName.size() - 1; byName[at] && !isIt(weights[byName[at] - 1]);)
      at = (at + 1) & (byName.size() - 1);
    if (byName[at]) {
      tutti_weight_t &known = weights[byName[at] - 1];
      known.shared |= ofAll;
      known.swappable &= slot.swappable();
      continue;
    }
    byName[at] = uint32_t(usedWeights + 1);
    usedRaw += rank;
    weights[usedWeights++] = {text(slot.name()),
                              tutti_dtype_t(slot.type()->dtype()),
                              int32_t(rank),
                              raw,
                              slot.raw_bytes(),
                              slot.group(),
                              ofAll,
                              slot.swappable()};
  }
  info.num_weights = uint32_t(usedWeights);
  info.weights = weights.data();
  return true;
}

void Info::addProgram(const fb::Program &program, tutti_program_t &out) {
  int64_t lo[kMaxSizes], hi[kMaxSizes];
  uint32_t numSizes = program.sizes()->size();
  out.entry = text(program.entry());
  out.precision = text(program.precision());
  out.num_targets = count(program.targets());
  out.targets = targets.data() + usedTargets;
  for (uint32_t i = 0; i < out.num_targets; ++i)
    targets[usedTargets++] = text(program.targets()->Get(i));
  out.device = isForCuda(program) ? TUTTI_DEVICE_CUDA : TUTTI_DEVICE_CPU;
  out.dimensions = dimensions.data() + usedDimensions;
  for (uint32_t i = 0; i < numSizes; ++i) {
    const fb::Size &size = *program.sizes()->Get(i);
    lo[i] = size.lo();
    hi[i] = size.hi();
    if (size.kind() == fb::SizeKind::active)
      continue;
    dimensions[usedDimensions++] = {text(size.name()), lo[i], hi[i]};
    ++out.num_dimensions;
  }
  for (Side side : {Side::input, Side::output}) {
    bool input = side == Side::input;
    (input ? out.inputs : out.outputs) = ports.data() + usedPorts;
    size_t first = usedPorts;
    for (uint32_t i = 0; i < count(program.ports()); ++i) {
      const fb::Port &port = *program.ports()->Get(i);
      if ((program.buffers()->Get(port.buffer())->space() == fb::Space::input) == input)
        addPort(program, port, lo, hi, side);
    }
    (input ? out.num_inputs : out.num_outputs) = uint32_t(usedPorts - first);
  }
  out.arena_bytes = count(program.arena()) ? uint64_t(valueOf(program.arena()->Get(0), hi)) : 0;
  for (uint32_t i = 0; i < count(program.buffers()); ++i)
    if (const fb::Buffer &buffer = *program.buffers()->Get(i); buffer.space() == fb::Space::state)
      out.state_bytes += uint64_t(valueOf(buffer.bytes(), hi));
  for (uint32_t i = 0; i < count(program.steps()); ++i)
    // On a CPU, launches side by side are one: their tasks are one list.
    out.launches += out.device == TUTTI_DEVICE_CPU ? numLaunches(*program.steps()->Get(i)) > 0
                                                   : numLaunches(*program.steps()->Get(i));
}

bool Info::build(const fb::Root &root) {
  if (!reserve(root))
    return false;
  info.format = root.format();
  info.compiler = text(root.compiler());
  info.share = text(root.share());
  info.num_members = uint32_t(members.size());
  info.members = members.data();
  for (uint32_t i = 0; i < members.size(); ++i) {
    const fb::Member &member = *root.members()->Get(i);
    members[i] = {text(member.name()), 0, text(member.source()), digestOf(member.digest())};
  }
  for (uint32_t group = 0; group < count(root.groups()); ++group)
    for (uint32_t i = 0; i < count(root.groups()->Get(group)->members()); ++i)
      if (uint32_t member = root.groups()->Get(group)->members()->Get(i); member < members.size())
        members[member].group = group;
  if (!addWeights(root))
    return false;
  for (uint32_t p = 0; p < programs.size(); ++p)
    addProgram(*root.programs()->Get(p), programs[p]);
  info.num_programs = uint32_t(programs.size());
  info.programs = programs.data();
  return true;
}

} // namespace tutti::rt
