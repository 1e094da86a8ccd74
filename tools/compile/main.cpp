// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-compile: model files to an artifact.
#include "Explain.h"
#include "compiler/artifact/Writer.h"

#include "tools/common/End.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
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
    std::fprintf(stderr, "\rweights: %.0f of %.0f MB, %.0f MB/s, %.0f s left%s", done / 1e6, all / 1e6, rate / 1e6,
                 (all - done) / rate, finished ? "\n" : "   ");
  };
}

int report(llvm::Error error, bool asJson) {
  CompileError e = compileErrorOf(std::move(error));
  std::fprintf(stderr, "tutti-compile: error: %s\n", e.message.c_str());
  if (asJson && !e.json.empty())
    std::printf("%s\n", e.json.c_str());
  return int(e.code);
}

/// The IR of a stage, to a file if one is named.
llvm::Error show(const std::string &text, const std::string &file) {
  if (!file.empty())
    return writeText(file, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    return fail(ExitCode::resource, llvm::Twine("cannot write to stdout: ") + std::strerror(errno));
  return llvm::Error::success();
}

/// Where memory is short nothing can be undone but files that are being written, nor said in many words.
[[noreturn]] void outOfMemory() {
  constexpr std::string_view text = "tutti-compile: error: there is not enough memory\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  llvm::sys::RunInterruptHandlers();
  _exit(int(ExitCode::resource));
}

} // namespace

int main(int argc, char **argv) {
  std::set_new_handler(outOfMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { outOfMemory(); });
  CompileOptions options;
  if (std::optional<int> exit = parseOptions(argc, argv, options))
    return *exit;
  options.request.progress = progressOnTerminal();
  llvm::Expected<CompileResult> result = compile(options.request);
  if (!result)
    return report(result.takeError(), options.explain == "json");
  if (!result->text.empty()) {
    if (llvm::Error error = show(result->text + "\n", options.request.output))
      return report(std::move(error), false);
  } else if (!options.explain.empty()) {
    explain(*result, options);
  }
  return tool::endOf("tutti-compile", 0);
}
