// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes into offsets, offsets into addresses, addresses into arguments.
#include "Call.h"

namespace tutti::rt {

/// Each launch with its step; those for all members come behind the pieces, however many there are.
template <typename Each> static void forEachInOrder(const fb::Program &program, Each each) {
  for (bool whole : {false, true})
    forEachLaunch(program, [&](const fb::Launch &launch, uint32_t step) {
      if (launch.whole() == whole)
        each(launch, step);
      return false;
    });
}

bool Call::build(const tutti_program_t &description) {
  numInputs = description.num_inputs;
  if (!allocate(description))
    return false;
  activateAll();
  describePorts(description);
  fillLaunches();
  if (!tables.allocate(listTables(nullptr)))
    return false;
  listTables(tables.data());
  return true;
}

bool Call::allocate(const tutti_program_t &description) {
  uint32_t members = artifact.info().num_members, numSizes = program->sizes()->size(), numLaunches = 0, numArgs = 0;
  forEachInOrder(*program, [&](const fb::Launch &launch, uint32_t) {
    ++numLaunches;
    numArgs += count(launch.args());
  });
  return sizes.allocate(numSizes) && active.allocate(members) && sets.allocate(rt::numSets(*program)) &&
         positions.allocate(members * (1 + (sets.size() > 1))) && groupOf.allocate(sets.size() > 1 ? members : 0) &&
         ports.allocate(numInputs + description.num_outputs) && buffers.allocate(count(program->buffers())) &&
         strides.allocate(count(program->buffers())) && launches.allocate(numLaunches) && args.allocate(numArgs) &&
         // A driver reads as many bytes of parameters as a kernel has, not as many as there are here.
         words.allocate(numArgs + size_t(numLaunches) * numSizes + kMaxParameterBytes / sizeof(uint64_t));
}

void Call::activateAll() {
  numActive = uint32_t(program->sizes()->Get(0)->hi());
  for (uint32_t i = 0; i < numActive; ++i)
    active[i] = i;
  for (uint32_t g = 0; g + 1 < sets.size(); ++g)
    for (uint32_t i = 0; i < count(artifact.root().groups()->Get(g)->members()); ++i)
      groupOf[artifact.root().groups()->Get(g)->members()->Get(i)] = g;
  updateSets();
}

void Call::describePorts(const tutti_program_t &description) {
  uint32_t in = 0, out = numInputs;
  for (uint32_t i = 0; i < count(program->ports()); ++i) {
    const fb::Port *port = program->ports()->Get(i);
    bool input = program->buffers()->Get(port->buffer())->space() == fb::Space::input;
    PortState &state = ports[input ? in : out];
    state.info = input ? description.inputs + in : description.outputs + (out - numInputs);
    state.port = port;
    state.input = input;
    ++(input ? in : out);
  }
}

void Call::fillLaunches() {
  uint32_t nextArg = 0, nextWord = 0;
  Launch *next = launches.data();
  forEachInOrder(*program, [&](const fb::Launch &launch, uint32_t step) {
    *next = {&launch, step, nextArg, count(launch.args()), nextWord};
    for (uint32_t a = 0; a < next->numArgs; ++a, ++nextArg) {
      const fb::Arg &arg = *launch.args()->Get(a);
      args[nextArg].buffer = uint32_t(arg.buffer());
      if (arg.set() >= 0)
        args[nextArg].set = uint32_t(arg.set());
      else if (const fb::Slot *slot = slotOf(args[nextArg].buffer); slot && slot->per_member())
        args[nextArg].set = setOf(*program, *slot);
    }
    nextWord += next++->numArgs + uint32_t(sizes.size());
  });
}

uint32_t Call::listTables(Table *to) const {
  uint32_t numTables = 0;
  auto add = [&](const Table &table) {
    if (to)
      to[numTables] = table;
    ++numTables;
  };
  for (const Launch &launch : launches)
    for (uint32_t a = 0; a < launch.numArgs; ++a)
      if (const fb::Arg &arg = *launch.launch->args()->Get(a); arg.set() >= 0)
        add({uint32_t(arg.set()), uint32_t(arg.buffer()), -1, launch.firstArg + a, nullptr});
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (const fb::Slot *slot = slotOf(i); slot && slot->per_member())
      add({setOf(*program, *slot), i, program->buffers()->Get(i)->slot(), 0, nullptr});
  return numTables;
}

void Call::updateSets() {
  std::fill(sets.begin(), sets.end(), Set{});
  sets[0].count = numActive;
  bool grouped = sets.size() > 1;
  for (uint32_t p = 0; p < numActive; ++p) {
    positions[p] = p;
    if (grouped)
      ++sets[1 + groupOf[active[p]]].count;
  }
  for (uint32_t s = 1; s < sets.size(); ++s)
    sets[s].first = sets[s - 1].first + sets[s - 1].count;
  // In the order of the active set: each group's next place is counted up, and back afterwards.
  for (uint32_t p = 0; grouped && p < numActive; ++p)
    positions[sets[1 + groupOf[active[p]]].first++] = p;
  for (uint32_t s = 1; s < sets.size(); ++s)
    sets[s].first -= sets[s].count;
}

void Call::placeTable(uint32_t index, const void **entries, char *there) {
  Table &table = tables[index];
  table.entries = entries;
  if (table.slot < 0)
    args[table.arg].table = there;
  else
    buffers[table.buffer] = there;
}

int64_t Call::arenaBytes(const int64_t *at) const {
  int64_t total = 0, bytes = 0;
  auto add = [&](const fb::Extent *extent) {
    return evaluate(extent, at, bytes) && uint64_t(bytes) <= kMaxMemory &&
           checkedAdd(total, int64_t(alignUp(uint64_t(bytes), kPageBytes)), total);
  };
  bool counted = !count(program->arena()) || add(program->arena()->Get(0));
  for (uint32_t i = 0; counted && i < buffers.size(); ++i)
    if (const fb::Buffer &b = *program->buffers()->Get(i); b.space() == fb::Space::state)
      counted = add(b.bytes());
  return counted ? total : -1;
}

Call::Set Call::partOf(uint32_t set, uint32_t piece) const {
  uint32_t from = piece * program->chunk(), length = pieceLength(piece);
  if (set == 0)
    return {from, length};
  const uint32_t *begin = positions.data() + sets[set].first, *end = begin + sets[set].count; // ascending
  const uint32_t *first = std::lower_bound(begin, end, from), *last = std::lower_bound(first, end, from + length);
  return {uint32_t(first - begin), uint32_t(last - first)};
}

void Call::sizesOf(uint32_t piece, int64_t *at) const {
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    const fb::Size &size = *program->sizes()->Get(i);
    at[i] = size.kind() == fb::SizeKind::active ? partOf(i ? size.source() : 0, piece).count : sizes[i];
  }
}

