// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes into offsets, offsets into addresses, addresses into arguments.
#include "Call.h"

namespace tutti::rt {

bool Call::build(const tutti_program_t &description) {
  numInputs = description.num_inputs;
  uint32_t members = artifact.info().num_members, numTables = 0, numLaunches = 0, numArgs = 0;
  for (uint32_t i = 0; i < count(program->buffers()); ++i)
    if (const fb::Buffer &b = *program->buffers()->Get(i); b.space() == fb::Space::constant)
      numTables += artifact.root().slots()->Get(uint32_t(b.slot()))->per_member();
  for (uint32_t i = 0; i < count(program->steps()); ++i, ++numLaunches)
    numArgs += count(program->steps()->Get(i)->command_as_Launch()->args());
  uint32_t numSizes = program->sizes()->size();
  if (!sizes.allocate(numSizes) || !active.allocate(members) || !ports.allocate(numInputs + description.num_outputs) ||
      !buffers.allocate(count(program->buffers())) || !tables.allocate(numTables) || !launches.allocate(numLaunches) ||
      !args.allocate(numArgs) || !words.allocate(numArgs + size_t(numLaunches) * numSizes))
    return false;

  numActive = uint32_t(program->sizes()->Get(0)->hi());
  for (uint32_t i = 0; i < numActive; ++i)
    active[i] = i;
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
  uint32_t nextArg = 0, nextWord = 0;
  for (uint32_t i = 0; i < numLaunches; ++i) {
    const fb::Launch *launch = program->steps()->Get(i)->command_as_Launch();
    launches[i] = {launch, nextArg, count(launch->args()), nextWord};
    for (uint32_t a = 0; a < launches[i].numArgs; ++a)
      args[nextArg++].buffer = uint32_t(launch->args()->Get(a)->buffer());
    nextWord += launches[i].numArgs + numSizes;
  }
  Table *table = tables.data();
  for (uint32_t i = 0; i < count(program->buffers()); ++i)
    if (const fb::Buffer &b = *program->buffers()->Get(i);
        b.space() == fb::Space::constant && artifact.root().slots()->Get(uint32_t(b.slot()))->per_member())
      (table++)->slot = uint32_t(b.slot());
  return true;
}

bool Call::largestSizes(Array<int64_t> &most) const {
  if (!most.allocate(sizes.size()))
    return false;
  for (uint32_t i = 0; i < sizes.size(); ++i)
    most[i] = program->sizes()->Get(i)->hi();
  return true;
}

int64_t Call::arenaBytes(const int64_t *at) const {
  int64_t total = 0, bytes = 0;
  auto add = [&](const fb::Extent *extent) {
    return evaluate(extent, at, bytes) && checkedAdd(total, int64_t(alignUp(uint64_t(bytes), kPageBytes)), total);
  };
  bool counted = !count(program->arena()) || add(program->arena()->Get(0));
  for (uint32_t i = 0; counted && i < buffers.size(); ++i)
    if (const fb::Buffer &b = *program->buffers()->Get(i); b.space() == fb::Space::state)
      counted = add(b.bytes());
  return counted ? total : -1;
}

void Call::updateOffsets() {
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
      wordsOf(launch)[a] = reinterpret_cast<uint64_t>(buffers[arg.buffer] + arg.offset);
    }
}

} // namespace tutti::rt
