// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Says what is in an artifact.
#include "../common/Programs.h"

#include "core/Check.h"
#include "core/Geometry.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <map>

using namespace tutti;
using namespace tutti::tool;
using Json = nlohmann::ordered_json;

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

/// Everything that is printed, as JSON.
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

std::string bytesText(uint64_t bytes) {
  const char *units[] = {"bytes", "KB", "MB", "GB", "TB"};
  int unit = 0;
  double value = double(bytes);
  for (; value >= 1000 && unit < 4; ++unit)
    value /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

/// What a cubin takes of a GPU; nothing of PTX and of emulated code, where nobody knows yet.
std::string resourcesText(const Json &image) {
  if (image["regs"] == 0)
    return "";
  auto part = [&](const char *field, const char *text) { return ", " + image[field].dump() + text; };
  std::string text = part("regs", " registers") + part("static_shared", " bytes shared") +
                     part("stack", " bytes of stack") + part("barriers", " barriers");
  return image["max_threads"] == 0 ? text : text + part("max_threads", " threads at most");
}

/// As tables show it.
std::string text(const Json &value) { return shown(value.get<std::string>()); }

void printPorts(const char *title, std::span<const tutti_port_t> ports) {
  std::printf("%s\n", title);
  for (const tutti_port_t &port : ports)
    std::printf("  %-24s %-8s %s%s%s\n", shown(port.name).c_str(), tutti_dtype_name(port.dtype), dimsText(port).c_str(),
                *port.head ? "  head " : "", shown(port.head).c_str());
}

void printGeometry(const char *before, const Json &launch) {
  std::string parts = launch.value("parts", 1) == 1 ? "" : ", " + launch["parts"].dump() + " kernels at once";
  std::printf("  %-24s grid %s%s, block %s%s%s, %lld bytes shared%s\n", (before + text(launch["kernel"])).c_str(),
              launch["grid"].dump().c_str(), launch["persistent"].get<bool>() ? " at most" : "",
              launch["block"].dump().c_str(), launch["cluster"].empty() ? "" : ", cluster ",
              launch["cluster"].empty() ? "" : launch["cluster"].dump().c_str(),
              launch["dynamic_shared"].get<long long>(), parts.c_str());
}

void printProgram(const Artifact &artifact, uint32_t p, const Json &described) {
  const tutti_program_t &program = artifact.programs()[p];
  std::string target = program.num_targets ? shown(program.targets[0]) : "cpu";
  for (const Json &architecture : described["architectures"])
    target += ", " + text(architecture);
  std::printf("program %u  %s for %s: launches %u, arena %s, state %s, precision %s\n", p, shown(program.entry).c_str(),
              target.c_str(), program.launches, bytesText(program.arena_bytes).c_str(),
              bytesText(program.state_bytes).c_str(), shown(program.precision).c_str());
  for (const tutti_dimension_t &d : std::span(program.dimensions, program.num_dimensions))
    std::printf("  %-24s %lld%s\n", shown(d.name).c_str(), (long long)d.lo,
                d.lo == d.hi ? "" : (".." + std::to_string(d.hi)).c_str());
  if (described.contains("chunk"))
    std::printf("  the active set runs in pieces of %u members; the launches are those of one piece\n",
                described["chunk"].get<unsigned>());
  if (described.contains("strips"))
    std::printf("  on a CPU, launches may run strip by strip along %s\n", shown(text(described["strips"])).c_str());
  if (described.contains("memory")) {
    const Json &memory = described["memory"];
    auto part = [&](const char *name) { return bytesText(memory[name].get<uint64_t>()); };
    std::printf("  memory                   %s at most with one thread: weights %s, arena %s, inputs %s, outputs %s, "
                "state and tables %s, scratch %s a thread\n",
                part("peak_bytes").c_str(), part("weights_bytes").c_str(), part("arena_bytes").c_str(),
                part("inputs_bytes").c_str(), part("outputs_bytes").c_str(),
                bytesText(memory["state_bytes"].get<uint64_t>() + memory["tables_bytes"].get<uint64_t>()).c_str(),
                part("scratch_bytes_per_thread").c_str());
  }
  if (described.contains("grids"))
    for (const Json &launch : described["grids"]) {
      printGeometry("", launch);
      for (const Json &alternative : launch["alternatives"])
        printGeometry("or ", alternative);
    }
  printPorts("inputs", artifact.inputs(p));
  printPorts("outputs", artifact.outputs(p));
}

void print(const Artifact &artifact, const Json &all) {
  const tutti_info_t &info = artifact.info();
  std::printf("artifact   format %u, %s, made by %s, --share=%s\n", info.format, bytesText(info.file_bytes).c_str(),
              *info.compiler ? shown(info.compiler).c_str() : "an unnamed compiler",
              *info.share ? shown(info.share).c_str() : "content");
  std::printf("targets  ");
  for (const Json &target : all["targets"])
    std::printf("  %s (%s of code)", text(target["name"]).c_str(),
                bytesText(target["code_bytes"].get<uint64_t>()).c_str());
  uint32_t groups = rt::count(fb::GetRoot(info.metadata)->groups());
  std::printf("\nmembers    %u\n", info.num_members);
  for (uint32_t i = 0; i < info.num_members; ++i)
    if (i < 10 || i + 1 == info.num_members)
      std::printf("  %-4u %-32s xxh64 %s%s\n", i, shown(info.members[i].source).c_str(),
                  hex(info.members[i].digest).c_str(),
                  groups > 1 ? ("  group " + std::to_string(all["members"][i]["group"].get<uint32_t>())).c_str() : "");
    else if (i == 10)
      std::printf("  ...\n");
  for (uint32_t p = 0; p < info.num_programs; ++p)
    printProgram(artifact, p, all["programs"][p]);
  std::printf("kernels\n");
  for (const Json &kernel : all["kernels"]) {
    std::string programs;
    for (const Json &program : kernel["programs"])
      programs += ", program " + program.dump();
    std::printf("  %-24s %-10s %zu images%s\n", text(kernel["name"]).c_str(), text(kernel["family"]).c_str(),
                kernel["images"].size(), programs.c_str());
    for (const Json &image : kernel["images"])
      if (image.contains("regs"))
        std::printf("    %-12s %10s%s\n", text(image["target"]).c_str(),
                    bytesText(image["bytes"].get<uint64_t>()).c_str(), resourcesText(image).c_str());
  }
  std::printf("weights    %s in %zu slots\n", bytesText(all["weights_bytes"].get<uint64_t>()).c_str(),
              all["slots"].size());
  for (const Json &slot : all["slots"])
    std::printf(
        "  %-24s %-8s %-12s %-7s %10s, %s%s\n", text(slot["name"]).c_str(), text(slot["dtype"]).c_str(),
        slot["dims"].dump().c_str(), text(slot["layout"]).c_str(), bytesText(slot["bytes"].get<uint64_t>()).c_str(),
        slot["shared"].get<bool>()
            ? "shared by all"
            : (std::to_string(slot["copies"].get<uint32_t>()) + (slot["copies"] == 1 ? " copy" : " copies")).c_str(),
        slot["swappable"].get<bool>() ? ", swappable" : "");
  for (const Json &note : all["notes"])
    std::printf("note       %s\n", text(note).c_str());
}

struct Arguments {
  std::string artifact;
  bool json = false, verify = false;
};

Failure inspect(const Arguments &arguments) {
  Artifact artifact;
  if (auto failure = openArtifact(arguments.artifact, artifact))
    return failure;
  if (arguments.verify)
    if (auto error = artifact.verifyWeights())
      return {error.status(), shown(arguments.artifact) + ": " + error.message()};
  Json all = describe(artifact);
  if (arguments.verify)
    all["verified"] = true;
  if (arguments.json) {
    std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return {};
  }
  print(artifact, all);
  if (arguments.verify)
    std::printf("verified   all digests are right\n");
  return {};
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Says what is in an artifact: members, inputs, outputs, programs, kernels, weights and what is shared.",
               "tutti-inspect");
  app.footer("Example:\n  tutti-inspect digits.tutti --verify");
  Arguments a;
  app.add_option("FILE", a.artifact, "the artifact")->required();
  app.add_flag("--json", a.json, "as JSON");
  app.add_flag("--verify", a.verify, "also read all weights and compare their digests");
  return toolMain(app, argc, argv, [&] { return inspect(a); });
}
