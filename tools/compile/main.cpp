// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-compile: model files to an artifact.
#include "Options.h"
#include "compiler/Compiler.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace tutti;

namespace {

/// Bytes written, rate and time left, on a terminal only and only for work over a second.
std::function<void(uint64_t, uint64_t)> progressOnTerminal() {
  if (!isatty(STDERR_FILENO))
    return nullptr;
  using Clock = std::chrono::steady_clock;
  return [start = Clock::now(), last = Clock::time_point(), shown = false](uint64_t done, uint64_t all) mutable {
    auto now = Clock::now();
    double seconds = std::chrono::duration<double>(now - start).count();
    bool finished = done >= all;
    if (seconds < 1 || (!finished && now - last < std::chrono::milliseconds(200)) || (finished && !shown))
      return;
    last = now;
    shown = true;
    double rate = done / seconds;
    std::fprintf(stderr, "\rweights: %.0f of %.0f MB, %.0f MB/s, %.0f s left%s", done / 1e6, all / 1e6, rate / 1e6, (all - done) / rate,
                 finished ? "\n" : "   ");
  };
}

void explain(const KernelReport &kernel) {
  std::string rows;
  for (const std::string &size : kernel.rows)
    rows += (rows.empty() ? "" : " x ") + size;
  std::printf("  %s: %s%s, %u %s, rows %s, up to %lld a task, %lld bytes of scratch%s%s\n", kernel.name.c_str(),
              kernel.family == "element" ? "general family, element" : kernel.family.c_str(), kernel.lifted ? ", per member" : ", shared",
              kernel.launches, kernel.launches == 1 ? "launch" : "launches", rows.empty() ? "1" : rows.c_str(),
              static_cast<long long>(kernel.tile), static_cast<long long>(kernel.scratch), kernel.heads ? ", with heads" : "",
              kernel.numerics.empty() ? "" : (", " + kernel.numerics).c_str());
  if (!kernel.flops.empty())
    std::printf("      %s operations\n", kernel.flops.c_str());
}

void explain(const CompileResult &result, bool asJson) {
  if (asJson) {
    nlohmann::json kernels = nlohmann::json::array();
    for (const KernelReport &kernel : result.kernels)
      kernels.push_back({{"target", kernel.target}, {"name", kernel.name}, {"family", kernel.family}, {"lifted", kernel.lifted},
                         {"rows", kernel.rows}, {"tile", kernel.tile}, {"scratch_bytes", kernel.scratch}, {"launches", kernel.launches},
                         {"heads", kernel.heads}, {"numerics", kernel.numerics}, {"flops", kernel.flops}});
    nlohmann::json programs = nlohmann::json::array();
    for (const ProgramReport &program : result.programs)
      programs.push_back({{"target", program.target}, {"launches", program.launches}, {"arena_bytes", program.arenaBytes}});
    nlohmann::json all = {{"kernels", kernels}, {"programs", programs}, {"code_bytes", result.codeBytes},
                          {"launches", result.programs[0].launches}, {"arena_bytes", result.programs[0].arenaBytes}};
    std::printf("%s\n", all.dump(1).c_str());
    return;
  }
  for (const ProgramReport &program : result.programs) {
    std::printf("%s: %u launches, %lld bytes of arena\n", program.target.c_str(), program.launches, static_cast<long long>(program.arenaBytes));
    for (const KernelReport &kernel : result.kernels)
      if (kernel.target == program.target)
        explain(kernel);
  }
  for (const auto &[level, bytes] : result.codeBytes)
    std::printf("  %s: %llu bytes of code\n", level.c_str(), static_cast<unsigned long long>(bytes));
}

int report(llvm::Error error, bool asJson) {
  int code = int(ExitCode::internal);
  llvm::handleAllErrors(
      std::move(error),
      [&](const CompileError &e) {
        code = int(e.code);
        std::fprintf(stderr, "tutti-compile: error: %s\n", e.message.c_str());
        if (asJson && !e.json.empty())
          std::printf("%s\n", e.json.c_str());
      },
      [&](const llvm::ErrorInfoBase &e) { std::fprintf(stderr, "tutti-compile: error: %s\n", e.message().c_str()); });
  return code;
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like a full disk
  CompileOptions options;
  if (std::optional<int> exit = parseOptions(argc, argv, options))
    return *exit;
  options.request.progress = progressOnTerminal();
  llvm::Expected<CompileResult> result = compile(options.request);
  if (!result)
    return report(result.takeError(), options.explain == "json");
  if (!result->text.empty())
    std::printf("%s\n", result->text.c_str());
  else if (!options.explain.empty())
    explain(*result, options.explain == "json");
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "tutti-compile: error: cannot write to the standard output: %s\n", std::strerror(errno));
    return int(ExitCode::resource);
  }
  return 0;
}
