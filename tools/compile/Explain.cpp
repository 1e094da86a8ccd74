// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What became of the kernels and, for GPUs, what the model predicts of them: as text, or as JSON.
#include "Explain.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace tutti {

namespace {

using nlohmann::json;

void print(const KernelReport &kernel) {
  std::string rows;
  for (const std::string &size : kernel.rows)
    rows += (rows.empty() ? "" : " x ") + size;
  std::string task;
  if (kernel.tile)
    task =
        ", up to " + std::to_string(kernel.tile) + " a task, " + std::to_string(kernel.scratch) + " bytes of scratch";
  std::printf("  %s: %s%s, %u %s%s, rows %s%s%s%s\n", kernel.name.c_str(),
              kernel.family == "element" ? "general family, element" : kernel.family.c_str(),
              kernel.lifted ? ", per member" : ", shared", kernel.launches,
              kernel.launches == 1 ? "launch" : "launches",
              kernel.with.empty() ? "" : (" in one with " + kernel.with).c_str(), rows.empty() ? "1" : rows.c_str(),
              task.c_str(), kernel.heads ? ", with heads" : "",
              kernel.numerics.empty() ? "" : (", " + kernel.numerics).c_str());
  if (!kernel.flops.empty())
    std::printf("      %s operations\n", kernel.flops.c_str());
}

/// 12345678 as "12.3 M", so that a unit can follow.
std::string scaled(double value) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P"};
  unsigned i = 0;
  for (; value >= 1000 && i < 5; ++i)
    value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text,
                value < 10 && i    ? "%.2f %s"
                : value < 100 && i ? "%.1f %s"
                                   : "%.0f %s",
                value, prefixes[i]);
  return text;
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 1e-4 ? "%.2f us" : "%.0f us", seconds * 1e6);
  return text;
}

void print(const std::string &kernel, const LaunchEstimate &launch) {
  const KernelWork &work = launch.work;
  const Prediction &p = launch.cold;
  std::printf("  %s: ", kernel.c_str());
  if (!p.resident) {
    std::printf("no room on this device\n");
    return;
  }
  std::string each = work.members == 1 ? "" : " for " + std::to_string(work.members) + " members one after the other";
  std::printf(
      "%lld blocks of %d threads%s, %.2f waves, occupancy %.0f %%, %d registers%s, %lld bytes of shared memory\n",
      static_cast<long long>(work.launched()), work.threads, each.c_str(), p.waves, p.occupancy * 100, work.registers,
      work.registersEstimated ? " (estimated)" : "", static_cast<long long>(work.sharedBytes));
  std::string special = scaled(work.total(&StepWork::special));
  if (special.back() != ' ')
    special += ' ';
  std::printf("      %sFLOP; DRAM %sB, L2 %sB, shared memory %sB; %soperations of the special-function units\n",
              scaled(work.flops).c_str(), scaled(work.dramBytes).c_str(),
              scaled(work.total(&StepWork::l2Bytes)).c_str(), scaled(work.total(&StepWork::sharedBytes)).c_str(),
              special.c_str());
  std::printf("      predicted %s, bound: %s; launch %s, first byte %s, %zu dependent layers %s\n",
              microseconds(p.seconds).c_str(), boundName(p.bound).str().c_str(), microseconds(p.launch).c_str(),
              microseconds(p.firstByte).c_str(), work.layers(), microseconds(p.layers).c_str());
}

void print(const ProgramEstimate &estimate, const DeviceModel *device) {
  std::string sizes;
  for (const auto &[name, value] : estimate.sizes)
    sizes += (sizes.empty() ? "" : ", ") + shown(name) + " " + std::to_string(value);
  std::printf("predicted for cuda (%s), in detail on %s:\n", sizes.c_str(), device->name.data());
  for (auto [kernel, launches] : llvm::zip_equal(estimate.kernels, estimate.launches)) {
    auto own = llvm::find_if(launches, [&](const LaunchEstimate &launch) { return launch.device == device; });
    if (own == launches.end())
      continue;
    print(kernel, *own);
    std::string all;
    for (const LaunchEstimate &launch : launches)
      all += (all.empty() ? "" : ", ") + launch.device->name.str() + " " +
             (launch.cold.resident ? microseconds(launch.cold.seconds) : "-");
    std::printf("      %s\n", all.c_str());
  }
  for (auto [model, time] : llvm::zip_equal(deviceModels(), estimate.times))
    if (time.cold < 0)
      std::printf("  %s: no room\n", model.name.data());
    else
      std::printf("  %s: %s a call%s\n", model.name.data(), microseconds(time.cold).c_str(),
                  time.fits ? (", " + microseconds(time.warm) + " with its data in the L2 cache").c_str() : "");
}