int64_t Call::bytesOf(uint32_t buffer, uint32_t members) const {
  int64_t at[kMaxSizes];
  for (uint32_t i = 0; i < sizes.size(); ++i)
    at[i] = program->sizes()->Get(i)->kind() == fb::SizeKind::active ? std::min<int64_t>(sizes[i], members) : sizes[i];
  int64_t bytes = 0;
  bytesAt(buffer, at, bytes); // which the artifact's checks have counted
  return bytes;
}

bool Call::bytesAt(uint32_t buffer, const int64_t *at, int64_t &bytes) const {
  const fb::Buffer &b = *program->buffers()->Get(buffer);
  if (b.space() != fb::Space::input && b.space() != fb::Space::output)
    return evaluate(b.bytes(), at, bytes);
  const fb::Type &type = *program->ports()->Get(uint32_t(b.port()))->type();
  int64_t dims[TUTTI_MAX_RANK];
  bool counted = true;
  for (uint32_t d = 0; d < count(type.dims()); ++d)
    counted = counted && evaluate(type.dims()->Get(d), at, dims[d]);
  uint64_t dense = 0;
  counted = counted && denseBytes(type.dtype(), dims, count(type.dims()), dense);
  bytes = int64_t(dense);
  return counted;
}

void Call::selectPiece(uint32_t piece) {
  int64_t at[kMaxSizes];
  sizesOf(piece, at);
  for (const Launch &launch : launches) {
    if (!runsIn(*launch.launch, piece))
      continue;
    uint64_t *mine = wordsOf(launch);
    for (uint32_t a = 0; a < launch.numArgs; ++a) {
      const Arg &arg = args[launch.firstArg + a];
      const void *start = arg.table ? arg.table : buffers[arg.buffer] + arg.offset;
      int64_t stride = arg.table ? int64_t(sizeof(void *)) : strides[arg.buffer];
      mine[a] = reinterpret_cast<uint64_t>(start) + partOf(arg.set, piece).first * uint64_t(stride);
    }
    std::copy(at, at + sizes.size(), mine + launch.numArgs);
  }
}

void Call::updateOffsets() {
  if (numPieces() > 1) {
    int64_t at[kMaxSizes];
    std::copy(sizes.begin(), sizes.end(), at);
    for (uint32_t i = 0; i < buffers.size(); ++i) {
      const fb::Buffer &b = *program->buffers()->Get(i);
      const fb::Slot *slot = slotOf(i);
      bool table = slot && slot->per_member();
      bool run = b.space() == fb::Space::input || b.space() == fb::Space::output || b.whole();
      auto bytes = [&](int64_t members) {
        int64_t value = 0;
        at[0] = members;
        bytesAt(i, at, value);
        return value;
      };
      strides[i] = table ? int64_t(sizeof(void *)) : run ? bytes(2) - bytes(1) : 0;
    }
  }
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (const fb::Buffer &b = *program->buffers()->Get(i); b.space() == fb::Space::arena)
      buffers[i] = arena + valueOf(b.offset(), sizes.data());
  for (const Launch &launch : launches) {
    for (uint32_t a = 0; a < launch.numArgs; ++a)
      args[launch.firstArg + a].offset = valueOf(launch.launch->args()->Get(a)->offset(), sizes.data());
    std::copy(sizes.begin(), sizes.end(), wordsOf(launch) + launch.numArgs);
  }
}

void Call::updateAddresses() {
  for (const Launch &launch : launches)
    for (uint32_t a = 0; a < launch.numArgs; ++a) {
      const Arg &arg = args[launch.firstArg + a];
      wordsOf(launch)[a] = reinterpret_cast<uint64_t>(arg.table ? arg.table : buffers[arg.buffer] + arg.offset);
      if (arg.table)
        tablesVersion = 0; // parts lie elsewhere, too
    }
}

} // namespace tutti::rt
