// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads an artifact: what the library tells of it, and what only its metadata have.
#include "Description.h"

#include "core/Check.h"
#include "core/Geometry.h"

#include <map>

namespace tutti::tool {

namespace {

Json dimsOf(const tutti_port_t &port) {
  Json dims = Json::array();
  for (int32_t d = 0; d < port.rank; ++d)
    if (*port.dims[d].symbol)
      dims.push_back(port.dims[d].symbol);
    else
      dims.push_back(port.dims[d].lo);
  return dims;
}

Json portsOf(std::span<const tutti_port_t> ports) {
  Json out = Json::array();
  for (const tutti_port_t &port : ports) {
    Json entry = {{"name", port.name}, {"dtype", tutti_dtype_name(port.dtype)}, {"dims", dimsOf(port)}};
    if (*port.head)
      entry["head"] = port.head;
    entry["per_member"] = port.per_member;
    out.push_back(entry);
  }
  return out;
}

/// The dimension, or a multiple of one, that an axis of a port is as long as in every program: "h", "2*h"; "?" where
/// there is none. `axes` has the axis in each program.
std::string nameOf(std::span<const tutti_program_t> programs, const std::vector<tutti_dim_t> &axes) {
  for (const tutti_dimension_t &first : std::span(programs[0].dimensions, programs[0].num_dimensions)) {
    int64_t factor = first.lo ? axes[0].lo / first.lo : 0;
    bool same = factor > 0;
    for (size_t p = 0; p < programs.size(); ++p) {
      std::span all(programs[p].dimensions, programs[p].num_dimensions);
      auto own = std::find_if(all.begin(), all.end(),
                              [&](const tutti_dimension_t &d) { return std::string_view(d.name) == first.name; });
      same = same && own != all.end() && own->lo == own->hi && own->lo && !*axes[p].symbol &&
             axes[p].lo / own->lo == factor && axes[p].lo % own->lo == 0;
    }
    if (same)
      return (factor == 1 ? "" : std::to_string(factor) + "*") + first.name;
  }
  return "?";
}

/// The ports of all programs: what differs between them is named.
Json commonPorts(const Artifact &artifact, bool inputs) {
  auto programs = artifact.programs();
  auto ofProgram = [&](uint32_t p) { return inputs ? artifact.inputs(p) : artifact.outputs(p); };
  Json out = portsOf(ofProgram(0));
  for (size_t i = 0; i < out.size(); ++i)
    for (int32_t d = 0; d < ofProgram(0)[i].rank; ++d) {
      std::vector<tutti_dim_t> axes;
      for (uint32_t p = 0; p < programs.size(); ++p)
        if (i < ofProgram(p).size() && d < ofProgram(p)[i].rank) // in every one, but files may say anything
          axes.push_back(ofProgram(p)[i].dims[d]);
      auto differs = [&](const tutti_dim_t &axis) {
        return std::string_view(axis.symbol) != axes[0].symbol || (!*axis.symbol && axis.lo != axes[0].lo);
      };
      if (axes.size() == programs.size() && std::any_of(axes.begin(), axes.end(), differs))
        out[i]["dims"][size_t(d)] = nameOf(programs, axes);
    }
  return out;
}

/// Per image target, how many bytes of code it has: whole segments where images do not say how long they are.
std::map<std::string, uint64_t> codeBytes(const fb::Root &root) {
  std::map<std::string, std::map<std::pair<uint32_t, uint64_t>, uint64_t>> pieces;
  for (uint32_t k = 0; k < rt::count(root.kernels()); ++k)
    for (uint32_t i = 0; i < rt::count(root.kernels()->Get(k)->images()); ++i) {
      const fb::Image &image = *root.kernels()->Get(k)->images()->Get(i);
      auto &of = pieces[rt::text(image.target())];
      if (image.bytes())
        of[{image.segment(), image.offset()}] = image.bytes();
      else
        of[{image.segment(), 0}] = root.segments()->Get(image.segment())->bytes();
    }
  std::map<std::string, uint64_t> bytes;
  for (const auto &[target, of] : pieces)
    for (const auto &[place, size] : of)
      bytes[target] += size;
  return bytes;
}

/// CPU levels have code in one image and say no more; CUDA modules say what they take of a device.
Json imageOf(const fb::Image &image) {
  Json out = {{"target", rt::text(image.target())}, {"entry", rt::text(image.entry())}};
  if (image.bytes())
    out.update({{"bytes", image.bytes()},
                {"regs", image.regs()},
                {"static_shared", image.static_shared()},
                {"stack", image.stack()},
                {"barriers", image.barriers()},
                {"max_threads", image.max_threads()},
                {"min_driver", image.min_driver()}});
  return out;
}

Json geometryOf(const fb::Root &root, const rt::Geometry &geometry, const std::vector<int64_t> &sizes) {
  Json grid = Json::array(), block = Json::array(), cluster = Json::array();
  for (uint32_t d = 0; d < rt::count(geometry.grid); ++d)
    grid.push_back(rt::valueOf(geometry.grid->Get(d), sizes.data()));
  for (uint32_t d = 0; d < rt::count(geometry.block); ++d)
    block.push_back(geometry.block->Get(d));
  for (uint32_t d = 0; d < rt::count(geometry.cluster); ++d)
    cluster.push_back(geometry.cluster->Get(d));
  Json out = {{"kernel", rt::text(root.kernels()->Get(geometry.kernel)->name())},
              {"grid", grid},
              {"block", block},
              {"cluster", cluster},
              {"persistent", geometry.persistent},
              {"dynamic_shared", rt::valueOf(geometry.dynamicShared, sizes.data())}};
  if (const auto &cost = geometry.cost)
    out["clocks"] = {{"rows", cost->rows},       {"begin", cost->begin}, {"alone", cost->alone},
                     {"busy", cost->busy},       {"l2", cost->l2},       {"row_alone", cost->rowAlone},
                     {"row_busy", cost->rowBusy}};
  return out;
}

/// The launches of a program for CUDA devices: geometry at the largest sizes.
Json launchesOf(const fb::Root &root, const fb::Program &program) {
  std::vector<int64_t> most;
  for (uint32_t i = 0; i < rt::count(program.sizes()); ++i)
    most.push_back(program.sizes()->Get(i)->hi());
  Json out = Json::array();
  rt::forEachLaunch(program, [&](const fb::Launch &launch, uint32_t) {
    out.push_back(geometryOf(root, rt::geometryOf(launch, 0), most));
    out.back()["parts"] = std::max(rt::count(launch.parts()), 1u);
    out.back()["alternatives"] = Json::array();
    for (uint32_t g = 1; g < rt::numGeometries(launch); ++g)
      out.back()["alternatives"].push_back(geometryOf(root, rt::geometryOf(launch, g), most));
    return false;
  });
  return out;
}

/// The programs that launch a kernel.
Json programsOf(const fb::Root &root, uint32_t kernel) {
  Json out = Json::array();
  for (uint32_t p = 0; p < rt::count(root.programs()); ++p) {
    bool launches = rt::forEachLaunch(*root.programs()->Get(p), [&](const fb::Launch &launch, uint32_t) {
      for (uint32_t g = 0; g < rt::numGeometries(launch); ++g)
        if (rt::geometryOf(launch, g).kernel == kernel)
          return true;
      return false;
    });
    if (launches)
      out.push_back(p);
  }
  return out;
}

Json membersOf(const Artifact &artifact) {
  Json out = Json::array();
  for (const tutti_member_t &member : artifact.members())
    out.push_back(
        {{"name", member.name}, {"source", member.source}, {"digest", hex(member.digest)}, {"group", member.group}});
  return out;
}

Json memoryOf(const fb::Memory &memory) {
  return {{"weights_bytes", memory.weights()},
          {"arena_bytes", memory.arena()},
          {"state_bytes", memory.state()},
          {"tables_bytes", memory.tables()},
          {"inputs_bytes", memory.inputs()},
          {"outputs_bytes", memory.outputs()},
          {"scratch_bytes_per_thread", memory.scratch()},
          {"peak_bytes", memory.weights() + memory.arena() + memory.state() + memory.tables() + memory.inputs() +
                             memory.outputs() + memory.scratch()}};
}

/// A program as the library tells it, and what only the file has.
Json programOf(const tutti_program_t &program, const fb::Root &root, const fb::Program &own) {
  Json sizes = Json::array();
  for (const tutti_dimension_t &d : std::span(program.dimensions, program.num_dimensions))
    sizes.push_back({{"name", d.name}, {"lo", d.lo}, {"hi", d.hi}});
  Json architectures = Json::array();
  for (uint32_t i = 1; i < program.num_targets; ++i)
    architectures.push_back(program.targets[i]);
  Json out = {{"entry", program.entry},
              {"target", program.num_targets ? program.targets[0] : "cpu"},
              {"architectures", architectures},
              {"precision", program.precision},
              {"sizes", sizes},
              {"launches", program.launches},
              {"arena_bytes", program.arena_bytes},
              {"state_bytes", program.state_bytes},
              {"inputs", portsOf({program.inputs, program.num_inputs})},
              {"outputs", portsOf({program.outputs, program.num_outputs})}};
  if (own.chunk())
    out["chunk"] = own.chunk();
  if (own.strips())
    out["strips"] = rt::text(own.sizes()->Get(own.strips())->name());
  if (const fb::Memory *memory = own.memory())
    out["memory"] = memoryOf(*memory);
  if (program.device == TUTTI_DEVICE_CUDA)
    out["grids"] = launchesOf(root, own);
  return out;
}

Json kernelOf(const fb::Root &root, uint32_t k) {
  const fb::Kernel &kernel = *root.kernels()->Get(k);
  Json images = Json::array();
  for (uint32_t i = 0; i < rt::count(kernel.images()); ++i)
    images.push_back(imageOf(*kernel.images()->Get(i)));
  return {{"name", rt::text(kernel.name())},         {"family", rt::text(kernel.family())},
          {"numerics", rt::text(kernel.numerics())}, {"source", rt::text(kernel.source())},
          {"programs", programsOf(root, k)},         {"images", images}};
}

Json slotOf(const fb::Slot &slot, uint32_t members) {
  uint32_t copies = rt::copiesOf(slot, members);
  int64_t raw[TUTTI_MAX_RANK]; // as whoever swaps the weight gives them
  std::vector<int64_t> dims(raw, raw + rt::rawDims(slot, raw));
  return {{"name", rt::text(slot.name())},
          {"dtype", rt::nameOf(slot.type()->dtype())},
          {"dims", dims},
          {"layout", rt::text(slot.layout())},
          {"bytes", copies * slot.bytes_each()},
          {"copies", copies},
          {"shared", rt::isShared(slot) && slot.group() < 0}, // by all members
          {"swappable", slot.swappable()}};
}

} // namespace

Json describe(const Artifact &artifact) {
  const tutti_info_t &info = artifact.info();
  const fb::Root &root = *fb::GetRoot(info.metadata);
  Json out = {
      {"format", info.format}, {"compiler", info.compiler}, {"share", info.share}, {"file_bytes", info.file_bytes}};
  out["members"] = membersOf(artifact);
  out["inputs"] = commonPorts(artifact, true);
  out["outputs"] = commonPorts(artifact, false);
  for (const char *list : {"targets", "programs", "kernels", "slots"})
    out[list] = Json::array();
  for (const auto &[target, bytes] : codeBytes(root))
    out["targets"].push_back({{"name", target}, {"code_bytes", bytes}});
  for (uint32_t p = 0; p < info.num_programs; ++p)
    out["programs"].push_back(programOf(info.programs[p], root, *root.programs()->Get(p)));
  for (uint32_t k = 0; k < rt::count(root.kernels()); ++k)
    out["kernels"].push_back(kernelOf(root, k));
  uint64_t weights = 0;
  for (uint32_t s = 0; s < rt::count(root.slots()); ++s) {
    out["slots"].push_back(slotOf(*root.slots()->Get(s), info.num_members));
    weights += out["slots"].back()["bytes"].get<uint64_t>();
  }
  out["weights_bytes"] = weights;
  out["notes"] = Json::array();
  for (uint32_t i = 0; i < rt::count(root.notes()); ++i)
    out["notes"].push_back(rt::text(root.notes()->Get(i)));
  return out;
}

} // namespace tutti::tool
