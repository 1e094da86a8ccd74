// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A description as tables.
#include "Description.h"

#include "../common/Programs.h"
#include "core/Check.h"

namespace tutti::tool {

namespace {

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

} // namespace

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

} // namespace tutti::tool
