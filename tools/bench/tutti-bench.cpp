// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times an artifact on random inputs and compares with what the machine can do at most.
#include "../common/OutputFiles.h"
#include "../common/Programs.h"
#include "Measure.h"
#include "Peaks.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>

using namespace tutti;
using namespace tutti::tool;
using Json = nlohmann::ordered_json;

namespace {

struct Arguments {
  std::string artifact, json;
  DeviceArguments device;
  std::optional<std::string> active;
  std::vector<std::string> dims;
  double seconds = 1;
  std::optional<uint64_t> bytes;
  bool peaks = false;
};

/// A run whose peaks before and after differ by more is repeated: something else had the machine.
constexpr double kSteady = 0.05;
constexpr int kTries = 3;

double apart(double a, double b) { return std::abs(a - b) / std::max(a, b); }

/// The combinations of --dim, one for each place in the lists.
Failure parseBindings(const std::vector<std::string> &arguments, std::vector<Binding> &bindings) {
  for (const std::string &argument : arguments) {
    auto pair = splitAtLast(argument);
    auto values = pair ? parseList(pair->second) : std::nullopt;
    if (!values)
      return {ExitCode::usage, "--dim is " + quote(argument) + ", expected NAME=VALUE or NAME=VALUE,VALUE"};
    if (bindings.empty())
      bindings.resize(values->size());
    for (const auto &[name, value] : bindings.front())
      if (name == pair->first)
        return {ExitCode::usage, "--dim " + quote(name) + " is given twice"};
    if (values->size() != bindings.size())
      return {ExitCode::usage, "--dim " + quote(argument) + " has " + std::to_string(values->size()) +
                                   " values, another has " + std::to_string(bindings.size())};
    for (size_t i = 0; i < values->size(); ++i)
      bindings[i].emplace_back(pair->first, (*values)[i]);
  }
  if (bindings.empty())
    bindings.emplace_back();
  return {};
}

/// The program for a binding; without --dim, each program with its largest sizes.
Failure addSetups(const Arguments &arguments, const Setup &common, const Binding &binding, std::vector<Setup> &setups) {
  Artifact artifact;
  if (auto failure = openArtifact(arguments.artifact, artifact))
    return failure;
  std::vector<tutti_session_options_t> chosen;
  if (auto failure = choosePrograms(artifact, binding, common.options, chosen))
    return failure;
  if (chosen.size() > 1 && !binding.empty()) {
    std::string all;
    for (const tutti_session_options_t &options : chosen)
      all += (all.empty() ? "" : "; ") + dimensionsText(artifact.programs()[options.program]);
    return {ExitCode::usage, "--dim leaves a choice of programs: " + all};
  }
  for (const tutti_session_options_t &options : chosen) {
    setups.push_back(common);
    setups.back().binding = binding;
    setups.back().options = options;
  }
  return {};
}

/// What a call could take at least, and how near the calls came.
struct Limit {
  double flopsPeak = 0, rate = 0; ///< a second; 0: not known
  double drift = 0;               ///< how far the peaks before and after are apart, of the larger one
  bool known = false;             ///< not so on the emulated device
  bool byFlops = false;
  double us = 0;
  double bestUs = 0; ///< what the limit is held against: calls as such, without the way from and to the host
};

/// Times the calls between two looks at what the machine can do.
Failure measureWithPeaks(const Setup &setup, Measurement &m, Limit &limit) {
  uint32_t threads = setup.options.threads;
  if (setup.options.device == TUTTI_DEVICE_CPU) {
    int tries = 0;
    do {
      double before = peakFlops(threads);
      if (auto failure = measure(setup, m))
        return failure;
      double after = peakFlops(threads);
      limit.flopsPeak = std::max(before, after);
      limit.drift = apart(before, after);
    } while (limit.drift > kSteady && ++tries < kTries);
    limit.rate = readRate(std::max<uint64_t>(m.bytes, 64), threads);
  } else {
    if (auto failure = measure(setup, m))
      return failure;
    limit.flopsPeak = m.flopsPeak;
    limit.rate = m.bytesPeak;
  }
  limit.known = limit.flopsPeak > 0 && limit.rate > 0;
  double flopsUs = limit.known ? m.flops / limit.flopsPeak * 1e6 : 0;
  double bytesUs = limit.known ? double(m.bytes) / limit.rate * 1e6 : 0;
  limit.byFlops = flopsUs >= bytesUs;
  limit.us = std::max(flopsUs, bytesUs);
  limit.bestUs = percentile(m.onCpu ? m.microseconds : m.onDevice, 50);
  return {};
}

Json toJson(const Measurement &m, const Limit &limit, uint32_t threads) {
  Json json = {{"sizes", Json::object()},
               {"device", m.device},
               {"runs", m.microseconds.size()},
               {"threads", threads},
               {"active", m.active},
               {"median_us", percentile(m.microseconds, 50)},
               {"p10_us", percentile(m.microseconds, 10)},
               {"p90_us", percentile(m.microseconds, 90)},
               {"p99_us", percentile(m.microseconds, 99)},
               {"cold_us", m.coldUs},
               {"limit_us", limit.us},
               {"bound", limit.byFlops ? "flops" : "bytes"},
               {"share", limit.us / limit.bestUs},
               {"flops", m.flops},
               {"bytes", m.bytes},
               {"peak_flops", limit.flopsPeak},
               {"read_bytes_per_s", limit.rate},
               {"peaks_apart", limit.drift}};
  if (!limit.known)
    for (const char *name : {"limit_us", "bound", "share", "peak_flops", "read_bytes_per_s"})
      json[name] = nullptr;
  if (!m.onCpu) {
    json["driver"] = "CUDA " + std::to_string(m.driver / 1000) + "." + std::to_string(m.driver % 1000 / 10);
    json["emulated"] = m.emulated;
    json["device_runs"] = m.onDevice.size();
    json["device_median_us"] = limit.bestUs;
    json["device_p10_us"] = percentile(m.onDevice, 10);
    json["device_p90_us"] = percentile(m.onDevice, 90);
    json["event_us"] = m.emptyUs;
  }
  for (const auto &[name, value] : m.sizes)
    json["sizes"][name] = value;
  return json;
}

void print(const Measurement &m, const Limit &limit, uint32_t threads, bool peaks) {
  std::string sizes;
  for (const auto &[name, value] : m.sizes)
    sizes += shown(name) + "=" + std::to_string(value) + " ";
  std::string where = m.onCpu ? std::to_string(threads) + (threads == 1 ? " thread" : " threads") : m.device;
  std::printf("%s%u %s, %s: median %.1f us (p10 %.1f, p90 %.1f, p99 %.1f, %zu runs), cold %.0f us\n", sizes.c_str(),
              m.active, m.active == 1 ? "member" : "members", where.c_str(), percentile(m.microseconds, 50),
              percentile(m.microseconds, 10), percentile(m.microseconds, 90), percentile(m.microseconds, 99),
              m.microseconds.size(), m.coldUs);
  if (!m.onCpu)
    std::printf("  on the device, by its events: median %.2f us (p10 %.2f, p90 %.2f, %zu runs; %.2f with no call in "
                "between); driver for CUDA %d.%d\n",
                limit.bestUs, percentile(m.onDevice, 10), percentile(m.onDevice, 90), m.onDevice.size(), m.emptyUs,
                m.driver / 1000, m.driver % 1000 / 10);
  if (m.emulated)
    std::printf("  the device is emulated: these times say nothing of any GPU\n");
  if (!limit.known)
    return;
  std::printf("  limit %.1f us by %s: %.1f %% of it reached; %.1f calls and %.0f rows of members a second\n", limit.us,
              limit.byFlops ? "multiply-adds" : "bytes", 100 * limit.us / limit.bestUs, 1e6 / limit.bestUs,
              1e6 / limit.bestUs * double(m.rows));
  if (peaks)
    std::printf("  peaks: %.1f GFLOP/s, %.1f GB/s for %llu bytes\n", limit.flopsPeak / 1e9, limit.rate / 1e9,
                static_cast<unsigned long long>(m.bytes));
  if (limit.drift > kSteady)
    std::fprintf(stderr, "tutti-bench: warning: the peaks before and after are %.0f %% apart; the machine is busy\n",
                 100 * limit.drift);
}

Failure benchOne(const Arguments &arguments, const Setup &setup, Json &json) {
  Measurement m;
  Limit limit;
  if (auto failure = measureWithPeaks(setup, m, limit))
    return failure;
  json = toJson(m, limit, setup.options.threads);
  print(m, limit, setup.options.threads, arguments.peaks);
  return {};
}

Failure writeJson(const Arguments &arguments, const Json &json) {
  if (arguments.json.empty())
    return {};
  OutputFiles out;
  if (auto failure = out.write(arguments.json, {json.dump(2, ' ', false, Json::error_handler_t::replace), "\n"}))
    return failure;
  return out.commit();
}

/// The machine's peaks, without an artifact.
Failure benchMachine(const Arguments &arguments, uint32_t threads, Json &json) {
  if (!arguments.peaks)
    return {ExitCode::usage, "there is no artifact to time; without one, --peaks measures the machine"};
  const DeviceArguments &device = arguments.device;
  std::pair<const char *, bool> ofArtifacts[] = {{"--dim", !arguments.dims.empty()},
                                                 {"--active", arguments.active.has_value()},
                                                 {"--target", !device.target.empty()},
                                                 {"--device", !device.device.empty() && device.device != "cpu"}};
  for (auto [flag, given] : ofArtifacts)
    if (given)
      return {ExitCode::usage, std::string(flag) + " is about an artifact, and none is given"};
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return {ExitCode::device, "this CPU has no AVX2, which the peaks are measured by"};
  uint64_t bytes = arguments.bytes.value_or(uint64_t(1) << 26);
  double flops = peakFlops(threads), rate = readRate(std::max<uint64_t>(bytes, 64), threads);
  if (rate == 0)
    return {ExitCode::resource, "there is no memory for " + std::to_string(bytes) + " bytes"};
  json = {{"threads", threads}, {"flops", flops}, {"bytes", bytes}, {"bytes_per_s", rate}};
  std::printf("%u thread%s: %.1f GFLOP/s, %.1f GB/s for %llu bytes\n", threads, threads == 1 ? "" : "s", flops / 1e9,
              rate / 1e9, static_cast<unsigned long long>(bytes));
  return {};
}

Failure bench(const Arguments &arguments) {
  if (std::isnan(arguments.seconds)) // in no range, and out of none
    return {ExitCode::usage, "--seconds nan: expected 0.01 to 3600"};
  // Better known before hours of timing.
  if (auto failure = tryOutput("--json", arguments.json, {{arguments.artifact, "the artifact"}}))
    return failure;
  Setup setup{arguments.artifact, {}, {}, {}, arguments.seconds};
  if (auto failure = parseDevice(arguments.device, setup.options))
    return failure;
  Json json;
  if (arguments.artifact.empty()) {
    if (auto failure = benchMachine(arguments, setup.options.threads, json))
      return failure;
  } else {
    if (arguments.bytes)
      return {ExitCode::usage,
              "--bytes is about --peaks without an artifact, and " + quote(arguments.artifact) + " is given"};
    if (arguments.active)
      if (auto failure = parseActive(*arguments.active, setup.active))
        return failure;
    std::vector<Binding> bindings;
    if (auto failure = parseBindings(arguments.dims, bindings))
      return failure;
    std::vector<Setup> setups;
    for (const Binding &binding : bindings)
      if (auto failure = addSetups(arguments, setup, binding, setups))
        return failure;
    json = Json::array();
    for (const Setup &each : setups) {
      json.emplace_back();
      if (auto failure = benchOne(arguments, each, json.back()))
        return failure;
      if (std::fflush(stdout) != 0)
        return {ExitCode::resource, std::string("cannot write to stdout: ") + std::strerror(errno)};
    }
  }
  return writeJson(arguments, json);
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Times an artifact on random inputs: latency percentiles, throughput, share of the machine's limit.",
               "tutti-bench");
  app.footer(
      "The limit is the larger of two times: twice the multiply-adds of the contractions over the float32 FMA\n"
      "peak, and the bytes of weights, inputs and outputs, once each, over the memory's rate. On a CPU both are\n"
      "measured; on a CUDA device they follow from its clocks, its multiprocessors and the width of its memory, so\n"
      "code on tensor cores may pass it.\n\n"
      "On a CUDA device a call is timed twice. median_us is what a caller waits by the host's clock, inputs and\n"
      "outputs in its memory. device_median_us lies between two events on the stream, inputs and outputs in the\n"
      "device's memory and the stream never idle; shares and rates are of it. Eight sets of random inputs rotate.\n\n"
      "Example:\n  tutti-bench digits.tutti --dim batch=1,64 --threads 2 --json times.json");
  Arguments a;
  app.add_option("FILE", a.artifact, "the artifact; with --peaks it may be left out");
  addRepeated(app, "--dim", "NAME=V", a.dims,
              "NAME=V or NAME=V,V,V: sizes to time (default: the largest, of every program)");
  app.add_option("--active", a.active, "only these members, in this order, such as 0,3,7 (default: all)")
      ->type_name("I,...");
  addDeviceArguments(app, a.device);
  app.add_option("--seconds", a.seconds, "time to spend on each size (default: 1)")
      ->type_name("S")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_flag("--peaks", a.peaks, "print the multiply-adds and reads that the machine reaches");
  wholeNumber(
      app.add_option("--bytes", a.bytes, "with --peaks and no artifact: the buffer that is read (default: 67108864)"),
      1, uint64_t(1) << 46)
      ->type_name("N");
  app.add_option("--json", a.json,
                 "also write the results to this file: an array, one object for each size; an object of the peaks")
      ->type_name("FILE");
  return toolMain(app, argc, argv, [&] { return bench(a); });
}