json toJson(const LaunchEstimate &launch) {
  const KernelWork &work = launch.work;
  const Prediction &p = launch.cold;
  json all = {{"device", launch.device->name.str()}, {"fits", p.resident > 0}};
  if (!p.resident)
    return all;
  json pipes, steps = json::array();
  for (unsigned i = 0; i < p.busy.size(); ++i)
    pipes[boundName(Bound(i)).str()] = p.busy[i];
  for (const KernelWork &part : work.each())
    for (const auto *of : {&part.steps, &part.last})
      for (const StepWork &step : *of)
        steps.push_back(step.what);
  all.update({{"blocks", work.launched()},
              {"members_of_block", work.members},
              {"threads", work.threads},
              {"registers", work.registers},
              {"registers_estimated", work.registersEstimated},
              {"shared_bytes", work.sharedBytes},
              {"resident_blocks", p.resident},
              {"waves", p.waves},
              {"occupancy", p.occupancy},
              {"flops", work.flops},
              {"bytes",
               {{"dram", work.dramBytes},
                {"l2", work.total(&StepWork::l2Bytes)},
                {"shared", work.total(&StepWork::sharedBytes)}}},
              {"special_function_operations", work.total(&StepWork::special)},
              {"bound", boundName(p.bound).str()},
              {"layers", steps},
              {"seconds", p.seconds},
              {"seconds_in_l2", launch.warm.seconds},
              {"launch_seconds", p.launch},
              {"first_byte_seconds", p.firstByte},
              {"layer_seconds", p.layers},
              {"dram_seconds", p.dram},
              {"l2_seconds", p.l2},
              {"busy_seconds", pipes}});
  return all;
}

json toJson(const ProgramEstimate &estimate) {
  json devices = json::array(), launches = json::array();
  for (auto [model, time] : llvm::zip_equal(deviceModels(), estimate.times))
    if (time.cold >= 0)
      devices.push_back({{"device", model.name.str()},
                         {"seconds", time.cold},
                         {"seconds_in_l2", time.warm},
                         {"fits_in_l2", time.fits}});
  for (auto [kernel, own] : llvm::zip_equal(estimate.kernels, estimate.launches)) {
    json all = json::array();
    for (const LaunchEstimate &launch : own)
      all.push_back(toJson(launch));
    launches.push_back({{"kernel", kernel}, {"devices", all}});
  }
  return {{"target", "cuda"}, {"sizes", estimate.sizes}, {"devices", devices}, {"launches", launches}};
}

void printJson(const CompileResult &result) {
  json kernels = json::array(), programs = json::array(), predictions = json::array();
  for (const ProgramReport &program : result.programs) {
    programs.push_back({{"target", stringifyTarget(program.target).str()},
                        {"sizes", program.sizes},
                        {"launches", program.launches},
                        {"arena_bytes", program.arenaBytes},
                        {"chunk", program.chunk}});
    for (const KernelReport &kernel : program.kernels)
      kernels.push_back({{"target", stringifyTarget(program.target).str()},
                         {"sizes", program.sizes},
                         {"name", kernel.name},
                         {"family", kernel.family},
                         {"lifted", kernel.lifted},
                         {"rows", kernel.rows},
                         {"tile", kernel.tile ? json(kernel.tile) : json()},
                         {"scratch_bytes", kernel.tile ? json(kernel.scratch) : json()},
                         {"launches", kernel.launches},
                         {"in_one_with", kernel.with},
                         {"heads", kernel.heads},
                         {"numerics", kernel.numerics},
                         {"flops", kernel.flops}});
  }
  for (const ProgramEstimate &estimate : result.estimates)
    predictions.push_back(toJson(estimate));
  json all = {{"kernels", kernels},
              {"programs", programs},
              {"code_bytes", result.codeBytes},
              {"code_compilers", result.codeCompilers},
              {"launches", result.programs[0].launches},
              {"arena_bytes", result.programs[0].arenaBytes},
              {"predictions", predictions}};
  std::printf("%s\n", all.dump(1, ' ', false, json::error_handler_t::replace).c_str());
}

} // namespace

void explain(const CompileResult &result, const CompileOptions &options) {
  if (options.explain == "json")
    return printJson(result);
  for (const ProgramReport &program : result.programs) {
    std::string pieces = program.chunk ? ", in pieces of " + std::to_string(program.chunk) + " members" : "";
    std::printf("%s%s%s%s: %u launches%s, %lld bytes of arena\n", stringifyTarget(program.target).str().c_str(),
                program.sizes.empty() ? "" : ", ", program.sizes.c_str(), pieces.c_str(), program.launches,
                program.chunk ? " of one piece" : "", static_cast<long long>(program.arenaBytes));
    for (const KernelReport &kernel : program.kernels)
      print(kernel);
  }
  for (const auto &[level, bytes] : result.codeBytes)
    std::printf("  %s: %llu bytes of code%s\n", level.c_str(), static_cast<unsigned long long>(bytes),
                result.codeCompilers.contains(level) ? (", by " + result.codeCompilers.at(level)).c_str() : "");
  for (const ProgramEstimate &estimate : result.estimates)
    print(estimate, options.explainFor);
}

} // namespace tutti
